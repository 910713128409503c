//! The sums and states in a table that the invariants check.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::rc::Rc;

use key_schema::entity::{
    Discount, GiftCardEntry, Invoice, Order, OrderItem, OrderStatus, Payment, PaymentState, PaymentStatus,
};
use key_schema::layout::ENTITY_TYPE;
use key_schema::value::{Money, OrderId};
use serde::de::DeserializeOwned;
use table::{AttributeValue, Item, read_item};

use crate::table::{Stored, Table};

/// The data that the invariants check. Numbers are read unchecked, so they may be below zero.
#[derive(Default)]
pub(super) struct Books {
    pub(super) in_stock: i64,
    pub(super) sold: i64,
    /// Whether a stock or a gift card is below zero.
    pub(super) is_overdrawn: bool,
    pub(super) orders: Vec<Order>,
    lines: BTreeMap<OrderId, Vec<OrderItem>>,
    pub(super) invoices: BTreeMap<OrderId, Invoice>,
    cards: Vec<Card>,
    entries: Vec<GiftCardEntry>,
    pub(super) discounts: Vec<Discount>,
}

struct Card {
    code: String,
    balance: i64,
    initial: i64,
}

thread_local! {
    /// A cache, because many states have the same table.
    static KNOWN: RefCell<HashMap<u64, Rc<Books>>> = RefCell::default();
}

impl Books {
    /// Reads the table, or takes the result from the thread's cache.
    pub(super) fn of(table: &Table) -> Rc<Self> {
        let mut hasher = DefaultHasher::new();
        table.hash(&mut hasher);
        let digest = hasher.finish();
        KNOWN.with_borrow_mut(|known| Rc::clone(known.entry(digest).or_insert_with(|| Rc::new(Self::read(table)))))
    }

    fn read(table: &Table) -> Self {
        let mut books = Self::default();
        for stored in table.items() {
            let item = &stored.0;
            let Some(AttributeValue::S(kind)) = item.get(ENTITY_TYPE) else { continue };
            match kind.as_str() {
                "stock" | "stockCell" => {
                    let units = integer(item, "available");
                    books.in_stock += units;
                    books.is_overdrawn |= units < 0;
                }
                "order" => books.orders.push(entity(stored)),
                "orderItem" => {
                    let item: OrderItem = entity(stored);
                    books.lines.entry(item.order_id.clone()).or_default().push(item);
                }
                "invoice" => {
                    let invoice: Invoice = entity(stored);
                    books.invoices.insert(invoice.order_id.clone(), invoice);
                }
                "giftCard" => {
                    let amount = |name: &str| match item.get(name) {
                        Some(AttributeValue::M(money)) => integer(money, "amount"),
                        other => panic!("{name} is {other:?}"),
                    };
                    let Some(AttributeValue::S(code)) = item.get("code") else { panic!("a card without a code") };
                    let card = Card { code: code.clone(), balance: amount("balance"), initial: amount("initial") };
                    books.is_overdrawn |= card.balance < 0;
                    books.cards.push(card);
                }
                "giftCardEntry" => books.entries.push(entity(stored)),
                "discount" => books.discounts.push(entity(stored)),
                _ => {}
            }
        }
        let live: Vec<_> = books.live().map(|order| order.order_id.clone()).collect();
        let lines = live.iter().filter_map(|order| books.lines.get(order)).flatten();
        books.sold = lines.map(|item| i64::from(item.line.quantity.get())).sum();
        books
    }

    pub(super) fn order(&self, id: &OrderId) -> Option<&Order> {
        self.orders.iter().find(|order| order.order_id == *id)
    }

    /// The orders that are not cancelled.
    pub(super) fn live(&self) -> impl Iterator<Item = &Order> {
        self.orders.iter().filter(|order| order.status != OrderStatus::Cancelled)
    }

    pub(super) fn bank_card(&self, id: &OrderId) -> Option<(PaymentState, Option<&str>)> {
        let card = self.invoices.get(id)?.card()?;
        Some((card.state(), card.reference()))
    }

    /// Whether all lines and the invoice exist, their sums are right, and the states of the payments fit the order's
    /// status.
    pub(super) fn is_whole(&self, order: &Order) -> bool {
        let (Some(lines), Some(invoice)) = (self.lines.get(&order.order_id), self.invoices.get(&order.order_id)) else {
            return false;
        };
        lines.len() == usize::from(order.line_count)
            && sum(lines.iter().map(|item| item.line.amount)) == order.subtotal.amount()
            && order.subtotal.amount() - order.discount.amount() == order.total.amount()
            && invoice.amount == order.total
            && sum(invoice.payments.iter().map(Payment::amount)) == order.total.amount()
            && invoice.payments.iter().all(|payment| payment.fits(order.status))
    }

    /// Whether the money received, less refunds and refunds due, is the amount due: nothing for a cancelled order, the
    /// gift cards' part for a pending one, and the total otherwise.
    pub(super) fn is_settled(&self, order: &Order) -> bool {
        let Some(invoice) = self.invoices.get(&order.order_id) else { return false };
        let balances = || invoice.payments.iter().map(Payment::balance);
        let kept = sum(balances().map(|it| it.received))
            - sum(balances().map(|it| it.returned))
            - sum(balances().map(|it| it.due));
        let by_gift_card = invoice.payments.iter().filter(|payment| matches!(payment, Payment::GiftCard { .. }));
        let owed = match order.status {
            OrderStatus::Cancelled => 0,
            OrderStatus::Pending => sum(by_gift_card.map(Payment::amount)),
            _ => order.total.amount(),
        };
        kept == owed
    }

    /// Whether each card's balance plus what its orders took is its initial amount, and every order has the entries of
    /// its invoice.
    pub(super) fn cards_add_up(&self) -> bool {
        let captured = |entry: &&GiftCardEntry| entry.status == PaymentStatus::Captured;
        let is_balanced = |card: &Card| {
            let taken = self.entries.iter().filter(|entry| entry.code.to_string() == card.code).filter(captured);
            card.balance + sum(taken.map(|entry| entry.amount)) == card.initial
        };
        let by_entries = sum(self.entries.iter().filter(captured).map(|entry| entry.amount));
        let by_invoices =
            sum(self.invoices.values().flat_map(|invoice| &invoice.payments).filter_map(|payment| match payment {
                Payment::GiftCard { amount, status: PaymentStatus::Captured, .. } => Some(*amount),
                _ => None,
            }));
        self.cards.iter().all(is_balanced) && by_entries == by_invoices
    }
}

fn sum(amounts: impl Iterator<Item = Money>) -> i64 {
    amounts.map(Money::amount).sum()
}

fn integer(item: &Item, name: &str) -> i64 {
    match item.get(name) {
        Some(AttributeValue::N(number)) => number.parse().unwrap_or_else(|_| panic!("{name} is {number}")),
        other => panic!("{name} is {other:?}"),
    }
}

fn entity<T: DeserializeOwned>(stored: &Stored) -> T {
    read_item(stored.0.clone()).expect("an item as production writes it")
}
