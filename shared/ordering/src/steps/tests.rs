//! Invariants of the steps, for any order and any sequence of changes.
#![allow(clippy::expect_used, reason = "tests")]

mod access;
mod credits;
mod payments;
mod returns;
mod shipments;

use key_schema::entity::{CardPayment, Order, OrderLine, Payment, PaymentStatus};
use key_schema::value::{Currency, Money, Zone};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use super::*;
use crate::Withdrawal;

static FORTNIGHT: Withdrawal = Withdrawal { days: 14, zone: Zone::UTC };

fn eur(amount: i64) -> Money {
    Money::new(amount, Currency::try_from("EUR".to_owned()).expect("a currency")).expect("an amount")
}

pub(crate) fn at(minute: i64) -> Timestamp {
    format!("2026-11-22T10:{minute:02}:00.000Z").parse().expect("a time")
}

/// A newly placed order, paid with a gift card and a bank card. A payment of zero is left out.
pub(crate) fn placed(by_gift_card: i64, by_card: i64) -> WholeOrder {
    sold(&[], by_gift_card + by_card, &[by_gift_card])
}

/// A newly placed order with these lines, each with its number of units and their price, at this total. Gift cards pay
/// these amounts, and a bank card the rest. A payment of zero is left out.
pub(crate) fn sold(lines: &[(u32, i64)], total: i64, by_gift_cards: &[i64]) -> WholeOrder {
    let mut payments = Vec::new();
    let mut by_card = total;
    for (number, amount) in by_gift_cards.iter().copied().enumerate().filter(|(_, amount)| *amount > 0) {
        let code = format!("GIFT-{number}").parse().expect("a code");
        let status = PaymentStatus::Captured;
        payments.push(Payment::GiftCard { code, amount: eur(amount), status, credited: 0 });
        by_card -= amount;
    }
    if by_card > 0 {
        payments.push(Payment::Card(CardPayment::of(eur(by_card))));
    }
    let line = |(number, (units, price)): (usize, &(u32, i64))| {
        let (product_id, units) = (format!("p{number}").parse().expect("an id"), i64::from(*units));
        let quantity = units.try_into().expect("a quantity");
        OrderLine::new(product_id, "A thing".to_owned(), quantity, eur(*price), eur(units * price))
    };
    let lines: Vec<_> = lines.iter().enumerate().map(line).collect();
    let subtotal = if lines.is_empty() { total } else { lines.iter().map(|line| line.amount.amount()).sum() };
    let order = Order {
        status: OrderStatus::when_placed(&payments),
        subtotal: eur(subtotal),
        discount: eur(subtotal - total),
        line_count: u8::try_from(lines.len()).expect("few lines"),
        units: lines.iter().map(|line| line.quantity.get()).sum(),
        ..Order::new("an-order".parse().expect("an id"), "ada".parse().expect("an id"), at(0), eur(total))
    };
    WholeOrder::new(order, lines, payments)
}

fn any_changes() -> impl Strategy<Value = Vec<Transition<'static>>> {
    let change = prop_oneof![
        (select(&OrderStatus::ALL[..]), any::<bool>()).prop_map(|(to, captures)| Transition::Advance { to, captures }),
        select(vec!["bank-1", "bank-2"]).prop_map(|reference| Transition::Capture { reference, amount: None }),
        select(vec![CancellationCause::Customer, CancellationCause::Staff])
            .prop_map(|cause| Transition::Cancel(Cancel { cause, reason: None })),
        (0..2_i64).prop_map(|minute| Transition::Expire { deadline: at(minute) }),
        select(vec!["back-1", "back-2"]).prop_map(|reference| Transition::ConfirmRefund { reference, amount: None }),
        Just(Transition::WriteOff { amount: None }),
    ];
    vec(change, 0..12)
}

/// The sums received, returned and due over all payments.
fn sums(whole: &WholeOrder) -> [i64; 3] {
    let balances: Vec<_> = whole.invoice.payments.iter().map(Payment::balance).collect();
    let sum = |of: fn(&key_schema::entity::Balance) -> Money| balances.iter().map(|it| of(it).amount()).sum();
    [sum(|it| it.received), sum(|it| it.returned), sum(|it| it.due)]
}

proptest! {
    #[test]
    fn payments_always_add_up_after_any_sequence_of_changes(
        by_gift_card in 0..1000_i64, by_card in 0..1000_i64, changes in any_changes(),
    ) {
        let mut whole = placed(by_gift_card, by_card);
        let mut captured = 0;
        for (change, minute) in changes.into_iter().zip(1..) {
            let before = whole.clone();
            if let Step::To(next) = change.of(&whole, at(minute)) {
                whole = *next;
                prop_assert_ne!(&whole, &before, "a step changes something");
                let repeated = change.of(&whole, at(59));
                prop_assert!(matches!(repeated, Step::Stay), "{:?}: {:?}", change, repeated);
                prop_assert!(whole.order.status == before.order.status || before.order.status.may_become(whole.order.status));
                prop_assert_eq!(whole.order.version - before.order.version, u64::from(whole.order.status != before.order.status));
                prop_assert!(whole.order.status == before.order.status || whole.order.changed_at == at(minute));
                if matches!(change, Transition::Capture { .. }) {
                    captured += by_card;
                }
            }
            // The parts add up to the total, and header and invoice agree.
            let parts: i64 = whole.invoice.payments.iter().map(|payment| payment.amount().amount()).sum();
            prop_assert_eq!(parts, whole.order.total.amount());
            prop_assert!(whole.is_consistent(), "{:?}", whole);
            // The shop received what the bank captured and what the gift card paid. What it has not returned, it owes.
            let [received, returned, due] = sums(&whole);
            prop_assert_eq!(received, by_gift_card + captured);
            let owed = match whole.order.status {
                OrderStatus::Cancelled => due,
                OrderStatus::Pending => by_gift_card,
                _ => whole.order.total.amount(),
            };
            prop_assert_eq!(received - returned, owed);
            prop_assert!(whole.order.status != OrderStatus::Cancelled || whole.order.cancellation.is_some());
        }
    }
}

#[test]
fn only_an_unpaid_order_expires_and_only_after_its_time() {
    let unpaid = placed(5, 5);
    assert_eq!(expire(&unpaid, at(0), at(30)).cause(), Some(CancellationCause::Unpaid));
    let before = "2026-11-22T09:59:59.999Z".parse().expect("a time");
    assert_eq!(expire(&unpaid, before, at(30)), Step::Stay);
    let Step::To(paid) = capture(&unpaid, "bank-1", None, at(1)) else { panic!("it is paid") };
    assert_eq!(expire(&paid, at(0), at(30)), Step::Stay);
    assert_eq!(expire(&placed(5, 0), at(0), at(30)), Step::Stay);
}

impl Step {
    fn cause(&self) -> Option<CancellationCause> {
        let Self::To(whole) = self else { return None };
        whole.order.cancellation.as_ref().and_then(|cancellation| cancellation.cause)
    }
}

#[test]
fn advancing_to_a_status_that_the_order_has_passed_changes_nothing() {
    let Step::To(shipped) = advance(&placed(5, 0), OrderStatus::Shipped, false, at(1)) else { panic!("it is shipped") };
    let Step::To(delivered) = advance(&shipped, OrderStatus::Delivered, false, at(2)) else {
        panic!("it is delivered")
    };
    assert_eq!(advance(&delivered, OrderStatus::Shipped, false, at(3)), Step::Stay);
    let by_customer = Cancel { cause: CancellationCause::Customer, reason: None };
    let Step::To(cancelled) = cancel(&placed(5, 0), by_customer, at(1)) else { panic!("it is cancelled") };
    assert_eq!(advance(&cancelled, OrderStatus::Shipped, false, at(2)), Step::Refuse);
}

#[test]
fn a_refund_is_confirmed_only_if_it_is_due_and_under_one_reference() {
    let by_staff = Cancel { cause: CancellationCause::Staff, reason: None };
    let to = |step: Step| if let Step::To(next) = step { *next } else { panic!("{step:?}") };
    let paid = to(capture(&placed(0, 5), "bank-1", None, at(1)));
    let due = to(cancel(&paid, by_staff, at(2)));
    assert_eq!(sums(&due), [5, 0, 5]);
    let back = to(confirm_refund(&due, "back-1", None));
    assert_eq!(sums(&back), [5, 5, 0]);
    assert_eq!(confirm_refund(&back, "back-1", None), Step::Stay);
    assert_eq!(confirm_refund(&back, "back-2", None), Step::Refuse);
    let void = to(cancel(&placed(0, 5), by_staff, at(2)));
    for nothing_due in [placed(0, 5), paid, void, placed(5, 0)] {
        assert_eq!(confirm_refund(&nothing_due, "back-1", None), Step::Refuse);
    }
}
