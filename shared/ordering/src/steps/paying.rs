//! Paying: through the payment provider, or recorded by staff.

use key_schema::entity::{
    CardPayment, OrderStatus, PaymentState, PaymentStatus, Progress, ProviderPayment, Report, WholeOrder,
};
use key_schema::value::{IntentId, Money, Timestamp};

use super::{Step, with_status};

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
    // If the order is shipped, its new payment is captured as soon as it is authorized, as the old one should have been.
    let capture_requested = card.provider.as_ref().is_some_and(|provider| provider.capture_requested);
    let provider = ProviderPayment { attempt, capture_requested, ..started(card, intent, amount) };
    to_card(whole, CardPayment { provider: Some(provider), ..card.clone() })
}

/// Records what the payment provider reported about an intent. A pending order becomes paid once the payment is
/// authorized or captured. If the order is cancelled, a captured payment is due for refund.
///
/// A report about another intent than the order's newest changes nothing, because an intent is replaced only after it
/// ended. A report about another amount is refused.
pub fn report_payment(whole: &WholeOrder, intent: &IntentId, amount: Money, report: Report, now: Timestamp) -> Step {
    let Some(card) = whole.invoice.card() else { return Step::Refuse };
    if !card.may_be_asked(intent, amount) {
        return Step::Refuse;
    }
    let card = match &card.provider {
        Some(provider) if provider.intent == *intent => card.clone(),
        Some(_) => return Step::Stay,
        // The report is faster than the request that started the payment.
        None => CardPayment { provider: Some(started(card, intent, amount)), ..card.clone() },
    };
    let card = card.reported(report);
    let mut next = WholeOrder { invoice: whole.invoice.clone().with_card(card.clone()), ..whole.clone() };
    if whole.order.status == OrderStatus::Pending && card.is_secured() {
        next.order = with_status(whole, OrderStatus::Paid, now);
    }
    if next == *whole { Step::Stay } else { Step::To(Box::new(next)) }
}

/// Asks for the capture of an authorized payment. If it is captured or was asked for before, nothing changes.
pub fn request_capture(whole: &WholeOrder) -> Step {
    match whole.invoice.card() {
        Some(card) if card.status == PaymentStatus::Captured => Step::Stay,
        Some(card) if card.state() == PaymentState::Authorized && card.provider.is_some() => {
            let next = with_capture_requested(card);
            if next == *card { Step::Stay } else { to_card(whole, next) }
        }
        _ => Step::Refuse,
    }
}

/// Records that the bank has captured the card payment under `reference`, as far as it is not credited. A pending order
/// becomes paid. If the order is cancelled, the payment came too late: it is recorded, and a refund is due.
///
/// The same reference again changes nothing. A different reference for a captured payment is refused, because it would
/// be a second payment.
pub fn capture(whole: &WholeOrder, reference: &str, now: Timestamp) -> Step {
    let Some(card) = whole.invoice.card() else { return Step::Refuse };
    if let Some(known) = &card.reference {
        return if known == reference { Step::Stay } else { Step::Refuse };
    }
    let mut next = whole.clone();
    match whole.order.status {
        OrderStatus::Pending => next.order = with_status(whole, OrderStatus::Paid, now),
        OrderStatus::Cancelled => {}
        _ => return Step::Refuse,
    }
    next.invoice = next.invoice.with_card(card.paid_under(reference));
    Step::To(Box::new(next))
}

/// Records that the bank has refunded, under `reference`, all that staff owe the customer at this moment. The same
/// reference again changes nothing. If no refund is due, or the payment provider makes it, the change is refused.
pub fn confirm_refund(whole: &WholeOrder, reference: &str) -> Step {
    let Some(card) = whole.invoice.card() else { return Step::Refuse };
    if card.is_refunded_under(reference) {
        return Step::Stay;
    }
    card.refunded_under(reference).map_or(Step::Refuse, |card| to_card(whole, card))
}

/// The first intent of a payment, for this amount.
fn started(card: &CardPayment, intent: &IntentId, amount: Money) -> ProviderPayment {
    ProviderPayment {
        intent: intent.clone(),
        attempt: 1,
        amount: Some(amount.amount()).filter(|amount| *amount != card.amount.amount()),
        capture_requested: false,
        refunding: 0,
        report: Report::STARTED,
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
        provider.capture_requested |= provider.report.progress == Progress::Authorized;
    }
    next
}
