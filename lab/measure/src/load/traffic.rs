//! The requests of shoppers. Pure: the seed and the answers determine the next request.

use std::collections::VecDeque;
use std::sync::Arc;

use anyhow::Result;
use clap::ValueEnum;
use fastrand::Rng;

use crate::popularity::Popularity;

/// The number of orders that a shopper remembers.
const MEMORY: usize = 100;

/// The most lines of an order, and the most units of a line.
const MAX_LINES: u32 = 3;
const MAX_QUANTITY: u32 = 3;

/// The number of products in one category.
pub(crate) const CATEGORY_SIZE: usize = 20;

/// Kinds of requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Kind {
    ReadProduct,
    ListProducts,
    ViewProduct,
    PutCart,
    PlaceOrder,
    RepeatOrder,
    ReadOrder,
    ListOrders,
    ReadOverview,
    CancelOrder,
}

impl Kind {
    /// For people.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::ReadProduct => "read a product",
            Self::ListProducts => "list a category",
            Self::ViewProduct => "count a view",
            Self::PutCart => "put a cart",
            Self::PlaceOrder => "place an order",
            Self::RepeatOrder => "send an order again",
            Self::ReadOrder => "read an order",
            Self::ListOrders => "list own orders",
            Self::ReadOverview => "read the overview",
            Self::CancelOrder => "cancel an order",
        }
    }
}

/// The mix of requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Mix {
    /// Products, categories and views: no customers, and hardly any writes
    Browse,
    /// Placing and reading orders
    Order,
    /// A day in the shop: 13 orders in 100 requests, some of which are repeated, read, listed and cancelled
    All,
}

impl Mix {
    /// Weights, out of 100 requests.
    fn shares(self) -> &'static [(Kind, u32)] {
        match self {
            Self::Browse => &[(Kind::ReadProduct, 70), (Kind::ListProducts, 15), (Kind::ViewProduct, 15)],
            Self::Order => &[(Kind::PlaceOrder, 70), (Kind::ReadOrder, 15), (Kind::ListOrders, 15)],
            Self::All => &[
                (Kind::ReadProduct, 40),
                (Kind::ListProducts, 10),
                (Kind::ViewProduct, 10),
                (Kind::PutCart, 8),
                (Kind::PlaceOrder, 13),
                (Kind::RepeatOrder, 2),
                (Kind::ReadOrder, 7),
                (Kind::ListOrders, 5),
                (Kind::ReadOverview, 4),
                (Kind::CancelOrder, 1),
            ],
        }
    }

    fn draw(self, random: &mut Rng) -> Kind {
        let mut at: u32 = random.u32(0..100);
        for (kind, share) in self.shares() {
            match at.checked_sub(*share) {
                Some(rest) => at = rest,
                None => return *kind,
            }
        }
        Kind::ReadProduct
    }
}

/// Products and customers by rank: the first is the most popular.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Crowd {
    pub(crate) products: usize,
    pub(crate) customers: usize,
    /// The exponent of Zipf's law, by which both are chosen.
    pub(crate) skew: f64,
}

/// The distributions by which shoppers choose.
pub(crate) struct Tastes {
    products: Popularity,
    customers: Popularity,
    categories: Popularity,
}

impl Tastes {
    /// # Errors
    /// There are no customers or no products, or the skew is not valid.
    pub(crate) fn of(crowd: Crowd) -> Result<Self> {
        let Crowd { products, customers, skew } = crowd;
        Ok(Self {
            products: Popularity::new(products, skew)?,
            customers: Popularity::new(customers, skew)?,
            categories: Popularity::new(products.div_ceil(CATEGORY_SIZE), skew)?,
        })
    }
}

/// Units of the product with this rank.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Line {
    pub(crate) product: usize,
    pub(crate) quantity: u32,
}

/// An order, before it is placed and after.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Order {
    pub(crate) customer: usize,
    /// Unique among the orders of this run.
    pub(crate) key: String,
    pub(crate) lines: Vec<Line>,
}

/// An order that the shop has accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Placed {
    pub(crate) id: String,
    pub(crate) order: Arc<Order>,
}

/// One request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Ask {
    ReadProduct(usize),
    ListProducts { category: usize },
    ViewProduct(usize),
    PutCart { customer: usize, line: Line },
    PlaceOrder(Arc<Order>),
    RepeatOrder(Placed),
    ReadOrder(Placed),
    ListOrders { customer: usize },
    ReadOverview { customer: usize },
    CancelOrder(Placed),
}

impl Ask {
    pub(crate) fn kind(&self) -> Kind {
        match self {
            Self::ReadProduct(_) => Kind::ReadProduct,
            Self::ListProducts { .. } => Kind::ListProducts,
            Self::ViewProduct(_) => Kind::ViewProduct,
            Self::PutCart { .. } => Kind::PutCart,
            Self::PlaceOrder(_) => Kind::PlaceOrder,
            Self::RepeatOrder(_) => Kind::RepeatOrder,
            Self::ReadOrder(_) => Kind::ReadOrder,
            Self::ListOrders { .. } => Kind::ListOrders,
            Self::ReadOverview { .. } => Kind::ReadOverview,
            Self::CancelOrder(_) => Kind::CancelOrder,
        }
    }
}

/// A shopper, who sends one request after the other.
pub(crate) struct Shopper {
    number: u64,
    random: Rng,
    mix: Mix,
    tastes: Arc<Tastes>,
    ordered: u64,
    placed: VecDeque<Placed>,
}

impl Shopper {
    /// The shopper with this number, with its own random numbers.
    pub(crate) fn new(number: u64, seed: u64, mix: Mix, tastes: Arc<Tastes>) -> Self {
        Self { number, random: Rng::with_seed(seed), mix, tastes, ordered: 0, placed: VecDeque::new() }
    }

    /// The next request. A shopper without an order to read places one.
    pub(crate) fn next(&mut self) -> Ask {
        match self.mix.draw(&mut self.random) {
            Kind::ReadProduct => Ask::ReadProduct(self.product()),
            Kind::ListProducts => Ask::ListProducts { category: self.tastes.categories.rank(self.random.f64()) },
            Kind::ViewProduct => Ask::ViewProduct(self.product()),
            Kind::PutCart => Ask::PutCart { customer: self.customer(), line: self.line() },
            Kind::PlaceOrder => self.order(),
            Kind::RepeatOrder => self.remembered().map_or_else(|| self.order(), Ask::RepeatOrder),
            Kind::ReadOrder => self.remembered().map_or_else(|| self.order(), Ask::ReadOrder),
            Kind::ListOrders => Ask::ListOrders { customer: self.customer() },
            Kind::ReadOverview => Ask::ReadOverview { customer: self.customer() },
            // An order is cancelled only once.
            Kind::CancelOrder => self.placed.pop_front().map_or_else(|| self.order(), Ask::CancelOrder),
        }
    }

    /// Remembers an order that the shop has accepted.
    pub(crate) fn remember(&mut self, placed: Placed) {
        self.placed.truncate(MEMORY - 1);
        self.placed.push_front(placed);
    }

    fn order(&mut self) -> Ask {
        let customer = self.customer();
        let mut lines: Vec<Line> = Vec::new();
        for _ in 0..self.random.u32(1..=MAX_LINES) {
            let line = self.line();
            // Each product may be in one line only.
            if lines.iter().all(|other| other.product != line.product) {
                lines.push(line);
            }
        }
        self.ordered += 1;
        Ask::PlaceOrder(Arc::new(Order { customer, key: format!("{}-{}", self.number, self.ordered), lines }))
    }

    fn product(&mut self) -> usize {
        self.tastes.products.rank(self.random.f64())
    }

    fn customer(&mut self) -> usize {
        self.tastes.customers.rank(self.random.f64())
    }

    fn line(&mut self) -> Line {
        let product = self.product();
        Line { product, quantity: self.random.u32(1..=MAX_QUANTITY) }
    }

    fn remembered(&mut self) -> Option<Placed> {
        let at = self.random.usize(0..self.placed.len().max(1));
        self.placed.get(at).cloned()
    }
}

#[cfg(test)]
#[path = "traffic_tests.rs"]
mod tests;
