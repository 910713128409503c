//! A model of the shop and its table's stream.

use std::collections::BTreeMap;

use key_schema::entity::{Credit, CustomerStats, Order, OrderItem, OrderLine, OrderStatus};
use key_schema::layout::ENTITY_TYPE;
use key_schema::value::{Money, OrderId, SequenceNumber, Zone};
use proptest::collection::vec;
use proptest::prelude::*;
use serde_dynamo::{AttributeValue, Item};
use serde_json::json;

use crate::{Change, Counts, Record, Uncountable};

/// The time of all records. It is within an hour after every order's time of placing, or before it.
const WRITTEN_AT: &str = "2026-11-21T00:00:30.000Z";

/// The time at which orders are restored, long after they were placed.
const RESTORED_AT: &str = "2026-11-25T00:00:00.000Z";

#[derive(Clone, Debug)]
pub(super) enum Act {
    /// Places an order: customer, day, currency, and product, quantity and price of each line.
    Place(u8, u8, bool, Vec<(u8, i64, i64)>),
    /// Imports a delivered order of so many products, a unit of each of which is credited: customer, day, products.
    Import(u8, u8, u8),
    /// Moves an order to its next status.
    Advance(usize),
    /// Cancels an order, if its status allows it.
    Cancel(usize),
    /// Credits another unit of one of an order's lines.
    Credit(usize, usize),
    /// Writes an order's header without changing its status.
    Touch(usize),
    /// Writes items that do not count.
    Other,
    /// Writes a record that cannot be read.
    Poison(usize),
    /// Deletes an order with its lines and restores it later.
    Restore(usize),
}

pub(super) fn any_act() -> impl Strategy<Value = Act> {
    let line = (0..4_u8, 1..4_i64, 0..100_i64);
    prop_oneof![
        4 => (0..3_u8, 0..2_u8, any::<bool>(), vec(line, 1..4))
            .prop_map(|(customer, day, currency, lines)| Act::Place(customer, day, currency, lines)),
        1 => (0..3_u8, 0..2_u8, 1..16_u8)
            .prop_map(|(customer, day, products)| Act::Import(customer, day, products)),
        3 => any::<usize>().prop_map(Act::Advance),
        2 => any::<usize>().prop_map(Act::Cancel),
        3 => (any::<usize>(), any::<usize>()).prop_map(|(order, line)| Act::Credit(order, line)),
        1 => any::<usize>().prop_map(Act::Touch),
        1 => Just(Act::Other),
        1 => any::<usize>().prop_map(Act::Poison),
        1 => any::<usize>().prop_map(Act::Restore),
    ]
}

#[derive(Default)]
pub(super) struct Shard {
    /// The records. One without a change cannot be read.
    records: Vec<(SequenceNumber, Option<Change>)>,
    /// For each record, the sum of all records up to it.
    sums: Vec<Counts>,
}

impl Shard {
    pub(super) fn len(&self) -> usize {
        self.records.len()
    }

    /// These records, as a consumer reads them.
    pub(super) fn records(&self, range: std::ops::Range<usize>) -> Vec<Record> {
        let records = self.records[range].iter().cloned();
        let unreadable = || Uncountable::UnreadableLines;
        records.map(|(number, change)| Record { number, change: change.ok_or_else(unreadable) }).collect()
    }

    pub(super) fn poisons_up_to(&self, mark: &SequenceNumber) -> impl Iterator<Item = &SequenceNumber> {
        let unreadable = self.records.iter().filter(|(_, change)| change.is_none());
        unreadable.map(|(number, _)| number).filter(move |number| *number <= mark)
    }

    /// The last record.
    pub(super) fn last(&self) -> Option<&SequenceNumber> {
        self.records.last().map(|(number, _)| number)
    }

    pub(super) fn index_of(&self, number: &SequenceNumber) -> usize {
        self.records.iter().position(|(known, _)| known == number).expect("a record of this shard")
    }
}

#[derive(Default)]
pub(super) struct Stream {
    pub(super) shards: Vec<Shard>,
    /// The index of the first open shard. All later ones are open too.
    first_open: usize,
    orders: Vec<(Order, Vec<OrderLine>)>,
    written: u128,
}

impl Stream {
    pub(super) fn act(&mut self, act: Act) {
        match act {
            Act::Place(customer, day, currency, lines) => self.place(customer, day, currency, &lines, false),
            Act::Import(customer, day, products) => {
                let lines: Vec<_> = (0..products).map(|product| (product, 2, 50)).collect();
                self.place(customer, day, true, &lines, true);
            }
            Act::Advance(which) => self.change(which, |status| match status {
                OrderStatus::Pending => OrderStatus::Paid,
                OrderStatus::Paid => OrderStatus::Shipped,
                OrderStatus::Shipped => OrderStatus::Delivered,
                end => end,
            }),
            Act::Cancel(which) => self.change(which, |status| {
                if status.may_become(OrderStatus::Cancelled) { OrderStatus::Cancelled } else { status }
            }),
            Act::Credit(which, line) => self.credit(which, line),
            Act::Touch(which) => self.change(which, |status| status),
            Act::Poison(partition) => self.record(partition, None, &Counts::default()),
            Act::Restore(which) => self.restore(which),
            Act::Other => {
                let stats = CustomerStats {
                    customer_id: "ada".parse().unwrap(),
                    orders: 7,
                    open_units: 7,
                    spent: [].into_iter().collect(),
                };
                self.write(0, "MODIFY", item(&stats), item(&stats));
                let product = json!({ "EntityType": "product" });
                self.write(1, "INSERT", Item::default(), serde_dynamo::to_item(product).unwrap());
                self.write(2, "REMOVE", item(&stats), Item::default());
            }
        }
    }

    /// Closes the open shards and opens one to three new ones. The next records of an order may be in any of them.
    pub(super) fn reshard(&mut self) {
        let open = (self.shards.len() - self.first_open).max(1);
        self.first_open = self.shards.len();
        self.shards.extend((0..=open % 3).map(|_| Shard::default()));
    }

    /// The sum of the records of each shard up to its mark.
    pub(super) fn counts_up_to(&self, marks: &BTreeMap<usize, SequenceNumber>) -> Counts {
        let mut counts = Counts::default();
        for (shard, mark) in marks {
            let shard = &self.shards[*shard];
            counts.add(&shard.sums[shard.index_of(mark)]);
        }
        counts
    }

    /// The sum over the orders themselves: each line without its credited units, and each total without their amount.
    pub(super) fn truth(&self) -> Counts {
        let mut counts = Counts::default();
        for (order, lines) in &self.orders {
            let credited: u32 = order.credits.iter().map(|credit| credit.units).sum();
            let open = Order { units: order.units.saturating_sub(credited), ..order.clone() };
            counts.add(&Counts::of_status(&open, order.status, order.placed_at.day(), 1));
            if order.status != OrderStatus::Cancelled {
                let total = Money::nearest(order.net_total(), order.total.currency());
                counts.add(&Counts::of_order(&Order { total, ..order.clone() }, order.placed_at.day(), 1));
                for line in lines {
                    counts.add(&left_of(line, order));
                }
            }
        }
        counts
    }

    pub(super) fn lines(&self, order: &OrderId) -> Vec<OrderLine> {
        self.orders.iter().find(|(known, _)| known.order_id == *order).expect("an order").1.clone()
    }

    /// Any sequence number, of a record or of none.
    pub(super) fn any_number(&self, which: usize) -> SequenceNumber {
        let number = which as u128 % (self.written + 3);
        number_of(number)
    }

    fn place(&mut self, customer: u8, day: u8, currency: bool, lines: &[(u8, i64, i64)], is_imported: bool) {
        let currency = if currency { "EUR" } else { "USD" };
        let mut products: Vec<_> = lines.to_vec();
        products.sort_unstable();
        products.dedup_by_key(|line| line.0);
        let money = |amount: i64| json!({ "amount": amount, "currency": currency });
        let subtotal: i64 = products.iter().map(|(_, quantity, price)| quantity * price).sum();
        // Customers whose number is odd have a discount of a third.
        let discount = if customer % 2 == 1 { subtotal / 3 } else { 0 };
        let total = subtotal - discount;
        let units: i64 = products.iter().map(|(_, quantity, _)| quantity).sum();
        let id = format!("order-{}", self.orders.len());
        let imported_at = is_imported.then_some(WRITTEN_AT);
        let mut order: Order = serde_json::from_value(json!({
            "orderId": id, "importedAt": imported_at, "customerId": format!("customer-{customer}"), "status": if total == 0 { "PAID" } else { "PENDING" },
            "placedAt": format!("2026-11-{:02}T23:59:59.999Z", 20 + day),
            "changedAt": format!("2026-11-{:02}T23:59:59.999Z", 20 + day), "version": 1, "subtotal": money(subtotal),
            "discount": money(discount), "total": money(total), "requestHash": "", "lineCount": products.len(),
            "units": units, "shard": 0,
        }))
        .expect("an order");
        let at = self.orders.len();
        let items: Vec<OrderItem> = products
            .iter()
            .map(|(product, quantity, price)| {
                serde_json::from_value(json!({
                    "orderId": id, "customerId": order.customer_id.as_str(), "placedAt": order.placed_at, "shard": 0,
                    "position": 0,
                    "importedAt": imported_at, "productId": format!("product-{product}"), "name": "A thing",
                    "quantity": quantity, "unitPrice": money(*price), "amount": money(quantity * price),
                }))
                .expect("a line")
            })
            .collect();
        let lines: Vec<_> = items.iter().map(|item| item.line.clone()).collect();
        if is_imported {
            order.status = OrderStatus::Delivered;
            order.credits = Credit::of(&lines, order.discount, |_| 1);
        }
        self.orders.push((order.clone(), lines));
        // The stream has the items of a transaction in any order.
        let header_first = at.is_multiple_of(2);
        for header in [header_first, !header_first] {
            if header {
                self.write(at, "INSERT", Item::default(), item(&order));
                continue;
            }
            for line in &items {
                self.write(at, "INSERT", Item::default(), item(line));
            }
        }
    }

    fn change(&mut self, which: usize, next: impl FnOnce(OrderStatus) -> OrderStatus) {
        let Some(at) = which.checked_rem(self.orders.len()) else { return };
        let order = &mut self.orders[at].0;
        let before = order.clone();
        (order.status, order.version) = (next(order.status), order.version + 1);
        let after = order.clone();
        self.write(at, "MODIFY", item(&before), item(&after));
    }

    fn credit(&mut self, which: usize, line: usize) {
        let Some(at) = which.checked_rem(self.orders.len()) else { return };
        let (order, lines) = &mut self.orders[at];
        let before = order.clone();
        let chosen = lines[line % lines.len()].product_id.clone();
        let units = |product: &_| before.credited_units(product) + u32::from(*product == chosen);
        // Nothing is credited of a cancelled order any more.
        if order.status != OrderStatus::Cancelled {
            order.credits = Credit::of(lines, order.discount, units);
            order.version += 1;
        }
        let after = order.clone();
        self.write(at, "MODIFY", item(&before), item(&after));
    }

    fn record(&mut self, partition: usize, change: Option<Change>, counts: &Counts) {
        if self.shards.is_empty() {
            self.reshard();
        }
        let open = self.shards.len() - self.first_open;
        self.written += 1 + self.written % 3;
        let number = number_of(self.written);
        let shard = &mut self.shards[self.first_open + partition % open];
        let mut sum = shard.sums.last().cloned().unwrap_or_default();
        sum.add(counts);
        shard.sums.push(sum);
        shard.records.push((number, change));
    }

    fn write(&mut self, partition: usize, event_name: &'static str, old: Item, new: Item) {
        self.write_at(partition, event_name, WRITTEN_AT, old, new);
    }

    fn write_at(&mut self, partition: usize, event_name: &'static str, written_at: &str, old: Item, new: Item) {
        let written_at = written_at.parse().expect("a time");
        let change = Change::read(event_name, written_at, old, new).expect("a change");
        let lines = change.called_off().map(|order| self.lines(&order.order_id)).unwrap_or_default();
        let counts = change.counts(&lines, &Zone::UTC);
        self.record(partition, Some(change), &counts);
    }

    fn restore(&mut self, which: usize) {
        let Some(at) = which.checked_rem(self.orders.len()) else { return };
        let (order, lines) = self.orders[at].clone();
        self.write(at, "REMOVE", item(&order), Item::default());
        self.write_at(at, "INSERT", RESTORED_AT, Item::default(), item(&order));
        for (position, line) in lines.into_iter().enumerate() {
            let line = OrderItem {
                order_id: order.order_id.clone(),
                customer_id: order.customer_id.clone(),
                placed_at: order.placed_at,
                shard: 0,
                position: position.into(),
                imported_at: order.imported_at,
                uncounted: false,
                line,
            };
            self.write(at, "REMOVE", item(&line), Item::default());
            self.write_at(at, "INSERT", RESTORED_AT, Item::default(), item(&line));
        }
    }
}

/// The counts of a line without its credited units.
fn left_of(line: &OrderLine, order: &Order) -> Counts {
    let credited = order.credited_units(&line.product_id);
    let price = line.unit_price.amount();
    if let Some(quantity) = line.quantity.less(credited) {
        let amount = Money::nearest(price * i64::from(quantity.get()), line.amount.currency());
        return Counts::of_line(&OrderLine { quantity, amount, ..line.clone() }, order.placed_at.day(), 1);
    }
    // The line of which all units came back still counts as an order of its product. A line of one unit twice, less one
    // of two units, is a line of none.
    let one = OrderLine { quantity: 1.try_into().unwrap(), amount: line.unit_price, ..line.clone() };
    let two = OrderLine { quantity: 2.try_into().unwrap(), amount: twice(line.unit_price), ..line.clone() };
    let mut counts = Counts::of_line(&one, order.placed_at.day(), 2);
    counts.add(&Counts::of_line(&two, order.placed_at.day(), -1));
    counts
}

fn twice(money: Money) -> Money {
    Money::nearest(2 * money.amount(), money.currency())
}

/// Sequence numbers that exceed a 64-bit integer, and that soon get one more digit.
fn number_of(written: u128) -> SequenceNumber {
    let number = 10_u128.pow(36) - 20 + written;
    format!("{number}").parse().expect("a sequence number")
}

fn item<T: key_schema::layout::Stored>(entity: &T) -> Item {
    let mut item: Item = serde_dynamo::to_item(entity).expect("an item");
    item.inner_mut().insert(ENTITY_TYPE.to_owned(), AttributeValue::S(T::TYPE.to_owned()));
    item
}
