//! What must hold in every state.

use std::collections::BTreeMap;

use key_schema::entity::{
    Discount, GiftCard, GiftCardEntry, Invoice, Order, OrderItem, OrderStatus, Payment, PaymentStatus, QueuedOrder,
    Stock, StockCell,
};
use key_schema::layout::ENTITY_TYPE;
use key_schema::value::{Money, OrderId};
use serde::de::DeserializeOwned;
use stateright::Property;
use table::{AttributeValue, read_item};

use super::{Actor, Answer, Phase, Role, Shop, State};
use crate::table::Table;

/// The laws, by their names. Those that are `sometimes` show that the model gets somewhere.
pub(super) fn all() -> Vec<Property<Shop>> {
    vec![
        Property::always("stock and sold units are the units supplied", |shop: &Shop, state: &State| {
            let before = Books::of(&shop.table);
            let now = Books::of(&state.table);
            now.in_stock + now.sold == before.in_stock + state.restocked()
        }),
        Property::always("every order is whole and adds up", |_, state: &State| {
            let books = Books::of(&state.table);
            books.orders.iter().all(|order| books.is_whole(order))
        }),
        Property::always("gift cards and their entries add up", |_, state: &State| {
            Books::of(&state.table).cards_add_up()
        }),
        Property::always("a limited code is used as often as its orders say", |_, state: &State| {
            let books = Books::of(&state.table);
            let used = books.live().filter(|order| order.discount_code.is_some()).count();
            books.discounts.iter().all(|code| usize::try_from(code.uses) == Ok(used) && code.has_uses_left_or_none())
        }),
        Property::always("at most one request is told that it placed the order", |shop: &Shop, state: &State| {
            shop.keys().all(|ask| state.answers(shop, ask).filter(|answer| *answer == Answer::Placed).count() <= 1)
        }),
        Property::always("whoever is told that the order is placed has it", |shop: &Shop, state: &State| {
            shop.keys().all(|ask| {
                let is_told = state.answers(shop, ask).any(|it| matches!(it, Answer::Placed | Answer::Replayed));
                !is_told || state.has_order(shop, ask)
            })
        }),
        Property::always("no refusal while a transaction of the same request may still arrive", |_, state: &State| {
            state.actors.iter().all(|(actor, _)| {
                let is_request = actor.role.orders();
                !(is_request && actor.is_unanswered && matches!(actor.phase, Phase::Answered(Answer::Refused)))
            })
        }),
        Property::always("whoever was refused by every request has no order", |shop: &Shop, state: &State| {
            shop.keys().all(|ask| !state.is_refused_for_good(shop, ask) || !state.has_order(shop, ask))
        }),
        Property::sometimes("an order is placed", |_, state: &State| !Books::of(&state.table).orders.is_empty()),
        Property::sometimes("a request is refused", |_, state: &State| {
            state.actors.iter().any(|(actor, _)| matches!(actor.phase, Phase::Answered(Answer::Refused)))
        }),
        Property::sometimes("everything is done", |_, state: &State| {
            state.actors.iter().all(|(actor, _)| actor.is_done())
                && state.messages.iter().all(|(_, left)| *left == 0)
                && state.late.is_empty()
        }),
    ]
}

trait Uses {
    fn has_uses_left_or_none(&self) -> bool;
}

impl Uses for Discount {
    /// No more uses than allowed.
    fn has_uses_left_or_none(&self) -> bool {
        self.max_uses.is_none_or(|most| self.uses <= most)
    }
}

impl Shop {
    /// The orders that are asked for, each once: the requests of one key ask for the same.
    fn keys(&self) -> impl Iterator<Item = usize> {
        0..self.asks.len()
    }

    pub(super) fn id(&self, ask: usize) -> OrderId {
        OrderId::of(&self.asks[ask].customer, &self.asks[ask].key)
    }
}

impl State {
    /// What the requests for this order were answered so far.
    pub(super) fn answers(&self, _shop: &Shop, ask: usize) -> impl Iterator<Item = Answer> {
        let of_ask = self.actors.iter().filter(move |(actor, _)| actor.role.ask() == ask);
        of_ask.filter_map(|(actor, _)| match &actor.phase {
            Phase::Answered(answer) => Some(*answer),
            _ => None,
        })
    }

    /// How many units came back.
    fn restocked(&self) -> u64 {
        let is_done = |actor: &Actor| actor.is_done() && matches!(actor.role, Role::Restock { .. });
        self.actors.iter().filter(|(actor, _)| is_done(actor)).count() as u64
    }

    pub(super) fn has_order(&self, shop: &Shop, ask: usize) -> bool {
        self.table.get(&Order::key_of(&shop.id(ask)).into()).is_some()
    }

    /// Every request for the order is answered, and each answer says that there is no order: a problem, or a 202 whose
    /// order reads as rejected. Messages may still be delivered.
    fn is_refused_for_good(&self, shop: &Shop, ask: usize) -> bool {
        let requests = || {
            let of_ask = self.actors.iter().map(|(actor, _)| actor);
            of_ask.filter(move |actor| actor.role.ask() == ask && actor.role.orders())
        };
        let is_rejected = || {
            let queued = self.table.get(&QueuedOrder::key_of(&shop.id(ask)).into());
            let queued = queued.and_then(|stored| read_item::<QueuedOrder>(stored.0.clone()).ok());
            queued.is_some_and(|queued| queued.refusal.is_some())
        };
        requests().all(|actor| match actor.phase {
            Phase::Answered(Answer::Refused) => true,
            Phase::Answered(Answer::Accepted) => is_rejected(),
            _ => false,
        })
    }
}

/// What the table says, read once.
#[derive(Default)]
struct Books {
    in_stock: u64,
    sold: u64,
    orders: Vec<Order>,
    lines: BTreeMap<OrderId, Vec<OrderItem>>,
    invoices: BTreeMap<OrderId, Invoice>,
    cards: Vec<GiftCard>,
    entries: Vec<GiftCardEntry>,
    discounts: Vec<Discount>,
}

impl Books {
    fn of(table: &Table) -> Self {
        let mut books = Self::default();
        for stored in table.items() {
            let Some(AttributeValue::S(kind)) = stored.0.get(ENTITY_TYPE) else { continue };
            match kind.as_str() {
                "stock" => books.in_stock += entity::<Stock>(stored).available,
                "stockCell" => books.in_stock += entity::<StockCell>(stored).available,
                "order" => books.orders.push(entity(stored)),
                "orderItem" => {
                    let item: OrderItem = entity(stored);
                    books.lines.entry(item.order_id.clone()).or_default().push(item);
                }
                "invoice" => {
                    let invoice: Invoice = entity(stored);
                    books.invoices.insert(invoice.order_id.clone(), invoice);
                }
                "giftCard" => books.cards.push(entity(stored)),
                "giftCardEntry" => books.entries.push(entity(stored)),
                "discount" => books.discounts.push(entity(stored)),
                _ => {}
            }
        }
        let live: Vec<_> = books.live().map(|order| order.order_id.clone()).collect();
        let lines = live.iter().filter_map(|order| books.lines.get(order)).flatten();
        books.sold = lines.map(|item| u64::from(item.line.quantity.get())).sum();
        books
    }

    /// The orders that hold what they took.
    fn live(&self) -> impl Iterator<Item = &Order> {
        self.orders.iter().filter(|order| order.status != OrderStatus::Cancelled)
    }

    fn is_whole(&self, order: &Order) -> bool {
        let (Some(lines), Some(invoice)) = (self.lines.get(&order.order_id), self.invoices.get(&order.order_id)) else {
            return false;
        };
        lines.len() == usize::from(order.line_count)
            && sum(lines.iter().map(|item| item.line.amount)) == order.subtotal.amount()
            && order.subtotal.amount() - order.discount.amount() == order.total.amount()
            && invoice.amount == order.total
            && sum(invoice.payments.iter().map(Payment::amount)) == order.total.amount()
    }

    /// What is left on each card and what its orders took is what it was sold with; and every order has the entries that
    /// its invoice says.
    fn cards_add_up(&self) -> bool {
        let captured = |entry: &&GiftCardEntry| entry.status == PaymentStatus::Captured;
        let is_balanced = |card: &GiftCard| {
            let taken = self.entries.iter().filter(|entry| entry.code == card.code).filter(captured);
            card.balance.amount() >= 0
                && card.balance.amount() + sum(taken.map(|entry| entry.amount)) == card.initial.amount()
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

fn entity<T: DeserializeOwned>(stored: &crate::table::Stored) -> T {
    read_item(stored.0.clone()).expect("an item as production writes it")
}
