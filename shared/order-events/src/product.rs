//! The events of products.

use std::collections::BTreeMap;

use key_schema::entity::Product;
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
