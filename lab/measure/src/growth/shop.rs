//! A generated shop with any number of orders, deterministic and created item by item.
//!
//! The popularity of customers and products is about Zipf's law. The orders are evenly distributed over thirty days; the
//! oldest are delivered or cancelled, the newest are pending. All names and prices have the same length, so that a full
//! page of a list has the same size in every shop, and its cost can only depend on the table.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use counting::{Change, Counts};
use key_schema::entity::{
    Cancellation, CancellationCause, CardPayment, CategoryCount, Customer, Discount, EmailClaim, GiftCard, Invoice,
    LineUnits, Order, OrderFlag, OrderItem, OrderLine, OrderStatus, Payment, PaymentDue, Product, Reduction, Return,
    ReturnStatus, StockCell, Transfer, UsernameClaim, ViewShard, WholeStock, Work,
};
use key_schema::value::{
    Cells, Currency, CustomerId, IdempotencyKey, Money, OrderId, ProductId, RequestHash, ReturnId, Timestamp, Zone,
};
use table::{Item, write_item};

use crate::workspace::Shards;

/// 2026-10-01, in milliseconds.
const FIRST_MOMENT: i64 = 1_790_812_800_000;
const DAYS: i64 = 30;
const DAY: i64 = 86_400_000;
const PRODUCTS: usize = 200;
const CATEGORIES: usize = 5;
/// In cents. The amount for up to three units has four digits, and so always the same size.
const PRICE: i64 = 1_999;
const STOCK: u32 = 1_000_000_000;
const CELLS: i64 = 8;
/// The variants of the product in cells.
const VARIANTS: u8 = 10;
/// One of this many orders is flagged.
const FLAGGED: usize = 40;
/// One unit is to be returned of one of this many orders, if it is delivered.
const RETURNED: usize = 10;

/// A gift card and a discount code that never run out.
pub(super) const GIFT_CARD: &str = "GIFT";
pub(super) const DISCOUNT: &str = "TEN";

pub(super) struct Shop {
    orders: usize,
    customers: usize,
    shards: Shards,
    euro: Currency,
}

/// One order, with the items of its placing and its lifecycle.
pub(super) struct Placed {
    pub(super) order: Order,
    pub(super) invoice: Invoice,
    line: OrderItem,
    flag: Option<OrderFlag>,
    /// The mark of a cancelled order, whose refund is due.
    due: Option<PaymentDue>,
    returned: Option<Return>,
}

impl Shop {
    pub(super) fn new(orders: usize) -> Result<Self> {
        let customers = (orders / 10).max(100);
        Ok(Self { orders, customers, shards: Shards::deployed()?, euro: Currency::try_from("EUR".to_owned())? })
    }

    pub(super) fn orders(&self) -> usize {
        self.orders
    }

    /// The n-th most active customer.
    pub(super) fn customer(rank: usize) -> Result<CustomerId> {
        Ok(format!("customer-{rank:07}").parse()?)
    }

    pub(super) fn least_active(&self) -> Result<CustomerId> {
        Self::customer(self.customers - 1)
    }

    /// The n-th most popular product.
    pub(super) fn product(rank: usize) -> Result<ProductId> {
        Ok(format!("product-{rank:04}").parse()?)
    }

    /// A product whose stock is in [`CELLS`] cells, and which no generated order contains.
    pub(super) fn in_cells() -> Result<ProductId> {
        Ok("product-in-cells".parse()?)
    }

    /// The name of the n-th most popular product.
    fn name(rank: usize) -> String {
        format!("Thing {rank:010}")
    }

    /// The category of the most popular product.
    pub(super) const CATEGORY: &str = "category-0";

    /// The moment after this part of the shop's time, from 0 to 1000 per mille.
    pub(super) fn moment(per_mille: i64) -> Result<Timestamp> {
        Timestamp::from_millisecond(FIRST_MOMENT + DAYS * DAY * per_mille / 1000).context("a moment of this century")
    }

    /// The items from before the first order.
    pub(super) fn catalogue(&self) -> Result<Vec<Item>> {
        let created_at = Self::moment(0)?;
        let mut items = Vec::new();
        let mut categories = BTreeMap::<String, i64>::new();
        for rank in 0..PRODUCTS {
            let category = format!("category-{}", rank % CATEGORIES);
            *categories.entry(category.clone()).or_default() += 1;
            items.extend(self.offer(Self::product(rank)?, Self::name(rank), &category, Cells::ONE, None)?);
        }
        // In a category of its own, so that it does not change the pages of other categories.
        let name = Self::name(PRODUCTS);
        let category = "category-in-cells";
        categories.insert(category.to_owned(), 1);
        items.extend(self.offer(Self::in_cells()?, name, category, CELLS.try_into()?, None)?);
        // In a category of their own, too.
        let category = "category-of-variants";
        categories.insert(category.to_owned(), VARIANTS.into());
        for number in 0..VARIANTS {
            let (id, name) = (format!("variant-{number}").parse()?, Self::name(number.into()));
            items.extend(self.offer(id, name, category, Cells::ONE, Some(Self::in_cells()?))?);
        }
        for (category, products) in categories {
            items.push(write_item(&CategoryCount { category: category.parse()?, products })?);
        }
        for shard in 0..self.shards.views {
            items.push(write_item(&ViewShard { product_id: Self::product(0)?, shard, views: 1_000 })?);
        }
        for rank in 0..self.customers {
            let customer = Customer {
                customer_id: Self::customer(rank)?,
                username: format!("user-{rank:07}").try_into()?,
                email: format!("user-{rank:07}@example.com").try_into()?,
                name: format!("Customer {rank:010}"),
                created_at,
                version: 1,
                erased_at: None,
                guests: Vec::new(),
            };
            let (email, customer_id) = (customer.email.clone(), customer.customer_id.clone());
            items.push(write_item(&EmailClaim { email, customer_id: customer_id.clone() })?);
            items.push(write_item(&UsernameClaim { username: customer.username.clone(), customer_id })?);
            items.push(write_item(&customer)?);
        }
        let balance = self.money(i64::from(STOCK))?;
        items.push(write_item(&GiftCard::new(GIFT_CARD.parse()?, balance, created_at))?);
        let code = DISCOUNT.parse()?;
        items.push(write_item(&Discount {
            code,
            reduction: Reduction::Percent(10.try_into()?),
            min_subtotal: None,
            category: None,
            combinable: false,
            from: None,
            to: None,
            max_uses: None,
            uses: 0,
            held_by_guests: 0,
            revoked: false,
            version: 1,
            created_at,
        })?);
        Ok(items)
    }

    /// A product with its stock, or a variant of a product.
    fn offer(
        &self,
        product_id: ProductId,
        name: String,
        category: &str,
        cells: Cells,
        variant_of: Option<ProductId>,
    ) -> Result<Vec<Item>> {
        let price = self.money(PRICE)?;
        let stock = WholeStock::shared_out(product_id.clone(), price, STOCK.into(), cells);
        let mut items = vec![write_item(&stock.first())?];
        for (cell, &available) in (0..).zip(&stock.units).skip(1) {
            items.push(write_item(&StockCell::new(product_id.clone(), cell, available, price))?);
        }
        let product = Product {
            description: "A thing that people want".to_owned(),
            initial_stock: STOCK,
            variant_of,
            ..Product::new(product_id, name, category.parse()?, price)
        };
        items.push(write_item(&product)?);
        Ok(items)
    }

    /// The n-th order in order of time, counted from 0.
    pub(super) fn order(&self, number: usize) -> Result<Placed> {
        // A generator for each order, so that orders can be generated in any order and by many threads.
        let mut random = fastrand::Rng::with_seed(u64::try_from(number)?);
        let customer_id = Self::customer(popular(self.customers, random.f64()))?;
        let rank = popular(PRODUCTS, random.f64());
        let product_id = Self::product(rank)?;
        let quantity = random.i64(1..=3);
        let placed_at = FIRST_MOMENT + DAYS * DAY * i64::try_from(number)? / i64::try_from(self.orders)?;
        let placed_at = Timestamp::from_millisecond(placed_at).context("a moment of this century")?;

        let key: IdempotencyKey = format!("order-{number:07}").parse()?;
        let order_id = OrderId::of(&customer_id, &key);
        let (unit_price, amount) = (self.money(PRICE)?, self.money(PRICE * quantity)?);
        let status = self.status(number, &mut random);
        let cancellation = (status == OrderStatus::Cancelled).then_some(Cancellation {
            at: placed_at,
            reason: None,
            cause: Some(CancellationCause::Customer),
        });
        let shard = order_id.spread(self.shards.status);
        let is_returned = status == OrderStatus::Delivered && number.is_multiple_of(RETURNED);
        let unit = LineUnits { product_id: product_id.clone(), quantity: 1.try_into()? };
        let order = Order {
            status,
            request_hash: RequestHash::of(key.as_str().as_bytes()),
            units: u32::try_from(quantity)?,
            shard,
            cancellation,
            returning: is_returned.then(|| unit.clone()).into_iter().collect(),
            return_statuses: is_returned.then_some(ReturnStatus::Requested).into_iter().collect(),
            delivered_at: (status == OrderStatus::Delivered).then_some(placed_at),
            ..Order::new(order_id.clone(), customer_id.clone(), placed_at, amount)
        };
        let returned = is_returned.then(|| Return {
            return_id: ReturnId::of(&order_id, &key),
            order_id: order_id.clone(),
            customer_id: customer_id.clone(),
            shard,
            lines: vec![unit],
            reason: None,
            requested_at: placed_at,
            status: ReturnStatus::Requested,
            closed_at: None,
            restocked: false,
            amount: None,
            refusal: None,
        });
        let is_paid = order.status != OrderStatus::Pending;
        let transfer = is_paid.then(|| Transfer { reference: format!("bank-{number:07}"), amount: amount.amount() });
        let cancelled = order.status == OrderStatus::Cancelled;
        let work = Work::Refund;
        let due = cancelled.then(|| PaymentDue { order_id: order_id.clone(), shard, since: placed_at, work, amount });
        let card = CardPayment { cancelled, transfer, ..CardPayment::of(amount) };
        let invoice = Invoice::new(&order, vec![Payment::Card(card)]);
        let (name, quantity) = (Self::name(rank), quantity.try_into()?);
        let line = OrderLine::new(product_id, name, quantity, unit_price, amount);
        let flag = number.is_multiple_of(FLAGGED).then(|| OrderFlag {
            order_id: order_id.clone(),
            reason: "no signature".to_owned(),
            flagged_at: placed_at,
        });
        let shard = order_id.spread(self.shards.products);
        let (position, imported_at) = (0.into(), None);
        let line = OrderItem { order_id, customer_id, placed_at, shard, position, line, imported_at, uncounted: false };
        Ok(Placed { order, invoice, line, flag, due, returned })
    }

    /// The newest fifth is pending, the next fifth is paid, the next shipped, and the rest delivered, or one in twenty
    /// cancelled.
    fn status(&self, number: usize, random: &mut fastrand::Rng) -> OrderStatus {
        match 5 * number / self.orders {
            4.. => OrderStatus::Pending,
            3 => OrderStatus::Paid,
            2 => OrderStatus::Shipped,
            _ if random.u8(0..20) == 0 => OrderStatus::Cancelled,
            _ => OrderStatus::Delivered,
        }
    }

    fn money(&self, amount: i64) -> Result<Money> {
        Money::new(amount, self.euro).context("an amount that is money")
    }
}

/// The rank, counted from 0, for a number of `[0, 1)`: the n-th of so many is chosen about n times less often than the
/// first.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "ranks are far below 2^53"
)]
fn popular(ranks: usize, number: f64) -> usize {
    (((ranks + 1) as f64).powf(number) as usize).clamp(1, ranks) - 1
}

impl Placed {
    pub(super) fn items(&self) -> Result<Vec<Item>> {
        let mut items = vec![write_item(&self.order)?, write_item(&self.line)?, write_item(&self.invoice)?];
        items.extend(self.flag.as_ref().map(write_item).transpose()?);
        items.extend(self.due.as_ref().map(write_item).transpose()?);
        items.extend(self.returned.as_ref().map(write_item).transpose()?);
        Ok(items)
    }

    /// The counts of the order by the stream's consumer.
    pub(super) fn counts(&self) -> Counts {
        let placed = Order { status: OrderStatus::Pending, ..self.order.clone() };
        let changes = [
            Change::Placed(placed),
            Change::Line(self.line.clone()),
            Change::Moved(self.order.clone(), OrderStatus::Pending.into()),
        ];
        let mut counts = Counts::default();
        for change in changes {
            counts.add(&change.counts(std::slice::from_ref(&self.line.line), &Zone::UTC));
        }
        counts
    }
}
