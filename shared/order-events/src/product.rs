//! The events of products.

use std::collections::BTreeMap;

use key_schema::entity::{Availability, Product, Stock, StockCell};
use key_schema::value::{Category, Money, ProductId, Timestamp};

use crate::EventId;
use crate::event::LAYOUT_VERSION;

event! {
    /// A product was created, its catalogue entry changed, or it was recalled. A change of stock, such as a sale, has
    /// no event.
    ProductChanged of product {
        /// The product's version after the change, which is the API's `ETag`. The first is 1; a later change has a
        /// greater one.
        pub version: u64,
        /// The name after the change.
        pub name: String,
        /// The description after the change. Of a long one the beginning, which ends with an ellipsis.
        pub description: String,
        /// Whether the description continues: `GET /products/{productId}` has the whole. Absent if not.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        pub description_continues: bool,
        /// What tells the variants of a product apart, after the change: texts by the names of the attributes. Absent
        /// if there are none.
        #[serde(skip_serializing_if = "BTreeMap::is_empty")]
        pub attributes: BTreeMap<String, String>,
        /// The product of which this is a variant. Absent if it is none.
        #[schema(nullable = false)]
        pub variant_of: Option<ProductId>,
        /// `false` if no list, no category and no search has the product. Absent otherwise.
        #[schema(nullable = false)]
        pub listed: Option<bool>,
        /// The category after the change.
        pub category: Category,
        /// The price after the change.
        pub price: Money,
    }

    /// A product ran low, was sold out, or can be bought again. Within seconds of the sale or of the delivery.
    AvailabilityChanged of product {
        /// Whether the product can be bought, after the change.
        pub availability: Availability,
        /// The number of this change. Of two events of a product, the one with the greater number is the later one; a
        /// product that was removed and created again begins anew.
        pub change: u64,
    }

    /// A product has few units, or had few before, in one of the cells of its stock. An order for Till's own
    /// `mark-availability` to read the stock: others subscribe to `AvailabilityChanged`.
    StockRanLow of product {}

    /// A product was removed.
    ProductRemoved of product {
        /// The product's last version.
        pub version: u64,
    }
}

impl ProductChanged {
    pub(crate) fn new(product: Product, written_at: Timestamp) -> Self {
        Self {
            id: EventId::of("ProductChanged", &[&product.product_id, &product.version, &written_at.as_second()]),
            layout_version: LAYOUT_VERSION,
            description_continues: product.description_continues(),
            attributes: product.attributes,
            variant_of: product.variant_of,
            listed: (!product.listed).then_some(false),
            product_id: product.product_id,
            version: product.version,
            name: product.name,
            description: product.description,
            category: product.category,
            price: product.price,
        }
    }
}

impl AvailabilityChanged {
    /// The event of a change of a product, if the availability changed.
    pub(crate) fn new(before: &Product, after: &Product, written_at: Timestamp) -> Option<Self> {
        let (product, change, second) = (&after.product_id, after.availability_changes, written_at.as_second());
        (before.availability != after.availability).then(|| Self {
            id: EventId::of("AvailabilityChanged", &[product, &change, &second]),
            layout_version: LAYOUT_VERSION,
            product_id: product.clone(),
            availability: after.availability,
            change,
        })
    }
}

/// What a cell of a stock says about the availability.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CellLevel {
    product_id: ProductId,
    cell: u8,
    units: u64,
    recalled: bool,
    /// Together with `units`, these tell apart any two writes of the cell.
    writes: (u64, i64, u64),
    is_only: bool,
}

impl From<Stock> for CellLevel {
    fn from(stock: Stock) -> Self {
        let Stock { product_id, available, cells, price_version, recalled, put_backs, transferred, .. } = stock;
        let writes = (put_backs, transferred, price_version);
        Self { product_id, cell: 0, units: available, recalled, writes, is_only: cells.is_one() }
    }
}

impl From<StockCell> for CellLevel {
    fn from(cell: StockCell) -> Self {
        let StockCell { product_id, cell, available, price_version, put_backs, transferred, .. } = cell;
        let writes = (put_backs, transferred, price_version);
        Self { product_id, cell, units: available, recalled: false, writes, is_only: false }
    }
}

impl StockRanLow {
    /// The event of a change of a cell, if the availability of its product may have changed, in a shop that says from so
    /// many units on that few are left.
    ///
    /// The units of a cell are the product's if it is the only one. A cell of several tells nothing as long as it alone has
    /// more than few. Otherwise only a look at all of them does.
    pub(crate) fn new(before: Option<CellLevel>, after: Option<CellLevel>, few_left: u64) -> Option<Self> {
        let level = |cell: &CellLevel| Availability::of(cell.units, cell.recalled, few_left);
        let levels = [before.as_ref().map(level), after.as_ref().map(level)];
        let is_only = [&before, &after].into_iter().flatten().all(|cell| cell.is_only);
        let is_low = levels.iter().flatten().any(|level| *level != Availability::InStock);
        let changes = before != after && if is_only { levels[0] != levels[1] && is_low } else { is_low };
        let CellLevel { product_id, cell, units, writes: (put_backs, transferred, price), .. } =
            after.or(before).filter(|_| changes)?;
        let id = EventId::of("StockRanLow", &[&product_id, &cell, &units, &put_backs, &transferred, &price]);
        Some(Self { id, layout_version: LAYOUT_VERSION, product_id })
    }
}

impl ProductRemoved {
    pub(crate) fn new(product: Product, written_at: Timestamp) -> Self {
        Self {
            id: EventId::of("ProductRemoved", &[&product.product_id, &product.version, &written_at.as_second()]),
            layout_version: LAYOUT_VERSION,
            product_id: product.product_id,
            version: product.version,
        }
    }
}
