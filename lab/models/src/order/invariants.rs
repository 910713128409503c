//! The invariants of every state.

use key_schema::entity::{Discount, Order, OrderStatus, PaymentState, QueuedOrder};
use key_schema::value::OrderId;
use ordering::steps::Transition;
use stateright::Property;
use table::read_item;

use super::books::Books;
use super::{Actor, Answer, Phase, Role, Shop, State};

/// A situation that a shop must reach, or its exploration is useless.
pub type Sight = (&'static str, fn(&Shop, &State) -> bool);

pub(super) const PLACED: Sight = ("an order is placed", |_, state| !Books::of(&state.table).orders.is_empty());
pub(super) const REFUSED: Sight =
    ("a request is refused", |_, state| state.has_answer(Answer::Refused) || state.has_answer(Answer::SoldOut));
pub(super) const REPLAY: Sight = ("a change is replayed", |_, state| state.has_answer(Answer::ChangedBefore));
pub(super) const PAID: Sight = ("a payment is captured", |shop, state| state.has_payment(shop, PaymentState::Captured));
pub(super) const VOID: Sight = ("a payment is void", |shop, state| {
    state.has_payment(shop, PaymentState::Voided) || state.has_payment(shop, PaymentState::Expired)
});
pub(super) const REFUND_DUE: Sight =
    ("a refund is due", |shop, state| state.has_payment(shop, PaymentState::RefundDue));
pub(super) const REFUNDED: Sight = ("a refund is made", |shop, state| state.has_payment(shop, PaymentState::Refunded));
pub(super) const DELIVERED: Sight = ("an order is delivered", |_, state| state.has_status(OrderStatus::Delivered));
pub(super) const RESTOCKED: Sight = ("an order is cancelled", |_, state| state.has_status(OrderStatus::Cancelled));

/// The invariants, by their names.
pub(super) fn all(shop: &Shop) -> Vec<Property<Shop>> {
    let mut invariants = of_the_table();
    invariants.extend(of_the_answers());
    invariants.extend(of_the_changes());
    invariants.extend(shop.sights.iter().map(|(name, seen)| Property::sometimes(name, *seen)));
    invariants.push(Property::sometimes("everything is done", |_, state: &State| {
        state.actors.iter().all(|(actor, _)| actor.is_done())
            && state.messages.iter().all(|(_, left)| *left == 0)
            && state.late.is_empty()
    }));
    invariants
}

fn of_the_table() -> Vec<Property<Shop>> {
    vec![
        Property::always("stock and sold units are the units supplied", |shop: &Shop, state: &State| {
            let (before, now) = (Books::of(&shop.table), Books::of(&state.table));
            now.in_stock + now.sold == before.in_stock + before.sold + state.restocked()
        }),
        Property::always("no stock and no gift card is below zero", |_, state: &State| {
            !Books::of(&state.table).is_overdrawn
        }),
        Property::always("every order is complete and adds up", |_, state: &State| {
            let books = Books::of(&state.table);
            books.orders.iter().all(|order| books.is_whole(order))
        }),
        Property::always("money received less money returned is the amount due", |_, state: &State| {
            let books = Books::of(&state.table);
            books.orders.iter().all(|order| books.is_settled(order))
        }),
        Property::always("gift cards and their entries add up", |_, state: &State| {
            Books::of(&state.table).cards_add_up()
        }),
        Property::always("the uses of a limited code are the number of its orders", |_, state: &State| {
            let books = Books::of(&state.table);
            let is_right = |code: &Discount| {
                let used = books.live().flat_map(Order::counted_codes).filter(|used| **used == code.code).count();
                usize::try_from(code.uses) == Ok(used) && code.max_uses.is_none_or(|most| code.uses <= most)
            };
            books.discounts.iter().all(is_right)
        }),
    ]
}

fn of_the_answers() -> Vec<Property<Shop>> {
    vec![
        Property::always("at most one request is answered that it placed the order", |shop: &Shop, state: &State| {
            shop.keys().all(|request| state.answers(request).filter(|answer| *answer == Answer::Placed).count() <= 1)
        }),
        Property::always("an order that is reported as placed exists", |shop: &Shop, state: &State| {
            shop.keys().all(|request| {
                let is_told = state.answers(request).any(|it| matches!(it, Answer::Placed | Answer::Replayed));
                !is_told || state.has_order(shop, request)
            })
        }),
        Property::always(
            "no refusal while a transaction of the same request may still take effect",
            |_, state: &State| {
                state.actors.iter().all(|(actor, _)| {
                    let is_request = actor.role.orders();
                    !(is_request && actor.is_unanswered && actor.is_refused())
                })
            },
        ),
        Property::always("no request is refused whose transaction takes effect", |_, state: &State| {
            let is_refused =
                |actor: &Actor| actor.is_refused() || matches!(actor.phase, Phase::Answered(Answer::NotFound));
            let mut actors = state.actors.iter().enumerate();
            actors.all(|(at, (actor, _))| !(is_refused(actor) && state.has_committed(at)))
        }),
        Property::always("if every request was refused, there is no order", |shop: &Shop, state: &State| {
            shop.keys().all(|request| !state.is_refused_for_good(shop, request) || !state.has_order(shop, request))
        }),
        Property::always("no request is refused for lack of available units", |_, state: &State| {
            let mut actors = state.actors.iter().enumerate();
            actors.all(|(at, (actor, _))| {
                !matches!(actor.phase, Phase::Answered(Answer::SoldOut)) || state.has_met_scarcity(at)
            })
        }),
        Property::always("a queued order has a message that is still delivered", |shop: &Shop, state: &State| {
            shop.keys().all(|request| !state.waits(shop, request) || state.has_message(request))
        }),
        Property::always("no request fails", |_, state: &State| {
            state.actors.iter().all(|(actor, _)| !matches!(actor.phase, Phase::Answered(Answer::Failed)))
        }),
    ]
}

fn of_the_changes() -> Vec<Property<Shop>> {
    vec![
        Property::always("a reported change exists", |shop: &Shop, state: &State| {
            state.changes().all(|(request, transition, answer)| {
                let is_told = matches!(answer, Answer::Changed | Answer::ChangedBefore);
                // An order that need not expire stays unchanged.
                let is_made = matches!(
                    (transition, answer),
                    (Transition::Expire { .. } | Transition::ExpireLapsed { .. }, Answer::ChangedBefore)
                ) || is_made(&Books::of(&state.table), &shop.id(request), transition);
                !is_told || is_made
            })
        }),
        // Two reports of one payment of a cancelled order, or of one refund, write the same to the invoice, which has
        // no version. So after a lost answer a report cannot tell whether the write was its own.
        Property::always("at most one request is answered that it changed the status", |shop: &Shop, state: &State| {
            let made = |request: usize, kind: fn(Transition<'static>) -> bool| {
                let of_kind = state.changes().filter(|(of, it, _)| *of == request && kind(*it));
                of_kind.filter(|(_, _, answer)| *answer == Answer::Changed).count() <= 1
            };
            let books = Books::of(&state.table);
            let is_cancelled = |request: usize| books.live().all(|order| order.order_id != shop.id(request));
            shop.keys().all(|request| {
                made(request, |it| {
                    matches!(it, Transition::Cancel(_) | Transition::Expire { .. } | Transition::ExpireLapsed { .. })
                }) && (is_cancelled(request) || made(request, |it| matches!(it, Transition::Capture { .. })))
                    && made(request, |it| it == Transition::Advance { to: OrderStatus::Shipped, captures: true })
                    && made(request, |it| it == Transition::Advance { to: OrderStatus::Delivered, captures: true })
            })
        }),
        Property::always("no report of a recorded payment is refused", |shop: &Shop, state: &State| {
            state.changes().all(|(request, transition, answer)| {
                let is_report = matches!(transition, Transition::Capture { .. });
                let is_made = || is_made(&Books::of(&state.table), &shop.id(request), transition);
                !(is_report && answer == Answer::Refused && is_made())
            })
        }),
    ]
}

/// Whether the order is in the state after this change, or in a later one.
fn is_made(books: &Books, id: &OrderId, transition: Transition<'_>) -> bool {
    let Some(status) = books.order(id).map(|order| order.status) else { return false };
    match transition {
        Transition::Advance { to, .. } => status == to || status.may_have_been(to),
        Transition::Cancel(_) | Transition::Expire { .. } | Transition::ExpireLapsed { .. } => {
            status == OrderStatus::Cancelled
        }
        Transition::Capture { reference, .. } => books.bank_card(id).is_some_and(|(_, known)| known == Some(reference)),
        Transition::ConfirmRefund { .. } => {
            books.bank_card(id).is_some_and(|(payment, _)| payment == PaymentState::Refunded)
        }
        // Other models have these.
        Transition::StartPayment { .. }
        | Transition::ObservePayment { .. }
        | Transition::FailCommand { .. }
        | Transition::WriteOff { .. }
        | Transition::Allow(_)
        | Transition::RequestCapture
        | Transition::CancelUnits { .. }
        | Transition::ShipItems(_)
        | Transition::DeliverShipment { .. }
        | Transition::RequestReturn(_)
        | Transition::ReceiveReturn(_) => false,
    }
}

impl Shop {
    /// The requested orders, each once: requests with the same key are for the same order.
    fn keys(&self) -> impl Iterator<Item = usize> {
        0..self.requests.len()
    }

    pub(super) fn id(&self, request: usize) -> OrderId {
        OrderId::of(&self.requests[request].customer, &self.requests[request].key)
    }
}

impl State {
    /// The answers of this order's actors so far.
    fn answers(&self, request: usize) -> impl Iterator<Item = Answer> {
        let of_request = self.actors.iter().filter(move |(actor, _)| actor.role.request() == request);
        of_request.filter_map(|(actor, _)| match &actor.phase {
            Phase::Answered(answer) => Some(*answer),
            _ => None,
        })
    }

    /// The answered changes: the order, the change, and the answer.
    fn changes(&self) -> impl Iterator<Item = (usize, Transition<'static>, Answer)> {
        self.actors.iter().filter_map(|(actor, _)| match (&actor.role, &actor.phase) {
            (Role::Change { request, transition, .. }, Phase::Answered(answer)) => {
                Some((*request, *transition, *answer))
            }
            _ => None,
        })
    }

    fn has_answer(&self, sought: Answer) -> bool {
        self.actors.iter().any(|(actor, _)| matches!(actor.phase, Phase::Answered(answer) if answer == sought))
    }

    fn has_payment(&self, shop: &Shop, sought: PaymentState) -> bool {
        let books = Books::of(&self.table);
        shop.keys().any(|request| books.bank_card(&shop.id(request)).is_some_and(|(payment, _)| payment == sought))
    }

    fn has_status(&self, sought: OrderStatus) -> bool {
        Books::of(&self.table).orders.iter().any(|order| order.status == sought)
    }

    /// The number of returned units.
    fn restocked(&self) -> i64 {
        let is_done = |actor: &Actor| actor.is_done() && matches!(actor.role, Role::Restock { .. });
        self.actors.iter().map(|(actor, _)| i64::from(is_done(actor))).sum()
    }

    fn has_order(&self, shop: &Shop, request: usize) -> bool {
        self.table.get(&Order::key_of(&shop.id(request)).into()).is_some()
    }

    /// Whether the order is recorded as queued, and is neither placed nor refused.
    fn waits(&self, shop: &Shop, request: usize) -> bool {
        self.queued(shop, request).is_some_and(|queued| queued.refusal.is_none()) && !self.has_order(shop, request)
    }

    fn queued(&self, shop: &Shop, request: usize) -> Option<QueuedOrder> {
        let queued = self.table.get(&QueuedOrder::key_of(&shop.id(request)).into())?;
        read_item(queued.0.clone()).ok()
    }

    /// Whether a message for the order is in the queue: no delivery of it has ended with its deletion.
    fn has_message(&self, request: usize) -> bool {
        let mut messages =
            self.messages.iter().map(|(message, _)| &**message).filter(|message| message.request() == request);
        messages.any(|message| {
            let mut deliveries = self.actors.iter().filter(|(actor, _)| actor.role == *message);
            deliveries.all(|(actor, _)| !actor.is_done() || actor.phase.is_unavailable())
        })
    }

    /// Whether every request for the order is answered, and each answer says that there is no order: a problem, or a
    /// 202 whose order is now rejected. Messages may still be delivered.
    fn is_refused_for_good(&self, shop: &Shop, request: usize) -> bool {
        let of_request = |actor: &Actor| actor.role.request() == request && actor.role.orders();
        let mut requests = self.actors.iter().map(|(actor, _)| &**actor).filter(|actor| of_request(actor)).peekable();
        let is_rejected = || self.queued(shop, request).is_some_and(|queued| queued.refusal.is_some());
        requests.peek().is_some()
            && requests.all(|actor| match actor.phase {
                Phase::Answered(Answer::Refused | Answer::SoldOut) => true,
                Phase::Answered(Answer::Accepted) => is_rejected(),
                _ => false,
            })
    }
}
