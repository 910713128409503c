//! Random orders, and their reads and writes by key, derived from real entities with the key schema.

use std::collections::HashSet;

use anyhow::{Context, Result};
use counting::{Aggregate, Change, Counts};
use key_schema::entity::{
    CardPayment, Customer, Discount, GiftCard, GiftCardEntry, Invoice, Order, OrderItem, OrderLine, OrderStatus,
    Payment, PaymentStatus, Product, QueuedOrder, Reduction, Stock, StockCell, ViewShard,
};
use key_schema::layout::{Index, Stored};
use key_schema::value::{
    Currency, CustomerId, IdempotencyKey, InvoiceId, Money, OrderId, ProductId, RequestHash, Timestamp,
};

use super::design::{Counters, Keys, Watched};
use super::touch::{Touch, Touches};
use super::units::{eventual, plain, transactional};
use crate::figures::as_float;
use crate::popularity::Popularity;

/// 2026-11-27, Black Friday, in milliseconds.
const FIRST_MOMENT: i64 = 1_795_737_600_000;
const CODE: &str = "BLACK-FRIDAY";

/// The traffic of a shop.
pub(super) struct Traffic {
    pub(super) products: Popularity,
    pub(super) customers: Popularity,
    /// The share of orders that use the one discount code of the day.
    pub(super) discounted: f64,
    /// The views of a product for each of its orders.
    pub(super) views: u32,
    /// The number of sampled orders. Each stands for its share of the traffic.
    pub(super) sample: usize,
    pub(super) seed: u64,
}

impl Traffic {
    /// One busy day: 10,000 products and a million customers. Customers differ less in their activity than products in
    /// their popularity, so their distribution is flatter.
    pub(super) fn new(seed: u64) -> Result<Self> {
        let (products, customers) = (Popularity::new(10_000, 1.0)?, Popularity::new(1_000_000, 0.75)?);
        Ok(Self { products, customers, discounted: 0.1, views: 20, sample: 2_000, seed })
    }

    /// A sample of orders.
    pub(super) fn sample(&self) -> Result<Sample> {
        let mut random = fastrand::Rng::with_seed(self.seed);
        // One order from each equal part of the distribution, so that popular ones have their right shares even in a
        // small sample. Products and customers are combined at random.
        let mut parts = || {
            let mut all: Vec<_> = (0..self.sample).map(|part| (as_float(part) + 0.5) / as_float(self.sample)).collect();
            random.shuffle(&mut all);
            all
        };
        let (products, customers, codes) = (parts(), parts(), parts());
        let orders = products.into_iter().zip(customers).zip(codes).enumerate();
        let orders = orders.map(|(number, ((product, customer), code))| {
            let (product, customer) = (self.products.rank(product), self.customers.rank(customer));
            Placing::new(number, product, customer, code < self.discounted)
        });
        let orders: Vec<_> = orders.collect::<Result<_>>()?;
        let counted_together = counted_together(&orders);
        let counters = counters(&orders, counted_together, &mut random);
        Ok(Sample { orders, counted_together, counters, views: self.views.into() })
    }
}

/// Sampled orders, which stand for the whole traffic.
pub(super) struct Sample {
    orders: Vec<Placing>,
    /// The number of orders that the stream's consumer counts in one transaction under load: as many as have at most 99
    /// counters together.
    pub(super) counted_together: f64,
    /// The writes of counting each order from the stream, to its day, its product and its customer.
    counters: Vec<[f64; 3]>,
    views: f64,
}

impl Sample {
    /// The reads and writes of each order, under the watched keys or under all.
    pub(super) fn touches(&self, keys: Keys, watched: Option<Watched>) -> Result<Vec<Vec<Touch>>> {
        let orders = self.orders.iter().enumerate();
        orders.map(|(number, order)| order.touches(number, keys, self, watched)).collect()
    }
}

fn counted_together(orders: &[Placing]) -> f64 {
    let (mut transactions, mut counts) = (1, Counts::default());
    for order in orders {
        counts.add(&order.counts);
        if counts.len() > counting::MOST_COUNTERS {
            transactions += 1;
            counts = order.counts.clone();
        }
    }
    as_float(orders.len()) / f64::from(transactions)
}

/// The writes of counting each order. A counter is written once in a transaction for any number of its orders, so the
/// first of them is charged.
fn counters(orders: &[Placing], together: f64, random: &mut fastrand::Rng) -> Vec<[f64; 3]> {
    /// The number of random sequences. The cost of a counter depends on which orders are counted together.
    const WAYS: usize = 20;

    let mut units = vec![[0.0; 3]; orders.len()];
    let mut way: Vec<usize> = (0..orders.len()).collect();
    for _ in 0..WAYS {
        random.shuffle(&mut way);
        let (mut transaction, mut written) = (1.0, HashSet::new());
        for (position, &number) in way.iter().enumerate() {
            if as_float(position) >= transaction * together {
                transaction += 1.0;
                written.clear();
            }
            let item = &orders[number].item;
            let day = item.placed_at.day().to_string();
            let of = [day.as_str(), item.line.product_id.as_str(), item.customer_id.as_str()].map(str::to_owned);
            for (units, counter) in units[number].iter_mut().zip(of) {
                if written.insert(counter) {
                    *units += transactional() / as_float(WAYS);
                }
            }
        }
    }
    units
}

/// An order of one line.
struct Placing {
    order: Order,
    item: OrderItem,
    invoice: Invoice,
    counts: Counts,
    with_code: bool,
}

impl Placing {
    fn new(number: usize, product: usize, customer: usize, with_code: bool) -> Result<Self> {
        let customer_id: CustomerId = format!("customer-{customer:07}").parse()?;
        let product_id: ProductId = format!("product-{product:05}").parse()?;
        let key: IdempotencyKey = number.to_string().parse()?;
        let order_id = OrderId::of(&customer_id, &key);
        let placed_at = Timestamp::from_millisecond(FIRST_MOMENT + i64::try_from(number)?).context("a moment")?;
        let price = Money::new(1_999, Currency::try_from("EUR".to_owned())?).context("a price")?;
        let line = OrderLine {
            product_id,
            name: "A thing".to_owned(),
            quantity: 1.try_into()?,
            unit_price: price,
            amount: price,
            discount: None,
            tax: None,
        };
        let payment = Payment::Card(CardPayment::of(price));
        let order = Order {
            order_id: order_id.clone(),
            customer_id: customer_id.clone(),
            status: OrderStatus::Pending,
            placed_at,
            changed_at: placed_at,
            version: 1,
            subtotal: price,
            tax: None,
            discount: Money::zero(price.currency()),
            codes: Vec::new(),
            total: price,
            request_hash: RequestHash::of(key.as_str().as_bytes()),
            line_count: 1,
            units: 1,
            pay_later: false,
            shipping: None,
            shipping_tax: None,
            has_address: false,
            shard: 0,
            cancellation: None,
            credits: Vec::new(),
            returning: Vec::new(),
            return_count: 0,
            shipped: Vec::new(),
            shipment_count: 0,
            delivered_count: 0,
            delivered_at: None,
            imported_at: None,
        };
        let invoice = Invoice {
            invoice_id: InvoiceId::of(&order_id),
            order_id: order_id.clone(),
            customer_id: customer_id.clone(),
            issued_at: placed_at,
            amount: price,
            taxes: Vec::new(),
            unnumbered: None,
            number: None,
            payments: vec![payment],
        };
        let item = OrderItem { order_id, customer_id, placed_at, shard: 0, line, imported_at: None, uncounted: false };
        let mut counts = Change::Placed(order.clone()).counts(&[]);
        counts.add(&Change::Line(item.clone()).counts(&[]));
        Ok(Self { order, item, invoice, counts, with_code })
    }

    /// The reads and writes of placing the order and of the views before it.
    ///
    /// Shards and cells are chosen by an even hash or at random, so each gets an equal part.
    fn touches(&self, number: usize, keys: Keys, sample: &Sample, watched: Option<Watched>) -> Result<Vec<Touch>> {
        let Self { order, item, invoice, counts, .. } = self;
        let (order_id, product, line) = (&order.order_id, &item.line.product_id, &item.line);
        let mut touches = Touches::of(watched);
        touches.put(invoice);
        touches.write(item, transactional());
        touches.write(order, transactional());
        // Creating an entity is more expensive than checking whether it is watched.
        let shards = if touches.want::<Order>() { keys.status_shards } else { 0 };
        for shard in 0..shards {
            for mut key in (Order { shard, ..order.clone() }).index_keys() {
                if keys.has_suffix && key.index == Index::Gsi1 {
                    key.sort.extend(["#", &order_id.spread(64).to_string()]);
                }
                touches.add::<Order>(key, plain() / f64::from(keys.status_shards), 0.0);
            }
        }
        let shards = if touches.want::<OrderItem>() { keys.product_shards } else { 0 };
        for shard in 0..shards {
            for key in (OrderItem { shard, ..item.clone() }).index_keys() {
                touches.add::<OrderItem>(key, plain() / f64::from(keys.product_shards), 0.0);
            }
        }

        let units = transactional() / f64::from(keys.cells);
        touches.add::<Stock>(Stock::key_of(product), units, 0.0);
        let cells = if touches.want::<StockCell>() { keys.cells } else { 0 };
        for cell in 1..cells {
            touches.add::<StockCell>(StockCell::key_of(product, cell), units, 0.0);
        }
        if self.with_code {
            let code = Discount {
                code: CODE.parse()?,
                reduction: Reduction::Percent(10.try_into()?),
                min_subtotal: None,
                category: None,
                combinable: false,
                from: None,
                to: None,
                max_uses: Some(1_000_000),
                uses: 0,
                revoked: false,
                version: 0,
                created_at: order.placed_at,
            };
            touches.write(&code, transactional());
            touches.read::<Discount>(code.key(), eventual());
        }
        // One order in twenty is paid with a gift card of its own.
        if number.is_multiple_of(20) {
            let (code, at, amount) = (order_id.as_str().parse()?, order.placed_at, line.amount);
            let card = GiftCard::new(code, amount, at);
            touches.write(&card, transactional());
            touches.read::<GiftCard>(card.key(), eventual());
            let (code, order_id) = (card.code, order_id.clone());
            touches.put(&GiftCardEntry { code, order_id, amount, at, status: PaymentStatus::Captured, returned: 0 });
        }
        touches.read::<Order>(order.key(), eventual());
        touches.read::<QueuedOrder>(QueuedOrder::key_of(order_id), eventual());
        touches.read::<Customer>(Customer::key_of(&order.customer_id), eventual());
        touches.read::<Product>(Product::key_of(product), eventual());
        touches.read::<Stock>(Stock::key_of(product), eventual());

        // The customer and others have viewed the product: each view is a Query of the product's item collection.
        let views = sample.views;
        touches.read::<Product>(Product::key_of(product), views * eventual());
        let parts = if touches.want::<ViewShard>() { keys.view_shards } else { 0 };
        for shard in 0..parts {
            let part = ViewShard { product_id: product.clone(), shard, views: 1 };
            touches.write(&part, views * plain() / f64::from(keys.view_shards));
        }

        let [day, of_product, of_customer] = match keys.counters {
            Counters::Order => [transactional(); 3],
            Counters::Stream => sample.counters[number],
        };
        for aggregate in counts.aggregates() {
            match aggregate {
                Aggregate::Day(date) => touches.write(&counts.day(*date), day),
                Aggregate::Product(id) => touches.write(&counts.product(id), of_product),
                Aggregate::Customer(id) => touches.write(&counts.customer(id), of_customer),
            }
        }
        Ok(touches.all)
    }
}
