//! The invariant of bounds: whichever part of the recent changes is counted, the counters are within the bounds; wrong
//! counters are not.

use key_schema::entity::{Credit, Order, OrderLine, OrderStatus};
use key_schema::value::{CustomerId, Day, ProductId, Timestamp, Zone};
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::json;

use crate::{Aggregate, Before, Bounds, Change, Counts};

/// The minute of the day at which recent changes begin.
const HORIZON: u8 = 30;

/// The history of an order: the minute of its placing, whether it was paid then, the minutes between its changes with
/// what each is, and the price of each of the three units of its one line.
type History = (u8, bool, Vec<(u8, Next)>, u8);

/// A change of an order.
#[derive(Clone, Copy, Debug)]
enum Next {
    Advance,
    Cancel,
    /// One more unit is credited.
    Credit,
}

fn at(minute: u8) -> Timestamp {
    format!("2026-11-21T00:{minute:02}:00Z").parse().expect("a time")
}

/// The order after its last change, its lines, and all of its changes with their times.
fn changes((placed, is_paid, steps, price): &History) -> (Order, Vec<OrderLine>, Vec<(Timestamp, Change)>) {
    let status = if *is_paid { OrderStatus::Paid } else { OrderStatus::Pending };
    let money = json!({ "amount": 3 * u32::from(*price), "currency": "EUR" });
    let price = json!({ "amount": price, "currency": "EUR" });
    let mut order: Order = serde_json::from_value(json!({
        "orderId": "first", "customerId": "ada", "status": status, "placedAt": at(*placed),
        "changedAt": at(*placed), "version": 1,
        "subtotal": money, "discount": { "amount": 0, "currency": "EUR" }, "total": money,
        "requestHash": "x", "lineCount": 1, "units": 3, "shard": 0,
    }))
    .expect("an order");
    let line = json!({ "productId": "cup", "name": "", "quantity": 3, "unitPrice": price, "amount": money });
    let line: OrderLine = serde_json::from_value(line).expect("a line");
    let item = json!({ "orderId": "first", "customerId": "ada", "placedAt": at(*placed), "shard": 0, "position": 0,
        "productId": "cup", "name": "", "quantity": 3, "unitPrice": price, "amount": money });
    let item = serde_json::from_value(item).expect("an item");
    let mut changes = vec![(at(*placed), Change::Placed(order.clone())), (at(*placed), Change::Line(item))];
    let mut minute = *placed;
    for (later, next) in steps {
        let may_be_next = |next: &OrderStatus| order.status.may_become(*next);
        let possible: Vec<_> = OrderStatus::ALL.into_iter().filter(may_be_next).collect();
        let before = Before::of(&order);
        let units = order.credited_units(&line.product_id);
        match (next, possible.first(), possible.last()) {
            (Next::Advance, Some(next), _) | (Next::Cancel, _, Some(next)) => order.status = *next,
            (Next::Credit, ..) if units < 3 && order.status != OrderStatus::Cancelled => {
                order.credits = Credit::of(std::slice::from_ref(&line), order.discount, |_| units + 1);
            }
            _ => continue,
        }
        minute = (minute + later).min(59);
        order.changed_at = at(minute);
        changes.push((at(minute), Change::Moved(order.clone(), before)));
    }
    (order, vec![line], changes)
}

fn any_next() -> impl Strategy<Value = Next> {
    prop_oneof![Just(Next::Advance), Just(Next::Cancel), Just(Next::Credit)]
}

proptest! {
    #[test]
    fn counters_that_lack_any_part_of_the_recent_changes_are_within_the_bounds_and_wrong_ones_are_not(
        histories in vec((0..60_u8, any::<bool>(), vec((0..20_u8, any_next()), 0..6), 1..100_u8), 0..6),
        is_counted in vec(any::<bool>(), 48),
    ) {
        let mut is_counted = is_counted.into_iter();
        let (day, customer, product): (Day, CustomerId, ProductId) =
            (at(0).day(), "ada".parse().expect("an id"), "cup".parse().expect("an id"));
        let aggregates = [Aggregate::Day(day), Aggregate::Customer(customer), Aggregate::Product(product)];
        let mut bounds = aggregates.map(|aggregate| Bounds::new(aggregate, at(HORIZON)));
        let (mut counted, mut is_settled) = (Counts::default(), true);
        for history in &histories {
            let (order, lines, changes) = changes(history);
            for (when, change) in changes {
                is_settled &= when < at(HORIZON);
                if when < at(HORIZON) || is_counted.next().unwrap_or_default() {
                    counted.add(&change.counts(&lines, &Zone::UTC));
                }
            }
            for bounds in &mut bounds {
                bounds.add(&order, &lines, &Zone::UTC);
            }
        }
        for bounds in &bounds {
            let counted = counted.only(bounds.aggregate());
            prop_assert_eq!(bounds.is_settled(), is_settled);
            prop_assert!(bounds.deficit(&counted).is_empty(), "{:?} lacks {:?}", counted, bounds.deficit(&counted));

            // If no order changed recently, one surplus order is detected. A hundred are always detected.
            let mut surplus = Counts::default();
            let (order, lines, _) = changes(&(0, true, vec![], 7));
            let times = if is_settled { 1 } else { 100 };
            surplus.add(&Counts::of_order(&order, order.placed_at.day(), times));
            surplus.add(&Counts::of_line(&lines[0], order.placed_at.day(), times));
            surplus.add(&Counts::of_status(&order, OrderStatus::Pending, order.placed_at.day(), times));
            let mut wrong = counted.clone();
            wrong.add(&surplus.only(bounds.aggregate()));
            let deficit = bounds.deficit(&wrong);
            prop_assert!(!deficit.is_empty());
            wrong.add(&deficit);
            prop_assert!(bounds.deficit(&wrong).is_empty(), "adding the deficit repairs the counters");
            prop_assert!(!is_settled || wrong == counted, "exactly, if no order changed recently");
        }
    }
}
