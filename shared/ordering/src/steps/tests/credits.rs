//! Laws of credits and returns: for any order, any payments and any sequence of changes, the money adds up to the minor
//! unit.

use std::collections::BTreeMap;

use key_schema::entity::{LineUnits, PaymentState};
use key_schema::value::ReturnId;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};

use super::super::*;
use super::{FORTNIGHT, at, eur, sold, sums};

/// One change, with the line and the units that it is about.
#[derive(Clone, Debug)]
enum Act {
    Pay,
    Advance,
    CancelUnits(Index, i64),
    Return(Index, i64),
    Receive(Index, ReturnVerdict<'static>),
    Refund(&'static str),
    Allow(&'static str, i64),
    Cancel,
}

fn any_act() -> impl Strategy<Value = Act> {
    let verdict = prop_oneof![
        3 => any::<bool>().prop_map(|restock| ReturnVerdict::Accept { restock, with_shipping: true }),
        1 => Just(ReturnVerdict::Refuse { reason: "used" }),
    ];
    prop_oneof![
        2 => Just(Act::Pay),
        3 => Just(Act::Advance),
        3 => (any::<Index>(), 1..5_i64).prop_map(|(line, units)| Act::CancelUnits(line, units)),
        3 => (any::<Index>(), 1..5_i64).prop_map(|(line, units)| Act::Return(line, units)),
        3 => (any::<Index>(), verdict).prop_map(|(which, verdict)| Act::Receive(which, verdict)),
        1 => select(vec!["back-1", "back-2", "back-3"]).prop_map(Act::Refund),
        2 => (select(vec!["one", "two"]), 1..400_i64).prop_map(|(key, amount)| Act::Allow(key, amount)),
        1 => Just(Act::Cancel),
    ]
}

/// An order of up to four lines, with a discount, up to two gift cards and a bank card that pays the rest, if any.
fn any_order() -> impl Strategy<Value = WholeOrder> {
    (vec((1..4_u32, 0..500_i64), 1..5), 0..=100_i64, [0..=100_i64, 0..=100]).prop_map(|(lines, percent, cards)| {
        let subtotal: i64 = lines.iter().map(|(units, price)| i64::from(*units) * price).sum();
        let total = subtotal - subtotal * percent / 100;
        let first = total * cards[0] / 100;
        sold(&lines, total, &[first, (total - first) * cards[1] / 100])
    })
}

fn take(whole: &WholeOrder, act: &Act, minute: i64) -> Step {
    let by = Cancel { cause: CancellationCause::Customer, reason: None };
    let units = |line: &Index, units: i64| LineUnits {
        product_id: line.get(&whole.lines).product_id.clone(),
        quantity: units.try_into().expect("a quantity"),
    };
    match act {
        Act::Pay => capture(whole, "bank-1", None, at(minute)),
        Act::Advance => {
            let to =
                if whole.order.status == OrderStatus::Paid { OrderStatus::Shipped } else { OrderStatus::Delivered };
            advance(whole, to, false, at(minute))
        }
        Act::CancelUnits(line, count) => cancel_units(whole, &[units(line, *count)], by, at(minute)),
        Act::Return(line, count) => {
            let key = format!("{}", whole.returns.len()).parse().expect("a key");
            let id = ReturnId::of(&whole.order.order_id, &key);
            let lines = [units(line, *count)];
            let request = ReturnRequest { id: &id, lines: &lines, reason: None, within: Some(&FORTNIGHT) };
            request_return(whole, request, at(minute))
        }
        Act::Receive(which, verdict) => {
            if whole.returns.is_empty() {
                return Step::Stay;
            }
            let id = &which.get(&whole.returns).return_id;
            receive_return(whole, Receipt { id, verdict: *verdict }, at(minute))
        }
        Act::Refund(reference) => confirm_refund(whole, reference, None),
        Act::Allow(key, amount) => {
            let key = key.parse().expect("a key");
            let request = AllowanceRequest { key: &key, amount: eur(*amount), reason: "a scratch" };
            allow(whole, request, at(minute))
        }
        Act::Cancel => cancel(whole, by, at(minute)),
    }
}

proptest! {
    #[test]
    fn credits_and_payments_add_up_after_any_sequence_of_changes(
        order in any_order(), acts in vec(any_act(), 0..25),
    ) {
        let placed = order.clone();
        let mut whole = order;
        for (act, minute) in acts.iter().zip(1..) {
            let before = whole.clone();
            if let Step::To(next) = take(&whole, act, minute) {
                whole = *next;
                prop_assert_ne!(&whole, &before, "a step changes something");
            }
            prop_assert!(whole.is_consistent(), "{:?}", whole);
            prop_assert!(whole.order.version <= before.order.version + 1);
            prop_assert_eq!(whole.order == before.order, whole.order.version == before.order.version);
            let credited = |whole: &WholeOrder| (whole.order.credits.clone(), whole.order.allowances.clone());
            prop_assert!(credited(&whole) == credited(&before) || whole.order.changed_at == at(minute));
            prop_assert!((before.order.credited()..=whole.order.total.amount()).contains(&whole.order.credited()));
            prop_assert_eq!(whole.as_placed(), placed.as_placed());

            // The units of a line are left, credited, or in an open return.
            let mut open: BTreeMap<_, u32> = BTreeMap::new();
            for line in whole.returns.iter().filter(|it| it.status == ReturnStatus::Requested).flat_map(|it| &it.lines) {
                *open.entry(&line.product_id).or_default() += line.quantity.get();
            }
            for line in &whole.lines {
                let product = &line.product_id;
                let [credited, returning] = [whole.order.credited_units(product), whole.order.returning_units(product)];
                prop_assert_eq!(returning, open.get(product).copied().unwrap_or_default());
                prop_assert_eq!(whole.units_left(product) + credited + returning, line.quantity.get());
            }
            // Each received return has the credit of its receipt.
            let returned: i64 = whole.returns.iter().filter_map(|it| it.amount).map(Money::amount).sum();
            prop_assert!(returned <= whole.order.credited());

            // The shop has what the customer owes for the units that are left, and owes the rest.
            let [received, returned, due] = sums(&whole);
            let is_open = |payment: &&key_schema::entity::Payment| payment.card().is_some_and(|card| card.received() == 0);
            let open = whole.invoice.payments.iter().filter(is_open);
            let open: i64 = open.map(|payment| payment.amount().amount() - payment.credited()).sum();
            let owed = match whole.order.status {
                OrderStatus::Cancelled => 0,
                _ => whole.order.net_total() - open,
            };
            prop_assert_eq!(received - returned, owed + due, "{:?}", whole);
        }
    }

    /// However the units come back, all of them bring back what was paid, and the gift cards have all of their money.
    #[test]
    fn an_order_that_comes_back_whole_returns_exactly_what_was_paid(
        order in any_order(), acts in vec((any::<Index>(), 1..5_i64), 0..20),
    ) {
        let mut whole = order;
        let go = |act: &Act, whole: &mut WholeOrder| {
            if let Step::To(next) = take(whole, act, 1) { *whole = *next; }
        };
        for act in [Act::Pay, Act::Advance, Act::Advance] {
            go(&act, &mut whole);
        }
        prop_assert_eq!(whole.order.status, OrderStatus::Delivered);
        for (line, units) in acts.into_iter().take(15) {
            go(&Act::Return(line, units), &mut whole);
        }
        let rest = whole.lines.iter().filter_map(|line| {
            let quantity = i64::from(whole.units_left(&line.product_id)).try_into().ok()?;
            Some(LineUnits { product_id: line.product_id.clone(), quantity })
        });
        let rest: Vec<_> = rest.collect();
        let id = ReturnId::of(&whole.order.order_id, &"the rest".parse().expect("a key"));
        let request = ReturnRequest { id: &id, lines: &rest, reason: None, within: None };
        if !rest.is_empty() && let Step::To(next) = request_return(&whole, request, at(1)) {
            whole = *next;
        }
        for known in whole.returns.clone() {
            let verdict = ReturnVerdict::Accept { restock: true, with_shipping: true };
            let Step::To(next) = receive_return(&whole, Receipt { id: &known.return_id, verdict }, at(2)) else {
                return Err(TestCaseError::fail("a receipt"));
            };
            whole = *next;
        }
        prop_assert_eq!(whole.order.net_total(), 0);
        go(&Act::Refund("back-1"), &mut whole);
        let [received, returned, due] = sums(&whole);
        prop_assert_eq!([returned, due], [received, 0]);
        for payment in &whole.invoice.payments {
            prop_assert_eq!(payment.state(), PaymentState::Refunded, "{:?}", payment);
        }
    }
}

/// The number of units that `lines` names of each product is the number that is cancelled in the end.
#[test]
fn a_repeated_cancellation_of_units_cancels_no_more() {
    let whole = sold(&[(3, 100), (2, 50)], 400, &[]);
    let by = Cancel { cause: CancellationCause::Customer, reason: None };
    let units = |product: &str, units: i64| LineUnits {
        product_id: product.parse().expect("an id"),
        quantity: units.try_into().expect("a quantity"),
    };
    let to = |step: Step| if let Step::To(next) = step { *next } else { panic!("{step:?}") };
    let one = to(cancel_units(&whole, &[units("p0", 1)], by, at(1)));
    assert_eq!((one.order.credited(), one.units_left(&one.lines[0].product_id)), (100, 2));
    assert_eq!(cancel_units(&one, &[units("p0", 1)], by, at(2)), Step::Stay);
    let two = to(cancel_units(&one, &[units("p0", 2), units("p1", 1)], by, at(3)));
    assert_eq!(two.order.credited(), 250);
    let denied = |product: &str, left| {
        let product_id = product.parse().expect("an id");
        Step::Deny(Denial::TooFewUnits(key_schema::entity::Shortfall { product_id, left }))
    };
    assert_eq!(cancel_units(&two, &[units("p1", 3)], by, at(4)), denied("p1", 2));
    assert_eq!(cancel_units(&two, &[units("p2", 1)], by, at(4)), denied("p2", 0));
    // No unit is left, so the order is cancelled.
    let all = to(cancel_units(&two, &[units("p0", 3), units("p1", 2)], by, at(5)));
    assert_eq!((all.order.status, all.order.credited()), (OrderStatus::Cancelled, 250));
    assert_eq!(cancel_units(&all, &[units("p0", 1)], by, at(6)), Step::Stay);
}

#[test]
fn a_pending_order_is_paid_once_gift_cards_pay_for_all_units_that_are_left() {
    let whole = sold(&[(1, 300), (1, 200)], 500, &[200]);
    let by = Cancel { cause: CancellationCause::Customer, reason: None };
    let gone = [LineUnits { product_id: "p0".parse().expect("an id"), quantity: 1.try_into().expect("a quantity") }];
    let Step::To(next) = cancel_units(&whole, &gone, by, at(1)) else { panic!("a change") };
    assert_eq!(next.order.status, OrderStatus::Paid);
    let card = next.invoice.card().expect("a card payment");
    assert_eq!((card.state(), card.next_attempt(), card.work()), (PaymentState::Voided, None, None));
    assert_eq!(expire(&next, at(5), at(6)), Step::Stay, "a paid order does not expire");
    let Step::To(shipped) = advance(&next, OrderStatus::Shipped, true, at(7)) else { panic!("it is shipped") };
    assert!(shipped.is_consistent());
}
