//! One item of each kind that a shop stores, with given sizes.

mod images;
mod kind;

pub use kind::{Kind, Revision};

use key_schema::value::Invalid;
use serde_dynamo::Item;

/// Sizes and numbers of the items of a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SampleSizes {
    /// Bytes of each identifier, code and category that a shop chooses: 1 to 64.
    pub id: usize,
    /// Bytes of each name and each reason: 1 to 800.
    pub name: usize,
    /// Bytes of a product's description: up to 20,000.
    pub description: usize,
    /// Lines of an order, each for a different product: 1 to 40.
    pub lines: u32,
    /// Gift cards that pay a part of an order: 0 to 4.
    pub gift_cards: u32,
    /// Whether an order has a discount code.
    pub discount: bool,
    /// Lines of a cart: 0 to 99.
    pub cart_lines: u32,
    /// Items on a page of a list: 0 to 100.
    pub listed: u8,
    /// The number of partitions for the orders of a status.
    pub status_shards: u8,
    /// The number of partitions for the lines of a product.
    pub product_shards: u8,
    /// The number of items for the views of a product.
    pub view_shards: u32,
    /// The number of cells of the stock of a popular product: 1 to 32.
    pub cells: u8,
    /// The counters that one batch of the stream changes.
    pub batch: Batch,
}

/// The numbers of counters that one batch of the stream changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Batch {
    /// Customers.
    pub customers: u32,
    /// Products.
    pub products: u32,
    /// Days.
    pub days: u32,
}

impl SampleSizes {
    /// A typical shop: ids of 36 bytes, like those of orders, names of 24, descriptions of 200, and two lines for each
    /// order. The numbers of shards are the template's defaults: a test of `lab/cost` compares them.
    pub const TYPICAL: Self = Self {
        id: 36,
        name: 24,
        description: 200,
        lines: 2,
        gift_cards: 0,
        discount: false,
        cart_lines: 2,
        listed: 10,
        status_shards: 8,
        product_shards: 1,
        view_shards: 16,
        cells: 8,
        batch: Batch { customers: 1, products: 2, days: 1 },
    };
}

/// One item of each kind.
#[derive(Clone, Debug)]
pub struct Sample {
    sizes: SampleSizes,
    images: Vec<(Kind, Item)>,
}

/// The sample has no items with these sizes.
#[derive(Debug, thiserror::Error)]
pub enum NoSample {
    /// A value is beyond what the contract allows.
    #[error(transparent)]
    Invalid(#[from] Invalid),
    /// An entity cannot be converted to an item.
    #[error(transparent)]
    Item(#[from] serde_dynamo::Error),
}

impl Sample {
    /// The sample with these sizes.
    pub fn new(sizes: SampleSizes) -> Result<Self, NoSample> {
        Ok(Self { sizes, images: images::of(&sizes)? })
    }

    /// The sizes of the sample.
    pub fn sizes(&self) -> &SampleSizes {
        &self.sizes
    }

    /// The item. `None` for [`Kind::Absent`], and for a state that the kind does not have.
    pub fn item(&self, kind: Kind) -> Option<&Item> {
        self.images.iter().find(|(other, _)| *other == kind).map(|(_, item)| item)
    }

    /// Every kind in each of its states, with its item.
    pub fn images(&self) -> impl Iterator<Item = (Kind, &Item)> {
        self.images.iter().map(|(kind, item)| (*kind, item))
    }
}
