//! The relations between entities, declared once. The drawing in `docs/key-schema.md` is made of them.

use single_table::charts::Number::{self, Any, AtMostOne, One, Some};
use single_table::charts::Relation;

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

/// Every relation. Entities without one stand alone: [`ALONE`]. A test compares the names with those of the items.
pub const RELATIONS: &[Relation] = &[
    relation("customer", "has sums", One, AtMostOne, "customerStats", "customerId"),
    relation("customer", "fills", One, AtMostOne, "cart", "customerId"),
    relation("customer", "keeps", One, AtMostOne, "customerAddresses", "customerId"),
    relation("customer", "owns", One, One, "emailClaim", "customerId"),
    relation("customer", "owns", One, One, "usernameClaim", "customerId"),
    relation("customer", "places", AtMostOne, Any, "order", "customerId"),
    relation("customer", "sends", One, Any, "queuedOrder", "customerId"),
    // An order's customer is the one or the other.
    relation("customer", "has the keys of", AtMostOne, AtMostOne, "guest", "customerId"),
    relation("guest", "places", AtMostOne, Any, "order", "customerId"),
    relation("product", "continues in", One, AtMostOne, "productDescription", "productId"),
    relation("product", "is kept in", One, One, "stock", "productId"),
    relation("stock", "is divided into", One, Any, "stockCell", "productId"),
    relation("product", "has sums", One, AtMostOne, "productStats", "productId"),
    relation("categoryCount", "counts", AtMostOne, Any, "product", "category"),
    relation("product", "is viewed in", One, Any, "viewShard", "productId"),
    relation("product", "is ordered in", One, Any, "orderItem", "productId"),
    relation("order", "has", One, Some, "orderItem", "orderId"),
    relation("order", "is shipped to", One, AtMostOne, "orderAddress", "orderId"),
    relation("order", "is paid by", One, One, "invoice", "orderId"),
    relation("order", "has due", One, AtMostOne, "paymentDue", "orderId"),
    relation("order", "is marked by", One, AtMostOne, "orderFlag", "orderId"),
    relation("order", "is returned by", One, Any, "return", "orderId"),
    relation("order", "is shipped in", One, Any, "shipment", "orderId"),
    relation("order", "waited as", AtMostOne, AtMostOne, "queuedOrder", "orderId"),
    relation("discount", "lowers", Any, Any, "order", "codes"),
    relation("giftCard", "is used in", One, Any, "giftCardEntry", "code"),
    relation("order", "takes", One, Any, "giftCardEntry", "orderId"),
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
    "migration",
    "repair",
    "copyProgress",
];
