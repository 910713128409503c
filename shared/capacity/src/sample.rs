//! One of each item that a shop stores, as large as somebody says.

use key_schema::entity::{
    Cancellation, Cart, CartLine, Customer, CustomerStats, DayTotals, Discount, EmailClaim, GiftCard, GiftCardEntry,
    Invoice, Order, OrderFlag, OrderItem, OrderLine, OrderStatus, Payment, PaymentStatus, Product, ProductStats,
    QueuedOrder, Reconciliation, Refusal, Rejection, Stock, StreamCheckpoint, UsernameClaim, ViewShard,
};
use key_schema::layout::{ENTITY_TYPE, Stored};
use key_schema::value::{Currency, Invalid, InvoiceId, Money, OrderId, Quantity, RequestHash, Timestamp};
use serde_dynamo::{AttributeValue, Item};

use crate::size;

/// How large things are, and how many there are of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
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
    /// Into how many items the views of a product are spread.
    pub view_shards: u32,
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

impl Extent {
    /// A shop as one might be: order ids are 36 bytes and so are the others, names of 24 bytes, descriptions of 200, and
    /// two lines to an order. The shards are those that the template declares.
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
        view_shards: 16,
        batch: Batch { customers: 1, products: 2, days: 1 },
    };
}

/// A kind of item, in one of the states that it passes through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// No item: a key that finds nothing.
    Absent,
    /// A profile.
    Customer(Edition),
    /// What a customer's orders add up to.
    CustomerStats(Edition),
    /// A cart.
    Cart(Edition),
    /// An e-mail address in use.
    EmailClaim,
    /// A username in use.
    UsernameClaim,
    /// A product.
    Product(Edition),
    /// How many of a product can be sold.
    Stock(Edition),
    /// What was sold of a product.
    ProductStats(Edition),
    /// A part of a product's views.
    ViewShard(Edition),
    /// The header of an order.
    Order(OrderStatus),
    /// A line of an order.
    OrderItem,
    /// The invoice of an order.
    Invoice(PaymentStatus),
    /// The flag of an order. Another one is flagged at another moment.
    OrderFlag(Edition),
    /// An order that waits.
    QueuedOrder,
    /// One that waited and was refused.
    RefusedOrder,
    /// A discount code.
    Discount(Edition),
    /// A gift card.
    GiftCard(Edition),
    /// What an order took off a gift card.
    GiftCardEntry(PaymentStatus),
    /// What was ordered on a day.
    DayTotals(Edition),
    /// How far the stream is counted.
    StreamCheckpoint(Edition),
    /// How far the counts are compared.
    Reconciliation(Edition),
}

/// Which of the states of an item that changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Edition {
    /// As it was made.
    First,
    /// Changed, and as large as before.
    Changed,
    /// Changed, and elsewhere in an index: of a product, in another category.
    Moved,
}

use Edition::{Changed, First, Moved};
use OrderStatus::{Cancelled, Delivered, Paid, Pending, Shipped};
use PaymentStatus::{Authorized, Captured, Refunded};

/// One of each kind of item.
#[derive(Clone, Debug)]
pub struct Sample {
    extent: Extent,
    images: Vec<(Kind, Item)>,
}

/// No shop has items of this extent.
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
    /// The sample of this extent.
    ///
    /// # Errors
    /// An identifier, say, is longer than one can be.
    pub fn new(extent: Extent) -> Result<Self, NoSample> {
        Ok(Self { extent, images: images(&extent)? })
    }

    /// How large it is.
    pub fn extent(&self) -> &Extent {
        &self.extent
    }

    /// The item; none for [`Kind::Absent`], and for a state that the kind does not have.
    pub fn item(&self, kind: Kind) -> Option<&Item> {
        self.images.iter().find(|(other, _)| *other == kind).map(|(_, item)| item)
    }

    /// The bytes of the item.
    pub fn bytes(&self, kind: Kind) -> usize {
        self.item(kind).map_or(0, size::of_item)
    }
}

/// The item of an entity: its attributes, its kind and its keys.
fn item<T: Stored>(entity: &T) -> Result<Item, NoSample> {
    let mut item: Item = serde_dynamo::to_item(entity)?;
    let mut insert = |name: &str, text: String| item.insert(name.to_owned(), AttributeValue::S(text));
    insert(ENTITY_TYPE, T::TYPE.to_owned());
    for key in [entity.key()].into_iter().chain(entity.index_keys()) {
        let (partition, sort) = key.index.attributes();
        insert(partition, key.partition);
        insert(sort, key.sort);
    }
    Ok(item)
}

/// The version of an edition, and other numbers that tell it from the others.
fn version(edition: Edition) -> u64 {
    match edition {
        First => 1,
        Changed => 2,
        Moved => 3,
    }
}

#[allow(clippy::too_many_lines, reason = "there are so many kinds")]
fn images(extent: &Extent) -> Result<Vec<(Kind, Item)>, NoSample> {
    let id = |letter: &str| letter.repeat(extent.id);
    let (name, reason) = (|letter: &str| letter.repeat(extent.name), "r".repeat(extent.name));
    let at: Timestamp = "2026-11-21T09:30:00.000Z".parse()?;
    let later: Timestamp = "2026-11-21T09:31:00.000Z".parse()?;
    let eur = |amount: i64| Ok::<_, Invalid>(Money::nearest(amount, Currency::try_from("EUR".to_owned())?));
    let expires_at = at.as_second();
    let price = eur(1999)?;
    let mut images = Vec::new();

    let customer_id: key_schema::value::CustomerId = id("c").parse()?;
    let product_id: key_schema::value::ProductId = id("p").parse()?;
    // An order's id is the text of a UUID.
    let order_id: OrderId = "00000000-0000-5000-8000-000000000000".parse()?;
    let gift_card: key_schema::value::GiftCardCode = id("g").parse()?;
    let discount: key_schema::value::DiscountCode = id("d").parse()?;
    let hash = RequestHash::of(b"");

    for edition in [First, Changed] {
        let version = version(edition);
        let count = i64::try_from(version).unwrap_or_default();
        images.push((
            Kind::Customer(edition),
            item(&Customer {
                customer_id: customer_id.clone(),
                username: id("u").parse()?,
                email: format!("{}@example.com", id("e")).parse()?,
                name: name(if edition == First { "n" } else { "m" }),
                created_at: at,
                version,
            })?,
        ));
        let stats = CustomerStats {
            customer_id: customer_id.clone(),
            orders: count,
            spent: [(price.currency(), 1999 + count)].into_iter().collect(),
        };
        images.push((Kind::CustomerStats(edition), item(&stats)?));
        let lines = (0..extent.cart_lines)
            .map(|_| Ok(CartLine { product_id: product_id.clone(), quantity: Quantity::try_from(count)? }));
        let lines = lines.collect::<Result<_, Invalid>>()?;
        images.push((
            Kind::Cart(edition),
            item(&Cart { customer_id: customer_id.clone(), lines, updated_at: at, expires_at })?,
        ));
        let available = 999 - version;
        images.push((Kind::Stock(edition), item(&Stock { product_id: product_id.clone(), available, price })?));
        let stats = ProductStats {
            product_id: product_id.clone(),
            orders: count,
            units: count,
            revenue: [(price.currency(), 1999 + count)].into_iter().collect(),
        };
        images.push((Kind::ProductStats(edition), item(&stats)?));
        let views = ViewShard { product_id: product_id.clone(), shard: 0, views: 11 * version };
        images.push((Kind::ViewShard(edition), item(&views)?));
        images.push((
            Kind::Discount(edition),
            item(&Discount {
                code: discount.clone(),
                percent: 10.try_into()?,
                from: None,
                to: None,
                max_uses: None,
                uses: u32::try_from(version).unwrap_or_default(),
                created_at: at,
            })?,
        ));
        let balance = eur(500 - count)?;
        let card = GiftCard { code: gift_card.clone(), balance, initial: eur(500)?, created_at: at };
        images.push((Kind::GiftCard(edition), item(&card)?));
        images.push((
            Kind::DayTotals(edition),
            item(&DayTotals {
                date: at.day(),
                orders: count,
                units: count,
                revenue: [(price.currency(), 1999 + count)].into_iter().collect(),
                statuses: [(Pending, count)].into_iter().collect(),
            })?,
        ));
        let checkpoint = StreamCheckpoint {
            shard_id: "shardId-00000001795253400000-00000001".parse()?,
            mark: format!("300000000000000{version:06}").parse()?,
            updated_at: at,
            expires_at,
        };
        images.push((Kind::StreamCheckpoint(edition), item(&checkpoint)?));
        let updated_at = if edition == First { at } else { later };
        images.push((Kind::Reconciliation(edition), item(&Reconciliation { to: at.day(), resume: None, updated_at })?));
    }
    let email = format!("{}@example.com", id("e")).parse()?;
    images.push((Kind::EmailClaim, item(&EmailClaim { email, customer_id: customer_id.clone() })?));
    let claim = UsernameClaim { username: id("u").parse()?, customer_id: customer_id.clone() };
    images.push((Kind::UsernameClaim, item(&claim)?));
    for edition in [First, Changed, Moved] {
        images.push((
            Kind::Product(edition),
            item(&Product {
                product_id: product_id.clone(),
                name: name(if edition == First { "n" } else { "m" }),
                description: "d".repeat(extent.description),
                category: id(if edition == Moved { "l" } else { "k" }).parse()?,
                price,
                initial_stock: 1000,
                version: version(edition),
            })?,
        ));
    }

    for status in [Pending, Paid, Shipped, Delivered, Cancelled] {
        let cancellation = (status == Cancelled).then(|| Cancellation { at: later, reason: Some(reason.clone()) });
        images.push((
            Kind::Order(status),
            item(&Order {
                order_id: order_id.clone(),
                customer_id: customer_id.clone(),
                status,
                placed_at: at,
                changed_at: Some(if status == Pending { at } else { later }),
                version: 1,
                subtotal: price,
                discount: price,
                discount_code: extent.discount.then(|| discount.clone()),
                total: price,
                request_hash: hash.clone(),
                line_count: u8::try_from(extent.lines).unwrap_or(u8::MAX),
                shard: 1,
                cancellation,
            })?,
        ));
    }
    let line = OrderLine {
        product_id: product_id.clone(),
        name: name("n"),
        quantity: Quantity::try_from(1)?,
        unit_price: price,
        amount: price,
    };
    images.push((
        Kind::OrderItem,
        item(&OrderItem { order_id: order_id.clone(), customer_id: customer_id.clone(), placed_at: at, line })?,
    ));
    for status in [Authorized, Captured, Refunded] {
        let of_gift_card = match status {
            Authorized => Captured,
            other => other,
        };
        let amount = eur(499)?;
        let mut payments: Vec<_> = (0..extent.gift_cards)
            .map(|_| Payment::GiftCard { code: gift_card.clone(), amount, status: of_gift_card })
            .collect();
        let reference = (status == Captured).then(|| reason.clone());
        payments.push(Payment::Card { amount: price, status, reference });
        images.push((
            Kind::Invoice(status),
            item(&Invoice {
                invoice_id: InvoiceId::of(&order_id),
                order_id: order_id.clone(),
                customer_id: customer_id.clone(),
                issued_at: at,
                amount: price,
                payments,
            })?,
        ));
        let entry = GiftCardEntry { code: gift_card.clone(), order_id: order_id.clone(), amount, at, status };
        images.push((Kind::GiftCardEntry(status), item(&entry)?));
    }
    for (edition, flagged_at) in [(First, at), (Changed, later)] {
        let flag = OrderFlag { order_id: order_id.clone(), reason: reason.clone(), flagged_at };
        images.push((Kind::OrderFlag(edition), item(&flag)?));
    }
    let queued = QueuedOrder::new(order_id, customer_id, hash, at);
    images.push((Kind::QueuedOrder, item(&queued)?));
    let rejection = Rejection::OutOfStock { line: 0, product: product_id, available: 0 };
    let refused = QueuedOrder { refusal: Some(Refusal { at: later, rejection }), ..queued };
    images.push((Kind::RefusedOrder, item(&refused)?));
    Ok(images)
}
