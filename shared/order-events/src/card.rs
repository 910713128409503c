//! The event of a change of an invoice's card payment.
//!
//! Amounts come from the balance of the payment, which only moves in one direction: what was received and returned never
//! shrinks, and neither does what was due or returned together. So the events of an invoice add up to its balance, and
//! the sum before a change tells apart the events of one kind.

use key_schema::entity::{CardPayment, Invoice, PaymentState, Progress};
use key_schema::value::{IntentId, Money};

use crate::event::{Event, LAYOUT_VERSION};
use crate::{EventId, Failure, OrderExpired, PaymentAuthorized, PaymentCaptured, PaymentFailed, RefundDue, RefundMade};

/// The event of this change, if it has one. An invoice has at most one card payment, for what the gift cards leave.
pub(crate) fn card_payment_changed(old: &Invoice, new: Invoice) -> Option<Event> {
    let (before, after) = (old.card()?, new.card()?.clone());
    money_moved(before, &after, &new).or_else(|| payment_moved(before, &after, new))
}

/// The event of money that was received or returned, or that must be returned.
fn money_moved(before: &CardPayment, after: &CardPayment, new: &Invoice) -> Option<Event> {
    let (was, is) = (before.balance(), after.balance());
    let Invoice { invoice_id, order_id, customer_id, .. } = new.clone();
    let layout_version = LAYOUT_VERSION;
    let received = growth(was.received, is.received);
    // If units were cancelled while the payment was captured, a part of what came is due at once. The capture is told,
    // and the refund when it is made.
    if let Some(amount) = growth(was.due, is.due).filter(|due| received.is_none_or(|received| received == *due)) {
        let due = RefundDue {
            id: EventId::of_refund_due(&invoice_id, was.due.amount() + was.returned.amount()),
            layout_version,
            invoice_id,
            order_id,
            customer_id,
            amount,
            reference: after.reference.clone(),
            captured_after_cancellation: received.is_some(),
        };
        return Some(due.into());
    }
    if let Some(amount) = growth(was.returned, is.returned) {
        let id = EventId::of_refund(&invoice_id, was.returned.amount());
        let reference = after.refund_reference()?.to_owned();
        return Some(RefundMade { id, layout_version, invoice_id, order_id, customer_id, amount, reference }.into());
    }
    let amount = received?;
    let id = EventId::of_capture(&invoice_id, was.received.amount());
    let reference = after.reference.clone();
    Some(PaymentCaptured { id, layout_version, invoice_id, order_id, customer_id, amount, reference }.into())
}

/// The event of a payment that was authorized or failed, or of an order that was not paid in time.
fn payment_moved(before: &CardPayment, after: &CardPayment, new: Invoice) -> Option<Event> {
    let Invoice { invoice_id, order_id, customer_id, .. } = new;
    let layout_version = LAYOUT_VERSION;
    // What was to be paid before this change, also if the order is cancelled now.
    let unpaid = after.amount.amount() - after.credited;
    let own = after.provider.as_ref().and_then(|provider| provider.amount);
    let amount = Money::nearest(if after.expired { unpaid } else { own.unwrap_or(unpaid) }, after.amount.currency());
    if after.expired && !before.expired {
        let id = EventId::of_expiry(&order_id);
        return Some(OrderExpired { id, layout_version, order_id, customer_id, amount }.into());
    }
    let progress = |card: &CardPayment| card.report().map(|report| report.progress);
    let is_authorized = progress(before) < Some(Progress::Authorized) && progress(after) == Some(Progress::Authorized);
    let reason = match (before.state(), after.state()) {
        // The order is cancelled, or all that the card was to pay is.
        _ if is_authorized && after.wanted() == 0 => Some(Failure::TooLate),
        (PaymentState::Authorized, PaymentState::Expired) => Some(Failure::Expired),
        (_, PaymentState::Declined) if before.state() != PaymentState::Declined => Some(Failure::Declined),
        (was, PaymentState::Authorized) if was != PaymentState::Authorized => None,
        _ => return None,
    };
    let attempt = after.provider.as_ref().map_or(1, |provider| provider.attempt);
    let reference = intent_of(after)?.to_string();
    Some(match reason {
        None => {
            let id = EventId::of_authorization(&invoice_id, attempt);
            PaymentAuthorized { id, layout_version, invoice_id, order_id, customer_id, amount, reference }.into()
        }
        Some(reason) => {
            let id = EventId::of_failure(&invoice_id, attempt, reason);
            PaymentFailed { id, layout_version, invoice_id, order_id, customer_id, amount, reference, reason }.into()
        }
    })
}

/// The amount by which the second is greater than the first, if it is.
fn growth(was: Money, is: Money) -> Option<Money> {
    is.checked_sub(was).filter(|more| !more.is_zero())
}

fn intent_of(card: &CardPayment) -> Option<&IntentId> {
    card.provider.as_ref().map(|provider| &provider.intent)
}
