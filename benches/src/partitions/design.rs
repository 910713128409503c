//! The key designs that are compared.

use key_schema::entity::{CustomerStats, DayTotals, Discount, ProductStats, Stock, StockCell, ViewShard};
use key_schema::layout::{
    AccessPattern as _, OrdersOfCustomer, OrdersOfProduct, OrdersOfStatus, PlaceText, Stored as _,
};

use super::limits::{READ_UNITS, WRITE_UNITS};
use super::traffic::{Sample, Traffic};
use super::units::{eventual, plain, transactional};

/// How keys are made, where there is a choice.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Keys {
    /// Over how many partitions the orders of a status are spread.
    pub(super) status_shards: u8,
    /// Whether something random stands at the end of the sort key by which orders of a status are sorted.
    pub(super) has_suffix: bool,
    /// Over how many partitions the lines of a product are.
    pub(super) product_shards: u8,
    /// In how many parts the views of a product are counted.
    pub(super) view_shards: u8,
    /// In how many cells a product's stock lies.
    pub(super) cells: u8,
    /// Who counts.
    pub(super) counters: Counters,
}

/// Who adds an order to the counters of its day, its product and its customer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Counters {
    /// The transaction that places it.
    Order,
    /// The consumer of the stream, many orders at a time.
    Stream,
}

/// As Till is deployed by default, which a test holds against the template.
pub(super) const TILL: Keys = Keys {
    status_shards: 8,
    has_suffix: false,
    product_shards: 1,
    view_shards: 16,
    cells: 1,
    counters: Counters::Stream,
};

/// Which keys are watched: their places, as the key schema declares them.
pub(super) type Watched = &'static [PlaceText];

/// A key, in one design.
pub(super) struct Design {
    /// What it is, in words.
    pub(super) what: &'static str,
    /// How it is made.
    pub(super) how: &'static str,
    pub(super) keys: Keys,
    pub(super) watched: Watched,
    /// Whose popularity makes it hot.
    pub(super) subject: Subject,
    /// Over how many keys the subject's heat is spread.
    pub(super) spread: u8,
    /// Write units that one order of the subject takes of all those keys together.
    pub(super) written: Units,
    /// Read units that it takes of the first of them.
    pub(super) read: f64,
    /// Whether transactions change the items themselves, so that conflicts bound them, too.
    pub(super) is_updated: bool,
}

impl Design {
    /// How many orders a second the whole shop can have, until the keys of its most popular subject are asked for more
    /// than their partitions give.
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

    /// How many orders a second the whole shop can have, if a transaction holds each item for so many milliseconds.
    /// None: they change no item that is there.
    pub(super) fn serialises(&self, window: f64, traffic: &Traffic, sample: &Sample) -> Option<f64> {
        let share = self.subject.share(traffic);
        let orders = match self.written {
            Units::Counted => Self::orders_between(share, sample),
            _ => f64::from(self.spread) / share,
        };
        self.is_updated.then_some(orders * 1_000.0 / window)
    }

    /// How many orders of the shop come for each transaction of the stream's consumer that holds this counter: it does
    /// if any of the orders that it counts is the subject's.
    fn orders_between(share: f64, sample: &Sample) -> f64 {
        let together = sample.counted_together;
        together / (1.0 - (1.0 - share).powf(together))
    }
}

/// How many write units an order takes.
#[derive(Clone, Copy)]
pub(super) enum Units {
    Each(f64),
    /// A counter's transaction, for all orders that are counted in it.
    Counted,
    /// A unit for each view.
    Views,
}

/// What is popular.
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
