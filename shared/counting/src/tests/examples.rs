//! Examples with concrete numbers.

use key_schema::entity::{
    Allowance, Credit, CustomerStats, DayTotals, Order, OrderItem, OrderStatus, ProductStats, Sums,
};
use key_schema::layout::{ENTITY_TYPE, Stored};
use key_schema::value::{Currency, Timestamp, Zone};
use serde_dynamo::{AttributeValue, Item};
use serde_json::json;

use crate::{Batch, Before, Change, Counts, Next, Progress, Record, Uncountable};

pub(super) fn order(status: &str) -> Order {
    serde_json::from_value(json!({
        "orderId": "first", "customerId": "ada", "status": status, "placedAt": "2026-11-21T23:59:59.999Z",
        "changedAt": "2026-11-21T23:59:59.999Z", "version": 1,
        "subtotal": { "amount": 4348, "currency": "EUR" }, "discount": { "amount": 435, "currency": "EUR" },
        "total": { "amount": 3913, "currency": "EUR" }, "requestHash": "", "lineCount": 1, "units": 2, "shard": 0,
    }))
    .expect("an order")
}

pub(super) fn line() -> OrderItem {
    serde_json::from_value(json!({
        "orderId": "first", "customerId": "ada", "placedAt": "2026-11-21T23:59:59.999Z", "shard": 0, "position": 0,
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

/// The time of a record written this many seconds after the order was placed. The stream's times are whole seconds, so
/// the time for 0 is a little before the order's.
pub(super) fn at(seconds: i64) -> Timestamp {
    let placed: Timestamp = "2026-11-21T23:59:59Z".parse().expect("a time");
    Timestamp::from_millisecond((placed.as_second() + seconds) * 1000).expect("a time")
}

fn eur(amount: i64) -> Sums<Currency> {
    [("EUR".to_owned().try_into().expect("a currency"), amount)].into_iter().collect()
}

pub(super) fn record(number: &str, change: Change) -> Record {
    Record { number: number.parse().expect("a number"), change: Ok(change) }
}

#[test]
fn an_order_counts_with_its_total_and_a_line_with_its_amount() {
    let placed = Change::Placed(order("PENDING")).counts(&[], &Zone::UTC);
    let ada = CustomerStats { customer_id: "ada".parse().expect("an id"), orders: 1, open_units: 2, spent: eur(3913) };
    let statuses = [(OrderStatus::Pending, 1)].into_iter().collect();
    let day =
        DayTotals { date: "2026-11-21".parse().expect("a day"), orders: 1, units: 0, revenue: eur(3913), statuses };
    assert_eq!((placed.len(), placed.customer(&ada.customer_id), placed.day(day.date)), (2, ada, day.clone()));

    let sold = Change::Line(line()).counts(&[], &Zone::UTC);
    let teapot = ProductStats { product_id: "teapot".parse().expect("an id"), orders: 1, units: 2, revenue: eur(4348) };
    let day = DayTotals { orders: 0, units: 2, revenue: Sums::default(), statuses: Sums::default(), ..day };
    assert_eq!((sold.len(), sold.product(&teapot.product_id), sold.day(day.date)), (2, teapot, day));
}

#[test]
fn units_are_open_while_their_order_is_pending() {
    let ada = "ada".parse().expect("an id");
    let open = |changes: &[Change]| {
        let mut counts = Counts::default();
        for change in changes {
            counts.add(&change.counts(&[line().line], &Zone::UTC));
        }
        counts.customer(&ada).open_units
    };
    let moved = |to: &str, before: OrderStatus| Change::Moved(order(to), before.into());
    assert_eq!(open(&[Change::Placed(order("PENDING")), Change::Line(line())]), 2);
    assert_eq!(open(&[Change::Placed(order("PAID"))]), 0, "gift cards paid it");
    assert_eq!(open(&[moved("PAID", OrderStatus::Pending)]), -2, "counted before its placing, from another shard");
    for end in ["PAID", "CANCELLED"] {
        assert_eq!(open(&[Change::Placed(order("PENDING")), moved(end, OrderStatus::Pending)]), 0);
        assert_eq!(open(&[moved("SHIPPED", OrderStatus::Paid), moved("CANCELLED", OrderStatus::Paid)]), 0);
    }
    // A unit is credited while the order is pending, and another one when it is paid.
    let credits = |units| Credit::of(&[line().line], order("PENDING").discount, |_| units);
    let credited = |status, units| Order { credits: credits(units), ..order(status) };
    let one = Change::Moved(credited("PENDING", 1), OrderStatus::Pending.into());
    assert_eq!(open(&[Change::Placed(order("PENDING")), one.clone()]), 1);
    let before = Before { status: OrderStatus::Pending, credits: credits(1), allowed: 0 };
    for end in ["PAID", "CANCELLED"] {
        let moved = Change::Moved(credited(end, 1), before.clone());
        assert_eq!(open(&[Change::Placed(order("PENDING")), one.clone(), moved]), 0);
    }
    let paid = Change::Moved(credited("PAID", 2), before);
    assert_eq!(open(&[Change::Placed(order("PENDING")), one, paid]), 0);
}

/// The cup costs 2174 of which 218 are discount: a product counts the price, its customer and its day what was paid.
#[test]
fn a_credit_takes_units_from_all_counters_and_each_ones_own_measure_of_the_money() {
    let lines = [line().line];
    let credits = |units| Credit::of(&lines, order("PAID").discount, |_| units);
    let credited = |units| Order { credits: credits(units), ..order("PAID") };
    let first = Change::Moved(credited(1), OrderStatus::Paid.into()).counts(&[], &Zone::UTC);
    let (teapot, ada) = ("teapot".parse().expect("an id"), "ada".parse().expect("an id"));
    let date = "2026-11-21".parse().expect("a day");
    assert_eq!((first.product(&teapot).units, first.product(&teapot).revenue), (-1, eur(-2174)));
    assert_eq!((first.customer(&ada).orders, first.customer(&ada).spent), (0, eur(-1956)));
    assert_eq!((first.day(date).units, first.day(date).revenue), (-1, eur(-1956)));

    // One unit and then the other, or both at once, or one of them and then the rest of the order.
    let mut second = first.clone();
    let before = Before { status: OrderStatus::Paid, credits: credits(1), allowed: 0 };
    second.add(&Change::Moved(credited(2), before.clone()).counts(&[], &Zone::UTC));
    assert_eq!(second, Change::Moved(credited(2), OrderStatus::Paid.into()).counts(&[], &Zone::UTC));
    let cancelled = Order { status: OrderStatus::Cancelled, ..credited(1) };
    let mut rest = first;
    rest.add(&Change::Moved(cancelled, before).counts(&lines, &Zone::UTC));
    assert_eq!(rest, Change::Moved(order("CANCELLED"), OrderStatus::Paid.into()).counts(&lines, &Zone::UTC));
}

#[test]
fn an_allowance_takes_money_and_no_units_and_goes_with_the_cancelled_rest() {
    let allowance = Allowance { key: None, amount: 500, reason: None, at: order("PAID").placed_at };
    let allowed = |status| Order { allowances: vec![allowance.clone()], ..order(status) };
    let mut counts = Change::Moved(allowed("PAID"), OrderStatus::Paid.into()).counts(&[], &Zone::UTC);
    let (ada, date) = ("ada".parse().expect("an id"), "2026-11-21".parse().expect("a day"));
    assert_eq!((counts.customer(&ada).spent, counts.customer(&ada).orders), (eur(-500), 0));
    assert_eq!((counts.day(date).revenue, counts.day(date).units), (eur(-500), 0));
    counts.add(&Change::Moved(allowed("CANCELLED"), Before::of(&allowed("PAID"))).counts(&[line().line], &Zone::UTC));
    assert_eq!(counts, Change::Moved(order("CANCELLED"), OrderStatus::Paid.into()).counts(&[line().line], &Zone::UTC));
}

#[test]
fn a_cancellation_cannot_be_counted_if_lines_of_the_order_are_missing() {
    let moved = || Change::Moved(order("CANCELLED"), OrderStatus::Paid.into());
    let mut batch = Batch::new(vec![record("8", Change::Placed(order("PAID"))), record("9", moved())], None);
    batch.found(None);
    batch.learn("first".parse().expect("an id"), Vec::new());
    let Next::Apply(step) = batch.next() else { panic!("the records before it are counted") };
    batch.applied(step);
    let number = "9".parse().expect("a number");
    assert_eq!(batch.next(), Next::GiveUp(vec![&number]));
    assert!(matches!(batch.reason(&number), Some(Uncountable::Lines { found: 0, expected: 1 })));
}

#[test]
fn one_step_moves_the_mark_past_given_up_records_and_counts_the_records_after_them() {
    let poison =
        |number: &str| Record { number: number.parse().expect("a number"), change: Err(Uncountable::UnreadableLines) };
    let records = vec![poison("1"), poison("2"), record("3", Change::Line(line())), poison("4")];
    let mut batch = Batch::new(records, Some("0".parse().expect("a number")));
    assert_eq!(batch.next(), Next::Mark, "a record is given up only if the mark was read");
    batch.found(None);
    let numbers = ["1", "2", "4"].map(|number| number.parse().expect("a number"));
    let [first, second, last] = &numbers;
    assert_eq!(batch.next(), Next::GiveUp(vec![first, second]));
    batch.give_up(first.clone());
    batch.give_up(second.clone());
    let Next::Apply(step) = batch.next() else { panic!("a step") };
    assert_eq!((step.mark.as_str(), step.records, step.given_up, step.counts.len()), ("3", 1, 2, 2));
    assert_eq!(step.passed, [(first.clone(), second.clone())]);
    batch.applied(step);
    assert_eq!(batch.next(), Next::GiveUp(vec![last]));
    assert_eq!(batch.first_left(), Some(last), "it is delivered again if the queue does not accept it");
    batch.give_up(last.clone());
    let Next::Apply(step) = batch.next() else { panic!("a step") };
    assert_eq!((step.mark.as_str(), step.records, step.given_up), ("4", 0, 1));
    assert_eq!(step.passed, [(last.clone(), last.clone())]);
    batch.applied(step);
    assert_eq!(batch.next(), Next::Done);
    assert_eq!(batch.progress(), Progress { applied: 1, skipped: 0, given_up: 3, steps: 2, parked: 0 });
}

#[test]
fn a_batch_without_net_effect_is_not_written() {
    let moved = |status, before| Change::Moved(order(status), Before::from(before));
    let there_and_back = [moved("PAID", OrderStatus::Pending), moved("PENDING", OrderStatus::Paid), Change::Nothing];
    let records =
        there_and_back.into_iter().zip(["1", "2", "3"]).map(|(change, number)| record(number, change)).collect();
    let mut batch = Batch::new(records, None);
    assert_eq!(batch.next(), Next::Mark);
    batch.found(None);
    assert_eq!(batch.next(), Next::Done);
    assert_eq!(batch.mark(), None);
}

#[test]
fn deletions_and_other_entities_do_not_count() {
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
fn an_order_counts_when_it_is_placed_and_not_when_it_is_restored() {
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
fn a_record_that_the_queue_has_accepted_is_not_sent_again_with_earlier_records() {
    let poison =
        |number: &str| Record { number: number.parse().expect("a number"), change: Err(Uncountable::UnreadableLines) };
    let mut batch = Batch::new(vec![poison("1"), poison("2")], None);
    batch.found(None);
    batch.give_up("2".parse().expect("a number"));
    assert_eq!(batch.next(), Next::GiveUp(vec![&"1".parse().expect("a number")]));
}

#[test]
fn a_step_takes_as_many_records_as_its_counters_allow() {
    // The order changes the counters of its customer and its day, the line those of its product and the same day.
    let records = || vec![record("1", Change::Placed(order("PENDING"))), record("2", Change::Line(line()))];
    for (most, expected) in [(3, 2), (2, 1), (1, 1)] {
        let mut batch = Batch::new(records(), None).with_most_counters(most);
        batch.found(None);
        let Next::Apply(step) = batch.next() else { panic!("a step") };
        assert_eq!(step.records, expected, "of {most} counters");
    }
}

#[test]
fn unreadable_lines_stop_only_the_count_of_their_own_order() {
    let moved = |id: &str| {
        let order = Order { order_id: id.parse().expect("an id"), ..order("CANCELLED") };
        Change::Moved(order, OrderStatus::Paid.into())
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
fn counts_leave_out_an_item_to_which_nothing_is_added() {
    let order = order("PENDING");
    assert!(Counts::of_order(&order, order.placed_at.day(), 0).is_empty());
}

/// The counts of an order that is imported in some status, with credits, are those of the order that came there here.
#[test]
fn an_imported_order_counts_like_one_that_was_placed_and_changed_here() {
    let credit: Credit =
        serde_json::from_value(json!({ "productId": "teapot", "units": 1, "gross": 2174, "amount": 1956 }))
            .expect("a credit");
    let names = ["PENDING", "PAID", "SHIPPED", "DELIVERED", "CANCELLED"];
    for (status, credits) in names.into_iter().flat_map(|status| [(status, vec![]), (status, vec![credit.clone()])]) {
        let now = at(100_000_000);
        let order = Order { credits: credits.clone(), imported_at: Some(now), ..order(status) };
        let is_cancelled = order.status == OrderStatus::Cancelled;
        let item = OrderItem { imported_at: Some(now), uncounted: is_cancelled, ..line() };
        let read = |image| Change::read("INSERT", now, Item::default(), image).expect("readable");
        let mut imported = read(image(&order)).counts(&[], &Zone::UTC);
        imported.add(&read(image(&item)).counts(&[], &Zone::UTC));

        let placed = Order { status: OrderStatus::Pending, credits: vec![], imported_at: None, ..order.clone() };
        let mut came_here = Change::Placed(placed).counts(&[], &Zone::UTC);
        came_here.add(&Change::Line(line()).counts(&[], &Zone::UTC));
        // The credits first: a cancellation takes away what is left.
        let credited = Order { status: OrderStatus::Pending, ..order.clone() };
        came_here.add(&Change::Moved(credited, OrderStatus::Pending.into()).counts(&[], &Zone::UTC));
        let before = Before { status: OrderStatus::Pending, credits, allowed: 0 };
        came_here.add(&Change::Moved(order.clone(), before).counts(&[line().line], &Zone::UTC));
        assert_eq!(imported, came_here, "{status}");

        // Put back by hand long after its import, it does not count again.
        let later = at(200_000_000);
        let read = |image| Change::read("INSERT", later, Item::default(), image).expect("readable");
        assert_eq!((read(image(&order)), read(image(&item))), (Change::Nothing, Change::Nothing));
    }
}
