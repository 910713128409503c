//! The layout: the keys of each entity, and the access patterns that read it.
//!
//! Each entity has one file, with the access patterns that read the entity. The file opens with a table of these
//! patterns. Each place is declared once, and both the keys of written items and the ranges of reads are made from it.

mod address;
mod cart;
mod category;
mod claim;
mod customer;
mod day_totals;
mod discount;
mod gift_card;
mod guest;
mod idempotency_record;
mod invoice;
mod invoice_counter;
mod item;
mod layouts;
mod moving;
mod order;
mod order_flag;
mod order_item;
mod parked_counts;
mod pattern;
mod payment_due;
mod place;
mod product;
mod question;
mod queued_order;
mod range;
mod reconciliation;
mod relations;
mod returns;
mod shipping;
mod stock;
mod stream_checkpoint;
mod taxes;
mod template;
#[cfg(test)]
mod tests;
mod v2;
mod view;

pub use address::AddressesOfCustomer;
pub use cart::CartOfCustomer;
pub use category::{Categories, InCategory, ProductsOfShop};
pub use claim::{CustomerByEmail, CustomerByUsername};
pub use customer::{CustomerById, InCustomer};
pub use day_totals::TotalsOfDays;
pub use discount::DiscountByCode;
pub use gift_card::{GiftCardByCode, InGiftCard};
pub use invoice::{
    ImportedInvoiceById, InvoiceById, InvoiceOfOrder, InvoicesDue, InvoicesOfCustomer, PaymentsOfInvoice,
};
pub use item::{ENTITIES, Item};
pub use layouts::{Layout, SpelledPlace};
pub use moving::{OF_A_MOVE, RepairsDue};
pub use order::{
    InOrder, OrderById, OrderState, OrdersOfCustomer, OrdersOfStatus, ProfileAndOrders, ProfileOrOrder, Torn,
};
pub use order_flag::FlaggedOrders;
pub use order_item::{OrdersOfProduct, ProductsOfCustomer, ProductsOfOrder};
pub use parked_counts::CountsParked;
pub use pattern::{AccessPattern, Bound, Consistency, Declaration, Direction, Stored, share_of_page};
pub use payment_due::PaymentsDue;
pub use place::{Index, Key, Place, PlaceText};
pub use product::{InProduct, ProductById, ProductsOfCategory, VariantsOfProduct, WholeProduct};
pub use question::{Question, Reads};
pub use range::SortRange;
pub use relations::{ALONE, Number, RELATIONS, Relation};
pub use returns::OpenReturns;
pub use shipping::RatesOfShop;
pub use stock::{CellsOfStock, InStock};
pub use taxes::TaxesOfShop;
pub use template::{Arity, Full, Prefix, Template, spells};
pub use view::{InViews, ViewsOfProduct};

use crate::entity::Invoice;
use item::collection;

/// The attribute with the item's kind.
pub const ENTITY_TYPE: &str = "EntityType";

/// The attribute that DynamoDB's time to live reads: seconds since 1970.
pub const EXPIRES_AT: &str = "expiresAt";

/// The attribute of a copy: an item that a move wrote in the table that follows. Its value differs from copy to copy, so
/// each change that is a copy changes it, and no other change does.
pub const COPIED: &str = "copied";

/// The value of [`COPIED`] in a copy that is removed next, because the item it copies is gone.
pub const REMOVED: &str = "removed";

/// The entity of the item with this key of the table.
pub fn entity_at(key: &Key) -> Option<&'static str> {
    ENTITIES.iter().find(|(_, places)| places[0].is_of(key)).map(|(entity, _)| *entity)
}

/// Every place that an item may have instead of that of its entity in the same index: [`Stored::INSTEAD`].
pub const INSTEAD: &[PlaceText] = Invoice::INSTEAD;

/// Every access pattern of the shop, in the order of their numbers.
pub const PATTERNS: &[Declaration] = &[
    CustomerById::DECLARED,
    ProductById::DECLARED,
    OrderById::DECLARED,
    ProductsOfOrder::DECLARED,
    InvoiceOfOrder::DECLARED,
    OrdersOfProduct::DECLARED,
    InvoiceById::DECLARED,
    ImportedInvoiceById::DECLARED,
    PaymentsOfInvoice::DECLARED,
    InvoicesOfCustomer::DECLARED,
    ProductsOfCustomer::DECLARED,
    OrdersOfCustomer::DECLARED,
    ProfileAndOrders::DECLARED,
    CustomerByEmail::DECLARED,
    CustomerByUsername::DECLARED,
    ProductsOfCategory::DECLARED,
    OrdersOfStatus::DECLARED,
    FlaggedOrders::DECLARED,
    ViewsOfProduct::DECLARED,
    CartOfCustomer::DECLARED,
    GiftCardByCode::DECLARED,
    DiscountByCode::DECLARED,
    TotalsOfDays::DECLARED,
    CellsOfStock::DECLARED,
    PaymentsDue::DECLARED,
    OpenReturns::DECLARED,
    Categories::DECLARED,
    ProductsOfShop::DECLARED,
    AddressesOfCustomer::DECLARED,
    RatesOfShop::DECLARED,
    TaxesOfShop::DECLARED,
    VariantsOfProduct::DECLARED,
];

/// The access patterns of the functions' own work: counting, and a move from one table to another. No route asks them.
pub const PATTERNS_OF_FUNCTIONS: &[Declaration] =
    &[CountsParked::DECLARED, InvoicesDue::DECLARED, RepairsDue::DECLARED];
