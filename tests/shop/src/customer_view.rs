//! The fields that customers may see: every field of every kind of answer to customers and to callers without a token.
//!
//! The suite's client checks each reply to such a caller against this list, in every test. So a new field of an entity
//! is not shown to customers by accident: the tests fail until the field is added here.

use reqwest::Method;
use serde_json::Value;

use crate::openapi;

/// Fields by the schema's name in the API's description. `Page` is a list itself; `Problem` stands for all problems.
pub const VISIBLE: &[(&str, &[&str])] = &[
    ("Page", &["items", "next"]),
    ("Address", &["city", "country", "line1", "line2", "name", "postalCode", "region"]),
    ("Addresses", &["addresses", "default", "updatedAt"]),
    ("Allowance", &["amount", "at", "reason", "shipping"]),
    ("Cancellation", &["at", "cause", "reason"]),
    ("CategoryTax", &["category", "rate"]),
    ("Cart", &["expiresAt", "lines", "updatedAt", "version"]),
    ("CartLine", &["productId", "quantity"]),
    ("CategoryCount", &["category", "products"]),
    ("CountryTaxes", &["categories", "country", "standard"]),
    ("Credit", &["amount", "productId", "units"]),
    ("Customer", &["createdAt", "customerId", "email", "guests", "name", "stats", "username", "version"]),
    ("CustomerStats", &["orders", "spent"]),
    ("CodeUse", &["amount", "code"]),
    (
        "Discount",
        &[
            "amount",
            "category",
            "code",
            "combinable",
            "createdAt",
            "from",
            "maxUses",
            "minSubtotal",
            "percent",
            "to",
            "uses",
        ],
    ),
    ("Exported", &["addresses", "cart", "customer", "flag", "guest", "order"]),
    ("Facets", &["categories", "prices"]),
    ("Flag", &["flaggedAt", "reason"]),
    ("GatewayMessage", &["message"]),
    ("GiftCard", &["balance", "blocked", "code", "createdAt", "initial", "validUntil"]),
    ("GiftCardEntry", &["amount", "at", "returned", "status"]),
    ("GiftCardView", &["entries"]),
    ("Guest", &["claimedBy", "createdAt", "email", "guestId", "name"]),
    ("Image", &["imageId", "url"]),
    ("Invoice", &["amount", "customerId", "invoiceId", "issuedAt", "number", "orderId", "payments", "taxes"]),
    ("Money", &["amount", "currency"]),
    (
        "Order",
        &[
            "allowances",
            "cancellation",
            "creditedTaxes",
            "credits",
            "customerId",
            "deliveredAt",
            "discount",
            "discountCode",
            "discounts",
            "invoice",
            "lines",
            "orderId",
            "payLater",
            "paymentMethod",
            "placedAt",
            "returns",
            "shipTo",
            "shipping",
            "shipments",
            "status",
            "subtotal",
            "tax",
            "total",
            "version",
        ],
    ),
    ("OrderItem", &["customerId", "orderId", "placedAt"]),
    ("OrderLine", &["amount", "discount", "name", "productId", "quantity", "tax", "unitPrice"]),
    ("Overview", &["customer", "orders"]),
    ("LineTax", &["added", "amount", "byEngine", "rate"]),
    ("LineUnits", &["productId", "quantity"]),
    (
        "Payment",
        &[
            "amount",
            "code",
            "credited",
            "dispute",
            "due",
            "received",
            "reference",
            "refundReference",
            "returned",
            "status",
            "type",
            "writtenOff",
        ],
    ),
    ("PriceRange", &["currency", "from", "products", "to"]),
    (
        "Problem",
        &[
            "addressId",
            "allowed",
            "available",
            "cardAmount",
            "cart",
            "code",
            "country",
            "detail",
            "field",
            "lastDay",
            "left",
            "line",
            "message",
            "open",
            "orderStatus",
            "orders",
            "outcome",
            "productId",
            "productIds",
            "requestId",
            "status",
            "title",
            "total",
            "type",
            "version",
        ],
    ),
    ("PaymentIntent", &["amount", "clientSecret", "intentId", "orderId", "provider", "status"]),
    (
        "Product",
        &[
            "attributes",
            "available",
            "category",
            "cells",
            "description",
            "descriptionContinues",
            "images",
            "listed",
            "name",
            "price",
            "productId",
            "recalled",
            "stats",
            "variantOf",
            "version",
            "weightGrams",
        ],
    ),
    ("Quote", &["discount", "discounts", "lines", "payments", "shipping", "subtotal", "tax", "total"]),
    ("QuotedPayment", &["amount", "code", "type"]),
    ("ProductStats", &["orders", "units"]),
    (
        "Return",
        &[
            "amount",
            "closedAt",
            "customerId",
            "lines",
            "orderId",
            "reason",
            "refusal",
            "requestedAt",
            "restocked",
            "returnId",
            "status",
        ],
    ),
    ("SavedAddress", &["addressId"]),
    ("Shipping", &["updatedAt", "zones"]),
    ("ShippingBand", &["price", "upTo"]),
    ("ShippingZone", &["bands", "by", "countries", "currency", "freeFrom"]),
    (
        "Shipment",
        &[
            "carrier",
            "customerId",
            "deliveredAt",
            "lines",
            "orderId",
            "shipmentId",
            "shippedAt",
            "trackingNumber",
            "trackingUrl",
        ],
    ),
    ("SearchResult", &["facets", "items", "next", "total"]),
    ("QueuedOrder", &["customerId", "delayedAt", "maxTotal", "orderId", "problem", "queuedAt", "rejectedAt", "status"]),
    ("Tax", &["net", "rate", "tax"]),
    ("Taxes", &["countries", "updatedAt"]),
];

/// A field of a reply: the names of its schema and of the field.
pub type Seen = (String, String);

/// Panics if the reply contains a field that is not on the list.
#[track_caller]
pub fn check(method: &Method, path: &str, body: &Value, status: u16) {
    for (schema, field) in seen(method, path, body, status) {
        let listed = VISIBLE.iter().any(|(name, fields)| *name == schema && fields.contains(&field.as_str()));
        assert!(
            listed,
            "{method} {path} ({status}) shows a customer the field {field} of {schema}: if that is meant, add it to \
             tests/shop/src/customer_view.rs"
        );
    }
}

/// Every field of this reply.
pub fn seen(method: &Method, path: &str, body: &Value, status: u16) -> Vec<Seen> {
    let Some(operation) = openapi::operation(method, path) else { return Vec::new() };
    let response = &operation["responses"][status.to_string()];
    let mut found = Vec::new();
    for media in response["content"].as_object().into_iter().flat_map(|content| content.values()) {
        gather("Page", &media["schema"], body, &mut found);
    }
    found
}

/// Collects the fields of a value with this schema. `within` is the name of the enclosing schema.
fn gather(within: &str, schema: &Value, value: &Value, found: &mut Vec<Seen>) {
    if let Some(reference) = schema["$ref"].as_str() {
        let name = reference.rsplit('/').next().unwrap_or_default();
        let target = openapi::document().pointer(reference.trim_start_matches('#')).expect("a schema");
        return gather(name, target, value, found);
    }
    for part in schema["allOf"].as_array().into_iter().flatten() {
        gather(within, part, value, found);
    }
    let choices = schema["oneOf"].as_array().into_iter().flatten();
    for choice in choices.filter(|choice| openapi::conforms(choice, value).is_ok()) {
        gather(within, choice, value, found);
    }
    for item in value.as_array().into_iter().flatten() {
        gather(within, &schema["items"], item, found);
    }
    let is_open = schema["additionalProperties"] == true;
    for (name, field) in value.as_object().into_iter().flatten() {
        let property = &schema["properties"][name];
        if property.is_object() || is_open {
            found.push((within.to_owned(), name.clone()));
        }
        gather(within, property, field, found);
    }
}
