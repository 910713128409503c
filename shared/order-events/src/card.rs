//! The events of a change of an invoice's card payment.
//!
//! Amounts come from sums that only grow: what was received, what was ever refunded (also if the refund failed later),
//! what failed, and what ever became due. So the events of an invoice add up to these sums, and a sum before a change
//! tells apart the events of one kind.

use key_schema::entity::{CardPayment, Invoice, PaymentState, Progress};
use key_schema::value::{IntentId, Money};

use crate::event::{Event, LAYOUT_VERSION};
use crate::{
    EventId, Failure, OrderExpired, PaymentAuthorized, PaymentCaptured, PaymentDisputed, PaymentFailed, RefundDue,
    RefundFailed, RefundMade,
};

/// The events of this change, if it has any. An invoice has at most one card payment, for what the gift cards leave.
pub(crate) fn card_payment_changed(old: &Invoice, new: Invoice) -> Vec<Event> {
    let (Some(before), Some(after)) = (old.card(), new.card().cloned()) else { return Vec::new() };
    let moved = money_moved(before, &after, &new);
    if moved.is_empty() { payment_moved(before, &after, new).into_iter().collect() } else { moved }
}

/// The refunds that were ever made, also if they failed later, and what ever became due, in minor units.
fn ever(card: &CardPayment) -> (i64, i64) {
    let refunded = card.returned() + card.held().failed;
    (refunded, refunded + card.due())
}

/// The events of money that was received or returned, that must be returned, or that the bank disputes.
fn money_moved(before: &CardPayment, after: &CardPayment, new: &Invoice) -> Vec<Event> {
    let Invoice { invoice_id, order_id, customer_id, .. } = new.clone();
    let layout_version = LAYOUT_VERSION;
    let growth = |was: i64, is: i64| (is > was).then(|| Money::nearest(is - was, after.amount.currency()));
    let ((was_refunded, was_due), (is_refunded, is_due)) = (ever(before), ever(after));
    let (was, is) = (before.held(), after.held());
    let received = growth(before.received(), after.received());
    // If units were cancelled while the payment was captured, a part of what came is due at once. The capture is told,
    // and the refund when it is made. A refund that is seen together with a late capture tells of both.
    let due = growth(was_due, is_due)
        .filter(|due| after.due() > before.due() && received.is_none_or(|received| received == *due));
    let refunded = growth(was_refunded, is_refunded);
    let is_told = due.is_some() || (refunded.is_some() && refunded == received);
    let captured = received.filter(|_| !is_told).map(|amount| {
        let id = EventId::of("PaymentCaptured", &[&invoice_id, &before.received()]);
        let (invoice_id, order_id, customer_id) = (invoice_id.clone(), order_id.clone(), customer_id.clone());
        let reference = after.reference().map(str::to_owned);
        PaymentCaptured { id, layout_version, invoice_id, order_id, customer_id, amount, reference }.into()
    });
    let made = refunded.map(|amount| {
        let id = EventId::of("RefundMade", &[&invoice_id, &was_refunded]);
        let (invoice_id, order_id, customer_id) = (invoice_id.clone(), order_id.clone(), customer_id.clone());
        let by_staff = after.refund_reference().filter(|_| after.refunds.len() > before.refunds.len());
        let reference = by_staff.or(intent_of(after).map(IntentId::as_str)).unwrap_or_default().to_owned();
        RefundMade { id, layout_version, invoice_id, order_id, customer_id, amount, reference }.into()
    });
    let failed = growth(was.failed, is.failed).map(|amount| {
        let id = EventId::of("RefundFailed", &[&invoice_id, &was.failed]);
        let (invoice_id, order_id, customer_id) = (invoice_id.clone(), order_id.clone(), customer_id.clone());
        let reference = intent_of(after).map(ToString::to_string).unwrap_or_default();
        RefundFailed { id, layout_version, invoice_id, order_id, customer_id, amount, reference }.into()
    });
    let disputed = is.dispute.filter(|state| was.dispute != Some(*state)).map(|state| {
        let id = EventId::of("PaymentDisputed", &[&invoice_id, &new.version]);
        let amount = Money::nearest(is.disputed, after.amount.currency());
        let (invoice_id, order_id, customer_id) = (invoice_id.clone(), order_id.clone(), customer_id.clone());
        let reference = intent_of(after).map(ToString::to_string).unwrap_or_default();
        PaymentDisputed { id, layout_version, invoice_id, order_id, customer_id, amount, reference, state }.into()
    });
    let due = due.map(|amount| {
        let id = EventId::of("RefundDue", &[&invoice_id, &was_due]);
        let (invoice_id, order_id, customer_id) = (invoice_id.clone(), order_id.clone(), customer_id.clone());
        let reference = after.reference().map(str::to_owned);
        let captured_after_cancellation = received.is_some();
        RefundDue {
            id,
            layout_version,
            invoice_id,
            order_id,
            customer_id,
            amount,
            reference,
            captured_after_cancellation,
        }
        .into()
    });
    [captured, made, failed, disputed, due].into_iter().flatten().collect()
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
        let id = EventId::of("OrderExpired", &[&order_id]);
        return Some(OrderExpired { id, layout_version, order_id, customer_id, amount }.into());
    }
    let is_reserved = |card: &CardPayment| card.held().progress == Progress::Authorized;
    let is_authorized = is_reserved(after) && (!is_reserved(before) || intent_of(before) != intent_of(after));
    let is_released = after.held().progress == Progress::Released;
    let reason = match (before.state(), after.state()) {
        // The order is cancelled, or all that the card was to pay is.
        _ if is_authorized && after.wanted() == 0 => Some(Failure::TooLate),
        (PaymentState::Authorized, PaymentState::Expired) => Some(Failure::Expired),
        // The shop voided it before it knew that the customer had paid.
        (was, PaymentState::Expired) if was != PaymentState::Expired && is_released => Some(Failure::Expired),
        (_, PaymentState::Declined) if before.state() != PaymentState::Declined => Some(Failure::Declined),
        (was, PaymentState::Authorized) if was != PaymentState::Authorized => None,
        _ => return None,
    };
    let attempt = after.provider.as_ref().map_or(1, |provider| provider.attempt);
    let reference = intent_of(after)?.to_string();
    Some(match reason {
        None => {
            let id = EventId::of("PaymentAuthorized", &[&invoice_id, &attempt]);
            PaymentAuthorized { id, layout_version, invoice_id, order_id, customer_id, amount, reference }.into()
        }
        Some(reason) => {
            let id = EventId::of("PaymentFailed", &[&invoice_id, &attempt, &format_args!("{reason:?}")]);
            PaymentFailed { id, layout_version, invoice_id, order_id, customer_id, amount, reference, reason }.into()
        }
    })
}

fn intent_of(card: &CardPayment) -> Option<&IntentId> {
    card.provider.as_ref().map(|provider| &provider.intent)
}
