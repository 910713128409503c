//! Operations of the table's stream: counting, and the comparison of counts with orders.

use key_schema::entity::OrderStatus::Pending;
use key_schema::entity::PaymentState::Authorized;
use key_schema::layout::Consistency::{Eventual, Strong};
use key_schema::layout::{
    AccessPattern as _, OrderById, OrdersOfCustomer, OrdersOfProduct, OrdersOfStatus, ProductsOfOrder,
};

use super::Many::{Customers, Days, Lines, Products, Shards, Times};
use super::Request::{Batch, Query, Transaction, Write as Alone};
use super::Write::{New, Over, Update};
use super::{Operation, Request, Several, Sharded, Write, each, of, one};
use sample_items::Kind::{
    Absent, CustomerStats, DayTotals, Invoice, Order, OrderItem, ProductStats, Reconciliation, StreamCheckpoint,
};
use sample_items::Revision::{Changed, First};

/// The checkpoint, and every counter that the batch changes.
const COUNTED: &[Several<Write>] = &[
    one(Over(StreamCheckpoint(First), StreamCheckpoint(Changed))),
    each(Customers, Update(CustomerStats(First), CustomerStats(Changed))),
    each(Products, Update(ProductStats(First), ProductStats(Changed))),
    each(Days, Update(DayTotals(First), DayTotals(Changed))),
];

const COUNTED_FIRST: &[Several<Write>] = &[
    one(New(StreamCheckpoint(First))),
    each(Customers, Update(Absent, CustomerStats(First))),
    each(Products, Update(Absent, ProductStats(First))),
    each(Days, Update(Absent, DayTotals(First))),
];

/// The number of lists of a day's orders: one for each of five statuses, in each shard.
const LISTS: u32 = 5;

/// The queries of this many days without orders.
const fn empty_lists(days: u32) -> Several<Request> {
    each(Shards(Sharded::Statuses(days * LISTS)), Query(OrdersOfStatus::DECLARED, &[]))
}

const NO_TOTALS: Request = Batch(Strong, &[one(Absent)]);
const TOTALS: Request = Batch(Strong, &[one(DayTotals(First))]);

pub(super) const OPERATIONS: &[Operation] = &[
    of(
        "count-orders",
        "the first batch of a shard",
        &[one(Batch(Strong, &[one(Absent)])), one(Transaction(COUNTED_FIRST))],
    ),
    of("count-orders", "a batch", &[one(Transaction(COUNTED))]),
    of(
        "count-orders",
        "an order that was called off",
        &[one(Query(ProductsOfOrder::DECLARED, &[each(Lines, OrderItem)])), one(Transaction(COUNTED))],
    ),
    of(
        "count-orders",
        "a record that cannot be counted",
        &[one(Batch(Strong, &[one(Absent)])), one(Transaction(&[one(New(StreamCheckpoint(First)))]))],
    ),
    of("count-orders", "counted before", &[one(Batch(Strong, &[one(StreamCheckpoint(First))]))]),
    // The record of an order's header does not contain the lines.
    of(
        "publish-order-events",
        "an order that was placed",
        &[one(Query(ProductsOfOrder::DECLARED, &[each(Lines, OrderItem)]))],
    ),
    of("publish-order-events", "another change", &[]),
    of("reconcile-counts", "a day of no orders", &[one(NO_TOTALS), empty_lists(1)]),
    of(
        "reconcile-counts",
        "a day of one order",
        &[
            // The day: each of its lists, of which one contains the order; the whole order; and whether it is the last
            // order of its customer and of each of its products, for which all shards of the product are queried.
            one(TOTALS),
            each(Shards(Sharded::Statuses(LISTS)), Query(OrdersOfStatus::DECLARED, &[one(Order(Pending))])),
            one(Query(OrderById::DECLARED, &[one(Order(Pending)), one(Invoice(Authorized)), each(Lines, OrderItem)])),
            one(Query(OrdersOfCustomer::DECLARED, &[one(Order(Pending))])),
            each(Shards(Sharded::ProductsOfOrder), Query(OrdersOfProduct::DECLARED, &[])),
            // Then the customer, and each product.
            one(Batch(Strong, &[one(CustomerStats(First))])),
            one(Query(OrdersOfCustomer::DECLARED, &[one(Order(Pending))])),
            one(Batch(Strong, &[one(Order(Pending))])),
            each(Lines, Batch(Strong, &[one(ProductStats(First))])),
            each(Shards(Sharded::ProductsOfOrder), Query(OrdersOfProduct::DECLARED, &[one(OrderItem)])),
            each(Lines, Batch(Eventual, &[one(Order(Pending))])),
            each(Lines, Batch(Strong, &[one(Order(Pending))])),
        ],
    ),
    of(
        "reconcile-counts",
        "a day's totals that drifted, repaired",
        &[each(Times(2), TOTALS), empty_lists(2), one(Alone(Update(DayTotals(First), DayTotals(Changed))))],
    ),
    of(
        "reconcile-counts",
        "scheduled, after a week of no orders",
        &[
            one(Batch(Strong, &[one(Absent)])),
            each(Times(7), NO_TOTALS),
            empty_lists(7),
            one(Alone(New(Reconciliation(First)))),
        ],
    ),
    of("reconcile-counts", "done today", &[one(Batch(Strong, &[one(Reconciliation(First))]))]),
];
