//! Products and their counters.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::value::{
    AltText, Category, Currency, Grams, ImageId, Money, Pixels, ProductId, TextHash, Timestamp, ViewMarkId, VisitorId,
};

use super::stock::is_zero;
use super::tally::{revenue, saturated};
use super::{Availability, Sums};

/// A product of the catalogue.
#[serde_with::skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Product {
    pub product_id: ProductId,
    pub name: String,
    /// The description, or the beginning of a long one: see [`describe`](Self::describe).
    pub description: String,
    /// The hash of the whole description, if `description` is only its beginning. The whole one is in a
    /// [`ProductDescription`](super::ProductDescription).
    #[schema(value_type = Option<String>)]
    pub whole_description: Option<TextHash>,
    pub category: Category,
    /// The price of one unit.
    pub price: Money,
    /// The weight of one unit, for the price of shipping. Absent if it weighs nothing.
    pub weight_grams: Option<Grams>,
    /// What tells the variants of a product apart: texts by the names of the attributes.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub attributes: BTreeMap<String, String>,
    /// The product of which this is a variant. A variant has its own price and its own stock.
    pub variant_of: Option<ProductId>,
    /// Whether lists, categories and the search have the product. A product that is not listed can be read by its id and
    /// ordered.
    #[serde(default = "listed", skip_serializing_if = "is_listed")]
    pub listed: bool,
    /// The images, in the order that staff chose. The objects themselves are in S3.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub images: Vec<ProductImage>,
    /// The units in stock when the product was created. They distinguish a repeated request from a different one with
    /// the same id.
    pub initial_stock: u32,
    /// Whether the product can be bought, as of some seconds ago.
    #[serde(default, skip_serializing_if = "is_in_stock")]
    pub availability: Availability,
    /// The number of times that `availability` changed. `version` does not count these.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub availability_changes: u64,
    /// The number of times the product was written, which is the `ETag`. A sale does not change it.
    pub version: u64,
}

/// An image of a product.
#[serde_with::skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProductImage {
    pub image_id: ImageId,
    /// The text for people who do not see the image.
    pub alt: Option<AltText>,
    /// The width in pixels, as staff gave it.
    pub width: Option<Pixels>,
    /// The height in pixels, as staff gave it.
    pub height: Option<Pixels>,
}

/// Knows where everybody sees the image of a product.
pub trait ImageUrls {
    /// The URL of the image.
    fn url(&self, product: &ProductId, image: &ImageId) -> String;
}

impl From<ImageId> for ProductImage {
    /// An image of which nothing more is known.
    fn from(image_id: ImageId) -> Self {
        Self { image_id, alt: None, width: None, height: None }
    }
}

/// What a product's offer was at some time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Offer {
    /// The price of one unit.
    pub price: Money,
    /// Whether the product could be bought.
    #[serde(default, skip_serializing_if = "is_in_stock")]
    pub availability: Availability,
    /// Whether lists had the product.
    #[serde(default = "listed", skip_serializing_if = "is_listed")]
    pub listed: bool,
}

/// A product is listed unless its item says otherwise.
const fn listed() -> bool {
    true
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
const fn is_listed(listed: &bool) -> bool {
    *listed
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_in_stock(availability: &Availability) -> bool {
    *availability == Availability::InStock
}

impl Product {
    /// A listed product that has nothing more, at this price of one unit. Of a new field, this says what a product without
    /// it has.
    pub fn new(product_id: ProductId, name: String, category: Category, price: Money) -> Self {
        Self {
            product_id,
            name,
            description: String::new(),
            whole_description: None,
            category,
            price,
            weight_grams: None,
            attributes: BTreeMap::new(),
            variant_of: None,
            listed: true,
            images: Vec::new(),
            initial_stock: 0,
            availability: Availability::InStock,
            availability_changes: 0,
            version: 1,
        }
    }

    /// The offer now.
    pub const fn offer(&self) -> Offer {
        let Self { price, availability, listed, .. } = *self;
        Offer { price, availability, listed }
    }

    /// The category whose [`CategoryCount`](super::CategoryCount) includes this product. `None` if it is not listed.
    pub fn counted_in(&self) -> Option<&Category> {
        self.listed.then_some(&self.category)
    }
}

/// Counters of a product's sales, or amounts to add to them. The item does not exist before the first order is counted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ProductStats {
    pub product_id: ProductId,
    /// The number of orders, without cancelled ones.
    #[serde(default, deserialize_with = "saturated")]
    pub orders: i64,
    /// The number of units, without cancelled orders.
    #[serde(default, deserialize_with = "saturated")]
    pub units: i64,
    /// The sum of the lines' amounts before discounts, in minor units, as attributes like `revenue:EUR`.
    #[serde(flatten, with = "revenue")]
    pub revenue: Sums<Currency>,
}

/// One shard of the count of a product's views. Each view is counted in one of many shards, so that no partition is
/// hot.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ViewShard {
    pub product_id: ProductId,
    pub shard: u8,
    pub views: u64,
}

/// A mark that a visitor has viewed a product on a day, so that the next view of that day is not counted. It says
/// neither who viewed nor what: see [`ViewMarkId`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ViewMark {
    pub mark_id: ViewMarkId,
    /// A day after the view, in seconds since 1970. DynamoDB's TTL deletes the item some time later.
    pub expires_at: i64,
}

impl ViewMark {
    /// The mark of a view at this time.
    pub fn of(product: &ProductId, visitor: &VisitorId, viewed_at: Timestamp) -> Self {
        let mark_id = ViewMarkId::of(viewed_at.day(), product, visitor);
        Self { mark_id, expires_at: viewed_at.as_second() + 24 * 60 * 60 }
    }
}
