//! Cancelling an order, or some units of it, before it is shipped.

use key_schema::entity::{
    Cancellation, CancellationCause, CardPayment, LineUnits, OrderStatus, Payment, ProviderPayment, Shortfall,
    WholeOrder,
};
use key_schema::value::{ProductId, Timestamp};

use super::shipping::{await_capture, complete};
use super::{Cancel, Denial, Step, credited, with_status};

/// Cancels the order. A captured card payment becomes due for refund, and any other card payment void. The writes of
/// the cancellation also give back what the order took from stocks, discount code and gift cards.
pub fn cancel(whole: &WholeOrder, cancel: Cancel<'_>, now: Timestamp) -> Step {
    match whole.order.status {
        OrderStatus::Cancelled => Step::Stay,
        status if !may_cancel(status, cancel.cause) => Step::Refuse,
        _ if !whole.shipments.is_empty() => Step::Deny(Denial::PartlyShipped),
        _ => {
            let Cancel { cause, reason } = cancel;
            let reason = whole.order.text(reason);
            let mut next = whole.clone();
            next.order = with_status(whole, OrderStatus::Cancelled, now);
            next.order.cancellation = Some(Cancellation { at: now, reason, cause: Some(cause) });
            let expired = cause == CancellationCause::Unpaid;
            let payments = whole.invoice.payments.iter().cloned();
            next.invoice.payments = payments.map(|payment| Payment::cancelled(payment, expired)).collect();
            Step::To(Box::new(next))
        }
    }
}

/// Whether an order in this status may be cancelled by this person or process. Once staff pack it, only staff cancel it.
fn may_cancel(status: OrderStatus, cause: CancellationCause) -> bool {
    status.may_become(OrderStatus::Cancelled) && (status != OrderStatus::Packing || cause == CancellationCause::Staff)
}

/// Cancels units of the order, so that of each product in `lines` this number of units is cancelled. Units that were
/// cancelled before are included, so the same request again changes nothing, and of two requests for one product the
/// larger one counts.
///
/// If no units are left, the order is cancelled as a whole. If a pending order has units left but nothing to pay by card,
/// because gift cards pay for these units, it becomes paid.
///
/// Units in shipments cannot be cancelled. If all units that are left are in shipments then, the order is shipped, or
/// delivered if they are.
pub fn cancel_units(whole: &WholeOrder, lines: &[LineUnits], by: Cancel<'_>, now: Timestamp) -> Step {
    if whole.order.status == OrderStatus::Cancelled {
        return Step::Stay;
    }
    let ordered = |product: &ProductId| {
        whole.lines.iter().find(|line| line.product_id == *product).map_or(0, |line| line.quantity.get())
    };
    if let Some(LineUnits { product_id, .. }) =
        lines.iter().find(|line| line.quantity.get() > ordered(&line.product_id))
    {
        return Step::Deny(Denial::TooFewUnits(Shortfall {
            product_id: product_id.clone(),
            left: ordered(product_id),
        }));
    }
    let more = lines.iter().filter_map(|line| {
        line.quantity.less(whole.cancelled_units(&line.product_id)).map(|quantity| {
            let product_id = line.product_id.clone();
            LineUnits { product_id, quantity }
        })
    });
    let more: Vec<_> = more.collect();
    if more.is_empty() {
        return Step::Stay;
    }
    if !may_cancel(whole.order.status, by.cause) {
        return Step::Refuse;
    }
    if let Some(LineUnits { product_id, .. }) =
        more.iter().find(|line| line.quantity.get() > whole.units_unshipped(&line.product_id))
    {
        let left = whole.units_unshipped(product_id);
        return Step::Deny(Denial::TooFewUnits(Shortfall { product_id: product_id.clone(), left }));
    }
    let mut next = credited(whole, &more, now);
    if whole.lines.iter().all(|line| next.units_left(&line.product_id) == 0) {
        return cancel(whole, by, now);
    }
    if next.order.status == OrderStatus::Pending && next.invoice.card().is_some_and(CardPayment::is_secured) {
        next.order.status = OrderStatus::Paid;
    }
    complete(&mut next, now);
    await_capture(&mut next);
    Step::To(Box::new(next))
}

/// Cancels the order if it is not paid, was placed at or before `deadline`, and cannot be paid at the provider any
/// more.
pub fn expire(whole: &WholeOrder, deadline: Timestamp, now: Timestamp) -> Step {
    expire_if(is_unpaid(whole, deadline), whole, now)
}

/// Cancels the order if it was placed at or before `deadline`, is PAID by a payment that lapsed, and cannot be paid at
/// the provider any more. An order that is shipped keeps waiting for its money.
pub fn expire_lapsed(whole: &WholeOrder, deadline: Timestamp, now: Timestamp) -> Step {
    expire_if(is_lapsed(whole, deadline), whole, now)
}

pub(super) fn is_unpaid(whole: &WholeOrder, deadline: Timestamp) -> bool {
    whole.order.status == OrderStatus::Pending && whole.order.placed_at <= deadline
}

pub(super) fn is_lapsed(whole: &WholeOrder, deadline: Timestamp) -> bool {
    whole.order.status == OrderStatus::Paid && whole.has_lapsed() && whole.order.placed_at <= deadline
}

/// Whether the customer can still pay at the provider, or has paid there.
pub(super) fn is_open(whole: &WholeOrder) -> bool {
    whole.invoice.card().and_then(|card| card.provider.as_ref()).is_some_and(ProviderPayment::is_open)
}

/// That an order is not paid follows from what the provider holds, never from a message that did not come. So an order
/// whose intent is open stays: its intent is ended at the provider first.
fn expire_if(is_over: bool, whole: &WholeOrder, now: Timestamp) -> Step {
    if is_over && !is_open(whole) {
        cancel(whole, Cancel { cause: CancellationCause::Unpaid, reason: None }, now)
    } else {
        Step::Stay
    }
}
