//! What only reads.

use key_schema::entity::OrderStatus::Pending;
use key_schema::entity::PaymentStatus::{Authorized, Captured};
use key_schema::layout::{
    AccessPattern as _, CartOfCustomer, CustomerByEmail, CustomerById, CustomerByUsername, DiscountByCode,
    FlaggedOrders, GiftCardByCode, InvoiceById, InvoiceOfOrder, InvoicesOfCustomer, OrderById, OrdersOfCustomer,
    OrdersOfProduct, OrdersOfStatus, PaymentsOfInvoice, ProductById, ProductsOfCategory, ProductsOfCustomer,
    ProductsOfOrder, ProfileAndOrders, TotalsOfDays, ViewsOfProduct,
};

use super::Many::{Lines, Listed, Shards, ShareOfPage, ViewShards};
use super::Request::{Keys, Query};
use super::{Operation, Request, Several, each, one};
use crate::sample::Edition::{Changed, First};
use crate::sample::Kind::{
    Absent, Cart, Customer, CustomerStats, DayTotals, Discount, EmailClaim, GiftCard, GiftCardEntry, Invoice, Order,
    OrderFlag, OrderItem, Product, ProductStats, QueuedOrder, Stock, UsernameClaim, ViewShard,
};

const fn reads(function: &'static str, course: &'static str, requests: &'static [Several<Request>]) -> Operation {
    Operation { function, course, requests }
}

/// A customer's collection: the cart lies there, too.
const CUSTOMER: Several<Request> =
    one(Query(CustomerById::DECLARED, &[one(Customer(First)), one(CustomerStats(First)), one(Cart(First))]));

/// An order's collection.
pub(super) const ORDER: Several<Request> =
    one(Query(OrderById::DECLARED, &[one(Order(Pending)), one(Invoice(Authorized)), each(Lines, OrderItem)]));

pub(super) const OPERATIONS: &[Operation] = &[
    reads("find-customer", "by e-mail", &[one(Query(CustomerByEmail::DECLARED, &[one(EmailClaim)])), CUSTOMER]),
    reads("find-customer", "by username", &[one(Query(CustomerByUsername::DECLARED, &[one(UsernameClaim)])), CUSTOMER]),
    reads("find-customer", "nobody has it", &[one(Query(CustomerByEmail::DECLARED, &[]))]),
    reads("get-cart", "found", &[one(Query(CartOfCustomer::DECLARED, &[one(Cart(First))]))]),
    reads("get-customer", "found", &[CUSTOMER]),
    reads(
        "get-customer-overview",
        "found",
        &[one(Query(ProfileAndOrders::DECLARED, &[one(Customer(First)), each(Listed, Order(Pending))]))],
    ),
    reads("get-discount", "found", &[one(Query(DiscountByCode::DECLARED, &[one(Discount(First))]))]),
    reads(
        "get-gift-card",
        "found, and used once",
        &[one(Query(GiftCardByCode::DECLARED, &[one(GiftCard(Changed)), one(GiftCardEntry(Captured))]))],
    ),
    reads("get-invoice", "found", &[one(Query(InvoiceById::DECLARED, &[one(Invoice(Authorized))]))]),
    reads("get-order", "found", &[ORDER]),
    reads("get-order", "waits", &[one(Query(OrderById::DECLARED, &[one(QueuedOrder)]))]),
    reads("get-order", "not found", &[one(Query(OrderById::DECLARED, &[]))]),
    reads("get-order-invoice", "found", &[one(Query(InvoiceOfOrder::DECLARED, &[one(Invoice(Authorized))]))]),
    reads(
        "get-product",
        "found",
        &[one(Query(ProductById::DECLARED, &[one(Product(First)), one(Stock(First)), one(ProductStats(First))]))],
    ),
    reads("get-product", "not found", &[one(Query(ProductById::DECLARED, &[]))]),
    reads(
        "get-product-stats",
        "found",
        &[one(Keys(
            ViewsOfProduct::DECLARED,
            &[one(Product(First)), one(ProductStats(First)), each(ViewShards, ViewShard(First))],
        ))],
    ),
    reads(
        "list-customer-invoices",
        "a page",
        &[one(Query(InvoicesOfCustomer::DECLARED, &[each(Listed, Invoice(Authorized))]))],
    ),
    reads("list-customer-orders", "a page", &[one(Query(OrdersOfCustomer::DECLARED, &[each(Listed, Order(Pending))]))]),
    reads("list-customer-products", "a page", &[one(Query(ProductsOfCustomer::DECLARED, &[each(Listed, OrderItem)]))]),
    reads("list-flagged-orders", "a page", &[one(Query(FlaggedOrders::DECLARED, &[each(Listed, OrderFlag(First))]))]),
    reads("list-invoice-payments", "found", &[one(Query(PaymentsOfInvoice::DECLARED, &[one(Invoice(Authorized))]))]),
    reads("list-order-products", "found", &[one(Query(ProductsOfOrder::DECLARED, &[each(Lines, OrderItem)]))]),
    reads(
        "list-order-products",
        "not found",
        &[one(Query(ProductsOfOrder::DECLARED, &[])), one(Query(InvoiceOfOrder::DECLARED, &[]))],
    ),
    reads(
        "list-orders",
        "a page",
        &[each(Shards(1), Query(OrdersOfStatus::DECLARED, &[each(ShareOfPage, Order(Pending))]))],
    ),
    reads("list-product-orders", "a page", &[one(Query(OrdersOfProduct::DECLARED, &[each(Listed, OrderItem)]))]),
    reads("list-products", "a page", &[one(Query(ProductsOfCategory::DECLARED, &[each(Listed, Product(First))]))]),
    reads(
        "list-totals",
        "of days with orders",
        &[one(Keys(TotalsOfDays::DECLARED, &[each(Listed, DayTotals(First))]))],
    ),
    reads("list-totals", "of days without", &[one(Keys(TotalsOfDays::DECLARED, &[each(Listed, Absent)]))]),
];
