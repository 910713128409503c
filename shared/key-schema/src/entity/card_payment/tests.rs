//! Laws of card payments: for any reports of the provider, in any order and number.
#![allow(clippy::expect_used, reason = "tests")]

use std::collections::BTreeSet;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use serde_dynamo::{AttributeValue, Item, to_item};

use super::*;
use crate::entity::Balance;
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
    let (amount, refunding, report) = (None, 0, Report::STARTED);
    let provider = Some(ProviderPayment { intent, attempt: 1, amount, capture_requested, refunding, report });
    CardPayment { status, settlement, provider, ..CardPayment::of(eur(WHOLE)) }
}

/// A payment that waits, or whose order is cancelled; its capture is asked for, or not; staff recorded another payment,
/// or not; a part is credited before or after that, or not.
fn any_payment() -> impl Strategy<Value = CardPayment> {
    use PaymentStatus::{Authorized, Captured, Refunded};
    let credited = || prop_oneof![Just(0), 0..=WHOLE];
    (select(vec![Authorized, Captured, Refunded]), any::<bool>(), credited(), credited()).prop_map(
        |(status, capture_requested, before, after)| {
            let card = at_provider(Authorized, capture_requested).with_credited(before);
            let card = match status {
                Authorized => card,
                Captured => card.paid_under("bank-1"),
                Refunded => card.cancelled(false),
            };
            let is_cancelled = card.status == Refunded;
            if is_cancelled { card } else { card.with_credited(before.max(after)) }
        },
    )
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
        let kept = card.report().expect("a provider").kept();
        for _ in 0..4 {
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
        if report.progress == Progress::Captured && kept > 0 {
            prop_assert_eq!(report.kept(), kept.min(card.wanted_of_provider()), "{:?}", card);
        }
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
        let report = card.report().expect("a provider");
        prop_assume!(report.progress != Progress::Captured || report.kept() >= card.wanted_of_provider());
        let Balance { received, returned, due } = card.balance();
        let kept = if card.status == PaymentStatus::Captured { card.wanted() } else { 0 };
        prop_assert_eq!(received.amount() - returned.amount(), kept + due.amount(), "{:?}", card);
    }
}

/// The paths in which two items differ, each as deep as both are maps.
fn differences(path: &str, one: &Item, other: &Item, found: &mut Vec<String>) {
    let names: BTreeSet<_> = one.keys().chain(other.keys()).collect();
    for name in names {
        let path = format!("{path}.{name}");
        match (one.get(name), other.get(name)) {
            (one, other) if one == other => {}
            (Some(AttributeValue::M(one)), Some(AttributeValue::M(other))) => {
                differences(&path, &one.clone().into(), &other.clone().into(), found);
            }
            _ => found.push(path),
        }
    }
}

proptest! {
    /// Two writes at once conflict, whichever fields they change.
    #[test]
    fn whatever_changes_in_a_payment_differs_in_its_opposite(
        some in any_payment(), is_new: bool, reports in vec(any_report(), 0..3), credited in 0..=WHOLE,
        [is_cancelled, is_paid, is_refunded]: [bool; 3],
    ) {
        let before = if is_new { CardPayment::of(eur(WHOLE)) } else { some.clone() };
        let started = CardPayment { provider: before.provider.clone().or(some.provider), ..before.clone() };
        let mut next = after(&started, &reports);
        if is_paid {
            next = next.paid_under("bank-2");
        }
        next = next.clone().with_credited(next.credited.max(credited));
        if is_cancelled {
            next = next.cancelled(true);
        }
        if is_refunded {
            next = next.refunded_under("back-1").unwrap_or(next);
        }
        let item = |card: &CardPayment| to_item(card).expect("an item");
        let (mut changed, mut guarded) = (Vec::new(), Vec::new());
        differences("", &item(&before), &item(&next), &mut changed);
        differences("", &item(&before), &item(&before.unlike()), &mut guarded);
        let is_guarded = |path: &String| guarded.iter().any(|guard| path.starts_with(guard.as_str()));
        prop_assert!(changed.is_empty() || changed.iter().any(is_guarded), "{:?} of {:?}", changed, guarded);
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

/// The refund that is under way stays the same while more is credited, so that whoever asks for it asks for the same one.
#[test]
fn one_refund_is_under_way_at_a_time() {
    let report = |refunded| Report { progress: Progress::Captured, captured: WHOLE, refunded };
    let refund = |amount, total| Some(Command::Refund { amount, total });
    let first = at_provider(PaymentStatus::Authorized, false).reported(report(0)).with_credited(100);
    assert_eq!((first.state(), first.command()), (PaymentState::RefundDue, refund(100, 100)));
    let second = first.with_credited(250);
    assert_eq!(second.command(), refund(100, 100));
    assert_eq!(second.balance(), Balance { received: eur(WHOLE), returned: eur(0), due: eur(250) });
    let third = second.reported(report(100)).cancelled(false);
    assert_eq!(third.command(), refund(150, 250));
    let last = third.reported(report(250));
    assert_eq!(last.command(), refund(750, WHOLE));
    assert_eq!((last.reported(report(WHOLE)).state(), last.is_due()), (PaymentState::Refunded, true));
}

#[test]
fn staff_record_each_refund_of_their_own_payment_once() {
    let paid = CardPayment::of(eur(WHOLE)).with_credited(200).paid_under("bank-1");
    assert_eq!(paid.balance(), Balance { received: eur(800), returned: eur(0), due: eur(0) });
    assert_eq!((paid.state(), paid.refunded_under("back-1")), (PaymentState::Captured, None));
    let due = paid.with_credited(500);
    assert_eq!((due.state(), due.is_due()), (PaymentState::RefundDue, true));
    let back = due.refunded_under("back-1").expect("a refund");
    assert_eq!(back.balance(), Balance { received: eur(800), returned: eur(300), due: eur(0) });
    assert_eq!((back.state(), back.refund_reference()), (PaymentState::Captured, Some("back-1")));
    assert!(back.is_refunded_under("back-1") && !back.is_refunded_under("back-2"));
    let all = back.cancelled(false);
    assert_eq!((all.state(), all.balance().due), (PaymentState::RefundDue, eur(500)));
    let all = all.refunded_under("back-2").expect("a refund");
    assert_eq!((all.state(), all.refund_reference()), (PaymentState::Refunded, Some("back-2")));
    assert!(all.is_refunded_under("back-1") && all.is_refunded_under("back-2"));
}

#[test]
fn a_payment_of_which_nothing_is_left_to_pay_is_void() {
    let card = at_provider(PaymentStatus::Authorized, false);
    let authorized = card.reported(Report { progress: Progress::Authorized, captured: 0, refunded: 0 });
    let void = authorized.with_credited(WHOLE);
    assert_eq!((void.state(), void.command(), void.next_attempt()), (PaymentState::Voided, Some(Command::Void), None));
    assert!(void.is_secured() && void.fits(OrderStatus::Paid) && !void.fits(OrderStatus::Pending));
    // A capture was on its way.
    let late = void.reported(Report { progress: Progress::Captured, captured: WHOLE, refunded: 0 });
    assert_eq!(late.command(), Some(Command::Refund { amount: WHOLE, total: WHOLE }));
}

#[test]
fn a_payment_that_came_twice_goes_back_once() {
    let mut card = at_provider(PaymentStatus::Captured, false);
    card.reference = Some("bank-1".to_owned());
    assert_eq!(card.command(), Some(Command::Void));
    let card = card.reported(Report { progress: Progress::Captured, captured: WHOLE, refunded: 0 });
    assert_eq!((card.state(), card.reference.as_deref()), (PaymentState::RefundDue, Some("bank-1")));
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
