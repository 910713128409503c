//! The layout: the keys of each entity, and the access patterns that read it.
//!
//! Each entity has one file. It opens with the places of the entity, and the access patterns that read them. Each place is
//! declared once, and both the keys of written items and the ranges of reads are made from it.

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
mod migration;
mod order;
mod order_flag;
mod order_item;
mod parked_counts;
mod payment_due;
mod product;
mod question;
mod queued_order;
mod reconciliation;
mod relations;
mod returns;
mod shipping;
mod stock;
mod stream_checkpoint;
mod taxes;
#[cfg(test)]
mod tests;
mod v2;
mod view;

pub use address::ADDRESSES_OF_CUSTOMER;
pub use cart::CART_OF_CUSTOMER;
pub use category::{CATEGORIES, InCategory, PRODUCTS_OF_SHOP};
pub use claim::{CUSTOMER_BY_EMAIL, CUSTOMER_BY_USERNAME};
pub use customer::{CUSTOMER_BY_ID, InCustomer};
pub use day_totals::TOTALS_OF_DAYS;
pub use discount::DISCOUNT_BY_CODE;
pub use gift_card::{GIFT_CARD_BY_CODE, InGiftCard};
pub use invoice::{
    IMPORTED_INVOICE_BY_ID, INVOICE_BY_ID, INVOICE_OF_ORDER, INVOICES_DUE, INVOICES_OF_CUSTOMER, PAYMENTS_OF_INVOICE,
};
pub use item::{ENTITIES, Item};
pub use layouts::{Layout, SpelledPlace};
pub use migration::{OF_A_MIGRATION, REPAIRS_DUE};
pub use order::{
    InOrder, ORDER_BY_ID, ORDERS_OF_CUSTOMER, ORDERS_OF_STATUS, OrderState, PROFILE_AND_ORDERS, ProfileOrOrder, Torn,
};
pub use order_flag::FLAGGED_ORDERS;
pub use order_item::{ORDERS_OF_PRODUCT, PRODUCTS_OF_CUSTOMER, PRODUCTS_OF_ORDER};
pub use parked_counts::COUNTS_PARKED;
pub use payment_due::PAYMENTS_DUE;
pub use product::{InProduct, PRODUCT_BY_ID, PRODUCTS_OF_CATEGORY, VARIANTS_OF_PRODUCT, WholeProduct};
pub use relations::{ALONE, RELATIONS};
pub use returns::OPEN_RETURNS;
pub use shipping::RATES_OF_SHOP;
pub use stock::{CELLS_OF_STOCK, InStock};
pub use taxes::TAXES_OF_SHOP;
pub use view::{InViews, VIEWS_OF_PRODUCT};

pub use single_table::{
    Bound, Chosen, Consistency, Declaration, Direction, Field, Index, Key, Pattern, Place, PlaceText, Query, Question,
    Reads, SortRange, Stored, Template, in_shards, parts, share_of_page, spells,
};

use crate::entity::Invoice;

/// The most actions of one transaction of DynamoDB.
/// <https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/transaction-apis.html>
pub const MOST_ACTIONS: usize = 100;
use single_table::collection;

/// The attribute with the item's kind.
pub const ENTITY_TYPE: &str = "EntityType";

/// The attribute that DynamoDB's time to live reads: seconds since 1970.
pub const EXPIRES_AT: &str = "expiresAt";

/// The attribute of a copy: an item that a migration wrote in the table that follows. Its value differs from copy to
/// copy, so each change that is a copy changes it, and no other change does.
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
    CUSTOMER_BY_ID.declared,
    PRODUCT_BY_ID.declared,
    ORDER_BY_ID.declared,
    PRODUCTS_OF_ORDER.declared,
    INVOICE_OF_ORDER.declared,
    ORDERS_OF_PRODUCT.declared,
    INVOICE_BY_ID.declared,
    IMPORTED_INVOICE_BY_ID.declared,
    PAYMENTS_OF_INVOICE.declared,
    INVOICES_OF_CUSTOMER.declared,
    PRODUCTS_OF_CUSTOMER.declared,
    ORDERS_OF_CUSTOMER.declared,
    PROFILE_AND_ORDERS.declared,
    CUSTOMER_BY_EMAIL.declared,
    CUSTOMER_BY_USERNAME.declared,
    PRODUCTS_OF_CATEGORY.declared,
    ORDERS_OF_STATUS.declared,
    FLAGGED_ORDERS.declared,
    VIEWS_OF_PRODUCT,
    CART_OF_CUSTOMER.declared,
    GIFT_CARD_BY_CODE.declared,
    DISCOUNT_BY_CODE.declared,
    TOTALS_OF_DAYS,
    CELLS_OF_STOCK,
    PAYMENTS_DUE.declared,
    OPEN_RETURNS.declared,
    CATEGORIES.declared,
    PRODUCTS_OF_SHOP.declared,
    ADDRESSES_OF_CUSTOMER.declared,
    RATES_OF_SHOP.declared,
    TAXES_OF_SHOP.declared,
    VARIANTS_OF_PRODUCT.declared,
];

/// The access patterns of the functions' own work: counting, and a migration from one table to another. No route asks
/// them.
pub const PATTERNS_OF_FUNCTIONS: &[Declaration] =
    &[COUNTS_PARKED.declared, INVOICES_DUE.declared, REPAIRS_DUE.declared];
