//! What a function asks of the table, as data: from it follows what its role allows.

use crate::entity::{
    Cart, CategoryCount, Customer, CustomerStats, DayTotals, Discount, EmailClaim, Entity as _, GiftCard,
    GiftCardEntry, Guest, Invoice, InvoiceCounter, Order, OrderFlag, Product, ProductStats, QueuedOrder, Return,
    Shipment, Stock, StockCell, UsernameClaim, ViewShard,
};
use crate::layout::{COPIED, Index, Layout};

pub use single_table::access::{Access, Action, EVERY};

/// The partitions of guests alone: their ids begin like no customer's.
pub const GUESTS: &str = "c#guest-{hash}";

/// The attributes, besides the key, that updates of an item name: those that some function changes, and those that a
/// condition of an update tests. A star stands for the rest of a name. All other attributes stay as the item was put. A
/// test compares the list with the calls of an eventful day, and every test enforces it.
pub const CHANGED: &[(&str, &[&str])] = &[
    (Customer::TYPE, &["email", "guests", "name", "username", "version"]),
    (CustomerStats::TYPE, &["EntityType", "customerId", "openUnits", "orders", "spent:*"]),
    (Guest::TYPE, &["claimedBy", "email", "expiresAt"]),
    (Cart::TYPE, &["expiresAt", "lines", "version"]),
    (EmailClaim::TYPE, &["customerId", "email"]),
    (UsernameClaim::TYPE, &["customerId", "username"]),
    (
        Product::TYPE,
        &[
            "GSI1PK",
            "GSI1SK",
            "GSI2PK",
            "GSI2SK",
            "attributes",
            "category",
            "description",
            "images",
            "listed",
            "name",
            "price",
            "variantOf",
            "version",
            "weightGrams",
            "wholeDescription",
        ],
    ),
    (
        Stock::TYPE,
        &["available", "cells", "heldByGuests", "price", "priceVersion", "putBacks", "recalled", "transferred"],
    ),
    (StockCell::TYPE, &["available", "price", "priceVersion", "putBacks", "transferred"]),
    (ProductStats::TYPE, &["EntityType", "orders", "productId", "revenue:*", "units"]),
    (ViewShard::TYPE, &["views"]),
    (CategoryCount::TYPE, &["EntityType", "category", "products"]),
    (
        Order::TYPE,
        &[
            "GSI1PK",
            "allowances",
            "cancellation",
            "changedAt",
            "credits",
            "deliveredAt",
            "deliveredCount",
            "erased",
            "hasAddress",
            "requestId",
            "returnCount",
            "returning",
            "shipmentCount",
            "shipped",
            "status",
            "version",
        ],
    ),
    (Invoice::TYPE, &["GSI1PK", "GSI1SK", "number", "payments", "unnumbered"]),
    (InvoiceCounter::TYPE, &["EntityType", "last", "series"]),
    (OrderFlag::TYPE, &["EntityType", "GSI1PK", "GSI1SK", "flaggedAt", "orderId", "reason"]),
    (Return::TYPE, &["GSI1PK", "GSI1SK", "amount", "closedAt", "reason", "refusal", "restocked", "status"]),
    (Shipment::TYPE, &["deliveredAt", "trackingNumber", "trackingUrl"]),
    (QueuedOrder::TYPE, &["deadSince", "queuedAt", "refusal", "requestHash"]),
    (Discount::TYPE, &["from", "heldByGuests", "maxUses", "revoked", "to", "uses", "version"]),
    (GiftCard::TYPE, &["balance", "blocked", "validUntil", "version"]),
    (GiftCardEntry::TYPE, &["returned", "status"]),
    (DayTotals::TYPE, &["EntityType", "date", "orders", "revenue:*", "status:*", "units"]),
];

/// The attributes of the items that the request may name, as patterns of a policy; `None` if it may name all of them.
/// An update names what it changes and what its condition tests. A whole item has all attributes, so there is nothing
/// to withhold from a put or from a read of whole items.
pub fn attributes(access: &Access) -> Option<Vec<&'static str>> {
    let others: &[&str] = match access.action {
        Action::BatchGetItem if access.is_of_keys => &[],
        Action::UpdateItem => CHANGED.iter().find(|(entity, _)| *entity == access.subject).map(|(_, names)| *names)?,
        _ => return None,
    };
    let (partition, sort) = Index::Table.attributes();
    let copied = (access.action == Action::UpdateItem).then_some(COPIED);
    Some([partition, sort].into_iter().chain(copied).chain(others.iter().copied()).collect())
}

/// The pattern of the access's partition keys in a layout, as a policy spells it: `p#*`.
pub fn leading_keys(access: &Access, layout: Layout) -> String {
    single_table::access::leading_keys(&layout.partition(access.index, access.partition.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::CUSTOMER_BY_ID;
    use crate::value::GuestSecret;

    #[test]
    fn an_access_of_guests_is_to_the_collection_of_every_guest_and_of_no_customer() {
        let secret: GuestSecret = "dGhlIHNlY3JldCBvZiBhIGd1ZXN0IG9mIG15IHNob3A".parse().expect("a secret");
        let keys = leading_keys(&Access::query(CUSTOMER_BY_ID).of_partitions(GUESTS), Layout::V1);
        let prefix = keys.strip_suffix('*').expect("a prefix");
        assert!(Guest::key_of(&secret.guest_id()).partition.starts_with(prefix));
        let customer = "guest".parse().expect("an id");
        assert!(!Customer::key_of(&customer).partition.starts_with(prefix));
    }
}
