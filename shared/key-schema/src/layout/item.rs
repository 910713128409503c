//! Every kind of item, in one list. A kind that is added here has to be handled by each `match` on [`Item`].

use serde::{Deserialize, Serialize};

use crate::entity::{self, Entity};

use super::{Key, PlaceText, Stored};

macro_rules! items {
    ($($kind:ident = $name:literal)+) => {
        $(impl Entity for entity::$kind {
            const TYPE: &'static str = $name;
        })+

        /// An item of any kind, read by its attribute `EntityType`.
        #[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
        #[allow(clippy::large_enum_variant, reason = "an item is read, used and dropped")]
        #[serde(tag = "EntityType")]
        pub enum Item {
            $(#[serde(rename = $name)] $kind(entity::$kind),)+
        }

        /// Every stored entity, with its places.
        pub const ENTITIES: &[(&str, &[PlaceText])] = &[$(($name, <entity::$kind as Stored>::PLACES)),+];

        impl Item {
            /// The value of the attribute `EntityType`.
            pub fn kind(&self) -> &'static str {
                match self { $(Self::$kind(_) => $name),+ }
            }

            /// [`Stored::PLACES`].
            pub fn places(&self) -> &'static [PlaceText] {
                match self { $(Self::$kind(_) => <entity::$kind as Stored>::PLACES),+ }
            }

            /// [`Stored::INSTEAD`].
            pub fn instead(&self) -> &'static [PlaceText] {
                match self { $(Self::$kind(_) => <entity::$kind as Stored>::INSTEAD),+ }
            }

            /// The key in the table, then the keys in the indexes.
            pub fn keys(&self) -> Vec<Key> {
                match self { $(Self::$kind(one) => one.keys()),+ }
            }
        }

        $(impl From<entity::$kind> for Item {
            fn from(one: entity::$kind) -> Self {
                Self::$kind(one)
            }
        })+
    };
}

items! {
    Customer = "customer"
    CustomerStats = "customerStats"
    Cart = "cart"
    CustomerAddresses = "customerAddresses"
    Guest = "guest"
    EmailClaim = "emailClaim"
    UsernameClaim = "usernameClaim"
    Product = "product"
    ProductDescription = "productDescription"
    Stock = "stock"
    StockCell = "stockCell"
    ProductStats = "productStats"
    ViewShard = "viewShard"
    ViewMark = "viewMark"
    CategoryCount = "categoryCount"
    Order = "order"
    OrderItem = "orderItem"
    OrderAddress = "orderAddress"
    Invoice = "invoice"
    InvoiceCounter = "invoiceCounter"
    PaymentDue = "paymentDue"
    OrderFlag = "orderFlag"
    Return = "return"
    Shipment = "shipment"
    QueuedOrder = "queuedOrder"
    Discount = "discount"
    GiftCard = "giftCard"
    GiftCardEntry = "giftCardEntry"
    Taxes = "taxes"
    ShippingRates = "shippingRates"
    DayTotals = "dayTotals"
    StreamCheckpoint = "streamCheckpoint"
    ParkedCounts = "parkedCounts"
    FoldLease = "foldLease"
    Reconciliation = "reconciliation"
    IdempotencyRecord = "idempotencyRecord"
    Move = "move"
    Repair = "repair"
    CopyProgress = "copyProgress"
}

/// Declares the items of one read: an enum of some of the kinds, so that a reader is compiled for no other.
macro_rules! collection {
    ($(#[$meta:meta])* $name:ident { $($(#[$doc:meta])* $kind:ident)+ }) => {
        $(#[$meta])*
        #[allow(clippy::large_enum_variant, reason = "an item is read, used and dropped")]
        #[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
        #[serde(tag = "EntityType", rename_all = "camelCase")]
        pub enum $name {
            $($(#[$doc])* $kind(crate::entity::$kind),)+
            /// An item that a newer release wrote.
            #[serde(other)]
            Unknown,
        }

        impl crate::layout::Kinds for $name {
            const KINDS: &'static [&'static str] = &[$(<crate::entity::$kind as crate::entity::Entity>::TYPE),+];
        }

        #[cfg(test)]
        impl From<$name> for Option<crate::layout::Item> {
            fn from(item: $name) -> Self {
                match item {
                    $($name::$kind(one) => Some(one.into()),)+
                    $name::Unknown => None,
                }
            }
        }
    };
}
pub(super) use collection;
