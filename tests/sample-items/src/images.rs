//! The items of a sample.

use std::collections::BTreeMap;

use key_schema::entity::OrderStatus::{Delivered, Paid, Pending};
use key_schema::entity::PaymentState::{
    Authorized, Captured, Declined, Expired, Pending as Unpaid, RefundDue, Refunded, Voided,
};
use key_schema::entity::ReturnStatus::{Received, Refused, Requested};
use key_schema::entity::{
    Cart, CartLine, CopyProgress, CopyTask, Customer, Discount, EmailClaim, GiftCard, Guest, IdempotencyRecord,
    ItemKey, LineUnits, Migration, Order, OrderFlag, OrderItem, OrderLine, OrderStatus, PairOfSums, PaymentDue,
    PaymentStatus, Phase, Product, ProductDescription, ProviderPayment, QueuedOrder, Reduction, Refusal, Rejection,
    Repair, Return, Shipment, Side, Stock, StockCell, UsernameClaim, ViewMark, Work,
};
use key_schema::layout::{ENTITY_TYPE, Key, Stored};
use key_schema::value::{
    Cells, Currency, CustomerId, DiscountCode, GiftCardCode, IdempotencyRecordId, Invalid, Money, OrderId, ProductId,
    Quantity, RequestHash, ReturnId, ShipmentId, Timestamp,
};
use serde_dynamo::{AttributeValue, Item};

use super::Revision::{Changed, First, Moved};
use super::{Kind, NoSample, Revision, SampleSizes};

mod counted;
mod order;
mod rates;

type Images = Vec<(Kind, Item)>;

/// One item of each kind in each of its states.
pub(super) fn of(sizes: &SampleSizes) -> Result<Images, NoSample> {
    let parts = Parts::new(sizes)?;
    let mut images = parts.claims()?;
    for revision in [First, Changed] {
        images.extend(parts.customer(revision)?);
        images.extend(parts.sold(revision)?);
        images.extend(parts.counted(revision)?);
        images.extend(parts.migration(revision)?);
        images.push((Kind::Taxes(revision), parts.taxes(revision)?));
        images.push((Kind::InvoiceCounter(revision), order::invoice_counter(revision)?));
    }
    for revision in [First, Changed, Moved] {
        images.push((Kind::Product(revision), item(&parts.product(revision)?.0)?));
    }
    images.push((Kind::Variant, item(&parts.variant()?)?));
    images.push((Kind::ProductDescription, item(&parts.product(First)?.1)?));
    for status in OrderStatus::ALL {
        images.push((Kind::Order(status), parts.order(status)?));
    }
    images.push((Kind::ExpiredOrder, parts.expired()?));
    images.push((Kind::PackingOrder, parts.packing()?));
    images.push((Kind::PartlyDeliveredOrder, parts.partly_delivered()?));
    images.push((Kind::ReturningOrder, parts.returning()?));
    images.push((Kind::AllowedOrder, parts.allowed()?));
    for status in [Pending, Paid, Delivered] {
        images.push((Kind::CreditedOrder(status), parts.credited(status)?));
    }
    for state in [Unpaid, Captured, Voided, Expired, RefundDue, Refunded] {
        images.push((Kind::Invoice(state), parts.invoice(state, None)?));
    }
    for state in [Unpaid, Declined, Authorized, Captured, Voided, Expired, RefundDue, Refunded] {
        images.push((Kind::CardInvoice(state), parts.invoice(state, Some(parts.at_provider(state)?))?));
    }
    for state in [Authorized, Voided, Expired] {
        let due = ProviderPayment { capture_requested: state == Authorized, ..parts.at_provider(Authorized)? };
        images.push((Kind::DueInvoice(state), parts.invoice(state, Some(due))?));
    }
    images.extend(parts.numbered()?);
    for status in [PaymentStatus::Captured, PaymentStatus::Refunded] {
        images.push((Kind::GiftCardEntry(status), parts.gift_card_entry(status)?));
    }
    images.extend(parts.rest_of_order()?);
    images.extend(parts.shipping()?);
    images.extend(parts.guest()?);
    images.extend(parts.kept()?);
    images.push((Kind::ParkedCounts, parts.parked_counts()?));
    images.push((Kind::Repair, parts.repair()?));
    images.push((Kind::ViewMark, parts.view_mark()?));
    Ok(images)
}

/// The item of an entity: its attributes, its type and its keys.
fn item<T: Stored>(entity: &T) -> Result<Item, NoSample> {
    let mut item: Item = serde_dynamo::to_item(entity)?;
    let mut insert = |name: &str, text: String| item.insert(name.to_owned(), AttributeValue::S(text));
    insert(ENTITY_TYPE, T::TYPE.to_owned());
    for key in entity.keys() {
        let (partition, sort) = key.index.attributes();
        insert(partition, key.partition);
        insert(sort, key.sort);
    }
    Ok(item)
}

/// A number that differs between revisions, but has the same length.
fn number(revision: Revision) -> u32 {
    match revision {
        First => 1,
        Changed => 2,
        Moved => 3,
    }
}

/// The values that the items are made of.
struct Parts<'a> {
    sizes: &'a SampleSizes,
    customer: CustomerId,
    product: ProductId,
    order: OrderId,
    discount: DiscountCode,
    gift_card: GiftCardCode,
    at: Timestamp,
    later: Timestamp,
    price: Money,
    reason: String,
}

impl<'a> Parts<'a> {
    fn new(sizes: &'a SampleSizes) -> Result<Self, Invalid> {
        let id = |letter: &str| letter.repeat(sizes.id);
        Ok(Self {
            sizes,
            customer: id("c").parse()?,
            product: id("p").parse()?,
            // An order's id is always a UUID.
            order: "00000000-0000-5000-8000-000000000000".parse()?,
            discount: id("d").parse()?,
            gift_card: id("g").parse()?,
            at: "2026-11-21T09:30:00.000Z".parse()?,
            later: "2026-11-21T09:31:00.000Z".parse()?,
            price: Money::nearest(1999, Currency::try_from("EUR".to_owned())?),
            reason: "r".repeat(sizes.name),
        })
    }

    fn name(&self, revision: Revision) -> String {
        if revision == First { "n" } else { "m" }.repeat(self.sizes.name)
    }

    /// An address book, the address of an order, and shipping rates.
    fn amount(&self, amount: u32) -> Money {
        Money::nearest(amount.into(), self.price.currency())
    }

    fn claims(&self) -> Result<Images, NoSample> {
        let email = EmailClaim { email: self.email()?, customer_id: self.customer.clone() };
        let username = UsernameClaim { username: self.username()?, customer_id: self.customer.clone() };
        Ok(vec![(Kind::EmailClaim, item(&email)?), (Kind::UsernameClaim, item(&username)?)])
    }

    fn guest(&self) -> Result<Images, NoSample> {
        let id = format!("guest-{}", "g".repeat(43)).parse()?;
        let guest = Guest::new(id, self.email()?, self.name(First), self.at);
        let kept = Guest { expires_at: None, ..guest.clone() };
        Ok(vec![(Kind::Guest, item(&guest)?), (Kind::KeptGuest, item(&kept)?)])
    }

    fn email(&self) -> Result<key_schema::value::EmailAddress, Invalid> {
        format!("{}@example.com", "e".repeat(self.sizes.id)).parse()
    }

    fn username(&self) -> Result<key_schema::value::Username, Invalid> {
        "u".repeat(self.sizes.id).parse()
    }

    fn customer(&self, revision: Revision) -> Result<Images, NoSample> {
        let customer_id = || self.customer.clone();
        let profile = Customer {
            customer_id: customer_id(),
            username: self.username()?,
            email: self.email()?,
            name: self.name(revision),
            created_at: self.at,
            version: number(revision).into(),
            erased_at: None,
            guests: Vec::new(),
        };
        let quantity = Quantity::try_from(i64::from(number(revision)))?;
        let (product_id, when_added) = (self.product.clone(), self.product(revision)?.0.offer());
        let line = CartLine { product_id, quantity, when_added };
        let lines = vec![line; usize::try_from(self.sizes.cart_lines).unwrap_or_default()];
        let cart = Cart {
            customer_id: customer_id(),
            lines,
            updated_at: self.at,
            version: 8_007_199_254_740_991,
            expires_at: self.at.as_second(),
            erased_at: None,
        };
        let mut images = vec![(Kind::Customer(revision), item(&profile)?), (Kind::Cart(revision), item(&cart)?)];
        if revision == Changed {
            images.push((Kind::ErasedCustomer, item(&profile.erased(self.later)?)?));
            images.push((Kind::ErasedCart, item(&Cart::erased(customer_id(), self.later))?));
        }
        Ok(images)
    }

    /// A product, and the item with its description, as if that were long.
    fn product(&self, revision: Revision) -> Result<(Product, ProductDescription), Invalid> {
        let category = if revision == Moved { "l" } else { "k" }.repeat(self.sizes.id).parse()?;
        let mut product = Product {
            initial_stock: 998,
            version: number(revision).into(),
            ..Product::new(self.product.clone(), self.name(revision), category, self.price)
        };
        let text = "d".repeat(self.sizes.description);
        _ = product.describe(text.clone());
        Ok((product, ProductDescription { product_id: self.product.clone(), text }))
    }

    fn variant(&self) -> Result<Product, Invalid> {
        Ok(Product {
            product_id: "v".repeat(self.sizes.id).parse()?,
            attributes: [("size".to_owned(), "M".to_owned())].into(),
            variant_of: Some(self.product.clone()),
            ..self.product(First)?.0
        })
    }

    /// The items that an order decrements.
    fn sold(&self, revision: Revision) -> Result<Images, NoSample> {
        let taken = number(revision);
        let stock = Stock::new(self.product.clone(), u64::from(999 - taken), self.price, Cells::ONE);
        let first = Stock { cells: i64::from(self.sizes.cells).try_into()?, ..stock.clone() };
        let cell = StockCell::new(self.product.clone(), 1, stock.available, self.price);
        let discount = Discount {
            code: self.discount.clone(),
            reduction: Reduction::Percent(10.try_into()?),
            min_subtotal: None,
            category: None,
            combinable: false,
            from: None,
            to: None,
            max_uses: Some(9_999),
            uses: taken,
            held_by_guests: 0,
            revoked: false,
            version: 1,
            created_at: self.at,
        };
        let balance = self.amount(500 - taken);
        let card = GiftCard { balance, ..GiftCard::new(self.gift_card.clone(), self.amount(499), self.at) };
        Ok(vec![
            (Kind::Stock(revision), item(&stock)?),
            (Kind::FirstCell(revision), item(&first)?),
            (Kind::StockCell(revision), item(&cell)?),
            (Kind::Discount(revision), item(&discount)?),
            (Kind::GiftCard(revision), item(&card)?),
        ])
    }

    /// A migration, and the progress of copying a segment.
    fn migration(&self, revision: Revision) -> Result<Images, NoSample> {
        let (phase, at) = if revision == First { (Phase::Both, self.at) } else { (Phase::Next, self.later) };
        let migration = Migration { phase, version: number(revision).into(), since: at };
        let Key { partition, sort, .. } = Order::key_of(&self.order);
        let differing = ItemKey { partition, sort };
        let sums = ("order".to_owned(), PairOfSums::default());
        let copied = CopyProgress {
            segment: 0,
            segments: 8,
            run: 1,
            task: CopyTask::Compare,
            migration_version: 1,
            leader: Side::First,
            scanned: Side::First,
            last: (revision == Changed).then(|| differing.clone()),
            pages: number(revision).into(),
            is_done: false,
            items: number(revision).into(),
            copied: number(revision).into(),
            differences: number(revision).into(),
            differing: vec![differing.clone()],
            sums: BTreeMap::from([sums]),
            started_at: at,
            updated_at: at,
        };
        Ok(vec![(Kind::Migration(revision), item(&migration)?), (Kind::CopyProgress(revision), item(&copied)?)])
    }

    /// The mark that a visitor has viewed the product.
    fn view_mark(&self) -> Result<Item, NoSample> {
        item(&ViewMark::of(&self.product, &"0123456789abcdef".to_owned().try_into()?, self.at))
    }

    /// The repair of an order's header and a stock.
    fn repair(&self) -> Result<Item, NoSample> {
        let keys = [Order::key_of(&self.order), Stock::key_of(&self.product)];
        let keys = keys.into_iter().map(ItemKey::from).collect();
        item(&Repair { repair_id: "00000000000000000000000000000000".parse()?, shard: 0, since: self.at, keys })
    }

    /// The stored answers: to the request that created a product, and to one that adjusted its stock.
    fn kept(&self) -> Result<Images, NoSample> {
        let (Product { product_id: id, name, description, whole_description, .. }, _) = self.product(First)?;
        let continues = whole_description.map_or("", |_| r#""descriptionContinues":true,"#);
        let category = "k".repeat(self.sizes.id);
        let product = format!(
            r#""productId":"{id}","name":"{name}","description":"{description}",{continues}"category":"{category}","price":{},"availability":"inStock","available":998,"version":1"#,
            r#"{"amount":1999,"currency":"EUR"}"#,
        );
        let adjusted = IdempotencyRecord {
            record_id: IdempotencyRecordId::of(&self.customer, &"a key".parse()?),
            request_hash: RequestHash::of(b"a request"),
            status: 200,
            location: None,
            version: Some(1),
            body: format!("{{{product}}}"),
            expires_at: self.at.as_second(),
        };
        let created = IdempotencyRecord {
            status: 201,
            location: Some(format!("/products/{id}")),
            body: format!(r#"{{{product},"stats":{{"orders":0,"units":0}}}}"#),
            ..adjusted.clone()
        };
        Ok(vec![(Kind::KeptAdjustment, item(&adjusted)?), (Kind::KeptProduct, item(&created)?)])
    }

    /// A line, the mark of a due payment, the flags, a queued order and a refused one.
    fn rest_of_order(&self) -> Result<Images, NoSample> {
        let order_id = || self.order.clone();
        let (product, one) = (self.product.clone(), Quantity::try_from(1)?);
        let line = OrderLine::new(product, self.name(First), one, self.price, self.price);
        let line = OrderItem {
            order_id: order_id(),
            customer_id: self.customer.clone(),
            placed_at: self.at,
            shard: 0,
            position: 0.into(),
            imported_at: None,
            uncounted: false,
            line,
        };
        let flag = |flagged_at| OrderFlag { order_id: order_id(), reason: self.reason.clone(), flagged_at };
        let queued = QueuedOrder::new(order_id(), self.customer.clone(), RequestHash::of(b""), self.at);
        let queued = QueuedOrder { request_id: Some(order::REQUEST.to_owned()), ..queued };
        let rejection = Rejection::OutOfStock { line: 0, product: self.product.clone(), available: 998 };
        let refused = QueuedOrder { refusal: Some(Refusal { at: self.later, rejection }), ..queued.clone() };
        let units = LineUnits { product_id: self.product.clone(), quantity: Quantity::try_from(1)? };
        let return_id = ReturnId::of(&self.order, &"a key".parse()?);
        let returned = |status| Return {
            return_id: return_id.clone(),
            order_id: order_id(),
            customer_id: self.customer.clone(),
            shard: 1,
            lines: vec![units.clone(); usize::try_from(self.sizes.lines).unwrap_or(usize::MAX)],
            reason: Some(self.reason.clone()),
            requested_at: self.at,
            status,
            closed_at: (status != Requested).then_some(self.later),
            restocked: status == Received,
            amount: (status == Received).then_some(self.price),
            refusal: (status == Refused).then(|| self.reason.clone()),
        };
        let shipment = Shipment {
            shipment_id: ShipmentId::of(&self.order, &"a key".parse()?),
            order_id: order_id(),
            customer_id: self.customer.clone(),
            lines: vec![units.clone(); usize::try_from(self.sizes.lines).unwrap_or(usize::MAX)],
            all_left: true,
            carrier: self.reason.clone(),
            tracking_number: Some(self.reason.clone()),
            tracking_url: Some(self.reason.clone()),
            shipped_at: self.at,
            delivered_at: Some(self.later),
        };
        let due =
            PaymentDue { order_id: order_id(), shard: 1, since: self.later, work: Work::Provider, amount: self.price };
        Ok(vec![
            (Kind::OrderItem, item(&line)?),
            (Kind::PaymentDue, item(&due)?),
            (Kind::Return(Requested), item(&returned(Requested))?),
            (Kind::Return(Received), item(&returned(Received))?),
            (Kind::Return(Refused), item(&returned(Refused))?),
            (Kind::Shipment, item(&shipment)?),
            (Kind::OrderFlag(First), item(&flag(self.at))?),
            (Kind::OrderFlag(Changed), item(&flag(self.later))?),
            (Kind::QueuedOrder, item(&queued)?),
            (Kind::RefusedOrder, item(&refused)?),
        ])
    }
}
