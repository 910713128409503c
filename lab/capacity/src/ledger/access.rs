//! Operations that only read.

use key_schema::entity::OrderStatus::Pending;
use key_schema::entity::PaymentState::{Authorized, Captured};
use key_schema::layout::{
    AccessPattern as _, CartOfCustomer, CustomerByEmail, CustomerById, CustomerByUsername, DiscountByCode,
    FlaggedOrders, GiftCardByCode, InvoiceById, InvoiceByOldId, InvoiceOfOrder, InvoicesOfCustomer, OrderById,
    OrdersOfCustomer, OrdersOfProduct, OrdersOfStatus, PaymentsOfInvoice, ProductById, ProductsOfCategory,
    ProductsOfCustomer, ProductsOfOrder, ProfileAndOrders, TotalsOfDays, ViewsOfProduct,
};

use super::Many::{Lines, Listed, Shards, ShareOfPage, ViewShards};
use super::Request::{Keys, Query};
use super::{Operation, Request, Several, Sharded, each, of, one};
use sample_items::Kind::{
    Absent, Cart, Customer, CustomerStats, DayTotals, Discount, EmailClaim, GiftCard, GiftCardEntry, Invoice, Order,
    OrderFlag, OrderItem, Product, ProductStats, QueuedOrder, Stock, UsernameClaim, ViewShard,
};
use sample_items::Revision::{Changed, First};

/// A customer's item collection, which includes the cart.
const CUSTOMER: Several<Request> =
    one(Query(CustomerById::DECLARED, &[one(Customer(First)), one(CustomerStats(First)), one(Cart(First))]));

/// An order's item collection.
pub(super) const ORDER: Several<Request> =
    one(Query(OrderById::DECLARED, &[one(Order(Pending)), one(Invoice(Authorized)), each(Lines, OrderItem)]));

/// An invoice with an id of the last release.
pub(super) const BY_OLD_ID: Several<Request> = one(Query(InvoiceByOldId::DECLARED, &[one(Invoice(Authorized))]));

pub(super) const OPERATIONS: &[Operation] = &[
    of("find-customer", "by e-mail", &[one(Query(CustomerByEmail::DECLARED, &[one(EmailClaim)])), CUSTOMER]),
    of("find-customer", "by username", &[one(Query(CustomerByUsername::DECLARED, &[one(UsernameClaim)])), CUSTOMER]),
    of("find-customer", "nobody has it", &[one(Query(CustomerByEmail::DECLARED, &[]))]),
    of("get-cart", "found", &[one(Query(CartOfCustomer::DECLARED, &[one(Cart(First))]))]),
    of("get-customer", "found", &[CUSTOMER]),
    of(
        "get-customer-overview",
        "found",
        &[one(Query(ProfileAndOrders::DECLARED, &[one(Customer(First)), each(Listed, Order(Pending))]))],
    ),
    of("get-discount", "found", &[one(Query(DiscountByCode::DECLARED, &[one(Discount(First))]))]),
    of(
        "get-gift-card",
        "found, and used once",
        &[one(Query(GiftCardByCode::DECLARED, &[one(GiftCard(Changed)), one(GiftCardEntry(Captured))]))],
    ),
    of("get-invoice", "found", &[one(Query(InvoiceById::DECLARED, &[one(Invoice(Authorized))]))]),
    of("get-invoice", "found by an old id", &[BY_OLD_ID]),
    of("get-order", "found", &[ORDER]),
    of("get-order", "waits", &[one(Query(OrderById::DECLARED, &[one(QueuedOrder)]))]),
    of("get-order", "not found", &[one(Query(OrderById::DECLARED, &[]))]),
    of("get-order-invoice", "found", &[one(Query(InvoiceOfOrder::DECLARED, &[one(Invoice(Authorized))]))]),
    of(
        "get-product",
        "found",
        &[one(Query(ProductById::DECLARED, &[one(Product(First)), one(Stock(First)), one(ProductStats(First))]))],
    ),
    of("get-product", "not found", &[one(Query(ProductById::DECLARED, &[]))]),
    of(
        "get-product-stats",
        "found",
        &[one(Keys(
            ViewsOfProduct::DECLARED,
            &[one(Product(First)), one(ProductStats(First)), each(ViewShards, ViewShard(First))],
        ))],
    ),
    of(
        "list-customer-invoices",
        "a page",
        &[one(Query(InvoicesOfCustomer::DECLARED, &[each(Listed, Invoice(Authorized))]))],
    ),
    of("list-customer-orders", "a page", &[one(Query(OrdersOfCustomer::DECLARED, &[each(Listed, Order(Pending))]))]),
    of("list-customer-products", "a page", &[one(Query(ProductsOfCustomer::DECLARED, &[each(Listed, OrderItem)]))]),
    of("list-flagged-orders", "a page", &[one(Query(FlaggedOrders::DECLARED, &[each(Listed, OrderFlag(First))]))]),
    of("list-invoice-payments", "found", &[one(Query(PaymentsOfInvoice::DECLARED, &[one(Invoice(Authorized))]))]),
    of("list-invoice-payments", "found by an old id", &[BY_OLD_ID]),
    of("list-order-products", "found", &[one(Query(ProductsOfOrder::DECLARED, &[each(Lines, OrderItem)]))]),
    of(
        "list-order-products",
        "not found",
        &[one(Query(ProductsOfOrder::DECLARED, &[])), one(Query(InvoiceOfOrder::DECLARED, &[]))],
    ),
    of(
        "list-orders",
        "a page",
        &[each(
            Shards(Sharded::Statuses(1)),
            Query(OrdersOfStatus::DECLARED, &[each(ShareOfPage(Sharded::Statuses(1)), Order(Pending))]),
        )],
    ),
    of(
        "list-product-orders",
        "a page",
        &[each(
            Shards(Sharded::Product),
            Query(OrdersOfProduct::DECLARED, &[each(ShareOfPage(Sharded::Product), OrderItem)]),
        )],
    ),
    of("list-products", "a page", &[one(Query(ProductsOfCategory::DECLARED, &[each(Listed, Product(First))]))]),
    of("list-totals", "of days with orders", &[one(Keys(TotalsOfDays::DECLARED, &[each(Listed, DayTotals(First))]))]),
    of("list-totals", "of days without", &[one(Keys(TotalsOfDays::DECLARED, &[each(Listed, Absent)]))]),
];
