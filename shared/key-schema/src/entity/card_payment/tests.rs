//! Laws of card payments: for any reports of the provider, in any order and number.
#![allow(clippy::expect_used, reason = "tests")]

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use super::*;
use crate::value::Currency;

fn eur(amount: i64) -> Money {
    Money::new(amount, Currency::try_from("EUR".to_owned()).expect("a currency")).expect("an amount")
}

const WHOLE: i64 = 1_000;

/// Reports of one intent of 1,000, as a provider makes them: what is captured is at most the whole, and what is refunded
/// at most what is captured.
fn any_report() -> impl Strategy<Value = Report> {
    use Progress::{Authorized, Captured, Declined, Ended, Started};
    let open = select(vec![Started, Declined, Authorized, Ended]);
    prop_oneof![
        open.prop_map(|progress| Report { progress, captured: 0, refunded: 0 }),
        (0..=WHOLE).prop_map(|refunded| Report { progress: Captured, captured: WHOLE, refunded }),
    ]
}

fn at_provider(status: PaymentStatus, capture_requested: bool) -> CardPayment {
    let settlement = (status == PaymentStatus::Refunded).then_some(Settlement::Voided);
    let intent = "pi_1".parse().expect("an id");
    let provider = Some(ProviderPayment { intent, attempt: 1, capture_requested, report: Report::STARTED });
    CardPayment { status, settlement, provider, ..CardPayment::of(eur(WHOLE)) }
}

/// A payment that waits, or whose order is cancelled; its capture is asked for, or not; staff recorded another payment,
/// or not.
fn any_payment() -> impl Strategy<Value = CardPayment> {
    use PaymentStatus::{Authorized, Captured, Refunded};
    (select(vec![Authorized, Captured, Refunded]), any::<bool>()).prop_map(|(status, capture_requested)| {
        let mut card = at_provider(status, capture_requested);
        if status == Captured {
            card.reference = Some("bank-1".to_owned());
        }
        card
    })
}

fn after(card: &CardPayment, reports: &[Report]) -> CardPayment {
    reports.iter().fold(card.clone(), |card, report| card.reported(*report))
}

proptest! {
    #[test]
    fn reports_may_come_in_any_order_and_number(
        card in any_payment(), reports in vec(any_report(), 0..6), order in vec(any::<prop::sample::Index>(), 0..12),
    ) {
        let mut shuffled: Vec<Report> = reports.clone();
        if !reports.is_empty() {
            // Each report at least once, and some of them again.
            shuffled.reverse();
            shuffled.extend(order.iter().map(|index| *index.get(&reports)));
        }
        let expected = after(&card, &reports);
        prop_assert_eq!(after(&card, &shuffled).provider, expected.provider.clone());
        prop_assert_eq!(after(&card, &shuffled).state(), expected.state());
        prop_assert_eq!(after(&card, &shuffled).command(), expected.command());
    }

    #[test]
    fn joining_is_commutative_associative_and_idempotent(a in any_report(), b in any_report(), c in any_report()) {
        prop_assert_eq!(a.join(b), b.join(a));
        prop_assert_eq!(a.join(b).join(c), a.join(b.join(c)));
        prop_assert_eq!(a.join(a), a);
    }

    /// A provider that carries out each command ends at a payment that needs none, and holds what the shop wants.
    #[test]
    fn commands_end_and_leave_the_provider_with_what_the_shop_wants(
        card in any_payment(), reports in vec(any_report(), 0..4),
    ) {
        let mut card = after(&card, &reports);
        for _ in 0..3 {
            let Some(command) = card.command() else { break };
            let known = card.report().expect("a provider");
            let report = match command {
                Command::Void => Report { progress: Progress::Ended, ..known },
                Command::Capture { amount } => Report { progress: Progress::Captured, captured: amount, refunded: 0 },
                Command::Refund { amount, total } => {
                    prop_assert_eq!(known.refunded + amount, total);
                    Report { refunded: total, ..known }
                }
            };
            card = card.reported(report);
        }
        prop_assert_eq!(card.command(), None);
        let report = card.report().expect("a provider");
        if card.status == PaymentStatus::Refunded || card.is_recorded_by_staff() {
            prop_assert_eq!(report.kept(), 0, "{:?}", card);
        }
        if card.status == PaymentStatus::Refunded {
            prop_assert!(!card.is_due(), "{card:?}");
        }
    }

    /// Money received less money returned is what the shop may keep, and what it owes.
    #[test]
    fn received_less_returned_is_kept_or_due(card in any_payment(), reports in vec(any_report(), 0..4)) {
        let card = after(&card, &reports);
        // Staff may refund a customer at the provider without telling Till. The audit tells of it.
        let is_refunded_elsewhere = card.report().is_some_and(|report| report.refunded > 0);
        prop_assume!(card.is_recorded_by_staff() || card.state() != PaymentState::Captured || !is_refunded_elsewhere);
        let Balance { received, returned, due } = card.balance();
        let kept = if card.state() == PaymentState::Captured { card.amount.amount() } else { 0 };
        prop_assert_eq!(received.amount() - returned.amount(), kept + due.amount(), "{:?}", card);
    }
}

#[test]
fn a_captured_payment_of_a_cancelled_order_is_due_until_it_is_refunded() {
    let report = |refunded| Report { progress: Progress::Captured, captured: WHOLE, refunded };
    let cancelled = at_provider(PaymentStatus::Refunded, false);
    assert_eq!((cancelled.state(), cancelled.command()), (PaymentState::Voided, Some(Command::Void)));
    let captured = cancelled.reported(report(0));
    assert_eq!(captured.state(), PaymentState::RefundDue);
    assert_eq!(captured.command(), Some(Command::Refund { amount: WHOLE, total: WHOLE }));
    let half = captured.reported(report(400));
    assert_eq!(half.state(), PaymentState::RefundDue);
    assert_eq!(half.command(), Some(Command::Refund { amount: 600, total: WHOLE }));
    let refunded = half.reported(report(WHOLE));
    assert_eq!((refunded.state(), refunded.command()), (PaymentState::Refunded, None));
}

#[test]
fn a_payment_that_came_twice_goes_back_once() {
    let mut card = at_provider(PaymentStatus::Captured, false);
    card.reference = Some("bank-1".to_owned());
    assert_eq!(card.command(), Some(Command::Void));
    let card = card.reported(Report { progress: Progress::Captured, captured: WHOLE, refunded: 0 });
    assert_eq!((card.state(), card.reference.as_deref()), (PaymentState::Captured, Some("bank-1")));
    assert_eq!(card.command(), Some(Command::Refund { amount: WHOLE, total: WHOLE }));
    assert_eq!(card.balance(), Balance { received: eur(2 * WHOLE), returned: eur(0), due: eur(WHOLE) });
}

#[test]
fn only_a_payment_that_ended_is_started_again() {
    let card = at_provider(PaymentStatus::Authorized, false);
    assert_eq!(CardPayment::of(eur(WHOLE)).next_attempt(), Some(1));
    assert_eq!(card.next_attempt(), None);
    let ended = card.reported(Report { progress: Progress::Ended, captured: 0, refunded: 0 });
    assert_eq!((ended.state(), ended.next_attempt()), (PaymentState::Expired, Some(2)));
    assert_eq!(at_provider(PaymentStatus::Refunded, false).next_attempt(), None);
}
