//! One of each item that a shop stores, as large as somebody says.

mod images;

use key_schema::entity::{OrderStatus, PaymentState};
use key_schema::value::Invalid;
use serde_dynamo::Item;

use crate::size;

/// How large things are, and how many there are of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SampleSizes {
    /// Bytes of each identifier, code and category that a shop chooses: 1 to 64.
    pub id: usize,
    /// Bytes of each name, and of each reason that somebody gives: 1 to 800.
    pub name: usize,
    /// Bytes of a product's description: up to 20,000.
    pub description: usize,
    /// Lines of an order, each of another product: 1 to 40.
    pub lines: u32,
    /// Gift cards that pay a part of it: 0 to 4.
    pub gift_cards: u32,
    /// Whether it has a discount code.
    pub discount: bool,
    /// Lines of a cart: 0 to 100.
    pub cart_lines: u32,
    /// Items on a page of a list: 0 to 100.
    pub listed: u8,
    /// Into how many partitions the orders of a status are spread.
    pub status_shards: u8,
    /// Into how many partitions the lines of a product are spread.
    pub product_shards: u8,
    /// Into how many items the views of a product are spread.
    pub view_shards: u32,
    /// Into how many cells the stock of a product is spread that many want at once: 1 to 32.
    pub cells: u8,
    /// What one batch of the stream is about.
    pub batch: Batch,
}

/// Whose counters one batch of the stream moves.
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
    /// A shop as one might be: ids of 36 bytes, as an order's always are, names of 24, descriptions of 200, and two
    /// lines to an order. As many shards and parts as the template declares: a test of `local` compares them.
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

/// A kind of item, in one of the states that it passes through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// No item: a key that finds nothing.
    Absent,
    /// A profile.
    Customer(Revision),
    /// What a customer's orders add up to.
    CustomerStats(Revision),
    /// A cart.
    Cart(Revision),
    /// An e-mail address in use.
    EmailClaim,
    /// A username in use.
    UsernameClaim,
    /// A product.
    Product(Revision),
    /// How many of a product can be sold.
    Stock(Revision),
    /// How many lie in the first of several cells.
    FirstCell(Revision),
    /// How many lie in another.
    StockCell(Revision),
    /// What was sold of a product.
    ProductStats(Revision),
    /// A part of a product's views.
    ViewShard(Revision),
    /// The header of an order.
    Order(OrderStatus),
    /// The header of an order that was not paid in time: nobody gave a reason.
    ExpiredOrder,
    /// A line of an order.
    OrderItem,
    /// The invoice of an order.
    Invoice(PaymentState),
    /// The flag of an order. Another one is flagged at another moment.
    OrderFlag(Revision),
    /// An order that waits.
    QueuedOrder,
    /// One that waited and was refused.
    RefusedOrder,
    /// A discount code.
    Discount(Revision),
    /// A gift card.
    GiftCard(Revision),
    /// What an order took off a gift card.
    GiftCardEntry(PaymentState),
    /// What was ordered on a day.
    DayTotals(Revision),
    /// How far the stream is counted.
    StreamCheckpoint(Revision),
    /// How far the counts are compared.
    Reconciliation(Revision),
    /// The answer to a request that made a product under an idempotency key.
    KeptProduct,
    /// The answer to a request that adjusted a stock under an idempotency key.
    KeptAdjustment,
}

/// Which of the states of an item that changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Revision {
    /// As it was made.
    First,
    /// Changed, and as large as before.
    Changed,
    /// Changed, and elsewhere in an index: of a product, in another category.
    Moved,
}

/// One of each kind of item.
#[derive(Clone, Debug)]
pub struct Sample {
    sizes: SampleSizes,
    images: Vec<(Kind, Item)>,
}

/// No shop has items of this sizes.
#[derive(Debug, thiserror::Error)]
pub enum NoSample {
    /// A value is beyond what the contract allows.
    #[error(transparent)]
    Invalid(#[from] Invalid),
    /// An entity does not become an item.
    #[error(transparent)]
    Item(#[from] serde_dynamo::Error),
}

impl Sample {
    /// The sample of this sizes.
    ///
    /// # Errors
    /// An identifier, say, is longer than one can be.
    pub fn new(sizes: SampleSizes) -> Result<Self, NoSample> {
        Ok(Self { sizes, images: images::of(&sizes)? })
    }

    /// How large it is.
    pub fn sizes(&self) -> &SampleSizes {
        &self.sizes
    }

    /// The item; none for [`Kind::Absent`], and for a state that the kind does not have.
    pub fn item(&self, kind: Kind) -> Option<&Item> {
        self.images.iter().find(|(other, _)| *other == kind).map(|(_, item)| item)
    }

    /// Every kind in each of its states, with its item.
    pub fn images(&self) -> impl Iterator<Item = (Kind, &Item)> {
        self.images.iter().map(|(kind, item)| (*kind, item))
    }

    /// The bytes of the item.
    pub fn bytes(&self, kind: Kind) -> usize {
        self.item(kind).map_or(0, size::of_item)
    }
}
