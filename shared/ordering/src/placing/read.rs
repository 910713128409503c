//! The items that an order depends on: their keys, the modes in which they are read, and the items as they were read.

use std::collections::{BTreeMap, HashMap};

use key_schema::entity::{
    Address, Cart, Customer, CustomerAddresses, CustomerStats, Destination, Discount, GiftCard, Guest, Order,
    OrderLine, Product, QueuedOrder, Rejection, ShippingRates, Stock, Taxes, WholeOrder, WholeStock,
};
use key_schema::layout::{Consistency, Key};
use key_schema::value::{AddressId, CustomerId, DiscountCode, GiftCardCode, OrderId, ProductId, Quantity, Timestamp};
use serde::Deserialize;
use stock::{ReadMode, Source};

use super::request::{Basket, NewOrder, RequestedLine, ShipTo};
use super::tax_engine::TaxResponse;
use crate::{MaxOpenUnits, TaxRules};

/// The keys of what an order depends on, whoever orders. With [`keys_of_customer`] at most 93, of the 100 of a BatchGetItem.
pub(crate) fn keys_of(order: &NewOrder, tax_rules: &TaxRules) -> Vec<Key> {
    let mut keys = Vec::new();
    for line in &order.lines {
        keys.extend([Product::key_of(&line.product_id), Stock::key_of(&line.product_id)]);
    }
    keys.extend(order.codes().map(Discount::key_of));
    keys.extend(order.gift_cards.iter().map(GiftCard::key_of));
    keys.extend(order.ship_to.as_ref().map(|_| ShippingRates::only_key()));
    keys.extend(tax_rules.reads_rates().then(Taxes::only_key));
    keys
}

/// The keys of what this customer's order depends on besides.
pub(crate) fn keys_of_customer(customer: &CustomerId, order: &NewOrder, max_open_units: MaxOpenUnits) -> Vec<Key> {
    let profile = if customer.is_guest() { Guest::key_of(customer) } else { Customer::key_of(customer) };
    let mut keys = vec![profile];
    if max_open_units.is_on() {
        keys.push(CustomerStats::key_of(customer));
    }
    if let Some(ShipTo::Saved(_)) = &order.ship_to {
        keys.push(CustomerAddresses::key_of(customer));
    }
    keys.extend(order.cart.map(|_| Cart::key_of(customer)));
    keys
}

/// The items that an order depends on, as far as they exist.
#[derive(Clone, Debug, Default)]
pub struct ItemsRead {
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
    /// The response of the shop's tax engine, if it was asked.
    pub tax_response: Option<TaxResponse>,
    /// The tax rates, if they were read.
    pub taxes: Option<Taxes>,
    /// The customer's address book, if the order names an address of it.
    pub addresses: Option<CustomerAddresses>,
    /// The shipping rates, if the order has an address.
    pub rates: Option<ShippingRates>,
    /// The customer's cart, if the order is of a cart.
    pub cart: Option<Cart>,
}

/// One of the items that make up [`ItemsRead`].
#[allow(clippy::large_enum_variant, reason = "one item of many is the order, and a box would be one allocation more")]
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "EntityType", rename_all = "camelCase")]
pub enum ItemRead {
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

impl FromIterator<ItemRead> for ItemsRead {
    fn from_iter<I: IntoIterator<Item = ItemRead>>(items: I) -> Self {
        let mut read = Self::default();
        for item in items {
            match item {
                ItemRead::Customer(customer) => read.customer = Some(customer),
                ItemRead::Guest(guest) => read.guest = Some(guest),
                ItemRead::CustomerStats(stats) => read.stats = Some(stats),
                ItemRead::Order(order) => read.order = Some(order),
                ItemRead::QueuedOrder(queued) => read.queued = Some(queued),
                ItemRead::Product(product) => {
                    read.products.insert(product.product_id.clone(), product);
                }
                ItemRead::Stock(stock) => {
                    read.stock.insert(stock.product_id.clone(), stock);
                }
                ItemRead::Discount(discount) => {
                    read.discounts.insert(discount.code.clone(), discount);
                }
                ItemRead::CustomerAddresses(book) => read.addresses = Some(book),
                ItemRead::ShippingRates(rates) => read.rates = Some(rates),
                ItemRead::Cart(cart) => read.cart = Some(cart),
                ItemRead::GiftCard(card) => {
                    read.gift_cards.insert(card.code.clone(), card);
                }
                ItemRead::Taxes(taxes) => read.taxes = Some(taxes),
            }
        }
        read
    }
}

impl ItemsRead {
    /// Whether the order's customer exists, or its guest does and has not expired.
    pub(crate) fn has_customer(&self, now: Timestamp) -> bool {
        self.customer.as_ref().is_some_and(|customer| !customer.is_erased())
            || self.guest.as_ref().is_some_and(|guest| !guest.is_expired(now))
    }

    /// Adds a stock of which all cells were read.
    pub fn add_cells(&mut self, whole: WholeStock) {
        self.stock.insert(whole.product_id.clone(), whole.first());
        self.cells.insert(whole.product_id.clone(), whole);
    }

    /// The units of a product that can be sold; `None` if not all cells of its stock were read.
    ///
    /// Another count bounds what a guest may take: `GuestLimits`.
    pub fn available(&self, product: &ProductId) -> Option<u64> {
        let whole = self.cells.get(product).map(WholeStock::available);
        whole.or_else(|| self.stock.get(product).filter(|stock| stock.cells.is_one()).map(|stock| stock.available))
    }

    /// The products of a request that are recalled, in the order of its lines.
    pub(crate) fn recalled(&self, order: &NewOrder) -> Vec<ProductId> {
        let products = order.lines.iter().map(|line| &line.product_id);
        products.filter(|id| self.stock.get(id).is_some_and(|stock| stock.recalled)).cloned().collect()
    }

    /// The destination that a request names, and its address if it names one. `Err` has the id of one that is not in the
    /// address book.
    pub(crate) fn destination(&self, ship_to: &ShipTo) -> Result<(Destination, Option<Address>), AddressId> {
        let address = match ship_to {
            ShipTo::Destination(destination) => return Ok((destination.clone(), None)),
            ShipTo::Address(address) => address,
            ShipTo::Saved(saved) => {
                let address = self.addresses.as_ref().and_then(|book| book.address(&saved.address_id));
                address.ok_or_else(|| saved.address_id.clone())?
            }
        };
        Ok((address.into(), Some(address.clone())))
    }

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

/// The modes of the next read.
#[derive(Clone, Debug)]
pub(crate) struct ReadPlan {
    /// The mode for all items that the order depends on. An eventually consistent first read may return old values; the
    /// conditions of the transaction detect that.
    all: ReadMode,
    /// The products whose cells are all read, not only the first one, and the mode for them.
    cells: BTreeMap<ProductId, ReadMode>,
    /// Whether all cells of every stock are read, because the guest's share is of all units.
    is_of_guest: bool,
}

impl ReadPlan {
    /// The plan for a request.
    ///
    /// The first read is eventually consistent, unless the basket has a discount code: the transaction does not check a
    /// code with unlimited uses, so the read must see a revocation.
    pub(crate) fn of(basket: &Basket) -> Self {
        if basket.order().codes().next().is_some() { Self::strong() } else { Self::new(ReadMode::Eventual) }
    }

    /// A plan whose first read is strongly consistent.
    pub(crate) fn strong() -> Self {
        Self::new(ReadMode::Strong)
    }

    fn new(all: ReadMode) -> Self {
        Self { all, cells: BTreeMap::new(), is_of_guest: false }
    }

    /// The same plan, for an order of a guest.
    pub(crate) fn of_guest(self, is_of_guest: bool) -> Self {
        Self { is_of_guest, ..self }
    }

    pub(crate) fn consistency(&self) -> Consistency {
        self.all.consistency()
    }

    /// The mode in which to read all cells of a stock, or `None` to read only the first one. `is_scarce` tells that the
    /// first one has too little, or that a guest asks.
    fn mode_of_cells(&self, product: &ProductId, is_scarce: bool) -> Option<ReadMode> {
        self.cells.get(product).copied().or(is_scarce.then_some(self.all))
    }

    /// The stocks of these lines of which all cells are to be read, with the mode.
    pub(crate) fn cells_to_read<'f>(
        &'f self,
        lines: &'f [RequestedLine],
        items: &'f ItemsRead,
    ) -> impl Iterator<Item = (&'f Stock, ReadMode)> {
        // An order that exists is replayed, whatever is in stock.
        let lines = if items.order.is_some() { &[] } else { lines };
        lines.iter().filter_map(|line| {
            let first = items.stock.get(&line.product_id).filter(|first| !first.cells.is_one())?;
            let is_scarce = self.is_of_guest || first.available < line.quantity.get().into();
            Some((first, self.mode_of_cells(&line.product_id, is_scarce)?))
        })
    }

    /// Makes the next read strongly consistent, because items have changed since the last one. `short` are the products
    /// whose cell had too little: all of their cells are read.
    pub(crate) fn escalate(&mut self, short: impl IntoIterator<Item = ProductId>) {
        self.all = ReadMode::Strong;
        self.cells = short.into_iter().map(|product| (product, ReadMode::Strong)).collect();
    }

    /// Whether the last read proves the rejection. If not, escalates the next read so that it does.
    pub(crate) fn is_conclusive(&mut self, rejection: &Rejection, items: &ItemsRead) -> bool {
        let was_strong = std::mem::replace(&mut self.all, ReadMode::Strong) != ReadMode::Eventual;
        match rejection {
            Rejection::OutOfStock { product, .. } if items.is_in_cells(product) => {
                self.cells.insert(product.clone(), ReadMode::Snapshot) == Some(ReadMode::Snapshot)
            }
            _ => was_strong,
        }
    }
}
