//! Laws of credits, for any lines, any discount and any way to credit the units.
#![allow(clippy::expect_used, reason = "tests")]

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;
use crate::value::{Percent, eur};

pub(in crate::entity) fn line(number: usize, quantity: u32, price: i64) -> OrderLine {
    let (product_id, units) = (format!("p{number}").parse().expect("an id"), i64::from(quantity));
    let quantity = units.try_into().expect("a quantity");
    OrderLine::new(product_id, String::new(), quantity, eur(price), eur(price * units))
}

/// Lines, and a discount of at most their sum, as a quote makes it.
fn any_order() -> impl Strategy<Value = (Vec<OrderLine>, Money)> {
    (vec((1..20_u32, prop_oneof![0..3_i64, 0..10_000_i64]), 1..6), 0..=100_i64).prop_map(|(lines, percent)| {
        let lines: Vec<_> = lines.into_iter().enumerate().map(|(at, (units, price))| line(at, units, price)).collect();
        let subtotal = eur(lines.iter().map(|line| line.amount.amount()).sum());
        let discount = Percent::try_from(percent).map_or(eur(0), |percent| subtotal.percent(percent));
        (lines, discount)
    })
}

fn total(lines: &[OrderLine], discount: Money) -> i64 {
    lines.iter().map(|line| line.amount.amount()).sum::<i64>() - discount.amount()
}

fn sum(credits: &[Credit]) -> i64 {
    credits.iter().map(|credit| credit.amount).sum()
}

proptest! {
    #[test]
    fn net_amounts_add_up_to_the_total_and_lie_between_zero_and_the_lines_amount((lines, discount) in any_order()) {
        let nets = net_amounts(&lines, discount);
        prop_assert_eq!(nets.iter().sum::<i64>(), total(&lines, discount));
        for (line, net) in lines.iter().zip(nets) {
            prop_assert!((0..=line.amount.amount()).contains(&net), "{net} of {line:?}");
        }
    }

    /// Units are credited one after the other, in any order, until none is left.
    #[test]
    fn however_units_are_credited_no_credit_is_negative_and_all_of_them_make_the_total(
        (lines, discount) in any_order(), picks in vec(any::<prop::sample::Index>(), 0..100),
    ) {
        let quantity = |at: usize| lines[at].quantity.get();
        let mut units = vec![0; lines.len()];
        let mut before = Vec::new();
        let mut left: Vec<usize> = (0..lines.len()).flat_map(|at| vec![at; quantity(at) as usize]).collect();
        let mut picks = picks.into_iter();
        while !left.is_empty() {
            let at = left.swap_remove(picks.next().map_or(0, |pick| pick.index(left.len())));
            units[at] += 1;
            let of = |product: &ProductId| {
                lines.iter().position(|line| line.product_id == *product).map_or(0, |at| units[at])
            };
            let after = Credit::of(&lines, discount, of);
            prop_assert!(sum(&after) >= sum(&before), "{:?} after {:?}", after, before);
            for credit in &after {
                let was = before.iter().find(|was: &&Credit| was.product_id == credit.product_id);
                prop_assert!(was.is_none_or(|was| was.amount <= credit.amount && was.gross <= credit.gross));
                prop_assert!(credit.amount <= credit.gross);
            }
            before = after;
        }
        prop_assert_eq!(sum(&before), total(&lines, discount));
        let gross: i64 = before.iter().map(|credit| credit.gross).sum();
        prop_assert_eq!(gross, lines.iter().map(|line| line.amount.amount()).sum::<i64>());
    }
}

/// A line without a discount has none of it, if another line says what is taken off it.
#[test]
fn lines_that_say_their_discounts_are_not_spread_over() {
    let off = |line: OrderLine, off: i64| OrderLine { discount: Some(eur(off)), ..line };
    let lines = [line(1, 3, 111), off(line(2, 1, 333), 100), line(3, 1, 333)];
    assert_eq!(net_amounts(&lines, eur(100)), [333, 233, 333]);
    assert_eq!(sum(&Credit::of(&lines, eur(100), |_| 3)), total(&lines, eur(100)));
}

/// Three lines of 3.33 and a discount of 1.00, of which no line has a whole share.
#[test]
fn a_discount_is_divided_to_the_minor_unit() {
    let lines = [line(1, 3, 111), line(2, 1, 333), line(3, 1, 333)];
    assert_eq!(net_amounts(&lines, eur(100)), [300, 299, 300]);
    let units = |units: u32| move |product: &ProductId| if product.as_str() == "p1" { units } else { 0 };
    let credited = |count| sum(&Credit::of(&lines, eur(100), units(count)));
    assert_eq!([0, 1, 2, 3].map(credited), [0, 100, 200, 300]);
    let odd = [line(1, 3, 100)];
    let credited = |count| sum(&Credit::of(&odd, eur(100), units(count)));
    assert_eq!([1, 2, 3].map(credited), [66, 133, 200]);
}

#[test]
fn a_credit_names_no_more_units_than_the_line_has_and_no_other_lines() {
    let lines = [line(1, 2, 100), line(2, 1, 50)];
    let credits = Credit::of(&lines, eur(0), |product| if product.as_str() == "p1" { 5 } else { 0 });
    let product_id = "p1".parse().expect("an id");
    assert_eq!(credits, [Credit { product_id, units: 2, gross: 200, amount: 200 }]);
}
