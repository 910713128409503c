//! The items that placing an order depends on, as they were read.

use std::collections::HashMap;

use key_schema::entity::{
    Address, Cart, Customer, CustomerAddresses, CustomerStats, Discount, GiftCard, Guest, Order, OrderLine, Product,
    QueuedOrder, ShippingRates, Stock, Taxes, WholeOrder, WholeStock,
};
use key_schema::value::{AddressId, DiscountCode, GiftCardCode, OrderId, ProductId, Quantity, Timestamp};
use serde::Deserialize;
use stock::Source;

use crate::tax_engine::Said;
use crate::{OrderRequest, ShipTo};

/// The items that an order depends on, as far as they exist.
#[derive(Clone, Debug, Default)]
pub struct Found {
    pub customer: Option<Customer>,
    /// The guest, if the order is a guest's.
    pub guest: Option<Guest>,
    /// The counters of the customer's orders, if they were read.
    pub stats: Option<CustomerStats>,
    /// The order itself, if it was placed before.
    pub order: Option<Order>,
    /// The item of the order in the queue, if it was accepted to be placed later.
    pub queued: Option<QueuedOrder>,
    pub products: HashMap<ProductId, Product>,
    /// The products' stocks: the whole stock of one cell, or the first of several cells.
    pub stock: HashMap<ProductId, Stock>,
    /// All cells of those stocks whose cells were all read.
    pub cells: HashMap<ProductId, WholeStock>,
    pub discounts: HashMap<DiscountCode, Discount>,
    pub gift_cards: HashMap<GiftCardCode, GiftCard>,
    /// The taxes that the shop's tax engine said.
    pub said: Option<Said>,
    /// The tax rates, if they were read.
    pub taxes: Option<Taxes>,
    /// The customer's address book, if the order names an address of it.
    pub addresses: Option<CustomerAddresses>,
    /// The shipping rates, if the order has an address.
    pub rates: Option<ShippingRates>,
    /// The customer's cart, if the order is of a cart.
    pub cart: Option<Cart>,
}

/// One of the items that make up [`Found`].
#[allow(clippy::large_enum_variant, reason = "one item of many is the order, and a box would be one allocation more")]
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "EntityType", rename_all = "camelCase")]
pub enum FoundItem {
    Customer(Customer),
    Guest(Guest),
    /// The counters of the customer's orders.
    CustomerStats(CustomerStats),
    Order(Order),
    /// The item of the order in the queue.
    QueuedOrder(QueuedOrder),
    Product(Product),
    /// The stock of a product, or its first cell.
    Stock(Stock),
    Discount(Discount),
    GiftCard(GiftCard),
    /// The tax rates.
    Taxes(Taxes),
    CustomerAddresses(CustomerAddresses),
    ShippingRates(ShippingRates),
    Cart(Cart),
}

impl FromIterator<FoundItem> for Found {
    fn from_iter<I: IntoIterator<Item = FoundItem>>(items: I) -> Self {
        let mut found = Self::default();
        for item in items {
            match item {
                FoundItem::Customer(customer) => found.customer = Some(customer),
                FoundItem::Guest(guest) => found.guest = Some(guest),
                FoundItem::CustomerStats(stats) => found.stats = Some(stats),
                FoundItem::Order(order) => found.order = Some(order),
                FoundItem::QueuedOrder(queued) => found.queued = Some(queued),
                FoundItem::Product(product) => {
                    found.products.insert(product.product_id.clone(), product);
                }
                FoundItem::Stock(stock) => {
                    found.stock.insert(stock.product_id.clone(), stock);
                }
                FoundItem::Discount(discount) => {
                    found.discounts.insert(discount.code.clone(), discount);
                }
                FoundItem::CustomerAddresses(book) => found.addresses = Some(book),
                FoundItem::ShippingRates(rates) => found.rates = Some(rates),
                FoundItem::Cart(cart) => found.cart = Some(cart),
                FoundItem::GiftCard(card) => {
                    found.gift_cards.insert(card.code.clone(), card);
                }
                FoundItem::Taxes(taxes) => found.taxes = Some(taxes),
            }
        }
        found
    }
}

impl Found {
    /// Whether the order's customer exists, or its guest does and has not expired.
    pub(crate) fn has_customer(&self, now: Timestamp) -> bool {
        self.customer.as_ref().is_some_and(|customer| !customer.is_erased())
            || self.guest.as_ref().is_some_and(|guest| !guest.is_expired(now))
    }

    /// Adds a stock of which all cells were read.
    pub fn learn(&mut self, whole: WholeStock) {
        self.stock.insert(whole.product_id.clone(), whole.first());
        self.cells.insert(whole.product_id.clone(), whole);
    }

    /// The units of a product that can be sold; `None` if not all cells of its stock were read.
    pub fn available(&self, product: &ProductId) -> Option<u64> {
        let whole = self.cells.get(product).map(WholeStock::available);
        whole.or_else(|| self.stock.get(product).filter(|stock| stock.cells.is_one()).map(|stock| stock.available))
    }

    /// The products of a request that are recalled, in the order of its lines.
    pub(crate) fn recalled(&self, request: &OrderRequest) -> Vec<ProductId> {
        let products = request.lines.iter().map(|line| &line.product_id);
        products.filter(|id| self.stock.get(id).is_some_and(|stock| stock.recalled)).cloned().collect()
    }

    /// The address that a request names. `Err` has the id of one that is not in the address book.
    pub(crate) fn address(&self, ship_to: &ShipTo) -> Result<Address, AddressId> {
        match ship_to {
            ShipTo::Address(address) => Ok(address.clone()),
            ShipTo::Saved(saved) => {
                let found = self.addresses.as_ref().and_then(|book| book.address(&saved.address_id));
                found.cloned().ok_or_else(|| saved.address_id.clone())
            }
        }
    }

    /// Whether the stock of a product has several cells.
    pub(crate) fn is_in_cells(&self, product: &ProductId) -> bool {
        self.stock.get(product).is_some_and(|stock| !stock.cells.is_one())
    }

    /// The cell from which an order takes the units of a line: the order's own cell, unless that is known to have too
    /// little, and then another one. `None` if every cell has too little.
    pub fn cell_of(&self, order: &OrderId, line: &OrderLine) -> Option<u8> {
        let home = self.stock.get(&line.product_id).map_or(0, |stock| order.spread(stock.cells.get()));
        let whole = self.cells.get(&line.product_id);
        whole.map_or(Some(home), |whole| whole.cell_with(line.quantity.get().into(), home))
    }

    /// The [cell](Self::cell_of), with the version of the price.
    pub(crate) fn source_of(&self, order: &OrderId, line: &OrderLine) -> Option<Source> {
        let price_version = self.stock.get(&line.product_id).map_or(0, |stock| stock.price_version);
        self.cell_of(order, line).map(|cell| Source { cell, price_version })
    }

    /// The stocks of which no single cell has enough for the order's line, with the quantity of the line.
    pub(crate) fn scattered(&self, order: &WholeOrder) -> impl Iterator<Item = (&WholeStock, Quantity)> {
        let scattered = order.lines.iter().filter(|line| self.cell_of(&order.order.order_id, line).is_none());
        scattered.filter_map(|line| Some((self.cells.get(&line.product_id)?, line.quantity)))
    }
}
