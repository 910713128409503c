//! Laws of tax, for any lines, any discount and any rates.
#![allow(clippy::expect_used, reason = "tests")]

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;
use crate::entity::Credit;
use crate::entity::credit::tests::line;
use crate::value::{Percent, eur};

fn euro() -> Currency {
    Currency::try_from("EUR".to_owned()).expect("a currency")
}

fn rate(rate: i64) -> TaxRate {
    TaxRate::try_from(rate).expect("a rate")
}

/// Lines with their rates, and a discount of at most their sum.
fn any_order() -> impl Strategy<Value = (Vec<OrderLine>, Money, Vec<TaxRate>)> {
    let any_line = (1..20_u32, prop_oneof![0..3_i64, 0..10_000_i64], prop_oneof![Just(0), Just(700), 0..=10_000_i64]);
    (vec(any_line, 1..6), 0..=100_i64).prop_map(|(lines, percent)| {
        let rates = lines.iter().map(|(_, _, number)| rate(*number)).collect();
        let lines: Vec<_> =
            lines.into_iter().enumerate().map(|(at, (units, price, _))| line(at, units, price)).collect();
        let subtotal = eur(lines.iter().map(|line| line.amount.amount()).sum());
        let discount = Percent::try_from(percent).map_or(eur(0), |percent| subtotal.percent(percent));
        (lines, discount, rates)
    })
}

proptest! {
    /// Whatever the lines, the tax of the lines, that of the rates and the total are the same money.
    #[test]
    fn the_taxes_of_lines_rates_and_order_add_up(
        (mut lines, discount, rates) in any_order(), includes in any::<bool>(),
        shipping in prop::option::of((0..2_000_i64, 0..=10_000_i64)),
    ) {
        let prices = if includes { Prices::IncludeTax } else { Prices::ExcludeTax };
        tax_lines(&mut lines, discount, &rates, prices).expect("small amounts");
        let shipping = shipping.map(|(price, number)| (eur(price), rate(number).tax(eur(price), prices)));
        let on_top = tax_on_top(&lines, shipping.map(|(_, tax)| tax), euro());
        prop_assert_eq!(includes, on_top.is_none());
        let net = lines.iter().map(|line| line.amount.amount()).sum::<i64>() - discount.amount();
        let goods = net + tax_on_top(&lines, None, euro()).map_or(0, Money::amount);
        let total = net + shipping.map_or(0, |(price, _)| price.amount()) + on_top.map_or(0, Money::amount);
        prop_assert_eq!(wrongly_taxed(&lines, discount).count(), 0);

        let by_rate = by_rate(&lines, discount, shipping);
        prop_assert!(by_rate.is_sorted_by(|a, b| a.rate < b.rate));
        let sum = |of: fn(&RateTax) -> Money| by_rate.iter().map(|tax| of(tax).amount()).sum::<i64>();
        prop_assert_eq!(sum(|tax| tax.net) + sum(|tax| tax.tax), total);
        let taxes = lines.iter().filter_map(|line| line.tax).chain(shipping.map(|(_, tax)| tax));
        let taxes = taxes.map(|tax| tax.amount.amount());
        prop_assert_eq!(sum(|tax| tax.tax), taxes.sum::<i64>());

        // All units together are credited with exactly the total less shipping and its tax.
        let credits = Credit::of(&lines, discount, |_| u32::MAX);
        prop_assert_eq!(credits.iter().map(|credit| credit.amount).sum::<i64>(), goods);

        // A tax that is not that of its rate is found.
        if let Some(tax) = lines.last_mut().and_then(|line| line.tax.as_mut()) {
            tax.amount = eur(tax.amount.amount() + 1);
        }
        prop_assert_eq!(wrongly_taxed(&lines, discount).count(), 1);
    }

    /// Each line is rounded to the nearest minor unit, by itself.
    #[test]
    fn a_tax_is_off_by_at_most_half_a_minor_unit(amount in 0..1_000_000_000_000_i64, number in 0..=10_000_i64) {
        let (amount, number_, rate) = (i128::from(amount), i128::from(number), rate(number));
        let on = i128::from(rate.on(amount.try_into().expect("an amount")));
        prop_assert!(2 * (on * 10_000 - amount * number_).abs() <= 10_000);
        let within = i128::from(rate.included_in(amount.try_into().expect("an amount")));
        prop_assert!(2 * (within * (10_000 + number_) - amount * number_).abs() <= 10_000 + number_);
        prop_assert!(within <= on);
    }
}

#[test]
fn nineteen_percent_of_a_price_with_and_without_tax() {
    let mut lines = [line(1, 1, 11_900), line(2, 2, 5_350)];
    let rates = [rate(1900), rate(700)];
    let amounts = |lines: &[OrderLine]| -> Vec<i64> {
        lines.iter().filter_map(|line| line.tax).map(|tax| tax.amount.amount()).collect()
    };
    assert_eq!(tax_lines(&mut lines, eur(0), &rates, Prices::IncludeTax), Some(()));
    assert_eq!(amounts(&lines), [1_900, 700]);
    assert_eq!(tax_lines(&mut lines, eur(0), &rates, Prices::ExcludeTax), Some(()));
    assert_eq!(amounts(&lines), [2_261, 749]);
    for wrong in [-1, 10_001, i64::MAX] {
        assert!(TaxRate::try_from(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn a_category_without_a_rate_has_the_standard_rate_of_its_country() {
    let country = |text: &str| Country::try_from(text.to_owned()).expect("a country");
    let category = |text: &str| text.parse::<Category>().expect("a category");
    let reduced = CategoryTax { category: category("books"), rate: rate(700) };
    let germany = CountryTaxes { country: country("DE"), standard: rate(1900), categories: vec![reduced] };
    let taxes = Taxes { countries: vec![germany], updated_at: "2026-11-25".parse().expect("a time"), version: 1 };
    let of = |place: &str, name: &str| Some(taxes.of(&country(place))?.rate(&category(name)));
    assert_eq!([of("DE", "books"), of("DE", "cups"), of("FR", "books")], [Some(rate(700)), Some(rate(1900)), None]);
}
