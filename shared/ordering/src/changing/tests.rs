//! Cases that the invariants of the model in `lab/models` cannot distinguish. The model explores all others.
#![allow(clippy::expect_used, clippy::panic, reason = "tests")]

use key_schema::entity::{CancellationCause, OrderStatus};

use super::*;
use crate::steps::tests::{at, placed};
use crate::steps::{self, Cancel};

const CANCEL: Transition<'static> = Transition::Cancel(Cancel { cause: CancellationCause::Customer, reason: None });

fn done(next: Result<ChangingAction, Error>) -> Transitioned {
    match next.expect("a next request") {
        ChangingAction::Done(change) => *change,
        next => panic!("not done: {next:?}"),
    }
}

/// The write that a change makes after reading this order.
fn writing(changing: &mut Changing<'_>, whole: &WholeOrder) -> (Vec<Write>, SentChange) {
    match changing.order_read(whole.clone(), at(1)).expect("a next request") {
        ChangingAction::Write(writes, sent) => (writes, *sent),
        next => panic!("no write: {next:?}"),
    }
}

fn to(step: Step) -> WholeOrder {
    match step {
        Step::To(whole) => *whole,
        step => panic!("no change: {step:?}"),
    }
}

#[test]
fn an_unanswered_cancellation_is_recognized_as_its_own_after_a_late_payment_was_recorded() {
    let whole = placed(5, 5);
    let mut changing = Changing::new(CANCEL);
    let (_, sent) = writing(&mut changing, &whole);
    let cancelled = sent.to.clone();
    assert!(matches!(changing.unanswered(sent), ChangingAction::Read { backoff: true }));
    let paid_late = to(steps::capture(&cancelled, "bank-1", None, at(2)));
    assert_ne!(paid_late.invoice, cancelled.invoice);
    assert_eq!(done(changing.order_read(paid_late.clone(), at(3))), Transitioned::Done(paid_late));
}

#[test]
fn an_answer_needs_a_snapshot_read_if_the_header_is_newer_than_the_invoice() {
    let whole = placed(5, 5);
    let mut changing = Changing::new(CANCEL);
    let (_, sent) = writing(&mut changing, &whole);
    let cancelled = sent.to.clone();
    changing.unanswered(sent);
    let torn = WholeOrder { invoice: whole.invoice, ..cancelled.clone() };
    assert!(matches!(changing.order_read(torn, at(2)), Ok(ChangingAction::Settle(_))));
    assert_eq!(done(changing.settled(cancelled.clone(), at(2))), Transitioned::Done(cancelled));
}

#[test]
fn a_refusal_needs_a_snapshot_read() {
    let mut changing = Changing::new(Transition::Advance { to: OrderStatus::Shipped, captures: false });
    let whole = placed(5, 5);
    assert!(matches!(changing.order_read(whole.clone(), at(1)), Ok(ChangingAction::Settle(_))));
    assert_eq!(done(changing.settled(whole, at(1))), Transitioned::Refused(OrderStatus::Pending));
}

#[test]
fn that_nothing_is_left_to_do_needs_a_read_that_is_not_torn() {
    let by_customer = Cancel { cause: CancellationCause::Customer, reason: None };
    let cancelled = to(steps::cancel(&placed(5, 5), by_customer, at(1)));
    let torn = WholeOrder { invoice: placed(5, 5).invoice, ..cancelled.clone() };
    assert!(matches!(Changing::new(CANCEL).order_read(torn, at(2)), Ok(ChangingAction::Settle(_))));
    assert_eq!(done(Changing::new(CANCEL).order_read(cancelled.clone(), at(2))), Transitioned::DoneBefore(cancelled));
}

/// The role of `expire-orders` has no permission for a snapshot read.
#[test]
fn an_expiry_needs_no_snapshot_read() {
    let pending = placed(5, 5);
    let paid = to(steps::capture(&pending, "bank-1", None, at(1)));
    let expire = Transition::Expire { deadline: at(1) };
    // The header is from after the capture, the invoice from before it.
    let torn = WholeOrder { invoice: pending.invoice.clone(), ..paid };
    assert_eq!(done(Changing::new(expire).order_read(torn.clone(), at(2))), Transitioned::DoneBefore(torn));

    let mut changing = Changing::new(expire);
    let (_, sent) = writing(&mut changing, &pending);
    let torn = WholeOrder { invoice: pending.invoice.clone(), ..sent.to.clone() };
    changing.unanswered(sent);
    assert_eq!(done(changing.order_read(torn.clone(), at(2))), Transitioned::Done(torn));
}

#[test]
fn a_failed_condition_on_the_order_leads_to_another_read_and_any_other_is_a_defect() {
    // A free order has no payment, so its cancellation does not write the invoice.
    for (by_gift_card, guards) in [(0, 1), (5, 2)] {
        let whole = placed(by_gift_card, 0);
        for failed in 0..3 {
            let mut changing = Changing::new(CANCEL);
            let (_, sent) = writing(&mut changing, &whole);
            let mut causes = vec![Cause::None; 3];
            causes[failed] = Cause::Condition(None);
            let next = changing.written(sent, Commit::Cancelled(causes));
            assert_eq!(
                matches!(next, Ok(ChangingAction::Read { backoff: true })),
                failed < guards,
                "{by_gift_card} {failed}"
            );
            assert_eq!(matches!(next, Err(Error::Inconsistent(_))), failed >= guards, "{by_gift_card} {failed}");
        }
    }
}
