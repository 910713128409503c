//! Amounts to add to counters.

use std::collections::{BTreeMap, BTreeSet};

use key_schema::entity::{
    Credit, CustomerStats, DayTotals, Order, OrderLine, OrderStatus, ParkedCounts, ProductStats, Sums,
};
use key_schema::value::{Currency, CustomerId, Day, ProductId};
use serde::{Deserialize, Serialize};

use crate::Aggregate;
use crate::change::Before;

/// Amounts to add to counters, merged by item. An item to which nothing is added is left out.
///
/// Amounts are at most 2^53 and a batch has at most 1,000 records, so no sum of a batch exceeds an `i64`. A sum with
/// the stored counters may exceed it, and then saturates.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Stored", into = "Stored")]
pub struct Counts(BTreeMap<Aggregate, Sums<Counter>>);

/// One of the counters of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Counter {
    Orders,
    Units,
    /// The units of a customer's orders that wait for payment.
    OpenUnits,
    /// What a customer spent, or the revenue of a product or a day.
    Money(Currency),
    Status(OrderStatus),
}

impl Counts {
    /// The counts of an order without its lines and its credits, multiplied by `times`. `day` is the one on which it was
    /// placed, here and below.
    pub(crate) fn of_order(order: &Order, day: Day, times: i64) -> Self {
        let amounts =
            [(Counter::Orders, times), (Counter::Money(order.total.currency()), times * order.total.amount())];
        Self::new([
            (Aggregate::Customer(order.customer_id.clone()), amounts.into_iter().collect()),
            (Aggregate::Day(day), amounts.into_iter().collect()),
        ])
    }

    /// The count of an order in a status, and of its units if they are open in this status, multiplied by `times`.
    pub(crate) fn of_status(order: &Order, status: OrderStatus, day: Day, times: i64) -> Self {
        let open_units = if status.is_open() { times * i64::from(order.units) } else { 0 };
        let of_day = [(Counter::Status(status), times)].into_iter().collect();
        let of_customer = [(Counter::OpenUnits, open_units)].into_iter().collect();
        let customer = Aggregate::Customer(order.customer_id.clone());
        Self::new([(Aggregate::Day(day), of_day), (customer, of_customer)])
    }

    /// The counts of a line of an order, multiplied by `times`.
    pub(crate) fn of_line(line: &OrderLine, day: Day, times: i64) -> Self {
        let units = (Counter::Units, times * i64::from(line.quantity.get()));
        let revenue = (Counter::Money(line.amount.currency()), times * line.amount.amount());
        let of_product = [(Counter::Orders, times), units, revenue];
        Self::new([
            (Aggregate::Product(line.product_id.clone()), of_product.into_iter().collect()),
            (Aggregate::Day(day), [units].into_iter().collect()),
        ])
    }

    /// The counts of what was credited of an order until then, multiplied by `times`.
    ///
    /// Each counter is less by its own measure of the units: a product by their price, as the line counted it, and a
    /// customer and a day by the amount credited, which is the price less the share of the discount, as the order's total
    /// counted it. The order itself and its lines still count as orders.
    pub(crate) fn of_credits(order: &Order, before: &Before, day: Day, times: i64) -> Self {
        let Before { status, credits, allowed } = before;
        let money = Counter::Money(order.total.currency());
        let customer = Aggregate::Customer(order.customer_id.clone());
        let of_allowances: Sums<Counter> = [(money, times * allowed)].into_iter().collect();
        let mut counts = Self::new([(customer, of_allowances.clone()), (Aggregate::Day(day), of_allowances)]);
        for Credit { product_id, units, gross, amount } in credits {
            let open = (Counter::OpenUnits, if status.is_open() { times * i64::from(*units) } else { 0 });
            let units = (Counter::Units, times * i64::from(*units));
            let [gross, amount] = [gross, amount].map(|amount| (money, times * amount));
            counts.add(&Self::new([
                (Aggregate::Product(product_id.clone()), [units, gross].into_iter().collect()),
                (Aggregate::Day(day), [units, amount].into_iter().collect()),
                (Aggregate::Customer(order.customer_id.clone()), [amount, open].into_iter().collect()),
            ]));
        }
        counts
    }

    fn new(amounts: impl IntoIterator<Item = (Aggregate, Sums<Counter>)>) -> Self {
        Self(amounts.into_iter().filter(|(_, amounts)| !amounts.is_zero()).collect())
    }

    /// Adds other counts. Items whose amounts become zero are left out.
    pub fn add(&mut self, other: &Self) {
        for (aggregate, amounts) in &other.0 {
            match self.0.get_mut(aggregate) {
                Some(counters) => {
                    counters.add_all(amounts);
                    if counters.is_zero() {
                        self.0.remove(aggregate);
                    }
                }
                None => _ = self.0.insert(aggregate.clone(), amounts.clone()),
            }
        }
    }

    /// The counts of one item only.
    #[must_use]
    pub fn only(&self, aggregate: &Aggregate) -> Self {
        Self(self.0.get_key_value(aggregate).map(|(id, amounts)| (id.clone(), amounts.clone())).into_iter().collect())
    }

    /// The same counts, divided among the groups of their items. A group without counts is left out.
    #[must_use]
    pub fn by_group(self) -> BTreeMap<u8, Self> {
        let mut groups: BTreeMap<u8, Self> = BTreeMap::new();
        for (aggregate, amounts) in self.0 {
            groups.entry(aggregate.group()).or_default().0.insert(aggregate, amounts);
        }
        groups
    }

    /// The same counts, in parts of at most so many items.
    pub(crate) fn in_parts(self, most: usize) -> Vec<Self> {
        let (mut left, mut parts) = (self.0.into_iter().peekable(), Vec::new());
        while left.peek().is_some() {
            parts.push(Self(left.by_ref().take(most).collect()));
        }
        parts
    }

    /// The amounts to add so that each counter lies between `least` and `most`.
    #[must_use]
    pub fn deficit(&self, least: &Self, most: &Self) -> Self {
        let zero = Sums::default();
        let aggregates: BTreeSet<_> = [self, least, most].into_iter().flat_map(Self::aggregates).collect();
        Self::new(aggregates.into_iter().map(|aggregate| {
            let [counters, least, most] = [self, least, most].map(|counts| counts.0.get(aggregate).unwrap_or(&zero));
            (aggregate.clone(), counters.deficit(least, most))
        }))
    }

    /// The items to which something is added.
    pub fn aggregates(&self) -> impl Iterator<Item = &Aggregate> {
        self.0.keys()
    }

    /// The amounts to add to a customer's stats.
    pub fn customer(&self, id: &CustomerId) -> CustomerStats {
        let amounts = self.amounts(&Aggregate::Customer(id.clone()));
        let [orders, open_units] = [Counter::Orders, Counter::OpenUnits].map(|counter| amounts.of(counter));
        CustomerStats { customer_id: id.clone(), orders, open_units, spent: money(&amounts) }
    }

    /// The amounts to add to a product's stats.
    pub fn product(&self, id: &ProductId) -> ProductStats {
        let amounts = self.amounts(&Aggregate::Product(id.clone()));
        let [orders, units] = [Counter::Orders, Counter::Units].map(|counter| amounts.of(counter));
        ProductStats { product_id: id.clone(), orders, units, revenue: money(&amounts) }
    }

    /// The amounts to add to a day's totals.
    pub fn day(&self, date: Day) -> DayTotals {
        let amounts = self.amounts(&Aggregate::Day(date));
        let [orders, units] = [Counter::Orders, Counter::Units].map(|counter| amounts.of(counter));
        let status = |(counter, orders)| match counter {
            Counter::Status(status) => Some((status, orders)),
            _ => None,
        };
        DayTotals {
            date,
            orders,
            units,
            revenue: money(&amounts),
            statuses: amounts.iter().filter_map(status).collect(),
        }
    }

    /// The number of items to which something is added.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether nothing is added to any item.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The items to which only `other` adds something.
    pub(crate) fn lacking<'a>(&self, other: &'a Self) -> impl Iterator<Item = &'a Aggregate> {
        other.aggregates().filter(|aggregate| !self.0.contains_key(*aggregate))
    }

    /// The amounts to add to each item.
    pub(crate) fn into_entities(self) -> (Vec<CustomerStats>, Vec<ProductStats>, Vec<DayTotals>) {
        let (mut customers, mut products, mut days) = (Vec::new(), Vec::new(), Vec::new());
        for aggregate in self.aggregates() {
            match aggregate {
                Aggregate::Customer(id) => customers.push(self.customer(id)),
                Aggregate::Product(id) => products.push(self.product(id)),
                Aggregate::Day(day) => days.push(self.day(*day)),
            }
        }
        (customers, products, days)
    }

    fn amounts(&self, aggregate: &Aggregate) -> Sums<Counter> {
        self.0.get(aggregate).cloned().unwrap_or_default()
    }
}

fn money(amounts: &Sums<Counter>) -> Sums<Currency> {
    let money = |(counter, amount)| match counter {
        Counter::Money(currency) => Some((currency, amount)),
        _ => None,
    };
    amounts.iter().filter_map(money).collect()
}

fn amounts_of(numbers: &[(Counter, i64)], money: &Sums<Currency>) -> Sums<Counter> {
    let money = money.iter().map(|(currency, amount)| (Counter::Money(currency), amount));
    numbers.iter().copied().chain(money).collect()
}

impl From<CustomerStats> for Counts {
    fn from(CustomerStats { customer_id, orders, open_units, spent }: CustomerStats) -> Self {
        let amounts = amounts_of(&[(Counter::Orders, orders), (Counter::OpenUnits, open_units)], &spent);
        Self::new([(Aggregate::Customer(customer_id), amounts)])
    }
}

impl From<ProductStats> for Counts {
    fn from(ProductStats { product_id, orders, units, revenue }: ProductStats) -> Self {
        let amounts = amounts_of(&[(Counter::Orders, orders), (Counter::Units, units)], &revenue);
        Self::new([(Aggregate::Product(product_id), amounts)])
    }
}

impl From<DayTotals> for Counts {
    fn from(DayTotals { date, orders, units, revenue, statuses }: DayTotals) -> Self {
        let mut amounts = amounts_of(&[(Counter::Orders, orders), (Counter::Units, units)], &revenue);
        statuses.iter().for_each(|(status, orders)| amounts.add(Counter::Status(status), orders));
        Self::new([(Aggregate::Day(date), amounts)])
    }
}

impl From<&ParkedCounts> for Counts {
    fn from(parked: &ParkedCounts) -> Self {
        let mut counts = Self::default();
        parked.customers.iter().for_each(|stats| counts.add(&stats.clone().into()));
        parked.products.iter().for_each(|stats| counts.add(&stats.clone().into()));
        parked.days.iter().for_each(|totals| counts.add(&totals.clone().into()));
        counts
    }
}

/// The JSON of counts, which reports and unfinished reconciliations have: by kind of item.
#[derive(Default, Serialize, Deserialize)]
struct Stored {
    customers: BTreeMap<CustomerId, CustomerStats>,
    products: BTreeMap<ProductId, ProductStats>,
    days: BTreeMap<Day, DayTotals>,
}

impl From<Counts> for Stored {
    fn from(counts: Counts) -> Self {
        let (customers, products, days) = counts.into_entities();
        Self {
            customers: customers.into_iter().map(|stats| (stats.customer_id.clone(), stats)).collect(),
            products: products.into_iter().map(|stats| (stats.product_id.clone(), stats)).collect(),
            days: days.into_iter().map(|totals| (totals.date, totals)).collect(),
        }
    }
}

impl From<Stored> for Counts {
    fn from(stored: Stored) -> Self {
        let mut counts = Self::default();
        stored.customers.into_values().for_each(|stats| counts.add(&stats.into()));
        stored.products.into_values().for_each(|stats| counts.add(&stats.into()));
        stored.days.into_values().for_each(|totals| counts.add(&totals.into()));
        counts
    }
}
