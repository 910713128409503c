//! What an order costs and who pays what. Pure.

use std::collections::HashMap;

use key_schema::entity::{
    Customer, Discount, GiftCard, Order, OrderLine, Payment, PaymentStatus, Product, QueuedOrder, Rejection, Stock,
    WholeOrder, WholeStock,
};
use key_schema::value::{GiftCardCode, Money, OrderId, ProductId, Quantity, Timestamp};
use serde::Deserialize;
use stock::Source;

use crate::{Basket, OrderRequest};

/// What was found of all that an order touches.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// The customer.
    pub customer: Option<Customer>,
    /// The order itself, if it was placed before.
    pub order: Option<Order>,
    /// That it waits, or was refused after waiting.
    pub queued: Option<QueuedOrder>,
    /// The products.
    pub products: HashMap<ProductId, Product>,
    /// Their stock: all of it, or the first of several cells.
    pub stock: HashMap<ProductId, Stock>,
    /// All cells of their stock, where it lies in several that were looked at.
    pub cells: HashMap<ProductId, WholeStock>,
    /// The discount code.
    pub discount: Option<Discount>,
    /// The gift cards.
    pub gift_cards: HashMap<GiftCardCode, GiftCard>,
}

/// One of the items that make up [`Found`].
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "EntityType", rename_all = "camelCase")]
pub enum FoundItem {
    /// The customer.
    Customer(Customer),
    /// The order.
    Order(Order),
    /// That the order waits.
    QueuedOrder(QueuedOrder),
    /// A product.
    Product(Product),
    /// The stock of a product, or its first cell.
    Stock(Stock),
    /// The discount code.
    Discount(Discount),
    /// A gift card.
    GiftCard(GiftCard),
}

impl FromIterator<FoundItem> for Found {
    fn from_iter<I: IntoIterator<Item = FoundItem>>(items: I) -> Self {
        let mut found = Self::default();
        for item in items {
            match item {
                FoundItem::Customer(customer) => found.customer = Some(customer),
                FoundItem::Order(order) => found.order = Some(order),
                FoundItem::QueuedOrder(queued) => found.queued = Some(queued),
                FoundItem::Product(product) => {
                    found.products.insert(product.product_id.clone(), product);
                }
                FoundItem::Stock(stock) => {
                    found.stock.insert(stock.product_id.clone(), stock);
                }
                FoundItem::Discount(discount) => found.discount = Some(discount),
                FoundItem::GiftCard(card) => {
                    found.gift_cards.insert(card.code.clone(), card);
                }
            }
        }
        found
    }
}

impl Found {
    /// All cells of a stock were read.
    pub fn learn(&mut self, whole: WholeStock) {
        self.stock.insert(whole.product_id.clone(), whole.first());
        self.cells.insert(whole.product_id.clone(), whole);
    }

    /// How many of a product can be sold; `None` if cells of its stock were not looked at.
    pub fn available(&self, product: &ProductId) -> Option<u64> {
        let whole = self.cells.get(product).map(WholeStock::available);
        whole.or_else(|| self.stock.get(product).filter(|stock| stock.cells.is_one()).map(|stock| stock.available))
    }

    /// Whether the stock of a product lies in several cells.
    pub(crate) fn is_in_cells(&self, product: &ProductId) -> bool {
        self.stock.get(product).is_some_and(|stock| !stock.cells.is_one())
    }

    /// The cell that an order takes a line from: its own, unless that is known to hold too little. `None` if every cell
    /// does.
    pub fn cell_of(&self, order: &OrderId, line: &OrderLine) -> Option<u8> {
        let home = self.stock.get(&line.product_id).map_or(0, |stock| order.spread(stock.cells.get()));
        let whole = self.cells.get(&line.product_id);
        whole.map_or(Some(home), |whole| whole.cell_with(line.quantity.get().into(), home))
    }

    /// The same, with the version of the price.
    pub(crate) fn source_of(&self, order: &OrderId, line: &OrderLine) -> Option<Source> {
        let price_version = self.stock.get(&line.product_id).map_or(0, |stock| stock.price_version);
        self.cell_of(order, line).map(|cell| Source { cell, price_version })
    }

    /// The stocks of which no cell has enough for the order, and how many it takes.
    pub(crate) fn scattered(&self, order: &WholeOrder) -> impl Iterator<Item = (&WholeStock, Quantity)> {
        let scattered = order.lines.iter().filter(|line| self.cell_of(&order.order.order_id, line).is_none());
        scattered.filter_map(|line| Some((self.cells.get(&line.product_id)?, line.quantity)))
    }
}

/// An order's sums. `subtotal` is the lines' sum, `total` is `subtotal` less `discount`, and the payments add up to
/// `total`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quote {
    /// The lines, by product id: the order in which they are stored and read.
    pub lines: Vec<OrderLine>,
    /// The sum of the lines.
    pub subtotal: Money,
    /// What the discount code takes off.
    pub discount: Money,
    /// What is to be paid.
    pub total: Money,
    /// Who pays what. Nobody pays nothing: an order of total zero has no payments.
    pub payments: Vec<Payment>,
    /// Whether the order uses a discount code whose uses are limited, so that they are counted.
    pub is_use_counted: bool,
}

impl Quote {
    /// Prices the basket with what was found.
    ///
    /// # Errors
    /// The first reason why the order cannot be placed. The transaction checks all of it again.
    pub fn of(basket: &Basket, found: &Found, now: Timestamp) -> Result<Self, Rejection> {
        if found.customer.is_none() {
            return Err(Rejection::UnknownCustomer);
        }
        let request = basket.request();
        let (lines, subtotal) = lines(request, found)?;
        let discount = discount(request, found, subtotal, now)?;
        let total = subtotal.checked_sub(discount).ok_or(Rejection::TooExpensive)?;
        if request.expected_total.is_some_and(|expected| expected != total) {
            return Err(Rejection::PriceChanged { total, card: None });
        }
        let payments = payments(request, found, total)?;
        let is_use_counted =
            request.discount_code.is_some() && found.discount.as_ref().is_some_and(Discount::is_limited);
        Ok(Self { lines, subtotal, discount, total, payments, is_use_counted })
    }

    /// The same quote, if it comes to no more than `max_total`.
    pub(crate) fn at_most(self, max_total: Option<Money>) -> Result<Self, Rejection> {
        match max_total {
            Some(most) if !is_within(self.total, most) => {
                Err(Rejection::PriceChanged { total: self.total, card: None })
            }
            _ => Ok(self),
        }
    }
}

fn is_within(amount: Money, most: Money) -> bool {
    amount.checked_min(most) == Some(amount)
}

fn lines(request: &OrderRequest, found: &Found) -> Result<(Vec<OrderLine>, Money), Rejection> {
    let mut lines = Vec::with_capacity(request.lines.len());
    let mut subtotal: Option<Money> = None;
    for (line, asked) in request.lines.iter().enumerate() {
        let id = &asked.product_id;
        let (Some(product), Some(stock)) = (found.products.get(id), found.stock.get(id)) else {
            return Err(Rejection::UnknownProduct { line, product: id.clone() });
        };
        if let Some(available) = found.available(id).filter(|available| *available < asked.quantity.get().into()) {
            return Err(Rejection::OutOfStock { line, product: id.clone(), available });
        }
        // The stock's copy of the price, because that is the one the transaction checks.
        let amount = stock.price.checked_mul(asked.quantity.get()).ok_or(Rejection::TooExpensive)?;
        let sum = subtotal.unwrap_or(Money::zero(amount.currency()));
        if sum.currency() != amount.currency() {
            return Err(Rejection::MixedCurrencies { line });
        }
        subtotal = Some(sum.checked_add(amount).ok_or(Rejection::TooExpensive)?);
        lines.push(OrderLine {
            product_id: id.clone(),
            name: product.name.clone(),
            quantity: asked.quantity,
            unit_price: stock.price,
            amount,
        });
    }
    lines.sort_by(|a, b| a.product_id.cmp(&b.product_id));
    if subtotal.is_some_and(|subtotal| !subtotal.is_chargeable()) {
        return Err(Rejection::TooExpensive);
    }
    // A basket has at least one line.
    subtotal.map(|subtotal| (lines, subtotal)).ok_or(Rejection::TooExpensive)
}

fn discount(request: &OrderRequest, found: &Found, subtotal: Money, now: Timestamp) -> Result<Money, Rejection> {
    let Some(code) = &request.discount_code else {
        return Ok(Money::zero(subtotal.currency()));
    };
    match &found.discount {
        Some(discount) if !discount.is_in_window(now) => Err(Rejection::DiscountInvalid { code: code.clone() }),
        Some(discount) if !discount.has_uses_left() => Err(Rejection::DiscountExhausted { code: code.clone() }),
        Some(discount) => Ok(subtotal.percent(discount.percent)),
        None => Err(Rejection::DiscountInvalid { code: code.clone() }),
    }
}

/// Gift cards pay as far as they reach, in the order in which they were named; the bank card pays the rest.
///
/// An empty gift card pays nothing. If the bank card would have to pay in its place, the order is refused, unless the
/// request says how much the bank card may pay.
fn payments(request: &OrderRequest, found: &Found, total: Money) -> Result<Vec<Payment>, Rejection> {
    let mut payments = Vec::new();
    let mut open = total;
    let mut empty = None;
    for code in &request.gift_cards {
        let card = found.gift_cards.get(code).ok_or_else(|| Rejection::GiftCardInvalid { code: code.clone() })?;
        if card.balance.is_zero() {
            empty = empty.or(Some(code));
        }
        let amount = card.balance.checked_min(open).ok_or_else(|| Rejection::GiftCardInvalid { code: code.clone() })?;
        // `amount` is at most `open`, in the same currency.
        open = open.checked_sub(amount).ok_or(Rejection::TooExpensive)?;
        if !amount.is_zero() {
            payments.push(Payment::GiftCard { code: code.clone(), amount, status: PaymentStatus::Captured });
        }
    }
    if !open.is_zero() {
        match (request.max_card_amount, empty) {
            (Some(most), _) if !is_within(open, most) => {
                return Err(Rejection::PriceChanged { total, card: Some(open) });
            }
            (None, Some(code)) => return Err(Rejection::GiftCardBalance { code: code.clone() }),
            _ => {}
        }
        payments.push(Payment::Card {
            amount: open,
            status: PaymentStatus::Authorized,
            reference: None,
            settlement: None,
        });
    }
    Ok(payments)
}
