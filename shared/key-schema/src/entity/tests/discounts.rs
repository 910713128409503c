//! Validity, uses and reductions of discount codes.

use super::*;

fn percent(percent: i64) -> Reduction {
    Reduction::Percent(percent.try_into().expect("a percentage"))
}

fn discount() -> Discount {
    Discount {
        code: "TEN".parse().expect("a code"),
        reduction: percent(10),
        min_subtotal: None,
        category: None,
        combinable: false,
        from: None,
        to: None,
        max_uses: Some(2),
        uses: 1,
        held_by_guests: 0,
        revoked: false,
        version: 1,
        created_at: at("2026-11-21"),
    }
}

#[test]
fn a_discount_code_is_valid_from_its_first_moment_until_before_its_last() {
    let noon = Some(at("2026-11-21T12:00:00Z"));
    let window = |from, to| around_noon(|now| Discount { from, to, ..discount() }.is_valid(now));
    assert_eq!(window(None, None), [true; 3]);
    assert_eq!(window(noon, None), [false, true, true]);
    assert_eq!(window(None, noon), [true, false, false]);
    assert_eq!(window(noon, Some(at(AFTER_NOON))), [false, true, false]);
}

#[test]
fn a_limited_code_can_be_used_as_often_as_its_limit_says() {
    let used = |uses| Discount { uses, ..discount() };
    assert_eq!([0, 1, 2, 3].map(|uses| used(uses).has_uses_left()), [true, true, false, false]);
    assert!(used(1).is_limited());
    let unlimited = Discount { max_uses: None, ..used(u32::MAX) };
    assert!(unlimited.has_uses_left() && !unlimited.is_limited());
    assert_eq!(used(2).as_created(), used(0));
    assert!(used(2).is_same_request(&Discount { created_at: at("2026-11-22"), ..used(0) }));
    for other in [
        Discount { reduction: percent(11), ..used(2) },
        Discount { from: Some(at("2026-11-21")), ..used(2) },
        Discount { to: Some(at("2026-11-21")), ..used(2) },
        Discount { max_uses: None, ..used(2) },
        Discount { category: Some("cups".parse().expect("a category")), ..used(2) },
        Discount { combinable: true, ..used(2) },
    ] {
        assert!(!used(2).is_same_request(&other), "{other:?}");
    }
}

/// A code with this reduction for sums of at least `least`.
fn code(reduction: Reduction, least: Option<i64>) -> Discount {
    Discount { reduction, min_subtotal: least.map(eur), ..discount() }
}

proptest! {
    #[test]
    fn a_code_takes_off_at_most_what_is_left_of_its_lines(
        (subtotal, left) in (0..1_000_000_i64).prop_flat_map(|sum| (Just(sum), 0..=sum)),
        amount in 1..1_000_000_i64, share in 1..=100_i64, least in proptest::option::of(0..1_000_000_i64),
    ) {
        for reduction in [percent(share), Reduction::Amount(eur(amount))] {
            match code(reduction, least).off(eur(subtotal), eur(left), at("2026-11-21")) {
                Ok(off) => {
                    prop_assert!(least.is_none_or(|least| least <= subtotal));
                    prop_assert!((0..=left).contains(&off.amount()));
                    if reduction.amount().is_some() {
                        prop_assert_eq!(off.amount(), amount.min(left));
                    }
                }
                Err(refused) => {
                    let is_invalid = matches!(refused, Rejection::DiscountInvalid { .. });
                    prop_assert!(is_invalid, "{refused:?}");
                    prop_assert!(least.is_some_and(|least| subtotal < least));
                }
            }
        }
    }
}

#[test]
fn a_code_is_for_one_currency_if_it_has_an_amount() {
    let dollars = Money::new(500, currency("USD")).expect("an amount");
    let now = at("2026-11-21");
    assert!(code(Reduction::Amount(eur(1)), None).off(dollars, dollars, now).is_err());
    assert!(code(percent(10), Some(1)).off(dollars, dollars, now).is_err());
    assert!(code(percent(10), None).off(dollars, dollars, now).is_ok());
}

#[test]
fn a_revoked_code_is_not_valid() {
    let revoked = Discount { revoked: true, ..discount() };
    assert!(matches!(revoked.check(at("2026-11-21")), Err(Rejection::DiscountInvalid { .. })));
    assert_eq!(revoked.as_created(), Discount { uses: 0, ..discount() });
}
