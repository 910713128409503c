//! Placing and queueing orders, and their lifecycle.

use key_schema::entity::OrderStatus::{Cancelled, Delivered, Paid, Pending, Shipped};
use key_schema::entity::PaymentState::{Authorized, Captured, RefundDue, Refunded, Voided};
use key_schema::layout::Consistency::{Eventual, Strong};
use key_schema::layout::{AccessPattern as _, OrderById, OrdersOfStatus};

use super::Many::{Discounts, GiftCards, Lines, Shards};
use super::Request::{
    Batch, Cancelled as Undone, Failed, Query, ReadTransaction, Repeated, Transaction, Write as Alone,
};
use super::Write::{Check, Delete, New, Over, Update};
use super::access::{BY_OLD_ID, ORDER};
use super::{Operation, Request, Several, Sharded, Write, each, of, one};
use sample_items::Kind::{
    self, Absent, Customer, Discount, ExpiredOrder, FirstCell, GiftCard, GiftCardEntry, Invoice, Order, OrderFlag,
    OrderItem, Product, QueuedOrder, RefusedOrder, Stock, StockCell,
};
use sample_items::Revision::{Changed, First};

/// The items an order depends on: the order itself, its queued state, its customer, and the items that it decrements.
macro_rules! depends_on {
    ($order:expr, $waits:expr) => {
        depends_on!($order, $waits, Stock)
    };
    ($order:expr, $waits:expr, $stock:ident) => {
        &[
            one($order),
            one($waits),
            one(Customer(First)),
            each(Lines, Product(First)),
            each(Lines, $stock(First)),
            each(Discounts, Discount(First)),
            each(GiftCards, GiftCard(First)),
        ]
    };
}

const NEW: &[Several<Kind>] = depends_on!(Absent, Absent);

/// The same for products whose stock is in several cells: the first cell of each.
pub(super) const NEW_IN_CELLS: &[Several<Kind>] = depends_on!(Absent, Absent, FirstCell);

const WAITING: &[Several<Kind>] = depends_on!(Absent, QueuedOrder);
const PLACED: &[Several<Kind>] = depends_on!(Order(Pending), Absent);
const PLACED_LATE: &[Several<Kind>] = depends_on!(Order(Pending), QueuedOrder);

/// A snapshot read that proves that no copy of the order is placed or queued.
pub(super) const SETTLED: Several<Request> = one(ReadTransaction(&[one(Absent), one(Absent)]));

/// The items of an order, and the items that it decrements.
macro_rules! placement {
    ($stock:ident) => { placement!($stock,) };
    ($stock:ident, $($more:expr)?) => {
        &[
            one(New(Order(Pending))),
            one(New(Invoice(Authorized))),
            each(Lines, New(OrderItem)),
            each(Lines, Update($stock(First), $stock(Changed))),
            each(Discounts, Update(Discount(First), Discount(Changed))),
            each(GiftCards, Update(GiftCard(First), GiftCard(Changed))),
            each(GiftCards, New(GiftCardEntry(Captured))),
            $($more)?
        ]
    };
}

const PLACEMENT: &[Several<Write>] = placement!(Stock);

/// The same for a queued order, with a check that it was not refused.
const PLACEMENT_AFTER_WAITING: &[Several<Write>] = placement!(Stock, one(Check(QueuedOrder)));

/// The same, from one cell of each stock.
pub(super) const PLACEMENT_FROM_CELLS: &[Several<Write>] = placement!(StockCell);

/// A cancellation: header and invoice, and the return of everything the order took.
macro_rules! cancellation {
    ($status:ident, $payment:ident, $becomes:ident) => {
        cancellation!($status, $payment, $becomes, Order(Cancelled))
    };
    ($status:ident, $payment:ident, $becomes:ident, $order:expr) => {
        one(Transaction(&[
            one(Update(Order($status), $order)),
            one(Update(Invoice($payment), Invoice($becomes))),
            each(Lines, Update(Stock(Changed), Stock(First))),
            each(Discounts, Update(Discount(Changed), Discount(First))),
            each(GiftCards, Update(GiftCard(Changed), GiftCard(First))),
            each(GiftCards, Update(GiftCardEntry(Captured), GiftCardEntry(Refunded))),
        ]))
    };
}

/// An order's item collection after its card payment was captured, or its payments were refunded.
macro_rules! order {
    ($status:ident, $payment:ident) => {
        one(Query(OrderById::DECLARED, &[one(Order($status)), one(Invoice($payment)), each(Lines, OrderItem)]))
    };
}

/// A snapshot read of header and invoice, before a refusal that relies on both.
macro_rules! settled {
    ($status:ident, $payment:ident) => {
        one(ReadTransaction(&[one(Order($status)), one(Invoice($payment))]))
    };
}

/// The capture of a card payment, which makes its order PAID.
const CAPTURE: Several<Request> =
    one(Transaction(&[one(Update(Order(Pending), Order(Paid))), one(Update(Invoice(Authorized), Invoice(Captured)))]));

/// Each shard of the list of pending orders. The result of each fits into one read unit.
const OVERDUE: Several<Request> = each(Shards(Sharded::Statuses(1)), Query(OrdersOfStatus::DECLARED, &[]));

const NOTHING: Several<Request> = one(Query(OrderById::DECLARED, &[]));

pub(super) const OPERATIONS: &[Operation] = &[
    of("cancel-order", "before it is paid", &[ORDER, cancellation!(Pending, Authorized, Voided)]),
    of("cancel-order", "after it is paid", &[order!(Paid, Captured), cancellation!(Paid, Captured, RefundDue)]),
    of("cancel-order", "again", &[order!(Cancelled, Voided)]),
    of("cancel-order", "too late", &[order!(Delivered, Captured), settled!(Delivered, Captured)]),
    of("capture-payment", "captured", &[ORDER, CAPTURE]),
    of("capture-payment", "again", &[order!(Paid, Captured)]),
    of("capture-payment", "captured, by an old id", &[BY_OLD_ID, ORDER, CAPTURE]),
    of(
        "capture-payment",
        "after the order was cancelled",
        &[order!(Cancelled, Voided), one(Alone(Update(Invoice(Voided), Invoice(RefundDue))))],
    ),
    of("capture-payment", "under another reference", &[order!(Paid, Captured), settled!(Paid, Captured)]),
    of("change-order-status", "shipped", &[order!(Paid, Captured), one(Alone(Update(Order(Paid), Order(Shipped))))]),
    of(
        "change-order-status",
        "delivered",
        &[order!(Shipped, Captured), one(Alone(Update(Order(Shipped), Order(Delivered))))],
    ),
    of("change-order-status", "again", &[order!(Delivered, Captured)]),
    of("change-order-status", "refused", &[order!(Cancelled, Voided), settled!(Cancelled, Voided)]),
    of(
        "confirm-refund",
        "refunded",
        &[order!(Cancelled, RefundDue), one(Alone(Update(Invoice(RefundDue), Invoice(Refunded))))],
    ),
    of("confirm-refund", "again", &[order!(Cancelled, Refunded)]),
    of("confirm-refund", "nothing is due", &[order!(Paid, Captured), settled!(Paid, Captured)]),
    of("confirm-refund", "nothing is due, by an old id", &[BY_OLD_ID, ORDER, settled!(Pending, Authorized)]),
    of("drain-writes", "placed", &[one(Batch(Strong, WAITING)), one(Transaction(PLACEMENT_AFTER_WAITING))]),
    of("drain-writes", "placed before", &[one(Batch(Strong, PLACED_LATE)), ORDER_AND_WAIT]),
    of(
        "drain-writes",
        "out of stock",
        &[
            one(Batch(Strong, WAITING)),
            one(ReadTransaction(&[one(Absent), one(QueuedOrder)])),
            one(Transaction(&[one(Update(QueuedOrder, RefusedOrder)), one(Check(Absent))])),
        ],
    ),
    of("expire-orders", "an order", &[OVERDUE, ORDER, cancellation!(Pending, Authorized, Voided, ExpiredOrder)]),
    of("expire-orders", "nothing is overdue", &[OVERDUE]),
    of(
        "flag-order",
        "flagged",
        &[one(Transaction(&[one(Check(Order(Pending))), one(Update(Absent, OrderFlag(First)))]))],
    ),
    of(
        "flag-order",
        "for another reason",
        &[one(Transaction(&[one(Check(Order(Pending))), one(Update(OrderFlag(First), OrderFlag(Changed)))]))],
    ),
    of(
        "flag-order",
        "again",
        &[one(Undone(&[one(Check(Order(Pending))), one(Update(OrderFlag(First), OrderFlag(First)))]))],
    ),
    of("flag-order", "no such order", &[one(Undone(&[one(Check(Absent)), one(Update(Absent, OrderFlag(First)))]))]),
    of("place-order", "placed", &[one(Batch(Eventual, NEW)), one(Transaction(PLACEMENT))]),
    of("place-order", "placed before", &[one(Batch(Eventual, PLACED)), ORDER]),
    of(
        "place-order",
        "placed, and the answer lost on the way",
        &[one(Batch(Eventual, NEW)), one(Transaction(PLACEMENT)), one(Repeated(PLACEMENT))],
    ),
    of("place-order", "out of stock", &[one(Batch(Eventual, NEW)), one(Batch(Strong, NEW)), SETTLED]),
    of("place-order", "sold out since it was read", &[one(Batch(Eventual, NEW)), one(Undone(PLACEMENT)), SETTLED]),
    of(
        "place-order",
        "price changed since it was read",
        &[one(Batch(Eventual, NEW)), one(Undone(PLACEMENT)), one(Batch(Strong, NEW)), one(Transaction(PLACEMENT))],
    ),
    of("place-order", "accepted for later", &[NOTHING, one(Alone(New(QueuedOrder)))]),
    of(
        "place-order",
        "accepted before",
        &[one(Query(OrderById::DECLARED, &[one(QueuedOrder)])), one(Failed(Over(QueuedOrder, QueuedOrder)))],
    ),
    of("unflag-order", "unflagged", &[one(Alone(Delete(OrderFlag(First))))]),
    of("unflag-order", "had no flag", &[one(Alone(Delete(Absent)))]),
];

/// A queued order that was placed. Its queued state expires later.
const ORDER_AND_WAIT: Several<Request> = one(Query(
    OrderById::DECLARED,
    &[one(Order(Pending)), one(Invoice(Authorized)), each(Lines, OrderItem), one(QueuedOrder)],
));
