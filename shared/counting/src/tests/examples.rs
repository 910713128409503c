//! Examples, in figures.

use key_schema::entity::{CustomerStats, DayTotals, Order, OrderItem, OrderStatus, ProductStats, Sums};
use key_schema::layout::{ENTITY_TYPE, Stored};
use key_schema::value::{Currency, Timestamp};
use serde_dynamo::{AttributeValue, Item};
use serde_json::json;

use crate::{Batch, Change, Counts, Next, Progress, Record, Uncountable};

fn order(status: &str) -> Order {
    serde_json::from_value(json!({
        "orderId": "first", "customerId": "ada", "status": status, "placedAt": "2026-11-21T23:59:59.999Z", "version": 1,
        "subtotal": { "amount": 4348, "currency": "EUR" }, "discount": { "amount": 435, "currency": "EUR" },
        "total": { "amount": 3913, "currency": "EUR" }, "requestHash": "", "lineCount": 1, "shard": 0,
    }))
    .expect("an order")
}

fn line() -> OrderItem {
    serde_json::from_value(json!({
        "orderId": "first", "customerId": "ada", "placedAt": "2026-11-21T23:59:59.999Z", "shard": 0,
        "productId": "teapot", "name": "The teapot", "quantity": 2, "unitPrice": { "amount": 2174, "currency": "EUR" },
        "amount": { "amount": 4348, "currency": "EUR" },
    }))
    .expect("a line")
}

fn image<T: Stored>(entity: &T) -> Item {
    let mut item: Item = serde_dynamo::to_item(entity).expect("an item");
    item.insert(ENTITY_TYPE.to_owned(), AttributeValue::S(T::TYPE.to_owned()));
    item
}

/// So many seconds after the order was placed, or some milliseconds before that: the stream has whole seconds.
fn at(seconds: i64) -> Timestamp {
    let placed: Timestamp = "2026-11-21T23:59:59Z".parse().expect("a time");
    Timestamp::from_millisecond((placed.as_second() + seconds) * 1000).expect("a time")
}

fn eur(amount: i64) -> Sums<Currency> {
    [("EUR".to_owned().try_into().expect("a currency"), amount)].into_iter().collect()
}

fn record(number: &str, change: Change) -> Record {
    Record { number: number.parse().expect("a number"), change: Ok(change) }
}

#[test]
fn an_order_counts_what_is_paid_for_it_and_a_line_what_it_comes_to() {
    let placed = Change::Placed(order("PENDING")).counts(&[]);
    let ada = CustomerStats { customer_id: "ada".parse().expect("an id"), orders: 1, spent: eur(3913) };
    let statuses = [(OrderStatus::Pending, 1)].into_iter().collect();
    let day =
        DayTotals { date: "2026-11-21".parse().expect("a day"), orders: 1, units: 0, revenue: eur(3913), statuses };
    assert!(placed.customers().eq([&ada]) && placed.days().eq([&day]) && placed.products().next().is_none());

    let sold = Change::Line(line()).counts(&[]);
    let teapot = ProductStats { product_id: "teapot".parse().expect("an id"), orders: 1, units: 2, revenue: eur(4348) };
    let day = DayTotals { orders: 0, units: 2, revenue: Sums::default(), statuses: Sums::default(), ..day };
    assert!(sold.products().eq([&teapot]) && sold.days().eq([&day]) && sold.customers().next().is_none());
}

#[test]
fn an_order_that_is_called_off_leaves_its_status_and_nothing_else() {
    let mut counts = Change::Placed(order("PENDING")).counts(&[]);
    counts.add(&Change::Line(line()).counts(&[]));
    counts.add(&Change::Moved(order("CANCELLED"), OrderStatus::Pending).counts(&[line().line]));
    let statuses = [(OrderStatus::Cancelled, 1)].into_iter().collect();
    let date = "2026-11-21".parse().expect("a day");
    let day = DayTotals { date, orders: 0, units: 0, revenue: Sums::default(), statuses };
    assert_eq!(counts.len(), 1);
    assert!(counts.days().eq([&day]));
}

#[test]
fn an_order_that_is_called_off_with_other_lines_than_it_had_cannot_be_counted() {
    let moved = || Change::Moved(order("CANCELLED"), OrderStatus::Paid);
    let mut batch = Batch::new(vec![record("8", Change::Placed(order("PAID"))), record("9", moved())], None);
    batch.found(None);
    batch.learn("first".parse().expect("an id"), Vec::new());
    let Next::Apply(step) = batch.next() else { panic!("what comes before it is counted") };
    batch.applied(step);
    let number = "9".parse().expect("a number");
    assert_eq!(batch.next(), Next::GiveUp(vec![&number]));
    assert!(matches!(batch.reason(&number), Some(Uncountable::Lines { found: 0, expected: 1 })));
}

#[test]
fn the_mark_moves_past_what_is_given_up_together_with_what_comes_behind_it() {
    let poison =
        |number: &str| Record { number: number.parse().expect("a number"), change: Err(Uncountable::UnreadableLines) };
    let records = vec![poison("1"), poison("2"), record("3", Change::Line(line())), poison("4")];
    let mut batch = Batch::new(records, Some("0".parse().expect("a number")));
    assert_eq!(batch.next(), Next::Mark, "nothing is given up by a hint");
    batch.found(None);
    let numbers = ["1", "2", "4"].map(|number| number.parse().expect("a number"));
    let [first, second, last] = &numbers;
    assert_eq!(batch.next(), Next::GiveUp(vec![first, second]));
    batch.give_up(first.clone());
    batch.give_up(second.clone());
    let Next::Apply(step) = batch.next() else { panic!("a step") };
    assert_eq!((step.mark.as_str(), step.records, step.given_up, step.counts.len()), ("3", 1, 2, 2));
    batch.applied(step);
    assert_eq!(batch.next(), Next::GiveUp(vec![last]));
    assert_eq!(batch.first_left(), Some(last), "if nobody takes it, it comes again");
    batch.give_up(last.clone());
    let Next::Apply(step) = batch.next() else { panic!("a step") };
    assert_eq!((step.mark.as_str(), step.records, step.given_up), ("4", 0, 1));
    batch.applied(step);
    assert_eq!(batch.next(), Next::Done);
    assert_eq!(batch.progress(), Progress { applied: 1, skipped: 0, given_up: 3, steps: 2 });
}

#[test]
fn what_comes_to_nothing_is_not_written() {
    let moved = |status, before| Change::Moved(order(status), before);
    let back = [moved("PAID", OrderStatus::Pending), moved("PENDING", OrderStatus::Paid), Change::Nothing];
    let records = back.into_iter().zip(["1", "2", "3"]).map(|(change, number)| record(number, change)).collect();
    let mut batch = Batch::new(records, None);
    assert_eq!(batch.next(), Next::Mark);
    batch.found(None);
    assert_eq!(batch.next(), Next::Done);
    assert_eq!(batch.mark(), None);
}

#[test]
fn a_deletion_and_what_is_no_order_count_nothing() {
    let item: Item = serde_dynamo::to_item(json!({ "EntityType": "order" })).expect("an item");
    let other: Item = serde_dynamo::to_item(json!({ "EntityType": "customerStats" })).expect("an item");
    for (event_name, old, new) in [
        ("REMOVE", item.clone(), Item::default()),
        ("INSERT", Item::default(), other.clone()),
        ("MODIFY", other.clone(), other),
    ] {
        assert_eq!(Change::read(event_name, at(0), old, new).expect("a change"), Change::Nothing);
    }
    assert!(matches!(Change::read("INSERT", at(0), Item::default(), item), Err(Uncountable::Image(_))));
}

#[test]
fn an_order_counts_when_it_is_placed_and_not_when_it_is_put_back() {
    let read = |seconds, item: Item| Change::read("INSERT", at(seconds), Item::default(), item).expect("a change");
    let header = |version: u64| image(&Order { version, ..order("PENDING") });
    assert!(matches!(read(0, header(1)), Change::Placed(_)));
    assert!(matches!(read(60, header(1)), Change::Placed(_)));
    assert_eq!(read(60, header(2)), Change::Nothing);
    assert_eq!(read(3602, header(1)), Change::Nothing);
    assert!(matches!(read(60, image(&line())), Change::Line(_)));
    assert_eq!(read(3602, image(&line())), Change::Nothing);
}

#[test]
fn what_somebody_took_is_not_handed_over_again_with_what_comes_before_it() {
    let poison =
        |number: &str| Record { number: number.parse().expect("a number"), change: Err(Uncountable::UnreadableLines) };
    let mut batch = Batch::new(vec![poison("1"), poison("2")], None);
    batch.found(None);
    batch.give_up("2".parse().expect("a number"));
    assert_eq!(batch.next(), Next::GiveUp(vec![&"1".parse().expect("a number")]));
}

#[test]
fn a_step_is_as_large_as_it_may_be() {
    // Of the order its customer and its day, of the line its product and the same day.
    let records = || vec![record("1", Change::Placed(order("PENDING"))), record("2", Change::Line(line()))];
    for (most, expected) in [(3, 2), (2, 1), (1, 1)] {
        let mut batch = Batch::new(records(), None).with_most_counters(most);
        batch.found(None);
        let Next::Apply(step) = batch.next() else { panic!("a step") };
        assert_eq!(step.records, expected, "of {most} counters");
    }
}

#[test]
fn what_lies_before_the_mark_is_skipped() {
    let records = ["1", "2", "3"].map(|number| record(number, Change::Line(line()))).into();
    let mut batch = Batch::new(records, None);
    batch.found(Some("2".parse().expect("a number")));
    assert_eq!(batch.progress(), Progress { skipped: 2, ..Progress::default() });
    let Next::Apply(step) = batch.next() else { panic!("a step") };
    batch.applied(step);
    assert_eq!(batch.progress(), Progress { applied: 1, skipped: 2, given_up: 0, steps: 1 });
    assert_eq!(batch.mark(), Some(&"3".parse().expect("a number")), "a hint for the next batch");
}

#[test]
fn an_order_whose_lines_do_not_read_as_lines_cannot_be_counted_and_others_can() {
    let moved = |id: &str| {
        let order = Order { order_id: id.parse().expect("an id"), ..order("CANCELLED") };
        Change::Moved(order, OrderStatus::Paid)
    };
    let mut batch = Batch::new(vec![record("1", moved("first")), record("2", moved("second"))], None);
    batch.found(None);
    let ids = ["first", "second"].map(|id| id.parse().expect("an id"));
    assert_eq!(batch.next(), Next::Lines(ids.iter().collect()));
    let [first, second] = ids;
    batch.cannot_learn(&second);
    assert!(batch.reason(&"1".parse().expect("a number")).is_none());
    assert!(matches!(batch.reason(&"2".parse().expect("a number")), Some(Uncountable::UnreadableLines)));
    batch.learn(first, vec![line().line]);
    let Next::Apply(step) = batch.next() else { panic!("a step") };
    assert_eq!((step.mark.as_str(), step.records), ("1", 1));
}

#[test]
fn an_item_to_which_nothing_is_added_is_not_among_the_counts() {
    assert!(Counts::of_order(&order("PENDING"), 0).is_empty());
}
