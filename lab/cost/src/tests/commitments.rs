//! What a commitment for a year saves.

use super::*;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn a_commitment_saves_more_the_steadier_the_load_is_and_never_costs(
        orders in 0..50_000_000_u64, quiet in 0..=100_u32, more in 0..=100_u32,
    ) {
        let commitments = |percent: u32| {
            let mut profile = example();
            (profile.orders, profile.quietest_to_mean) = (orders.into(), Decimal::new(percent.min(100).into(), 2));
            costs(&profile)
        };
        let (quieter, steadier) = (commitments(quiet), commitments(quiet + more));
        for (less, most) in quieter.commitments.iter().zip(&steadier.commitments) {
            let without = quieter.choices.iter().find(|choice| (choice.mode, choice.class) == (less.mode, Class::Standard));
            let saved = less.saved_on_table + less.saved_on_functions;
            prop_assert_eq!(without.unwrap().total, less.total + saved);
            prop_assert!(less.saved_on_table >= Decimal::ZERO && less.saved_on_functions >= Decimal::ZERO);
            prop_assert!(most.saved_on_table >= less.saved_on_table && most.saved_on_functions >= less.saved_on_functions);
            prop_assert!(saved <= without.unwrap().total * dec!(0.55), "{:?}", less);
        }
    }
}

#[test]
fn a_load_that_never_changes_gets_the_whole_discount() {
    let profile = changed("quietest_to_mean: 0.3", "quietest_to_mean: 1").unwrap();
    let Estimate { bill, commitments, .. } = costs(&profile);
    let usd = |what: &str| bill.lines.iter().find(|line| line.what == what).unwrap().usd;
    let about = |saved: Decimal, whole: Decimal, off: Decimal| (saved - whole * off).abs() < dec!(0.02);
    assert!(about(commitments[0].saved_on_table, usd("reads") + usd("writes"), dec!(0.18)));
    assert!(about(commitments[0].saved_on_functions, usd("duration"), dec!(0.12)));
}

#[test]
fn reserved_capacity_is_sold_in_blocks_of_100_units_and_costs_46_percent() {
    let mut profile = example();
    profile.orders = Decimal::ZERO;
    let saved = |profile: &Profile| costs(profile).commitments[2].saved_on_table;
    assert_eq!(saved(&profile), Decimal::ZERO, "three times ten units are no block");
    let profile = example();
    let usage = Usage::of(&profile, &DEPLOYED, PRICES.month).unwrap();
    let payer = Payer { profile: &profile, prices: &PRICES, deployment: &DEPLOYED, usage: &usage };
    let provisioned = payer.provisioned(Mode::ForThePeak, &PRICES.dynamodb.standard).unit_hours;
    let blocks = |unit_hours: Decimal| (unit_hours / dec!(73000)).floor();
    let write = dec!(47.45) - (dec!(12.5) + dec!(9.344));
    let read = dec!(9.49) - (dec!(2.5) + dec!(1.825));
    let expected = blocks(provisioned.write) * write + blocks(provisioned.read) * read;
    assert!((saved(&profile) - expected).abs() < dec!(0.01), "{} {expected}", saved(&profile));
    assert!(expected > Decimal::ZERO);
}
