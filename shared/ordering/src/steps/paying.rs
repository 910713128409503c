//! Paying: through the payment provider, or recorded by staff.

use key_schema::entity::{
    CardPayment, Command, Held, OrderStatus, PaymentState, Progress, ProviderPayment, Transfer, WholeOrder, Work,
};
use key_schema::value::{IntentId, Money, Timestamp};

use super::{Denial, Step, with_status};

/// Records that the customer started to pay with this intent. If the order already has this intent, nothing changes. If
/// it has another that is not ended, or cannot be paid any more, the change is refused.
pub fn start_payment(whole: &WholeOrder, intent: &IntentId, attempt: u32, amount: Money) -> Step {
    let Some(card) = whole.invoice.card() else { return Step::Refuse };
    if card.provider.as_ref().is_some_and(|provider| provider.intent == *intent) {
        return Step::Stay;
    }
    if card.next_attempt() != Some(attempt) || !card.may_be_asked(intent, amount) {
        return Step::Refuse;
    }
    let provider = ProviderPayment {
        amount: Some(amount.amount()).filter(|amount| *amount != card.amount.amount()),
        // If the order is shipped, its new payment is captured as soon as it is authorized, as the old one should have
        // been.
        capture_requested: card.provider.as_ref().is_some_and(|provider| provider.capture_requested),
        awaits_capture: card.provider.as_ref().is_some_and(|provider| provider.awaits_capture),
        ..ProviderPayment::new(intent.clone(), attempt)
    };
    to_card(whole, CardPayment { provider: Some(provider), ..card.clone() })
}

/// Records what the payment provider was seen to hold of an intent, with the number of the newest refund that Till made
/// there. A pending order becomes paid once the payment is authorized or captured, also if the money is gone again. If
/// the order is cancelled, a captured payment is due for refund.
///
/// Another intent than the order's newest changes nothing, because an intent is replaced only after it ended. Another
/// amount is refused.
///
/// The caller looked after it read this order: see [`Lifecycle::change_as_read`](crate::Lifecycle::change_as_read).
pub fn observe_payment(
    whole: &WholeOrder,
    intent: &IntentId,
    amount: Money,
    (held, newest_refund): (Held, u32),
    now: Timestamp,
) -> Step {
    let Some(card) = whole.invoice.card() else { return Step::Refuse };
    if card.provider.as_ref().is_none_or(|provider| provider.intent != *intent) {
        return Step::Stay;
    }
    if !card.may_be_asked(intent, amount) {
        return Step::Refuse;
    }
    let card = card.observed(held, newest_refund).renumbered(now);
    let mut next = WholeOrder { invoice: whole.invoice.clone().with_card(card.clone()), ..whole.clone() };
    if whole.order.status == OrderStatus::Pending && card.was_paid() {
        next.order = with_status(whole, OrderStatus::Paid, now);
    }
    if next == *whole { Step::Stay } else { Step::To(Box::new(next)) }
}

/// Records that the payment provider did not do what it was asked for: see [`CardPayment::failed`]. If something else
/// is to be done by now, nothing changes.
pub fn fail_command(whole: &WholeOrder, command: Command, code: Option<&str>, now: Timestamp) -> Step {
    let Some(card) = whole.invoice.card() else { return Step::Refuse };
    let next = card.failed(command, code, now);
    if next == *card { Step::Stay } else { to_card(whole, next) }
}

/// Asks for the capture of an authorized payment. If it is captured or was asked for before, nothing changes.
pub fn request_capture(whole: &WholeOrder) -> Step {
    match whole.invoice.card() {
        Some(card) if card.received() > 0 && !card.cancelled => Step::Stay,
        Some(card) if card.state() == PaymentState::Authorized && card.provider.is_some() => {
            let next = with_capture_requested(card);
            if next == *card { Step::Stay } else { to_card(whole, next) }
        }
        _ => whole.work().map_or(Step::Refuse, |work| Step::Deny(Denial::OpenPayment(work))),
    }
}

/// Records that the bank has, under `reference`, what is missing of the card payment. A pending order becomes paid. If
/// the order is cancelled, the payment came too late: it is recorded, and a refund is due.
///
/// The same reference again changes nothing. A different one is refused if nothing is missing, because it would be a
/// second payment: staff refund it at the bank. So is another `amount`.
pub fn capture(whole: &WholeOrder, reference: &str, amount: Option<Money>, now: Timestamp) -> Step {
    let Some(card) = whole.invoice.card() else { return Step::Refuse };
    let is_late = card.cancelled && card.received() == 0;
    let paid = match &card.transfer {
        Some(known) if known.reference == reference => card.clone(),
        None if is_late || card.missing() > 0 => card.paid_under(reference),
        _ if card.received() > 0 => return Step::Deny(Denial::Paid),
        _ => return Step::Refuse,
    };
    if let Some(denied) = denies(&paid, paid.transfer.as_ref(), amount) {
        return denied;
    }
    if paid == *card {
        return Step::Stay;
    }
    let mut next = whole.clone();
    if whole.order.status == OrderStatus::Pending {
        next.order = with_status(whole, OrderStatus::Paid, now);
    }
    next.invoice = next.invoice.with_card(paid);
    Step::To(Box::new(next))
}

/// Records that the bank has refunded, under `reference`, all that staff owe the customer at this moment. The same
/// reference again changes nothing. If no refund is due, the payment provider makes it, or it has another `amount`, the
/// change is refused.
pub fn confirm_refund(whole: &WholeOrder, reference: &str, amount: Option<Money>) -> Step {
    let Some(card) = whole.invoice.card() else { return Step::Refuse };
    let is_known = card.refunded_as(reference).is_some();
    let refunded = if is_known { Some(card.clone()) } else { card.refunded_under(reference) };
    let Some(refunded) = refunded else { return Step::Refuse };
    match denies(&refunded, refunded.refunded_as(reference), amount) {
        Some(denied) => denied,
        None if is_known => Step::Stay,
        None => to_card(whole, refunded),
    }
}

/// The denial of a record whose amount is not the one that the caller says.
fn denies(card: &CardPayment, recorded: Option<&Transfer>, said: Option<Money>) -> Option<Step> {
    let amount = Money::nearest(recorded?.amount, card.amount.currency());
    said.filter(|said| *said != amount).map(|_| Step::Deny(Denial::OtherAmount(amount)))
}

/// Records that the shop goes without the money that it misses of a paid order: the payment lapsed, a dispute was lost,
/// somebody refunded it in the provider's dashboard, or the provider refuses the capture. If nothing is missing,
/// nothing changes. An unpaid order is refused: it is cancelled instead. So is another `amount` than what is missing,
/// unless that much was written off before.
pub fn write_off(whole: &WholeOrder, amount: Option<Money>) -> Step {
    let Some(card) = whole.invoice.card() else { return Step::Refuse };
    let missing = Money::nearest(card.missing(), card.amount.currency());
    match whole.work() {
        Some(Work::Missing | Work::Lapsed) if amount.is_some_and(|amount| amount != missing) => {
            Step::Deny(Denial::OtherAmount(missing))
        }
        Some(Work::Missing | Work::Lapsed) => card.with_written_off().map_or(Step::Refuse, |card| to_card(whole, card)),
        _ if whole.order.status == OrderStatus::Pending => Step::Refuse,
        Some(Work::Dispute) => Step::Deny(Denial::OpenPayment(Work::Dispute)),
        _ if amount.is_none_or(|amount| amount.amount() <= card.written_off) => Step::Stay,
        _ => Step::Deny(Denial::OtherAmount(Money::nearest(0, card.amount.currency()))),
    }
}

/// The order with this card payment, and everything else as it was.
fn to_card(whole: &WholeOrder, card: CardPayment) -> Step {
    Step::To(Box::new(WholeOrder { invoice: whole.invoice.clone().with_card(card), ..whole.clone() }))
}

/// The payment after a request to capture it. A payment that is not at the provider is captured already.
pub(super) fn with_capture_requested(card: &CardPayment) -> CardPayment {
    let mut next = card.clone();
    if let Some(provider) = &mut next.provider {
        // Asked again, the provider may not refuse any more.
        provider.refused = provider.refused.take().filter(|_| provider.held.progress != Progress::Authorized);
        provider.capture_requested |= provider.held.progress == Progress::Authorized;
    }
    next
}
