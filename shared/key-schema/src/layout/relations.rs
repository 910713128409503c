//! The relations between entities, declared once. The drawing in `docs/key-schema.md` is made of them.

use crate::entity::{
    Cart, CategoryCount, Customer, CustomerAddresses, CustomerStats, Discount, EmailClaim, Entity as _, GiftCard,
    GiftCardEntry, Guest, Invoice, Order, OrderAddress, OrderFlag, OrderItem, PaymentDue, Product, ProductDescription,
    ProductStats, QueuedOrder, Return, Shipment, Stock, StockCell, UsernameClaim, ViewShard,
};

/// A relation between items of two entities: each item of `to` names an item of `from`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Relation {
    /// The entity that is named.
    pub from: &'static str,
    /// The number of items of `from` for one item of `to`.
    pub one: Number,
    /// The number of items of `to` for one item of `from`.
    pub many: Number,
    /// The entity that names the other one.
    pub to: &'static str,
    /// The attribute of `to` that names an item of `from`.
    pub by: &'static str,
    /// The relation in words: "a customer places orders".
    pub verb: &'static str,
}

/// A number of items in a relation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Number {
    /// Exactly one.
    One,
    /// None or one.
    AtMostOne,
    /// One or more.
    Some,
    /// Any number.
    Any,
}

use Number::{Any, AtMostOne, One, Some};

const fn relation(
    from: &'static str,
    verb: &'static str,
    one: Number,
    many: Number,
    to: &'static str,
    by: &'static str,
) -> Relation {
    Relation { from, one, many, to, by, verb }
}

/// Every relation. Entities without one stand alone: [`ALONE`].
pub const RELATIONS: &[Relation] = &[
    relation(Customer::TYPE, "has sums", One, AtMostOne, CustomerStats::TYPE, "customerId"),
    relation(Customer::TYPE, "fills", One, AtMostOne, Cart::TYPE, "customerId"),
    relation(Customer::TYPE, "keeps", One, AtMostOne, CustomerAddresses::TYPE, "customerId"),
    relation(Customer::TYPE, "owns", One, One, EmailClaim::TYPE, "customerId"),
    relation(Customer::TYPE, "owns", One, One, UsernameClaim::TYPE, "customerId"),
    relation(Customer::TYPE, "places", AtMostOne, Any, Order::TYPE, "customerId"),
    relation(Customer::TYPE, "sends", One, Any, QueuedOrder::TYPE, "customerId"),
    // An order's customer is the one or the other.
    relation(Customer::TYPE, "has the keys of", AtMostOne, AtMostOne, Guest::TYPE, "customerId"),
    relation(Guest::TYPE, "places", AtMostOne, Any, Order::TYPE, "customerId"),
    relation(Product::TYPE, "continues in", One, AtMostOne, ProductDescription::TYPE, "productId"),
    relation(Product::TYPE, "is kept in", One, One, Stock::TYPE, "productId"),
    relation(Stock::TYPE, "is divided into", One, Any, StockCell::TYPE, "productId"),
    relation(Product::TYPE, "has sums", One, AtMostOne, ProductStats::TYPE, "productId"),
    relation(CategoryCount::TYPE, "counts", AtMostOne, Any, Product::TYPE, "category"),
    relation(Product::TYPE, "is viewed in", One, Any, ViewShard::TYPE, "productId"),
    relation(Product::TYPE, "is ordered in", One, Any, OrderItem::TYPE, "productId"),
    relation(Order::TYPE, "has", One, Some, OrderItem::TYPE, "orderId"),
    relation(Order::TYPE, "is shipped to", One, AtMostOne, OrderAddress::TYPE, "orderId"),
    relation(Order::TYPE, "is paid by", One, One, Invoice::TYPE, "orderId"),
    relation(Order::TYPE, "has due", One, AtMostOne, PaymentDue::TYPE, "orderId"),
    relation(Order::TYPE, "is marked by", One, AtMostOne, OrderFlag::TYPE, "orderId"),
    relation(Order::TYPE, "is returned by", One, Any, Return::TYPE, "orderId"),
    relation(Order::TYPE, "is shipped in", One, Any, Shipment::TYPE, "orderId"),
    relation(Order::TYPE, "waited as", AtMostOne, AtMostOne, QueuedOrder::TYPE, "orderId"),
    relation(Discount::TYPE, "lowers", Any, Any, Order::TYPE, "codes"),
    relation(GiftCard::TYPE, "is used in", One, Any, GiftCardEntry::TYPE, "code"),
    relation(Order::TYPE, "takes", One, Any, GiftCardEntry::TYPE, "orderId"),
];

/// The entities that name no item of another entity, and are named by none: sums over all orders of a day, marks that
/// tell nothing about a visitor, the tax rates, counters of invoice numbers, and what the functions and the operator keep about their own work.
pub const ALONE: &[&str] = &[
    "viewMark",
    "taxes",
    "shippingRates",
    "invoiceCounter",
    "dayTotals",
    "streamCheckpoint",
    "parkedCounts",
    "foldLease",
    "reconciliation",
    "idempotencyRecord",
    "move",
    "repair",
    "copyProgress",
];
