//! What the audit remembers while it reads the table: each order until all of its parts are read, and sums over what
//! spans partitions.

use std::collections::BTreeMap;

use counting::{Aggregate, Bounds, Counts};
use key_schema::entity::{
    Balance, Customer, EmailClaim, GiftCardEntry, Guest, Invoice, Order, OrderAddress, OrderItem, OrderLine,
    OrderStatus, Payment, Product, Return, Shipment, UsernameClaim, WholeOrder, Work,
};
use key_schema::layout::{ENTITIES, ENTITY_TYPE, Index, Item, Key, Stored as _};
use key_schema::value::{
    Category, CustomerId, DiscountCode, GiftCardCode, LinePosition, Money, OrderId, ProductId, TextHash, Timestamp,
    Zone,
};
use table::read_item;

use super::numbers::Numbers;
use super::order;
use super::{Breach, Report};

/// Everything read so far that is still needed.
pub(super) struct Accounts {
    pub(super) horizon: Timestamp,
    /// The zone in whose days orders are counted.
    pub(super) zone: Zone,
    pub(super) report: Report,
    /// Orders with parts that are not read yet.
    pub(super) orders: BTreeMap<OrderId, Parts>,
    /// The price of each product, and its copy in the stock item.
    pub(super) products: BTreeMap<ProductId, [Option<Money>; 2]>,
    /// For each product with a long description: the hash of the description by the product, and by the item with it.
    /// Removed once the two agree.
    pub(super) descriptions: BTreeMap<ProductId, [Option<TextHash>; 2]>,
    /// For each category: its number of products, less the products that say that they are counted in it.
    pub(super) categories: BTreeMap<Category, i64>,
    /// The cells of each stock that has more than one.
    pub(super) cells: BTreeMap<ProductId, Cells>,
    /// For each gift card: the amount taken from its balance, less the sum of its entries.
    pub(super) cards: BTreeMap<GiftCardCode, i64>,
    /// For each order and gift card: the amount by the invoice, less the amount by the card's entry. Removed once the
    /// two agree.
    pub(super) taken: BTreeMap<(OrderId, GiftCardCode), Taken>,
    pub(super) numbers: Numbers,
    /// For each discount code: the uses it has counted, less the uses found in orders.
    pub(super) uses: BTreeMap<DiscountCode, i64>,
    /// For each product and each code: what guests hold unpaid as it is counted, less what their orders hold.
    pub(super) held: BTreeMap<String, i64>,
    /// Claims by key: the customer who holds the claim, and the customer whose profile names it.
    pub(super) claims: BTreeMap<String, [Option<CustomerId>; 2]>,
    /// For each guest and each customer of whom one names the other: whether the guest does, and whether the customer does.
    pub(super) guests: BTreeMap<(CustomerId, CustomerId), [bool; 2]>,
    pub(super) bounds: BTreeMap<Aggregate, Bounds>,
    pub(super) counted: BTreeMap<Aggregate, Counts>,
}

#[derive(Default)]
pub(super) struct Parts {
    pub(super) order: Option<Order>,
    pub(super) lines: Vec<OrderItem>,
    pub(super) invoice: Option<Invoice>,
    /// The scan may read an address before the order's header.
    pub(super) address: Option<OrderAddress>,
    pub(super) returns: Vec<Return>,
    pub(super) shipments: Vec<Shipment>,
    /// The scan reads a flag before the order's other items; the order must exist.
    pub(super) is_flagged: bool,
    /// The scan reads the mark of a payment that is due before the order's header.
    pub(super) marked: Option<Work>,
}

#[derive(Default)]
pub(super) struct Cells {
    /// The number of cells, as the first cell declares it.
    pub(super) declared: Option<u8>,
    /// The version of the price in the first cell.
    pub(super) price_version: u64,
    /// The other cells, each with its price and the price's version.
    pub(super) others: BTreeMap<u8, (Money, u64)>,
    /// The sum of the transferred units that all cells record.
    pub(super) transferred: i128,
}

/// The difference between the two sides.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Taken {
    pub(super) times: i64,
    pub(super) captured: i64,
}

impl Accounts {
    pub(super) fn new(horizon: Timestamp, zone: Zone) -> Self {
        Self {
            horizon,
            zone,
            report: Report::default(),
            orders: BTreeMap::new(),
            products: BTreeMap::new(),
            descriptions: BTreeMap::new(),
            categories: BTreeMap::new(),
            cells: BTreeMap::new(),
            cards: BTreeMap::new(),
            taken: BTreeMap::new(),
            numbers: Numbers::default(),
            uses: BTreeMap::new(),
            held: BTreeMap::new(),
            claims: BTreeMap::new(),
            guests: BTreeMap::new(),
            bounds: BTreeMap::new(),
            counted: BTreeMap::new(),
        }
    }

    pub(super) fn items(&self) -> u64 {
        self.report.items
    }

    /// Adds an item, after a check of its keys against its content.
    pub(super) fn add(&mut self, item: table::Item) {
        self.report.items += 1;
        let (of, keys) = (place(&item), keys(&item));
        let kind = item.get(ENTITY_TYPE).and_then(|kind| kind.as_s().ok()).cloned().unwrap_or_default();
        if ENTITIES.iter().all(|(known, _)| *known != kind) {
            return self.breach(of, format!("{kind:?} is no kind of item"));
        }
        let item: Item = match read_item(item) {
            Ok(item) => item,
            Err(error) => return self.breach(of, format!("it cannot be read: {}", lambda::chain(&error))),
        };
        let own = item.keys().into_iter();
        let own: BTreeMap<_, _> =
            own.map(|key| (key.index.attributes().0, [Some(key.partition), Some(key.sort)])).collect();
        if own != keys {
            self.breach(of, format!("its keys are {keys:?}, and should be {own:?}"));
        }
        match item {
            Item::Customer(customer) => self.customer(customer),
            Item::EmailClaim(claim) => self.held(claim.key(), claim.customer_id),
            Item::UsernameClaim(claim) => self.held(claim.key(), claim.customer_id),
            Item::CustomerStats(stats) => self.add_counted(&stats.into()),
            Item::ProductStats(stats) => self.add_counted(&stats.into()),
            Item::DayTotals(totals) => self.add_counted(&totals.into()),
            // What is parked is counted, and added to the counters later.
            Item::ParkedCounts(parked) => self.add_counted(&Counts::from(&parked)),
            Item::CategoryCount(count) => *self.categories.entry(count.category).or_default() += count.products,
            Item::Product(product) => self.product(product),
            Item::ProductDescription(long) => self.description(&long.product_id, 1, TextHash::of(&long.text)),
            Item::Stock(stock) => {
                if !stock.cells.is_one() {
                    let cells = self.cells.entry(stock.product_id.clone()).or_default();
                    (cells.declared, cells.price_version) = (Some(stock.cells.get()), stock.price_version);
                    cells.transferred += i128::from(stock.transferred);
                }
                self.hold(format!("product {}", stock.product_id), stock.held_by_guests);
                self.products.entry(stock.product_id).or_default()[1] = Some(stock.price);
            }
            Item::StockCell(cell) => {
                let cells = self.cells.entry(cell.product_id).or_default();
                cells.others.insert(cell.cell, (cell.price, cell.price_version));
                cells.transferred += i128::from(cell.transferred);
            }
            Item::Discount(discount) => {
                self.hold(format!("discount {}", discount.code), discount.held_by_guests);
                *self.uses.entry(discount.code).or_default() += i64::from(discount.uses);
            }
            Item::GiftCard(card) => {
                *self.cards.entry(card.code).or_default() += card.initial.amount() - card.balance.amount();
            }
            Item::GiftCardEntry(entry) => self.entry(entry),
            Item::Order(order) => self.part(order.order_id.clone(), |parts| parts.order = Some(order)),
            Item::OrderItem(item) => self.part(item.order_id.clone(), |parts| parts.lines.push(item)),
            Item::Invoice(invoice) => self.part(invoice.order_id.clone(), |parts| parts.invoice = Some(invoice)),
            Item::InvoiceCounter(counter) => self.numbers.add_counter(counter),
            Item::OrderAddress(address) => self.part(address.order_id.clone(), |parts| parts.address = Some(address)),
            Item::PaymentDue(due) => self.part(due.order_id, |parts| parts.marked = Some(due.work)),
            Item::Return(one) => self.part(one.order_id.clone(), |parts| parts.returns.push(one)),
            Item::Shipment(one) => self.part(one.order_id.clone(), |parts| parts.shipments.push(one)),
            Item::OrderFlag(flag) => self.part(flag.order_id, |parts| parts.is_flagged = true),
            Item::Guest(guest) => self.guest(guest),
            // Nothing else of the shop depends on them.
            Item::Cart(_)
            | Item::CustomerAddresses(_)
            | Item::ShippingRates(_)
            | Item::Taxes(_)
            | Item::QueuedOrder(_)
            | Item::ViewShard(_)
            | Item::ViewMark(_)
            | Item::FoldLease(_)
            | Item::StreamCheckpoint(_)
            | Item::Reconciliation(_)
            | Item::IdempotencyRecord(_)
            | Item::Migration(_)
            | Item::Repair(_)
            | Item::CopyProgress(_) => {}
        }
    }

    fn add_counted(&mut self, counts: &Counts) {
        for aggregate in counts.aggregates() {
            self.counted.entry(aggregate.clone()).or_default().add(&counts.only(aggregate));
        }
    }

    pub(super) fn breach(&mut self, of: String, what: String) {
        self.report.breaches.push(Breach { of, what });
    }

    fn product(&mut self, product: Product) {
        if let Some(category) = product.counted_in() {
            *self.categories.entry(category.clone()).or_default() -= 1;
        }
        if let Some(hash) = product.whole_description {
            self.description(&product.product_id, 0, hash);
        }
        self.products.entry(product.product_id).or_default()[0] = Some(product.price);
    }

    fn description(&mut self, product: &ProductId, of: usize, hash: TextHash) {
        let hashes = self.descriptions.entry(product.clone()).or_default();
        hashes[of] = Some(hash);
        if hashes[0] == hashes[1] {
            self.descriptions.remove(product);
        }
    }

    fn customer(&mut self, customer: Customer) {
        if customer.is_erased() {
            if !customer.is_tombstone() {
                self.breach(
                    format!("customer {}", customer.customer_id),
                    "is erased, and its profile still has texts".into(),
                );
            }
            return;
        }
        let Customer { customer_id: id, email, username, guests, .. } = customer;
        for guest in guests {
            self.guests.entry((guest, id.clone())).or_default()[1] = true;
        }
        let email = EmailClaim { email, customer_id: id.clone() };
        self.claim(email.key().partition)[1] = Some(id.clone());
        let username = UsernameClaim { username, customer_id: id.clone() };
        self.claim(username.key().partition)[1] = Some(id);
    }

    fn guest(&mut self, guest: Guest) {
        if let Some(customer) = guest.claimed_by {
            self.guests.entry((guest.customer_id, customer)).or_default()[0] = true;
        }
    }

    fn held(&mut self, claim: Key, by: CustomerId) {
        self.claim(claim.partition)[0] = Some(by);
    }

    /// The two sides of a claim: its holder, and the customer whose profile names it.
    fn claim(&mut self, key: String) -> &mut [Option<CustomerId>; 2] {
        self.claims.entry(key).or_default()
    }

    fn entry(&mut self, entry: GiftCardEntry) {
        let captured = entry.taken();
        *self.cards.entry(entry.code.clone()).or_default() -= captured;
        self.take((entry.order_id, entry.code), Taken { times: -1, captured: -captured });
    }

    fn take(&mut self, key: (OrderId, GiftCardCode), more: Taken) {
        let before = self.taken.remove(&key).unwrap_or_default();
        let taken = Taken { times: before.times + more.times, captured: before.captured + more.captured };
        if taken != Taken::default() {
            self.taken.insert(key, taken);
        }
    }

    /// Adds a part to an order, and checks the order once it is complete.
    fn part(&mut self, id: OrderId, add: impl FnOnce(&mut Parts)) {
        let mut parts = self.orders.remove(&id).unwrap_or_default();
        add(&mut parts);
        match parts {
            Parts {
                order: Some(order), lines, invoice: Some(invoice), address, returns, shipments, marked, ..
            } if lines.len() == usize::from(order.line_count)
                && order.has_address == address.is_some()
                && returns.len() == order.return_statuses.len()
                && shipments.len() == order.shipment_statuses.len() =>
            {
                let mut positions: Vec<_> = lines.iter().map(|line| line.position).collect();
                positions.sort();
                if positions.into_iter().ne((0..lines.len()).map(LinePosition::from)) {
                    self.breach(format!("order {}", order.order_id), "two lines have the same position".to_owned());
                }
                let lines = OrderItem::lines(lines);
                let mut whole = WholeOrder { order, lines, invoice, address, flag: None, returns, shipments };
                whole.sort();
                if marked != whole.work() {
                    let id = format!("order {}", whole.order.order_id);
                    self.breach(id, format!("the mark of its payment is wrong: {marked:?}"));
                }
                self.numbers.add_invoice(&whole.invoice, whole.order.imported_at.is_some());
                self.order(&whole);
            }
            parts => _ = self.orders.insert(id, parts),
        }
    }

    fn order(&mut self, whole: &WholeOrder) {
        self.report.orders += 1;
        for what in order::faults(whole) {
            self.breach(format!("order {}", whole.order.order_id), what);
        }
        self.tally(&whole.order, &whole.lines, &whole.invoice.payments);
    }

    /// Adds the order to the sums that span partitions.
    pub(super) fn tally(&mut self, order: &Order, lines: &[OrderLine], payments: &[Payment]) {
        for payment in payments {
            if let Payment::GiftCard { code, .. } = payment {
                let Balance { received, returned, .. } = payment.balance();
                let captured = received.amount() - returned.amount();
                self.take((order.order_id.clone(), code.clone()), Taken { times: 1, captured });
            }
        }
        for code in order.counted_codes().filter(|_| order.status != OrderStatus::Cancelled) {
            *self.uses.entry(code.clone()).or_default() -= 1;
        }
        for line in lines {
            self.hold(format!("product {}", line.product_id), -i64::from(order.held_units(line)));
        }
        for code in order.counted_codes().filter(|_| order.is_held_by_guest()) {
            self.hold(format!("discount {code}"), -1);
        }
        self.count(Aggregate::Customer(order.customer_id.clone()), order, &[]);
        self.count(Aggregate::Day(self.zone.day(order.placed_at)), order, lines);
        for line in lines {
            self.count(Aggregate::Product(line.product_id.clone()), order, std::slice::from_ref(line));
        }
    }

    fn hold(&mut self, of: String, more: i64) {
        *self.held.entry(of).or_default() += more;
    }

    fn count(&mut self, aggregate: Aggregate, order: &Order, lines: &[OrderLine]) {
        let horizon = self.horizon;
        let bounds = self.bounds.entry(aggregate).or_insert_with_key(|key| Bounds::new(key.clone(), horizon));
        bounds.add(order, lines, &self.zone);
    }
}

/// The item's primary key, as text.
fn place(item: &table::Item) -> String {
    let (partition, sort) = Index::Table.attributes();
    let part = |name| item.get(name).and_then(|value| value.as_s().ok()).map_or("?", String::as_str);
    format!("{} {}", part(partition), part(sort))
}

/// The item's keys in the table and in each index, by the name of the partition key's attribute.
fn keys(item: &table::Item) -> BTreeMap<&'static str, [Option<String>; 2]> {
    let all = [Index::Table, Index::Gsi1, Index::Gsi2].map(Index::attributes);
    let text = |name| item.get(name).and_then(|value| value.as_s().ok()).cloned();
    let keys = all.map(|(partition, sort)| (partition, [text(partition), text(sort)]));
    keys.into_iter().filter(|(_, parts)| parts.iter().any(Option::is_some)).collect()
}
