//! One type for all entities, so that an invariant is written once.

use proptest::prelude::*;
use proptest::sample::Index as Pick;
use serde_dynamo::{AttributeValue, Item};

use super::parts::any_parts;
use crate::entity::{
    Cart, CategoryCount, CopyProgress, Customer, CustomerAddresses, CustomerStats, DayTotals, Discount, EmailClaim,
    Entity as _, FoldLease, GiftCard, GiftCardEntry, Guest, IdempotencyRecord, Invoice, InvoiceCounter, Move, Order,
    OrderAddress, OrderFlag, OrderItem, ParkedCounts, PaymentDue, Product, ProductDescription, ProductStats,
    QueuedOrder, Reconciliation, Repair, Return, Shipment, ShippingRates, Stock, StockCell, StreamCheckpoint, Taxes,
    UsernameClaim, ViewMark, ViewShard,
};
use crate::layout::{
    ENTITY_TYPE, InCustomer, InGiftCard, InOrder, InProduct, InStock, InViews, Key, PlaceText, ProfileOrOrder, Stored,
    spells,
};

macro_rules! any_entity {
    ($($kind:ident)+) => {
        /// One entity of any kind.
        #[allow(clippy::large_enum_variant, reason = "tests")]
        #[derive(Clone, Debug, PartialEq)]
        pub(super) enum AnyEntity {
            $($kind($kind)),+
        }

        impl AnyEntity {
            pub(super) fn kind(&self) -> &'static str {
                match self { $(Self::$kind(_) => $kind::TYPE),+ }
            }

            pub(super) fn places(&self) -> &'static [PlaceText] {
                match self { $(Self::$kind(_) => $kind::PLACES),+ }
            }

            /// The places of its keys, in the order of the keys.
            pub(super) fn places_of_keys(&self) -> Vec<PlaceText> {
                let instead = match self { $(Self::$kind(_) => $kind::INSTEAD),+ };
                let keys = self.keys();
                let place_of = |place: &PlaceText| {
                    let key = keys.iter().find(|key| key.index == place.index);
                    let mut others = instead.iter().filter(|other| other.index == place.index);
                    *others.find(|other| key.is_some_and(|key| spells(other.partition, &key.partition))).unwrap_or(place)
                };
                self.places().iter().map(place_of).collect()
            }

            /// The key in the table, then the keys in the indexes.
            pub(super) fn keys(&self) -> Vec<Key> {
                match self { $(Self::$kind(entity) => [vec![entity.key()], entity.index_keys()].concat()),+ }
            }

            /// The item as it is stored.
            pub(super) fn item(&self) -> Item {
                let mut item: Item = match self {
                    $(Self::$kind(entity) => serde_dynamo::to_item(entity).expect("an item")),+
                };
                let text = |text: &str| AttributeValue::S(text.to_owned());
                item.inner_mut().insert(ENTITY_TYPE.to_owned(), text(self.kind()));
                for key in self.keys() {
                    let (partition, sort) = key.index.attributes();
                    item.inner_mut().insert(partition.to_owned(), text(&key.partition));
                    item.inner_mut().insert(sort.to_owned(), text(&key.sort));
                }
                item
            }

            /// Deserializes an item as an entity of the same kind as `self`.
            pub(super) fn read_alike(&self, item: Item) -> Self {
                match self { $(Self::$kind(_) => Self::$kind(serde_dynamo::from_item(item).expect("an entity"))),+ }
            }
        }
    };
}

any_entity! {
    Customer CustomerStats Cart CustomerAddresses Guest EmailClaim UsernameClaim
    Product ProductDescription Stock StockCell ProductStats ViewShard ViewMark CategoryCount
    Order OrderItem OrderAddress Invoice InvoiceCounter PaymentDue OrderFlag Return Shipment QueuedOrder
    Discount GiftCard GiftCardEntry Taxes ShippingRates
    DayTotals StreamCheckpoint ParkedCounts FoldLease Reconciliation IdempotencyRecord
    Move Repair CopyProgress
}

macro_rules! read_from_collection {
    ($($collection:ident: $($kind:ident)+ $(, or $unknown:ident)?;)+) => {$(
        impl From<$collection> for Option<AnyEntity> {
            fn from(item: $collection) -> Self {
                match item {
                    $($collection::$kind(entity) => Some(AnyEntity::$kind(entity)),)+
                    $($collection::$unknown => None,)?
                }
            }
        }
    )+};
}

read_from_collection! {
    InCustomer: Customer Cart CustomerAddresses Guest CustomerStats, or Unknown;
    InProduct: Product ProductDescription Stock ProductStats, or Unknown;
    InStock: Stock StockCell;
    InViews: Product ProductStats ViewShard;
    InOrder: Order OrderItem OrderAddress Invoice PaymentDue OrderFlag Return Shipment QueuedOrder, or Unknown;
    ProfileOrOrder: Customer Order, or Unknown;
    InGiftCard: GiftCard GiftCardEntry, or Unknown;
}

/// Any entity.
pub(super) fn any_entity() -> impl Strategy<Value = AnyEntity> {
    (any_parts(), any::<Pick>()).prop_map(|(parts, pick)| {
        let mut entities = parts.entities();
        entities.swap_remove(pick.index(entities.len()))
    })
}
