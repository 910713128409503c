//! What shoppers ask for, one thing after the other. Pure: the seed and the answers say what comes next.

use std::collections::VecDeque;
use std::sync::Arc;

use anyhow::Result;
use clap::ValueEnum;
use fastrand::Rng;

use crate::popularity::Popularity;

/// A shopper remembers so many of the orders that they placed.
const MEMORY: usize = 100;

/// At most so many lines has an order, and so many units a line.
const MAX_LINES: u32 = 3;
const MAX_QUANTITY: u32 = 3;

/// So many products are in one category.
pub(super) const CATEGORY_SIZE: usize = 20;

/// Kinds of requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Kind {
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
    pub(super) fn name(self) -> &'static str {
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

/// What is asked for, and how often.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Mix {
    /// Products, categories and views: no customer, and hardly a write
    Browse,
    /// Orders, and looking at them
    Order,
    /// A day in the shop: 13 orders in 100 requests, of which some are sent again, read, listed and cancelled
    All,
}

impl Mix {
    /// Of 100 requests.
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

/// How many there are, by rank: the first is the favourite.
#[derive(Debug, Clone, Copy)]
pub(super) struct Crowd {
    pub(super) products: usize,
    pub(super) customers: usize,
    /// The exponent of Zipf's law, by which both are chosen.
    pub(super) skew: f64,
}

/// What a crowd chooses by.
pub(super) struct Tastes {
    products: Popularity,
    customers: Popularity,
    categories: Popularity,
}

impl Tastes {
    /// # Errors
    /// There is nobody or nothing to buy, or no law has such a skew.
    pub(super) fn of(crowd: Crowd) -> Result<Self> {
        let Crowd { products, customers, skew } = crowd;
        Ok(Self {
            products: Popularity::new(products, skew)?,
            customers: Popularity::new(customers, skew)?,
            categories: Popularity::new(products.div_ceil(CATEGORY_SIZE), skew)?,
        })
    }
}

/// So many units of the product of this rank.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Line {
    pub(super) product: usize,
    pub(super) quantity: u32,
}

/// An order, before it is placed and after.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Order {
    pub(super) customer: usize,
    /// No other order of this run has it.
    pub(super) key: String,
    pub(super) lines: Vec<Line>,
}

/// An order that the shop has taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Placed {
    pub(super) id: String,
    pub(super) order: Arc<Order>,
}

/// One request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Ask {
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
    pub(super) fn kind(&self) -> Kind {
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

/// Somebody who asks for one thing after the other.
pub(super) struct Shopper {
    number: u64,
    random: Rng,
    mix: Mix,
    tastes: Arc<Tastes>,
    ordered: u64,
    placed: VecDeque<Placed>,
}

impl Shopper {
    /// The shopper of this number, with chance of their own.
    pub(super) fn new(number: u64, seed: u64, mix: Mix, tastes: Arc<Tastes>) -> Self {
        Self { number, random: Rng::with_seed(seed), mix, tastes, ordered: 0, placed: VecDeque::new() }
    }

    /// What comes next. Whoever has no order to look at places one.
    pub(super) fn next(&mut self) -> Ask {
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
            // Nobody cancels twice.
            Kind::CancelOrder => self.placed.pop_front().map_or_else(|| self.order(), Ask::CancelOrder),
        }
    }

    /// The shop has taken this order.
    pub(super) fn remember(&mut self, placed: Placed) {
        self.placed.truncate(MEMORY - 1);
        self.placed.push_front(placed);
    }

    fn order(&mut self) -> Ask {
        let customer = self.customer();
        let mut lines: Vec<Line> = Vec::new();
        for _ in 0..self.random.u32(1..=MAX_LINES) {
            let line = self.line();
            // Each product is in one line alone.
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
