//! Laws of card payments: for whatever the provider is seen to hold.
#![allow(clippy::expect_used, reason = "tests")]

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

use super::*;
use crate::entity::Balance;
use crate::value::Currency;

fn eur(amount: i64) -> Money {
    Money::new(amount, Currency::try_from("EUR".to_owned()).expect("a currency")).expect("an amount")
}

const WHOLE: i64 = 1_000;

fn captured(refunded: i64) -> Held {
    Held { captured: WHOLE, refunded, ..Held::of(Progress::Captured) }
}

/// What a provider may be seen to hold of one intent of 1,000, one look after another: the intent is open, and then
/// ends or is captured. After that, what is refunded and disputed may fall as well as grow; what failed only grows.
fn any_looks() -> impl Strategy<Value = Vec<Held>> {
    use Progress::{Authorized, Captured, Declined, Ended, Released, Started};
    let open = vec(select(vec![Started, Declined, Authorized]).prop_map(Held::of), 0..3);
    let dispute = option::of(select(vec![Dispute::Open, Dispute::Won, Dispute::Lost]));
    let caught = vec((0..=WHOLE, 0..=WHOLE, 0..=WHOLE, dispute), 0..3);
    (open, any::<bool>(), 1..=WHOLE, caught).prop_map(|(mut looks, ends, captured, caught)| {
        let was_reserved = looks.last().is_some_and(|held| held.progress == Authorized);
        looks.extend(ends.then_some(Held::of(if was_reserved { Released } else { Ended })));
        let mut failed = 0;
        for (refunded, more, disputed, dispute) in caught.into_iter().filter(|_| !ends) {
            let refunded = refunded.min(captured);
            let is_taken = matches!(dispute, Some(Dispute::Open | Dispute::Lost));
            // The bank may take back what was refunded before.
            let disputed = if is_taken { disputed.min(captured) } else { 0 };
            failed += more / 3;
            looks.push(Held { progress: Captured, captured, refunded, failed, disputed, dispute });
        }
        looks
    })
}

fn at_provider(capture_requested: bool) -> CardPayment {
    let intent = "pi_1".parse().expect("an id");
    let provider = Some(ProviderPayment { capture_requested, ..ProviderPayment::new(intent, 1) });
    CardPayment { provider, ..CardPayment::of(eur(WHOLE)) }
}

/// A payment that waits, or whose order is cancelled; its capture is asked for, or not; staff recorded another payment,
/// or not; a part is credited before or after that, or not.
fn any_payment() -> impl Strategy<Value = CardPayment> {
    let credited = || prop_oneof![Just(0), 0..=WHOLE];
    (0..3, any::<bool>(), credited(), credited()).prop_map(|(kind, capture_requested, before, after)| {
        let card = at_provider(capture_requested).with_credited(before);
        match kind {
            0 => card.with_credited(before.max(after)),
            1 => card.paid_under("bank-1").with_credited(before.max(after)),
            _ => card.cancelled(false),
        }
    })
}

fn after(card: &CardPayment, looks: &[Held]) -> CardPayment {
    looks.iter().fold(card.clone(), |card, held| card.observed(*held, 0))
}

proptest! {
    /// A provider that carries out each command ends at a payment that needs none, and holds what the shop wants. What
    /// it refuses for good is left to staff.
    #[test]
    fn commands_end_and_nothing_is_left_to_do_but_for_staff(
        card in any_payment(), looks in any_looks(), refuses: bool,
    ) {
        let mut card = after(&card, &looks);
        let before = card.held();
        for _ in 0..4 {
            let Some(command) = card.command() else { break };
            let known = card.held();
            card = match command {
                // What the bank has reserved is asked for until the provider knows it.
                Command::Void if refuses && known.progress != Progress::Authorized => card.failed(command, Some(ProviderPayment::UNKNOWN), Timestamp::EPOCH),
                Command::Void => card.observed(Held { progress: Progress::Ended, ..known }, 0),
                Command::Capture { amount } => {
                    card.observed(Held { captured: amount, ..Held::of(Progress::Captured) }, 0)
                }
                Command::Refund { .. } if refuses => card.failed(command, Some("charge_disputed"), Timestamp::EPOCH),
                Command::Refund { number, amount } => {
                    prop_assert!(amount <= known.kept(), "no more goes back than the provider has: {:?}", card);
                    card.observed(Held { refunded: known.refunded + amount, ..known }, number)
                }
            };
        }
        prop_assert_eq!(card.command(), None);
        let is_disputed = before.dispute == Some(Dispute::Open);
        if is_disputed {
            prop_assert_eq!(card.work(), Some(Work::Dispute));
        } else if refuses || before.failed > 0 {
            prop_assert_eq!(card.due(), card.due_by_staff(), "{:?}", card);
        } else {
            prop_assert_eq!(card.held().kept().min(card.due()), 0, "{:?}", card);
        }
        // Staff can close what is left.
        let closed = card.refunded_under("back-1").unwrap_or(card.clone());
        let is_missing = closed.work() == Some(Work::Missing);
        let closed = closed.with_written_off().filter(|_| is_missing).unwrap_or(closed);
        prop_assert!(is_disputed || closed.work().is_none(), "{closed:?}");
    }

    /// A refund keeps its number and its amount until the provider has it, refuses it, or no such amount is due any
    /// more.
    #[test]
    fn one_refund_is_under_way_at_a_time(card in any_payment(), looks in any_looks(), credited in 0..=WHOLE) {
        let card = after(&card, &looks);
        let under_way = card.command().filter(|command| matches!(command, Command::Refund { .. }));
        if let Some(Command::Refund { number, amount }) = under_way {
            let more = card.clone().with_credited(card.credited.max(credited));
            prop_assert_eq!(more.command(), under_way);
            prop_assert_eq!(more.observed(card.held(), number - 1).command(), under_way);
            let other = Command::Refund { number: number + 1, amount };
            prop_assert_eq!(card.failed(other, None, Timestamp::EPOCH), card.clone());
            // The answer of the provider's failure is not its last word for some minutes.
            let failed = card.failed(Command::Refund { number, amount }, None, Timestamp::EPOCH);
            prop_assert_eq!(failed.command(), under_way);
            let soon = Timestamp::EPOCH.plus_seconds(CardPayment::SURE_AFTER - 1);
            prop_assert_eq!(failed.clone().renumbered(soon), failed.clone());
            let again = failed.renumbered(soon.plus_seconds(1)).command();
            let is_next = matches!(again, Some(Command::Refund { number: next, .. }) if next == number + 1);
            prop_assert!(amount > 0 && (is_next || card.held().failed > 0), "{again:?}");
        }
    }
}

#[test]
fn a_captured_payment_of_a_cancelled_order_is_due_until_it_is_refunded() {
    let refund = |number, amount| Some(Command::Refund { number, amount });
    let cancelled = at_provider(false).cancelled(false);
    assert_eq!((cancelled.state(), cancelled.command()), (PaymentState::Voided, Some(Command::Void)));
    let late = cancelled.observed(captured(0), 0);
    assert_eq!((late.state(), late.command()), (PaymentState::RefundDue, refund(1, WHOLE)));
    // Somebody refunds a part in the provider's dashboard meanwhile.
    let half = late.observed(captured(400), 0);
    assert_eq!((half.state(), half.command()), (PaymentState::RefundDue, refund(1, 600)));
    let refunded = half.observed(captured(WHOLE), 1);
    assert_eq!((refunded.state(), refunded.work()), (PaymentState::Refunded, None));
}

/// A refund that fails later is paid by staff, and never a second time by the provider.
#[test]
fn a_refund_that_failed_is_staffs() {
    let first = at_provider(false).observed(captured(0), 0).with_credited(400);
    assert_eq!(first.command(), Some(Command::Refund { number: 1, amount: 400 }));
    let made = first.observed(captured(400), 1);
    assert_eq!((made.state(), made.work()), (PaymentState::Captured, None));
    let failed = made.observed(Held { failed: 400, ..captured(0) }, 1);
    assert_eq!(
        (failed.state(), failed.work(), failed.due_by_staff()),
        (PaymentState::RefundDue, Some(Work::Refund), 400)
    );
    let by_hand = failed.refunded_under("back-1").expect("a refund");
    assert_eq!((by_hand.work(), by_hand.balance().returned), (None, eur(400)));
    let more = by_hand.with_credited(600);
    assert_eq!(more.command(), Some(Command::Refund { number: 2, amount: 200 }));
}

#[test]
fn money_that_is_gone_is_missing_until_staff_decide() {
    let paid = at_provider(false).observed(captured(0), 0);
    assert!(paid.is_secured());
    let taken = |dispute| Held { disputed: WHOLE, dispute: Some(dispute), ..captured(0) };
    let won = Held { dispute: Some(Dispute::Won), ..captured(0) };
    for (held, work) in [
        (captured(WHOLE), Some(Work::Missing)),
        (captured(500), Some(Work::Missing)),
        (taken(Dispute::Open), Some(Work::Dispute)),
        (taken(Dispute::Lost), Some(Work::Missing)),
        (Held { dispute: Some(Dispute::Open), ..captured(0) }, Some(Work::Dispute)),
        (won, None),
    ] {
        let card = paid.observed(held, 0);
        assert_eq!((card.work(), card.is_secured()), (work, work.is_none()), "{held:?}");
        if work == Some(Work::Missing) {
            let decided = card.with_written_off().expect("something is missing");
            assert_eq!((decided.work(), decided.is_secured()), (None, true));
            // What a lost dispute took may come back all the same. It is the shop's.
            let part = decided.observed(Held { disputed: held.disputed / 2, ..held }, 0);
            assert_eq!((part.due(), part.missing()), (0, 0), "{held:?}");
            let back = decided.observed(won, 0);
            assert!(held.disputed == 0 || (back.work(), back.written_off) == (None, 0), "{back:?}");
            let again = card.paid_under("bank-1");
            assert_eq!((again.work(), again.is_secured()), (None, true));
        }
    }
    // Goods are shipped, and staff have not asked for the capture.
    let shipped = at_provider(false).provider.map(|own| ProviderPayment { awaits_capture: true, ..own });
    let waits = CardPayment { provider: shipped, ..paid.clone() }.observed(Held::of(Progress::Authorized), 0);
    assert_eq!((waits.work(), waits.amount_of(Work::Capture)), (Some(Work::Capture), WHOLE));
    assert_eq!(waits.observed(captured(0), 0).work(), None);
    assert_eq!(waits.paid_under("bank-1").work(), Some(Work::Provider));
    // What staff received themselves, they can refund while the bank disputes the card.
    let twice = paid.observed(taken(Dispute::Open), 0).paid_under("bank-1").with_credited(400);
    let part = twice.refunded_under("back-1").expect("a refund");
    assert_eq!((twice.due_by_staff(), part.due(), part.work()), (400, 0, Some(Work::Dispute)));
    // The bank has what the customer should get back: no second payment, unless the shop wins.
    let cancelled = paid.observed(taken(Dispute::Open), 0).cancelled(false);
    assert_eq!((cancelled.due(), cancelled.command()), (0, None));
    assert_eq!(cancelled.observed(taken(Dispute::Lost), 0).work(), None);
    // What went away beyond a refund is all that another payment can bring.
    let twice = paid.cancelled(false).observed(Held { disputed: 600, ..captured(WHOLE) }, 1);
    assert_eq!((twice.missing(), twice.paid_under("bank-1").due()), (600, 0));
    assert_eq!(cancelled.observed(won, 0).command(), Some(Command::Refund { number: 1, amount: WHOLE }));
}

#[test]
fn what_the_provider_refuses_for_good_is_staffs() {
    let asked = at_provider(true).observed(Held::of(Progress::Authorized), 0);
    let capture = Command::Capture { amount: WHOLE };
    assert_eq!(asked.command(), Some(capture));
    assert_eq!(asked.failed(capture, None, Timestamp::EPOCH), asked);
    let refused = asked.failed(capture, Some("amount_too_small"), Timestamp::EPOCH);
    assert_eq!((refused.command(), refused.work()), (None, Some(Work::Missing)));
    assert_eq!(refused.with_written_off().and_then(|card| card.command()), Some(Command::Void));
    assert_eq!(refused.paid_under("bank-1").command(), Some(Command::Void));
    // Somebody captures it in the provider's dashboard. Refunds are not refused then.
    let taken = refused.observed(captured(0), 0).with_credited(400);
    let refund = Command::Refund { number: 1, amount: 400 };
    assert_eq!(taken.command(), Some(refund));
    let disputed = |dispute| Held { dispute: Some(dispute), ..captured(0) };
    // Staff may have refunded it already, whatever is seen later. So the provider never does.
    for code in ["charge_disputed", ProviderPayment::UNKNOWN] {
        let refused = taken.failed(refund, Some(code), Timestamp::EPOCH);
        let while_open = refused.observed(disputed(Dispute::Open), 0);
        for (refused, held) in [
            (&refused, captured(0)),
            (&refused, captured(100)),
            (&refused, disputed(Dispute::Lost)),
            (&refused, disputed(Dispute::Won)),
            (&while_open, disputed(Dispute::Won)),
        ] {
            let next = refused.observed(held, 0);
            assert_eq!((next.command(), next.due_by_staff()), (None, next.due()), "{code} {held:?}");
        }
    }
    // Of a charge that the bank disputes, staff were asked for nothing.
    let open = taken.observed(disputed(Dispute::Open), 0).failed(refund, Some("charge_disputed"), Timestamp::EPOCH);
    assert_eq!((open.work(), open.due_by_staff()), (Some(Work::Dispute), 0));
    assert_eq!(open.observed(disputed(Dispute::Won), 0).command(), Some(Command::Refund { number: 2, amount: 400 }));
}

/// The shop's key is another account's, for a while or for ever.
#[test]
fn what_is_reserved_at_a_provider_that_does_not_know_it_is_asked_for_until_the_bank_releases_it() {
    let reserved = at_provider(true).observed(Held::of(Progress::Authorized), 0);
    let at = |seconds| Timestamp::EPOCH.plus_seconds(seconds);
    let unknown =
        |card: &CardPayment, now| card.failed(card.command().expect("a command"), Some(ProviderPayment::UNKNOWN), now);
    let capture = unknown(&reserved, at(0));
    assert_eq!((capture.command(), capture.work()), (None, Some(Work::Missing)));
    assert_eq!(capture.observed(reserved.held(), 0).command(), reserved.command());
    // A capture may have been made whose answer was lost.
    let maybe_captured = unknown(&capture.cancelled(false), at(ProviderPayment::RESERVED_FOR));
    assert_eq!((maybe_captured.command(), maybe_captured.work()), (Some(Command::Void), Some(Work::Provider)));
    let reserved = at_provider(false).observed(Held::of(Progress::Authorized), 0);
    let void = unknown(&reserved.cancelled(false), at(0));
    assert_eq!(unknown(&void, at(ProviderPayment::RESERVED_FOR - 1)), void);
    assert_eq!((void.command(), void.work()), (Some(Command::Void), Some(Work::Provider)));
    // The provider knows it by now, with another amount.
    let other = void.failed(Command::Void, Some(ProviderPayment::OTHER_AMOUNT), at(ProviderPayment::RESERVED_FOR));
    assert_eq!((other.command(), other.held()), (Some(Command::Void), void.held()));
    let ended = unknown(&void, at(ProviderPayment::RESERVED_FOR));
    assert_eq!((ended.command(), ended.work(), ended.state()), (None, None, PaymentState::Voided));
}

#[test]
fn staff_record_each_refund_of_their_own_payment_once() {
    let paid = CardPayment::of(eur(WHOLE)).with_credited(200).paid_under("bank-1");
    assert_eq!(paid.balance(), Balance { received: eur(800), returned: eur(0), due: eur(0) });
    assert_eq!((paid.state(), paid.refunded_under("back-1")), (PaymentState::Captured, None));
    let due = paid.with_credited(500);
    assert_eq!((due.state(), due.work()), (PaymentState::RefundDue, Some(Work::Refund)));
    let back = due.refunded_under("back-1").expect("a refund");
    assert_eq!(back.balance(), Balance { received: eur(800), returned: eur(300), due: eur(0) });
    assert_eq!((back.state(), back.refund_reference()), (PaymentState::Captured, Some("back-1")));
    assert!(back.refunded_as("back-1").is_some() && back.refunded_as("back-2").is_none());
    let all = back.cancelled(false);
    assert_eq!((all.state(), all.balance().due), (PaymentState::RefundDue, eur(500)));
    let all = all.refunded_under("back-2").expect("a refund");
    assert_eq!((all.state(), all.refund_reference()), (PaymentState::Refunded, Some("back-2")));
    assert!(all.refunded_as("back-1").is_some() && all.refunded_as("back-2").is_some());
}

#[test]
fn a_payment_of_which_nothing_is_left_to_pay_is_void() {
    let authorized = at_provider(false).observed(Held::of(Progress::Authorized), 0);
    let void = authorized.with_credited(WHOLE);
    assert_eq!((void.state(), void.command(), void.next_attempt()), (PaymentState::Voided, Some(Command::Void), None));
    assert!(void.is_secured() && void.fits(OrderStatus::Paid) && !void.fits(OrderStatus::Pending));
    // A capture was on its way.
    assert_eq!(void.observed(captured(0), 0).command(), Some(Command::Refund { number: 1, amount: WHOLE }));
}

#[test]
fn a_payment_that_came_twice_goes_back_once() {
    let card = at_provider(false).paid_under("bank-1");
    assert_eq!(card.command(), Some(Command::Void));
    let card = card.observed(captured(0), 0);
    assert_eq!((card.state(), card.reference()), (PaymentState::RefundDue, Some("bank-1")));
    assert_eq!(card.command(), Some(Command::Refund { number: 1, amount: WHOLE }));
    assert_eq!(card.balance(), Balance { received: eur(2 * WHOLE), returned: eur(0), due: eur(WHOLE) });
}

#[test]
fn only_a_payment_that_ended_is_started_again() {
    let card = at_provider(false);
    assert_eq!(CardPayment::of(eur(WHOLE)).next_attempt(), Some(1));
    assert_eq!(card.next_attempt(), None);
    for progress in [Progress::Ended, Progress::Released] {
        let ended = card.observed(Held::of(progress), 0);
        assert_eq!((ended.state(), ended.next_attempt()), (PaymentState::Expired, Some(2)));
        assert_eq!(ended.fits(OrderStatus::Pending), progress == Progress::Ended);
    }
    assert_eq!(card.cancelled(false).next_attempt(), None);
}
