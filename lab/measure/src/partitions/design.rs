//! The key designs that are compared.

use key_schema::entity::{CustomerStats, DayTotals, Discount, ProductStats, Stock, StockCell, ViewShard};
use key_schema::layout::{
    AccessPattern as _, OrdersOfCustomer, OrdersOfProduct, OrdersOfStatus, PlaceText, Stored as _,
};

use super::limits::{READ_UNITS, WRITE_UNITS};
use super::traffic::{Sample, Traffic};
use super::units::{eventual, plain, transactional};

/// The choices of a key design.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Keys {
    /// The number of partitions for the orders of a status.
    pub(super) status_shards: u8,
    /// Whether the sort key of the orders of a status has a random suffix.
    pub(super) has_suffix: bool,
    /// The number of partitions for the lines of a product.
    pub(super) product_shards: u8,
    /// The number of shards for the views of a product.
    pub(super) view_shards: u8,
    /// The number of cells of a product's stock.
    pub(super) cells: u8,
    /// The writer of the counters.
    pub(super) counters: Counters,
}

/// The writer of the counters of an order's day, product and customer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Counters {
    /// The transaction that places it.
    Order,
    /// The consumer of the stream, many orders at a time.
    Stream,
}

/// Till's default parameters. A test compares them with the template.
pub(super) const TILL: Keys = Keys {
    status_shards: 8,
    has_suffix: false,
    product_shards: 1,
    view_shards: 16,
    cells: 1,
    counters: Counters::Stream,
};

/// The watched keys: their places in the key schema.
pub(super) type Watched = &'static [PlaceText];

/// A key, in one design.
pub(super) struct Design {
    /// The description of the key.
    pub(super) what: &'static str,
    /// The description of the design.
    pub(super) how: &'static str,
    pub(super) keys: Keys,
    pub(super) watched: Watched,
    /// The subject whose popularity makes the key hot.
    pub(super) subject: Subject,
    /// The number of keys that share the subject's heat.
    pub(super) spread: u8,
    /// Write units of one order of the subject, for all these keys together.
    pub(super) written: Units,
    /// Read units of one order for the first of these keys.
    pub(super) read: f64,
    /// Whether transactions update existing items, so that conflicts are a limit, too.
    pub(super) is_updated: bool,
}

impl Design {
    /// The limit by units: the orders a second of the whole shop at which the keys of its most popular subject reach
    /// the limits of their partitions.
    pub(super) fn takes(&self, traffic: &Traffic, sample: &Sample) -> f64 {
        let share = self.subject.share(traffic);
        let spread = f64::from(self.spread);
        let written = match self.written {
            Units::Each(units) => WRITE_UNITS * spread / (units * share),
            Units::Views => WRITE_UNITS * spread / (f64::from(traffic.views) * plain() * share),
            Units::Counted => WRITE_UNITS / transactional() * Self::orders_between(share, sample),
        };
        if self.read > 0.0 { written.min(READ_UNITS / (self.read * share)) } else { written }
    }

    /// The limit by conflicts, if a transaction holds each item for this many milliseconds. `None`: the transactions
    /// update no existing item.
    pub(super) fn serialises(&self, window: f64, traffic: &Traffic, sample: &Sample) -> Option<f64> {
        let share = self.subject.share(traffic);
        let orders = match self.written {
            Units::Counted => Self::orders_between(share, sample),
            _ => f64::from(self.spread) / share,
        };
        self.is_updated.then_some(orders * 1_000.0 / window)
    }

    /// The number of the shop's orders for each transaction of the stream's consumer that writes this counter: it does
    /// if any of its orders is the subject's.
    fn orders_between(share: f64, sample: &Sample) -> f64 {
        let together = sample.counted_together;
        together / (1.0 - (1.0 - share).powf(together))
    }
}

/// The write units of an order.
#[derive(Clone, Copy)]
pub(super) enum Units {
    Each(f64),
    /// A counter's transaction, for all orders that are counted in it.
    Counted,
    /// A unit for each view.
    Views,
}

/// A popular subject.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Subject {
    Shop,
    Product,
    Customer,
    Discount,
}

impl Subject {
    /// The share of all orders that the most popular one has.
    pub(super) fn share(self, traffic: &Traffic) -> f64 {
        match self {
            Self::Shop => 1.0,
            Self::Product => traffic.products.share(0),
            Self::Customer => traffic.customers.share(0),
            Self::Discount => traffic.discounted,
        }
    }
}

const STATUS: Watched = &[OrdersOfStatus::DECLARED.place];
const VIEWS: Watched = ViewShard::PLACES;
const STOCK: Watched = Stock::PLACES;
const CELLS: Watched = &[Stock::PLACES[0], StockCell::PLACES[0]];
const OF_PRODUCT: Watched = &[OrdersOfProduct::DECLARED.place];
const DISCOUNT: Watched = Discount::PLACES;
const DAY: Watched = DayTotals::PLACES;
const PRODUCT_STATS: Watched = ProductStats::PLACES;
const CUSTOMER_STATS: Watched = CustomerStats::PLACES;
const OF_CUSTOMER: Watched = &[OrdersOfCustomer::DECLARED.place];

/// Every key that may be hot, in each design.
pub(super) fn designs() -> Vec<Design> {
    let mut all = Vec::new();
    let listed = |what, how, keys, watched, subject, spread| Design {
        what,
        how,
        keys,
        watched,
        subject,
        spread,
        written: Units::Each(plain()),
        read: 0.0,
        is_updated: false,
    };
    let status = |how, status_shards| {
        let keys = Keys { status_shards, ..TILL };
        listed("orders by status", how, keys, STATUS, Subject::Shop, status_shards)
    };
    all.push(status("one partition for each status", 1));
    let suffix = status("the same, and a random suffix in the sort key", 1);
    all.push(Design { keys: Keys { has_suffix: true, ..suffix.keys }, ..suffix });
    all.push(status("8 shards in the partition key (default)", 8));
    all.push(status("64 shards", 64));

    let views = |how, view_shards| Design {
        what: "views of a product",
        how,
        keys: Keys { view_shards, ..TILL },
        watched: VIEWS,
        subject: Subject::Product,
        spread: view_shards,
        written: Units::Views,
        read: 0.0,
        is_updated: false,
    };
    all.extend([views("one counter", 1), views("16 parts (default)", 16)]);

    let stock = |how, cells| Design {
        what: "stock of a product",
        how,
        keys: Keys { cells, ..TILL },
        watched: if cells == 1 { STOCK } else { CELLS },
        subject: Subject::Product,
        spread: cells,
        written: Units::Each(transactional()),
        read: eventual(),
        is_updated: true,
    };
    all.extend([stock("one item (default)", 1), stock("2 cells", 2), stock("8 cells", 8), stock("32 cells", 32)]);

    let of_product = |how, product_shards| {
        let keys = Keys { product_shards, ..TILL };
        listed("orders of a product", how, keys, OF_PRODUCT, Subject::Product, product_shards)
    };
    all.push(of_product("one partition of GSI1, rising sort keys (default)", 1));
    all.push(of_product("8 shards in the partition key", 8));
    let customer = "one partition of GSI2, rising sort keys";
    let of_customer = listed("orders of a customer", customer, TILL, OF_CUSTOMER, Subject::Customer, 1);

    let fixed = |what, how, watched, subject, written, is_updated| Design {
        what,
        how,
        keys: TILL,
        watched,
        subject,
        spread: 1,
        written,
        read: 0.0,
        is_updated,
    };
    let one_item = "one item";
    let code = fixed("a discount code", one_item, DISCOUNT, Subject::Discount, Units::Each(transactional()), true);
    all.push(Design { read: eventual(), ..code });
    all.push(of_customer);

    let counted = |what, watched, subject| {
        let inside = Design {
            keys: Keys { counters: Counters::Order, ..TILL },
            ..fixed(what, "in the order's transaction", watched, subject, Units::Each(transactional()), true)
        };
        [inside, fixed(what, "from the stream (default)", watched, subject, Units::Counted, true)]
    };
    all.extend(counted("totals of a day", DAY, Subject::Shop));
    all.extend(counted("stats of a product", PRODUCT_STATS, Subject::Product));
    all.extend(counted("stats of a customer", CUSTOMER_STATS, Subject::Customer));
    all
}
