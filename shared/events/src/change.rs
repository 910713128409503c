//! From a record of the stream to the event that it stands for.

use key_schema::entity::{Entity as _, Invoice, Order, Payment, PaymentStatus};
use key_schema::layout::ENTITY_TYPE;
use serde_dynamo::{AttributeValue, Item, from_item};

use crate::event::{Event, EventId, OrderPlaced, OrderStatusChanged, PaymentCaptured};

/// A record is of an order or an invoice, and does not read like one.
#[derive(Debug, thiserror::Error)]
#[error("an image of an order or an invoice cannot be read")]
pub struct Unreadable(#[from] serde_dynamo::Error);

/// The event that a record stands for. `name` is its `eventName`, `old` and `new` are its images, empty where there
/// is none.
///
/// Most records stand for none: those of other entities, what expires or is deleted, and writes that change nothing
/// that is told. Attributes that are not known here do not matter.
///
/// # Errors
/// An order or an invoice cannot be read. To pass it over would be to lose an event.
pub fn event_of(name: &str, old: Item, new: Item) -> Result<Option<Event>, Unreadable> {
    let Some(AttributeValue::S(entity)) = new.get(ENTITY_TYPE) else { return Ok(None) };
    match (name, entity.as_str()) {
        ("INSERT", Order::TYPE) => Ok(Some(placed(from_item(new)?).into())),
        ("MODIFY", Order::TYPE) => Ok(status_changed(&from_item(old)?, from_item(new)?).map(Event::from)),
        ("MODIFY", Invoice::TYPE) => Ok(payment_captured(&from_item(old)?, from_item(new)?).map(Event::from)),
        _ => Ok(None),
    }
}

fn placed(order: Order) -> OrderPlaced {
    OrderPlaced {
        id: EventId::of_placing(&order.order_id),
        order_id: order.order_id,
        customer_id: order.customer_id,
        placed_at: order.placed_at,
        status: order.status,
        total: order.total,
        line_count: order.line_count,
    }
}

fn status_changed(old: &Order, new: Order) -> Option<OrderStatusChanged> {
    (old.status != new.status).then(|| OrderStatusChanged {
        id: EventId::of_change(&new.order_id, new.version),
        order_id: new.order_id,
        customer_id: new.customer_id,
        from: old.status,
        to: new.status,
        version: new.version,
    })
}

/// An invoice has at most one payment by card: what the gift cards leave.
fn payment_captured(old: &Invoice, new: Invoice) -> Option<PaymentCaptured> {
    let was_authorized = |payment: &Payment| matches!(payment, Payment::Card { status: PaymentStatus::Authorized, .. });
    if !old.payments.iter().any(was_authorized) {
        return None;
    }
    let (amount, reference) = new.payments.into_iter().find_map(|payment| match payment {
        Payment::Card { amount, status: PaymentStatus::Captured, reference } => Some((amount, reference)),
        _ => None,
    })?;
    Some(PaymentCaptured {
        id: EventId::of_capture(&new.invoice_id),
        invoice_id: new.invoice_id,
        order_id: new.order_id,
        customer_id: new.customer_id,
        amount,
        reference,
    })
}
