//! What a function asks of the table, as data: from it follows what its role allows.

use crate::entity::{
    Cart, CategoryCount, Customer, CustomerStats, DayTotals, Discount, EmailClaim, Entity as _, GiftCard,
    GiftCardEntry, Guest, Invoice, InvoiceCounter, Order, OrderFlag, Product, ProductStats, QueuedOrder, Return,
    Shipment, Stock, StockCell, UsernameClaim, ViewShard,
};
use crate::layout::{COPIED, Index, Layout, Pattern, PlaceText, Stored};

/// One kind of request, on the partitions of one kind of key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// The kind of request.
    pub action: Action,
    /// The table or the index.
    pub index: Index,
    /// The template of the partition key.
    pub partition: &'static str,
    /// The entity, or the question of the access pattern of a Query.
    pub subject: &'static str,
    /// Whether the request is made only as a part of a transaction.
    pub is_transactional: bool,
    /// Whether the request reads nothing of the items but their keys.
    pub is_of_keys: bool,
}

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
    (Stock::TYPE, &["available", "cells", "moved", "price", "priceVersion", "putBacks", "recalled"]),
    (StockCell::TYPE, &["available", "moved", "price", "priceVersion", "putBacks"]),
    (ProductStats::TYPE, &["EntityType", "orders", "productId", "revenue:*", "units"]),
    (ViewShard::TYPE, &["views"]),
    (CategoryCount::TYPE, &["EntityType", "category", "products"]),
    (
        Order::TYPE,
        &[
            "GSI1PK",
            "cancellation",
            "changedAt",
            "credits",
            "deliveredAt",
            "deliveredCount",
            "hasAddress",
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
    (Discount::TYPE, &["from", "maxUses", "revoked", "to", "uses", "version"]),
    (GiftCard::TYPE, &["balance", "blocked", "validUntil", "version"]),
    (GiftCardEntry::TYPE, &["returned", "status"]),
    (DayTotals::TYPE, &["EntityType", "date", "orders", "revenue:*", "status:*", "units"]),
];

/// The subject of an access to items of every kind.
pub const EVERY: &str = "every entity";

/// A kind of request, as IAM names it. A transaction is granted as the requests in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Action {
    /// `BatchGetItem`.
    BatchGetItem,
    /// The check of a condition in a transaction.
    ConditionCheckItem,
    /// `DeleteItem`.
    DeleteItem,
    /// The read of one item in a transaction.
    GetItem,
    /// `PutItem`.
    PutItem,
    /// `Query`.
    Query,
    /// `UpdateItem`.
    UpdateItem,
}

impl Action {
    /// The action's name in a policy.
    pub const fn name(self) -> &'static str {
        match self {
            Self::BatchGetItem => "dynamodb:BatchGetItem",
            Self::ConditionCheckItem => "dynamodb:ConditionCheckItem",
            Self::DeleteItem => "dynamodb:DeleteItem",
            Self::GetItem => "dynamodb:GetItem",
            Self::PutItem => "dynamodb:PutItem",
            Self::Query => "dynamodb:Query",
            Self::UpdateItem => "dynamodb:UpdateItem",
        }
    }

    /// The transaction that the action may be a part of.
    pub const fn transaction(self) -> &'static str {
        match self {
            Self::BatchGetItem | Self::GetItem | Self::Query => "TransactGetItems",
            Self::ConditionCheckItem | Self::DeleteItem | Self::PutItem | Self::UpdateItem => "TransactWriteItems",
        }
    }
}

impl Access {
    /// Answers this access pattern by a Query.
    pub const fn query<Parameters, Item>(pattern: Pattern<Parameters, Item>) -> Self {
        Self::new(Action::Query, pattern.declared.place, pattern.declared.question)
    }

    /// Reads items of this kind by their keys.
    pub const fn batch_get<E: Stored>() -> Self {
        Self::to::<E>(Action::BatchGetItem)
    }

    /// Reads whether items of this kind exist, by their keys, and nothing else of them.
    pub const fn exists<E: Stored>() -> Self {
        Self { is_of_keys: true, ..Self::to::<E>(Action::BatchGetItem) }
    }

    /// Reads items of this kind in a transaction, and never otherwise.
    pub const fn transact_get<E: Stored>() -> Self {
        Self::to::<E>(Action::GetItem).in_transactions()
    }

    /// Writes items of this kind as a whole.
    pub const fn put<E: Stored>() -> Self {
        Self::to::<E>(Action::PutItem)
    }

    /// Changes items of this kind.
    pub const fn update<E: Stored>() -> Self {
        Self::to::<E>(Action::UpdateItem)
    }

    /// Deletes items of this kind.
    pub const fn delete<E: Stored>() -> Self {
        Self::to::<E>(Action::DeleteItem)
    }

    /// Checks a condition on items of this kind, in a transaction that writes others.
    pub const fn check<E: Stored>() -> Self {
        Self::to::<E>(Action::ConditionCheckItem).in_transactions()
    }

    /// Makes requests of this kind for items of every kind, in transactions.
    pub const fn everywhere(action: Action) -> Self {
        let place = PlaceText { index: Index::Table, partition: "{any}", sort: "" };
        Self::new(action, place, EVERY).in_transactions()
    }

    /// The same, and never outside of a transaction.
    #[must_use]
    pub const fn in_transactions(self) -> Self {
        Self { is_transactional: true, ..self }
    }

    /// The same for the collections of guests alone: their ids begin like no customer's.
    #[must_use]
    pub const fn of_guests(self) -> Self {
        Self { partition: "c#guest-{hash}", ..self }
    }

    const fn to<E: Stored>(action: Action) -> Self {
        let place = E::PLACES[0];
        assert!(matches!(place.index, Index::Table), "the first place of an entity is in the table");
        Self::new(action, place, E::TYPE)
    }

    const fn new(action: Action, place: PlaceText, subject: &'static str) -> Self {
        let PlaceText { index, partition, .. } = place;
        Self { action, index, partition, subject, is_transactional: false, is_of_keys: false }
    }

    /// The attributes of the items that the request may name, as patterns of a policy; `None` if it may name all of them.
    /// An update names what it changes and what its condition tests. A whole item has all attributes, so there is nothing
    /// to withhold from a put or from a read of whole items.
    pub fn attributes(&self) -> Option<Vec<&'static str>> {
        let others: &[&str] = match self.action {
            Action::BatchGetItem if self.is_of_keys => &[],
            Action::UpdateItem => {
                CHANGED.iter().find(|(entity, _)| *entity == self.subject).map(|(_, names)| *names)?
            }
            _ => return None,
        };
        let (partition, sort) = Index::Table.attributes();
        let copied = (self.action == Action::UpdateItem).then_some(COPIED);
        Some([partition, sort].into_iter().chain(copied).chain(others.iter().copied()).collect())
    }

    /// The pattern of the partition keys in a layout, as a policy spells it: `p#*`.
    pub fn leading_keys(&self, layout: Layout) -> String {
        let partition = layout.partition(self.index, self.partition.to_owned());
        match partition.split_once('{') {
            Some((prefix, _)) => format!("{prefix}*"),
            None => partition,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::CUSTOMER_BY_ID;
    use crate::value::GuestSecret;

    #[test]
    fn an_access_of_guests_is_to_the_collection_of_every_guest_and_of_no_customer() {
        let secret: GuestSecret = "dGhlIHNlY3JldCBvZiBhIGd1ZXN0IG9mIG15IHNob3A".parse().expect("a secret");
        let keys = Access::query(CUSTOMER_BY_ID).of_guests().leading_keys(Layout::V1);
        let prefix = keys.strip_suffix('*').expect("a prefix");
        assert!(Guest::key_of(&secret.guest_id()).partition.starts_with(prefix));
        let customer = "guest".parse().expect("an id");
        assert!(!Customer::key_of(&customer).partition.starts_with(prefix));
    }
}
