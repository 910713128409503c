//! Expiry, equality of requests, payment states and sums of the entities.
#![allow(clippy::expect_used, reason = "tests")]

use proptest::prelude::*;

use super::*;
use crate::value::{Currency, IdempotencyKey, IdempotencyRecordId, Money, RequestHash, SequenceNumber, Timestamp, eur};

mod discounts;

fn at(text: &str) -> Timestamp {
    text.parse().expect("a time")
}

fn currency(name: &str) -> Currency {
    name.to_owned().try_into().expect("a currency")
}

/// The millisecond before noon, noon, and the millisecond after it.
const AROUND_NOON: [&str; 3] = ["2026-11-21T11:59:59.999Z", "2026-11-21T12:00:00.000Z", AFTER_NOON];

const AFTER_NOON: &str = "2026-11-21T12:00:00.001Z";

fn around_noon<T>(test: impl Fn(Timestamp) -> T) -> [T; 3] {
    AROUND_NOON.map(|moment| test(at(moment)))
}

fn queued_order() -> QueuedOrder {
    let id = |text: &str| text.parse().expect("an id");
    QueuedOrder::new(id("first"), "ada".parse().expect("an id"), RequestHash::of(b"a teapot"), at("2026-11-21"))
}

#[test]
fn an_item_is_expired_from_its_second_of_expiry_on() {
    let noon = at("2026-11-21T12:00:00Z").as_second();
    let cart = Cart {
        customer_id: "ada".parse().expect("an id"),
        lines: Vec::new(),
        updated_at: at("2026-11-21"),
        version: 1,
        expires_at: noon,
        erased_at: None,
    };
    let (caller, key): (_, IdempotencyKey) = ("ada".parse().expect("an id"), "k".parse().expect("a key"));
    let record = IdempotencyRecord {
        record_id: IdempotencyRecordId::of(&caller, &key),
        request_hash: RequestHash::of(b"a teapot"),
        status: 200,
        location: None,
        version: None,
        body: String::new(),
        expires_at: noon,
    };
    let waiting = QueuedOrder { expires_at: noon, ..queued_order() };
    assert_eq!(around_noon(|now| cart.is_absent(now)), [false, true, true]);
    assert_eq!(around_noon(|now| record.is_expired(now)), [false, true, true]);
    assert_eq!(around_noon(|now| waiting.is_expired(now)), [false, true, true]);
    assert_eq!(around_noon(|now| waiting.waits(now)), [true, false, false]);
}

#[test]
fn queued_orders_live_14_days_answers_3_and_checkpoints_8() {
    let waiting = queued_order();
    assert_eq!(waiting.expires_at, at("2026-12-05").as_second());
    assert_eq!(IdempotencyRecord::expiry(at("2026-11-21")), at("2026-11-24").as_second());
    let shard = "shardId-1".parse().expect("a shard");
    let number: SequenceNumber = "7".parse().expect("a number");
    let checkpoint =
        StreamCheckpoint::new(shard, number.clone(), at("2026-11-21"), Uncounted::default(), at("2026-11-21"));
    assert_eq!(checkpoint.expires_at, at("2026-11-29").as_second());
    let mut uncounted = Uncounted::default();
    uncounted.add(Span::between(None, number));
    // What was given up is kept for 30 days.
    let incomplete = checkpoint.with_uncounted(uncounted, at("2026-11-21"));
    for lasting in [incomplete, StreamCheckpoint::of_repairs(at("2026-11-21"))] {
        assert_eq!(lasting.expires_at, at("2026-12-22").as_second());
    }
    let refusal = Refusal { at: at("2026-11-21"), rejection: Rejection::UnknownCustomer };
    assert!(waiting.waits(at("2026-11-22")));
    assert!(!QueuedOrder { refusal: Some(refusal), ..waiting }.waits(at("2026-11-22")));
}

#[test]
fn two_profiles_with_the_same_request_are_of_the_same_sign_up() {
    let ada = Customer {
        customer_id: "ada".parse().expect("an id"),
        username: "ada".parse().expect("a name"),
        email: "ada@example.com".parse().expect("an address"),
        name: "Ada".to_owned(),
        created_at: at("2026-11-21"),
        version: 1,
        erased_at: None,
        guests: Vec::new(),
    };
    assert!(ada.is_same_sign_up(&Customer { created_at: at("2026-11-22"), version: 2, ..ada.clone() }));
    for other in [
        Customer { username: "bob".parse().expect("a name"), ..ada.clone() },
        Customer { email: "bob@example.com".parse().expect("an address"), ..ada.clone() },
        Customer { name: "Bob".to_owned(), ..ada.clone() },
    ] {
        assert!(!ada.is_same_sign_up(&other), "{other:?}");
    }
}

#[test]
fn an_erased_customer_is_a_valid_profile_that_says_nothing_about_the_person() {
    let ada = Customer {
        customer_id: "ada".parse().expect("an id"),
        username: "lovelace".parse().expect("a name"),
        email: "lovelace@example.com".parse().expect("an address"),
        name: "Ada Lovelace".to_owned(),
        created_at: at("2026-11-21"),
        version: 3,
        erased_at: None,
        guests: Vec::new(),
    };
    let tombstone = ada.erased(at("2026-11-22")).expect("a tombstone");
    assert!(tombstone.is_erased() && tombstone.is_tombstone() && !ada.is_tombstone());
    assert_eq!((tombstone.version, tombstone.created_at), (4, ada.created_at));
    let text = serde_json::to_string(&tombstone).expect("JSON").to_lowercase();
    assert!(!text.contains("lovelace"), "{text}");
    assert!(!Customer { name: ada.name, ..tombstone }.is_tombstone());
}

#[test]
fn a_gift_card_as_it_was_created_has_its_initial_balance() {
    let created = gift_card_of_ten();
    let card = GiftCard { balance: eur(1), blocked: true, version: 3, ..created.clone() };
    assert_eq!(card.as_created(), created);
    assert!(card.is_same_request(&created));
    assert!(!card.is_same_request(&GiftCard { initial: eur(11), ..card.clone() }));
    assert!(!card.is_same_request(&GiftCard { valid_until: Some(at("2026-11-22")), ..card.clone() }));
}

fn gift_card_of_ten() -> GiftCard {
    GiftCard::new("GIFT".parse().expect("a code"), eur(10), at("2026-11-21"))
}

#[test]
fn a_gift_card_can_be_spent_before_its_end_and_while_it_is_not_blocked() {
    let spendable = |valid_until, blocked| {
        around_noon(|now| GiftCard { valid_until, blocked, ..gift_card_of_ten() }.is_spendable(now))
    };
    let noon = Some(at("2026-11-21T12:00:00Z"));
    assert_eq!(spendable(None, false), [true; 3]);
    assert_eq!(spendable(noon, false), [true, false, false]);
    assert_eq!(spendable(None, true), [false; 3]);
    assert_eq!(spendable(noon, true), [false; 3]);
}

/// A payment by bank transfer, that came or not, and that went back or not, of an order that is cancelled or not.
fn card([came, went_back, cancelled]: [bool; 3]) -> Payment {
    let transfer = |reference: &str| Transfer { reference: reference.to_owned(), amount: 5 };
    let refunds = Vec::from_iter(went_back.then(|| transfer("back-1")));
    Payment::Card(CardPayment {
        cancelled,
        refunds,
        transfer: came.then(|| transfer("bank-1")),
        ..CardPayment::of(eur(5))
    })
}

fn gift_card(status: PaymentStatus) -> Payment {
    Payment::GiftCard { code: "GIFT".parse().expect("a code"), amount: eur(5), status, credited: 0 }
}

/// For each payment: its state, the statuses of an order that it fits, and the amounts received, returned and due.
#[test]
fn what_came_and_went_back_determines_the_state_of_a_payment() {
    use OrderStatus::{Cancelled, Delivered, Packing, Paid, Pending, Shipped};
    use PaymentStatus::{Authorized, Captured, Refunded};
    let live: &[OrderStatus] = &[Paid, Packing, Shipped, Delivered];
    let pending: &[OrderStatus] = &[Pending];
    let live_or_pending: &[OrderStatus] = &[Pending, Paid, Packing, Shipped, Delivered];
    let cancelled: &[OrderStatus] = &[Cancelled];
    let (no, yes) = (false, true);
    #[rustfmt::skip]
    let table = [
        (card([no, no, no]),   PaymentState::Pending,    pending,         [0, 0, 0]),
        (card([yes, no, no]),  PaymentState::Captured,   live,            [5, 0, 0]),
        (card([no, no, yes]),  PaymentState::Voided,     cancelled,       [0, 0, 0]),
        (card([yes, no, yes]), PaymentState::RefundDue,  cancelled,       [5, 0, 5]),
        (card([yes; 3]),       PaymentState::Refunded,   cancelled,       [5, 5, 0]),
        (gift_card(Captured),  PaymentState::Captured,   live_or_pending, [5, 0, 0]),
        (gift_card(Refunded),  PaymentState::Refunded,   cancelled,       [5, 5, 0]),
        // No order has such a payment.
        (gift_card(Authorized), PaymentState::Authorized, &[],            [0, 0, 0]),
    ];
    for (payment, state, fitting, [received, returned, due]) in table {
        assert_eq!(payment.state(), state, "{payment:?}");
        assert_eq!(OrderStatus::ALL.into_iter().filter(|status| payment.fits(*status)).collect::<Vec<_>>(), fitting);
        let balance = Balance { received: eur(received), returned: eur(returned), due: eur(due) };
        assert_eq!(payment.balance(), balance, "{payment:?}");
    }
}

#[test]
fn a_cancellation_voids_or_refunds_a_payment_and_as_placed_undoes_it() {
    let table = [
        (card([false; 3]), PaymentState::Voided),
        (card([true, false, false]), PaymentState::RefundDue),
        (gift_card(PaymentStatus::Captured), PaymentState::Refunded),
    ];
    for (payment, state) in table {
        let placed = if let Payment::Card { .. } = payment { card([false; 3]) } else { payment.clone() };
        let after = payment.cancelled(false);
        assert_eq!((after.state(), after.amount(), after.as_placed()), (state, eur(5), placed));
    }
}

#[test]
fn an_order_is_consistent_if_each_of_its_payments_fits_its_status() {
    let paid = |payments: Vec<Payment>| {
        let mut order = order::tests::placed(&payments);
        order.order.status = OrderStatus::Paid;
        order.is_consistent()
    };
    let captured = || card([true, false, false]);
    assert!(paid(vec![gift_card(PaymentStatus::Captured), captured()]));
    assert!(!paid(vec![gift_card(PaymentStatus::Captured), card([false; 3])]));
    assert!(!paid(vec![gift_card(PaymentStatus::Refunded), captured()]));
}

#[test]
fn an_insertion_places_an_order_within_the_hour_and_restores_it_after_that() {
    let WholeOrder { mut order, .. } = order::tests::placed(&[]);
    order.placed_at = at("2026-11-21T11:00:00Z");
    let (teapot, one) = ("teapot".parse().expect("an id"), 1.try_into().expect("a quantity"));
    let line = OrderItem {
        order_id: order.order_id.clone(),
        customer_id: order.customer_id.clone(),
        placed_at: order.placed_at,
        shard: 0,
        position: 0.into(),
        imported_at: None,
        uncounted: false,
        line: OrderLine::new(teapot, "Teapot".to_owned(), one, eur(1), eur(1)),
    };
    assert_eq!(around_noon(|now| order.is_placed_at(now)), [true, true, false]);
    assert_eq!(around_noon(|now| line.is_placed_at(now)), [true, true, false]);
    assert_eq!(around_noon(|now| Order { version: 2, ..order.clone() }.is_placed_at(now)), [false; 3]);
    assert_eq!(around_noon(|now| order.is_imported_at(now)), [false; 3]);

    // An imported order was never placed here, however young it is, and its import is as long an insertion.
    let imported = Order { imported_at: Some(order.placed_at), ..order.clone() };
    assert_eq!(around_noon(|now| imported.is_placed_at(now)), [false; 3]);
    assert_eq!(around_noon(|now| imported.is_imported_at(now)), [true, true, false]);
    assert_eq!((order.entry(), imported.entry()), (order.placed_at, order.placed_at));
    let old = Order { placed_at: at("2019-11-21"), ..imported };
    assert_eq!(around_noon(|now| old.is_imported_at(now)), [true, true, false]);
    assert_eq!(old.entry(), order.placed_at);
    let of_import = OrderItem { placed_at: old.placed_at, imported_at: old.imported_at, ..line.clone() };
    assert_eq!(around_noon(|now| of_import.is_placed_at(now)), [true, true, false]);
    let uncounted = OrderItem { uncounted: true, ..line };
    assert_eq!(around_noon(|now| uncounted.is_placed_at(now)), [false; 3]);
    assert_eq!(around_noon(|now| is_recent(order.placed_at, now)), [true, true, false]);
}

#[test]
fn delivered_and_cancelled_are_terminal_and_the_earlier_statuses_follow_from_the_steps() {
    let last: Vec<_> = OrderStatus::ALL.into_iter().filter(|status| status.is_terminal()).collect();
    assert_eq!(last, [OrderStatus::Delivered, OrderStatus::Cancelled]);
    for (status, before) in
        OrderStatus::ALL.into_iter().flat_map(|status| OrderStatus::ALL.map(|other| (status, other)))
    {
        let reached = before.may_become(status)
            || OrderStatus::ALL.into_iter().any(|between| before.may_become(between) && status.may_have_been(between));
        assert_eq!(status.may_have_been(before), reached, "{before} to {status}");
    }
    assert!(OrderStatus::Delivered.may_have_been(OrderStatus::Pending));
    assert!(!OrderStatus::Shipped.may_have_been(OrderStatus::Cancelled));
}

fn sums(amounts: [i64; 4]) -> Sums<usize> {
    amounts.into_iter().enumerate().collect()
}

proptest! {
    #[test]
    fn each_sum_is_added_and_adding_the_deficit_brings_each_into_its_bounds(
        a: [i16; 4], b: [i16; 4], least: [i16; 4], width: [u8; 4],
    ) {
        let (a, b, least) = (a.map(i64::from), b.map(i64::from), least.map(i64::from));
        let each = |of: &dyn Fn(usize) -> i64| std::array::from_fn(of);
        let mut sum = sums(a);
        sum.add_all(&sums(b));
        let expected = each(&|at| a[at] + b[at]);
        prop_assert_eq!(&sum, &sums(expected));
        prop_assert_eq!(each(&|at| sum.of(at)), expected);
        prop_assert_eq!(sum.is_zero(), expected == [0; 4]);
        let most = each(&|at| least[at] + i64::from(width[at]));
        let mut repaired = sum.clone();
        repaired.add_all(&sum.deficit(&sums(least), &sums(most)));
        prop_assert_eq!(repaired, sums(each(&|at| expected[at].clamp(least[at], most[at]))));
    }
}

#[test]
fn a_sum_saturates() {
    let mut sum = sums([i64::MAX, i64::MIN, 0, 0]);
    sum.add_all(&sums([1, -1, 0, 0]));
    assert_eq!(sum, sums([i64::MAX, i64::MIN, 0, 0]));
}

#[test]
fn only_positive_sums_are_money_and_they_saturate() {
    let sums: Sums<Currency> =
        [(currency("EUR"), 7), (currency("USD"), -1), (currency("CHF"), i64::MAX)].into_iter().collect();
    assert_eq!(sums.money(), [Money::nearest(i64::MAX, currency("CHF")), eur(7)]);
}

#[test]
fn a_counter_that_exceeds_an_integer_is_read_as_the_nearest_one() {
    let item = |orders: &str, spent: &str| {
        let number = |text: &str| serde_dynamo::AttributeValue::N(text.to_owned());
        let item = serde_dynamo::Item::from(std::collections::HashMap::from([
            ("customerId".to_owned(), serde_dynamo::AttributeValue::S("ada".to_owned())),
            ("orders".to_owned(), number(orders)),
            ("spent:EUR".to_owned(), number(spent)),
        ]));
        let stats: CustomerStats = serde_dynamo::from_item(item).expect("stats");
        (stats.orders, stats.spent.iter().map(|(_, sum)| sum).collect::<Vec<_>>())
    };
    assert_eq!(item("3", "-4"), (3, vec![-4]));
    assert_eq!(item("9223372036854775808", "99999999999999999999999"), (i64::MAX, vec![i64::MAX]));
    assert_eq!(item("-99999999999999999999999", "0"), (i64::MIN, vec![]));
}
