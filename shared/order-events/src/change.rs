//! Makes an event from a stream record.

use key_schema::entity::{
    self, Customer, Entity as _, Invoice, Order, Product, QueuedOrder, Return, Shipment, Stock, StockCell, Work,
};
use key_schema::layout::ENTITY_TYPE;
use key_schema::value::Timestamp;
use serde::de::DeserializeOwned;
use serde_dynamo::{AttributeValue, Item, from_item};

use crate::card::card_payment_changed;
use crate::event::{Event, LAYOUT_VERSION};
use crate::order::request_of;
use crate::product::CellLevel;
use crate::{
    AmountCredited, AvailabilityChanged, CustomerErased, EventId, ItemsShipped, OrderRejected, OrderStatusChanged,
    PaymentDue, ProductChanged, ProductRemoved, ReturnReceived, ReturnRequested, ShipmentDelivered, StockRanLow,
    UnitsCancelled,
};

/// An image of an order, an invoice, a return, a shipment, a product, a stock or a customer cannot be deserialized.
#[derive(Debug, thiserror::Error)]
#[error("an image of an order, an invoice, a return, a shipment, a product, a stock or a customer cannot be read")]
pub struct Unreadable(#[from] serde_dynamo::Error);

/// The parts of a stream record from which an event is made.
#[derive(Clone, Debug)]
pub struct Record<'a> {
    /// The `eventName`: `INSERT`, `MODIFY` or `REMOVE`.
    pub name: &'a str,
    /// The time of the change.
    pub written_at: Timestamp,
    /// The item before the change; empty if there was none.
    pub old: Item,
    /// The item after the change; empty if it was deleted.
    pub new: Item,
}

/// An event of a record, or the part of it that the record has.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(clippy::large_enum_variant, reason = "a draft lives as long as its record is handled")]
pub enum Draft {
    /// The complete event.
    Event(Event),
    /// An order was placed. The event also needs the order's lines, which are items of their own:
    /// [`OrderPlaced::new`](crate::OrderPlaced::new).
    Placed(Box<Order>),
}

impl<E: Into<Event>> From<E> for Draft {
    fn from(event: E) -> Self {
        Self::Event(event.into())
    }
}

/// The events of a record, in the order in which they are to be published, in a shop that says from so many units on that
/// few are left.
///
/// Most records have none or one. A record has two if the cancellation of units also changed the order's status, because
/// gift cards pay for the units that are left. Records without events are those of other entities, expirations, and
/// changes that no event reports. The restoration of a lost order is not its placing, and has no event either. Nor has the
/// import of an order: it happened long ago. Attributes that this release does not know are ignored.
///
/// # Errors
/// An order, an invoice, a return, a shipment, a product, a stock or a customer cannot be deserialized. Skipping the
/// record would lose an event.
pub fn drafts_of(record: Record<'_>, few_left: u64) -> Result<Vec<Draft>, Unreadable> {
    let Record { name, written_at, old, new } = record;
    let kind = |image: &Item| match image.get(ENTITY_TYPE) {
        Some(AttributeValue::S(kind)) => Some(kind.clone()),
        _ => None,
    };
    let Some(kind) = kind(&new).or_else(|| kind(&old)) else { return Ok(Vec::new()) };
    let draft = match (name, kind.as_str()) {
        ("INSERT", Order::TYPE) => {
            let order: Order = from_item(new)?;
            order.is_placed_at(written_at).then(|| Draft::Placed(Box::new(order)))
        }
        ("MODIFY", Order::TYPE) => return Ok(order_changed(&from_item(old)?, &from_item(new)?)),
        ("MODIFY", Invoice::TYPE) => {
            let events = card_payment_changed(&from_item(old)?, from_item(new)?);
            return Ok(events.into_iter().map(Draft::from).collect());
        }
        ("MODIFY", QueuedOrder::TYPE) => {
            let (before, after): (QueuedOrder, QueuedOrder) = (from_item(old)?, from_item(new)?);
            (before.refusal != after.refusal).then(|| OrderRejected::new(after)).flatten().map(Draft::from)
        }
        ("INSERT", Return::TYPE) => {
            let made: Return = from_item(new)?;
            entity::is_recent(made.requested_at, written_at).then(|| ReturnRequested::new(made).into())
        }
        ("MODIFY", Return::TYPE) => ReturnReceived::new(&from_item(old)?, from_item(new)?).map(Draft::from),
        ("INSERT", Shipment::TYPE) => {
            let made: Shipment = from_item(new)?;
            entity::is_recent(made.shipped_at, written_at).then(|| ItemsShipped::new(made).into())
        }
        ("MODIFY", Shipment::TYPE) => ShipmentDelivered::new(&from_item(old)?, from_item(new)?).map(Draft::from),
        // What staff or the customer have to do, other events tell.
        ("INSERT", entity::PaymentDue::TYPE) => {
            let mark: entity::PaymentDue = from_item(new)?;
            (mark.work == Work::Provider && entity::is_recent(mark.since, written_at)).then(|| payment_due(mark).into())
        }
        ("MODIFY", entity::PaymentDue::TYPE) => {
            let (before, after): (entity::PaymentDue, entity::PaymentDue) = (from_item(old)?, from_item(new)?);
            (before.work != after.work && after.work == Work::Provider).then(|| payment_due(after).into())
        }
        ("INSERT", Product::TYPE) => Some(ProductChanged::new(from_item(new)?, written_at).into()),
        ("MODIFY", Product::TYPE) => {
            let (before, after): (Product, Product) = (from_item(old)?, from_item(new)?);
            let available = AvailabilityChanged::new(&before, &after, written_at).map(Draft::from);
            let changed = (before.version != after.version).then(|| ProductChanged::new(after, written_at).into());
            return Ok(changed.into_iter().chain(available).collect());
        }
        ("MODIFY", Customer::TYPE) => CustomerErased::new(&from_item(old)?, from_item(new)?).map(Draft::from),
        (_, Stock::TYPE) => ran_low::<Stock>(old, new, few_left)?,
        (_, StockCell::TYPE) => ran_low::<StockCell>(old, new, few_left)?,
        ("REMOVE", Product::TYPE) => Some(ProductRemoved::new(from_item(old)?, written_at).into()),
        _ => None,
    };
    Ok(draft.into_iter().collect())
}

/// The event of a change of a stock's cell.
fn ran_low<T: DeserializeOwned + Into<CellLevel>>(
    old: Item,
    new: Item,
    few_left: u64,
) -> Result<Option<Draft>, Unreadable> {
    let cell = |image: Item| -> Result<Option<CellLevel>, Unreadable> {
        let is_there = !image.is_empty();
        Ok(if is_there { Some(from_item::<_, T>(image)?.into()) } else { None })
    };
    Ok(StockRanLow::new(cell(old)?, cell(new)?, few_left).map(Draft::from))
}

fn payment_due(mark: entity::PaymentDue) -> PaymentDue {
    let entity::PaymentDue { order_id, since, .. } = mark;
    PaymentDue { id: EventId::of("PaymentDue", &[&order_id, &since]), layout_version: LAYOUT_VERSION, order_id, since }
}

fn order_changed(old: &Order, new: &Order) -> Vec<Draft> {
    let cancelled = UnitsCancelled::new(old, new).map(Draft::from);
    let credited = AmountCredited::new(old, new).map(Draft::from);
    status_changed(old, new).map(Draft::from).into_iter().chain(cancelled).chain(credited).collect()
}

fn status_changed(old: &Order, new: &Order) -> Option<OrderStatusChanged> {
    (old.status != new.status).then(|| OrderStatusChanged {
        id: EventId::of("OrderStatusChanged", &[&new.order_id, &new.version]),
        layout_version: LAYOUT_VERSION,
        order_id: new.order_id.clone(),
        customer_id: new.customer_id.clone(),
        from: old.status,
        to: new.status,
        version: new.version,
        request_id: request_of(old, new),
    })
}
