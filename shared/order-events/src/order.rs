//! The events of orders and their payments.

use key_schema::entity::{LineUnits, Order, OrderLine, OrderStatus, QueuedOrder, Refusal};
use key_schema::value::{Money, Timestamp};

use crate::EventId;
use crate::event::LAYOUT_VERSION;

event! {
    /// An order was placed. Its version is 1.
    OrderPlaced of order {
        /// The time at which the order was placed.
        pub placed_at: Timestamp,
        /// `PENDING` if the bank card is still to be charged, `PAID` otherwise.
        pub status: OrderStatus,
        /// The amount to pay.
        pub total: Money,
        /// The number of lines.
        pub line_count: u8,
        /// The lines, in the order of the request.
        pub lines: Vec<OrderLine>,
        /// The request that did this, by the gateway's id (`apigw-requestid`), or the invocation of a function. Absent if it
        /// is not known.
        #[schema(nullable = false)]
        pub request_id: Option<String>,
    }

    /// An order changed its status.
    OrderStatusChanged of order {
        /// The status before the change.
        pub from: OrderStatus,
        /// The status after the change.
        pub to: OrderStatus,
        /// The order's version after the change. A later change has a greater version.
        pub version: u64,
        /// The request that did this, by the gateway's id (`apigw-requestid`), or the invocation of a function. Absent if it
        /// is not known.
        #[schema(nullable = false)]
        pub request_id: Option<String>,
    }

    /// Units of an order were cancelled before it was shipped, and the order goes on with the units that are left. The
    /// event is published also if no money goes back. If no units are left, the order is cancelled as a whole: then
    /// `OrderStatusChanged` is published, and no `UnitsCancelled`.
    UnitsCancelled of order {
        /// The units that this change cancelled, without those cancelled before.
        pub lines: Vec<LineUnits>,
        /// The amount credited for these units.
        pub amount: Money,
        /// The order's version after the change. A later change has a greater version.
        pub version: u64,
        /// The request that did this, by the gateway's id (`apigw-requestid`), or the invocation of a function. Absent if it
        /// is not known.
        #[schema(nullable = false)]
        pub request_id: Option<String>,
    }

    /// The bank captured the card payment of an invoice.
    PaymentCaptured of invoice {
        /// The amount captured by this change.
        pub amount: Money,
        /// The bank's reference for the payment, if it is known.
        #[schema(nullable = false)]
        pub reference: Option<String>,
    }

    /// An order that was accepted to be placed later could not be placed.
    OrderRejected of order {
        /// The time at which the order was accepted.
        pub queued_at: Timestamp,
        /// The time at which the order was rejected.
        pub rejected_at: Timestamp,
        /// The last part of the problem's type, as in `/problems/out-of-stock`. `GET /orders/{orderId}` has the
        /// details.
        pub reason: String,
        /// The request that did this, by the gateway's id (`apigw-requestid`), or the invocation of a function. Absent if it
        /// is not known.
        #[schema(nullable = false)]
        pub request_id: Option<String>,
    }

    /// The shop gave money back without units, because something was wrong with the goods, for example.
    AmountCredited of order {
        /// The amount.
        pub amount: Money,
        /// The reason, as staff wrote it. Absent if the customer was erased before.
        #[schema(nullable = false)]
        pub reason: Option<String>,
        /// The order's version after the change.
        pub version: u64,
        /// The request that did this, by the gateway's id (`apigw-requestid`), or the invocation of a function. Absent if it
        /// is not known.
        #[schema(nullable = false)]
        pub request_id: Option<String>,
    }
}

/// The request that made this change of an order. A writer that does not know the attribute, such as a person, leaves the
/// id of an earlier change.
pub(crate) fn request_of(before: &Order, after: &Order) -> Option<String> {
    after.request_id.clone().filter(|_| before.request_id != after.request_id)
}

impl AmountCredited {
    /// The event of a change of an order; `None` if it gives nothing back without units. The price of shipping is a
    /// part of what `ReturnReceived` tells.
    pub(crate) fn new(before: &Order, after: &Order) -> Option<Self> {
        let newest = after.allowances.get(before.allowances.len()..)?.first().filter(|newest| newest.key.is_some())?;
        Some(Self {
            id: EventId::of("AmountCredited", &[&after.order_id, &after.version]),
            layout_version: LAYOUT_VERSION,
            order_id: after.order_id.clone(),
            customer_id: after.customer_id.clone(),
            amount: Money::nearest(newest.amount, after.total.currency()),
            reason: newest.reason.clone(),
            version: after.version,
            request_id: request_of(before, after),
        })
    }
}

impl UnitsCancelled {
    /// The event of a change of an order; `None` if it cancels no units of an order that goes on.
    ///
    /// Credits grow by cancelled units before the order is shipped, and by returned units after that. The cancellation
    /// of a whole order does not change its credits.
    pub(crate) fn new(before: &Order, after: &Order) -> Option<Self> {
        if !before.status.may_become(OrderStatus::Cancelled) {
            return None;
        }
        let lines = after.credits.iter().filter_map(|credit| {
            let more = i64::from(credit.units) - i64::from(before.credited_units(&credit.product_id));
            let quantity = more.try_into().ok()?;
            Some(LineUnits { product_id: credit.product_id.clone(), quantity })
        });
        let lines: Vec<_> = lines.collect();
        (!lines.is_empty()).then(|| Self {
            id: EventId::of("UnitsCancelled", &[&after.order_id, &after.version]),
            layout_version: LAYOUT_VERSION,
            order_id: after.order_id.clone(),
            customer_id: after.customer_id.clone(),
            lines,
            amount: Money::nearest(after.credited() - before.credited(), after.total.currency()),
            version: after.version,
            request_id: request_of(before, after),
        })
    }
}

impl OrderRejected {
    /// The event of a queued order that was refused; `None` if it was not.
    pub(crate) fn new(queued: QueuedOrder) -> Option<Self> {
        let Refusal { at, rejection } = queued.refusal?;
        Some(Self {
            id: EventId::of("OrderRejected", &[&queued.order_id, &at]),
            layout_version: LAYOUT_VERSION,
            order_id: queued.order_id,
            customer_id: queued.customer_id,
            queued_at: queued.queued_at,
            rejected_at: at,
            reason: rejection.reason().to_owned(),
            request_id: queued.request_id,
        })
    }
}

/// An order has a different number of lines than its header says. Lines are written with the header and never change,
/// so another strongly consistent read would return the same.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("the order has {found} lines, but its header says {expected}")]
pub struct MissingLines {
    /// The number of lines that were read.
    pub found: usize,
    /// The number of lines in the header.
    pub expected: u8,
}

impl OrderPlaced {
    /// The event of an order that was placed with these lines.
    ///
    /// # Errors
    /// Lines are missing.
    pub fn new(order: Order, lines: Vec<OrderLine>) -> Result<Self, MissingLines> {
        if lines.len() != usize::from(order.line_count) {
            return Err(MissingLines { found: lines.len(), expected: order.line_count });
        }
        Ok(Self {
            id: EventId::of("OrderPlaced", &[&order.order_id]),
            layout_version: LAYOUT_VERSION,
            order_id: order.order_id,
            customer_id: order.customer_id,
            placed_at: order.placed_at,
            status: order.status,
            total: order.total,
            line_count: order.line_count,
            lines: lines.into_iter().map(OrderLine::plain).collect(),
            request_id: order.request_id,
        })
    }
}
