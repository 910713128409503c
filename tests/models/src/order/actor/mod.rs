//! The actors: requests, messages and changes. Each takes production's decisions, with one request to the table between
//! two of them.

mod change;
mod place;

use key_schema::entity::{Order, QueuedOrder, Rejection, WholeOrder, WholeStock};
use key_schema::layout::Key;
use key_schema::value::{Money, OrderId, Quantity, Timestamp};
use ordering::changing::{Changing, Sent};
use ordering::steps::Transition;
use ordering::{Acceptance, Attempt, Origin, PlaceOrder, Placing};
use stock::Proof;
use table::{Cause, Commit, ProductShards, StatusShards, read_item};

use super::Shop;
use super::bugs::Bug;
use crate::table::{Digested, Place, Seen, Stored, Table, Transaction};

const STATUS_SHARDS: StatusShards = StatusShards(1);
const PRODUCT_SHARDS: ProductShards = ProductShards(1);

/// What an actor is there for. `ask` is the number of what is ordered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Role {
    /// A request that places an order.
    Request {
        /// Which.
        ask: usize,
    },
    /// A request that is content to wait.
    RequestLater {
        /// Which.
        ask: usize,
    },
    /// A message in the queue.
    Message {
        /// Which.
        ask: usize,
        /// When it was accepted.
        queued_at: Timestamp,
    },
    /// One unit of what an order is for comes back, as after a cancellation.
    Restock {
        /// Which.
        ask: usize,
    },
    /// One unit is moved from the first cell to the second, as when a stock is levelled.
    Shift {
        /// An order of the product.
        ask: usize,
    },
    /// A request or a schedule that changes the order.
    Change {
        /// Which.
        ask: usize,
        /// What it asks for.
        transition: Transition<'static>,
        /// The time of its clock, which tells its writes from those of others.
        at: Timestamp,
    },
}

/// What an actor waits for.
#[derive(Clone, Debug)]
pub enum Phase {
    /// Everything the order depends on.
    Reading(Box<Placing<'static>>),
    /// All cells of a stock, after everything else.
    ReadingCells(Box<Placing<'static>>, Vec<Stored>, Vec<Place>, Option<Proof>),
    /// All cells of a stock, at one moment, after everything else.
    SettlingCells(Box<Placing<'static>>, Vec<Stored>, Vec<Place>),
    /// Units that are moved into one cell.
    Gathering(Box<Placing<'static>>, Vec<(WholeStock, Quantity)>, Digested<Transaction>),
    /// The order's transaction.
    Committing(Box<Placing<'static>>, Box<Attempt>, Digested<Transaction>),
    /// Units that come back, or are moved.
    Restocking(Digested<Transaction>),
    /// Whether the order is there or waits.
    Settling(Box<Placing<'static>>, Rejection),
    /// The order that is there.
    Recalling,
    /// That the order waits is written down.
    Queueing(Box<QueuedOrder>, Digested<Transaction>),
    /// The message is sent.
    Sending(Option<Money>),
    /// That the order is refused is written down: of its own acceptance, else of an earlier one.
    Refusing(Digested<Transaction>, Option<Digested<Transaction>>),
    /// The whole order, item by item.
    ReadingOrder(Box<Changing<'static>>),
    /// The order's header and invoice, at one moment.
    SettlingOrder(Box<Changing<'static>>, Box<WholeOrder>),
    /// The writes that change the order.
    Changing(Box<Changing<'static>>, Box<Sent>, Digested<Transaction>),
    /// Nothing: it has answered.
    Answered(Answer),
}

/// What the one is told who asked; or what becomes of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Answer {
    /// 201.
    Placed,
    /// 201, and that it was so before.
    Replayed,
    /// A problem that says why there is no order, or why it does not change.
    Refused,
    /// The problem that says that there are not enough units.
    SoldOut,
    /// 202.
    Accepted,
    /// 503, a crash or a timeout: try again.
    Unavailable,
    /// A message that has nothing left to do.
    Void,
    /// 200: the order is changed.
    Changed,
    /// 200, and that it was so before.
    ChangedBefore,
    /// 404: there is no order to change.
    NotFound,
    /// 500: an item cannot be read, or is gone.
    Failed,
}

/// What an actor is told.
#[derive(Debug)]
pub(super) enum Event {
    Read(Vec<Stored>),
    Committed(Commit),
    Unanswered,
    NoCapacity,
    Stopped,
    Sent,
}

/// What an actor does besides.
#[derive(Debug)]
pub(super) enum Effect {
    Send(Role),
}

/// One of them.
#[derive(Clone, Debug)]
pub struct Actor {
    /// What it is there for.
    pub role: Role,
    /// What it waits for.
    pub phase: Phase,
    /// Whether one of its transactions was not answered.
    pub is_unanswered: bool,
    /// The time of its clock, which tells its message from those of others.
    clock: Timestamp,
}

/// It is always the same moment, so that no two states differ only in that.
pub(super) fn now() -> Timestamp {
    after(0)
}

/// So many milliseconds after [`now`].
pub(super) fn after(milliseconds: i64) -> Timestamp {
    Timestamp::from_millisecond(1_795_253_400_000 + milliseconds).expect("a time")
}

impl Phase {
    /// Whether it was given up, and whoever sent it tries again.
    pub(super) fn is_unavailable(&self) -> bool {
        matches!(self, Self::Answered(Answer::Unavailable))
    }
}

impl Role {
    /// Which order.
    pub fn ask(&self) -> usize {
        match self {
            Self::Request { ask }
            | Self::RequestLater { ask }
            | Self::Message { ask, .. }
            | Self::Restock { ask }
            | Self::Shift { ask }
            | Self::Change { ask, .. } => *ask,
        }
    }

    fn origin(&self) -> Origin {
        match self {
            Self::Message { queued_at, .. } => {
                Origin::Queue { queued_at: *queued_at, max_total: None, is_redriven: false }
            }
            _ => Origin::Request,
        }
    }

    /// Whether it may be stopped. A put-back is nobody's request.
    pub fn may_stop(&self) -> bool {
        !matches!(self, Self::Restock { .. } | Self::Shift { .. })
    }

    /// Whether it asks for an order.
    pub fn orders(&self) -> bool {
        matches!(self, Self::Request { .. } | Self::RequestLater { .. })
    }
}

impl Actor {
    pub(super) fn enter(role: Role, shop: &Shop, clock: Timestamp) -> Self {
        let ask = shop.asks[role.ask()];
        let phase = match &role {
            Role::RequestLater { .. } => Phase::Sending(None),
            Role::Restock { .. } => {
                let product = &ask.basket.request().lines[0].product_id;
                let one = 1_i64.try_into().expect("a quantity");
                Phase::Restocking(Transaction::new(&[stock::put_back(product, one).expect("a write")]))
            }
            Role::Shift { .. } => {
                let product = ask.basket.request().lines[0].product_id.clone();
                let price = Money::new(0, "EUR".to_owned().try_into().expect("a currency")).expect("an amount");
                let (units, moved) = (vec![1, 2], vec![0, 0]);
                let whole =
                    WholeStock { product_id: product, price, price_version: 0, units, moved, behind: Vec::new() };
                fastrand::seed(99);
                let writes = stock::gathering(&whole, 3).expect("writes").expect("a move");
                Phase::Restocking(Transaction::new(&writes))
            }
            Role::Change { transition, .. } => Phase::ReadingOrder(Box::new(Changing::new(*transition))),
            role => Phase::Reading(Box::new(Placing::new(ask, role.origin(), STATUS_SHARDS, PRODUCT_SHARDS))),
        };
        Self { role, phase, is_unanswered: false, clock }
    }

    pub(super) fn is_done(&self) -> bool {
        matches!(self.phase, Phase::Answered(_))
    }

    pub(super) fn is_refused(&self) -> bool {
        matches!(self.phase, Phase::Answered(Answer::Refused | Answer::SoldOut))
    }

    /// Whether it waits for a transaction that places or changes its order.
    pub(super) fn commits(&self) -> bool {
        matches!(self.phase, Phase::Committing(..) | Phase::Changing(..))
    }

    /// Whether what it waits for may be lost, late, or without capacity.
    pub(super) fn may_fail(&self) -> bool {
        self.commits() || matches!(self.phase, Phase::Gathering(..) | Phase::Queueing(..) | Phase::Refusing(..))
    }

    /// The transaction that it waits for.
    pub(super) fn transaction(&self) -> Option<&Digested<Transaction>> {
        match &self.phase {
            Phase::Committing(_, _, transaction)
            | Phase::Changing(_, _, transaction)
            | Phase::Gathering(_, _, transaction)
            | Phase::Restocking(transaction)
            | Phase::Queueing(_, transaction)
            | Phase::Refusing(transaction, _) => Some(transaction),
            _ => None,
        }
    }

    /// The read that it waits for, if that is not of one moment.
    pub(super) fn begins_to_read(&self, shop: &Shop, table: &Table) -> Option<Seen> {
        match &self.phase {
            Phase::ReadingOrder(_) => Some(Seen::begin_query(table, change::partition(shop.asks[self.role.ask()]))),
            Phase::Reading(placing) => Some(Seen::begin(table, places(placing.keys()))),
            Phase::ReadingCells(_, _, places, _) => Some(Seen::begin(table, places.clone())),
            _ => None,
        }
    }

    /// The places that it reads at one moment.
    pub(super) fn reads_at_once(&self) -> Option<Vec<Place>> {
        match &self.phase {
            Phase::SettlingCells(_, _, places) => Some(places.clone()),
            Phase::Settling(placing, _) => {
                Some(places(vec![Order::key_of(placing.id()), QueuedOrder::key_of(placing.id())]))
            }
            Phase::SettlingOrder(_, whole) => Some(change::places_at_once(whole)),
            Phase::Recalling => Some(Vec::new()),
            _ => None,
        }
    }

    /// What it does when it is told this.
    pub(super) fn told(&self, shop: &Shop, event: Event) -> (Self, Option<Effect>) {
        let mut actor = self.clone();
        let ask = shop.asks[self.role.ask()];
        let mut effect = None;
        actor.is_unanswered |= self.commits() && matches!(event, Event::Unanswered);
        let event = match event {
            Event::Unanswered if shop.bug == Some(Bug::UnansweredIsCancelled) => {
                Event::Committed(Commit::Cancelled(Vec::new()))
            }
            event => event,
        };
        actor.phase = match (self.phase.clone(), event) {
            // Of a message whose own acceptance may be under way, or whose order is placed, the next delivery finds out.
            (Phase::Refusing(_, None), Event::Committed(_))
            | (Phase::Refusing(..), Event::Unanswered | Event::NoCapacity)
            | (Phase::Queueing(..), Event::NoCapacity)
            | (_, Event::Stopped) => Phase::Answered(Answer::Unavailable),
            (Phase::ReadingOrder(_) | Phase::SettlingOrder(..) | Phase::Changing(..), event) => {
                self.change_told(shop, event)
            }
            (Phase::Recalling, Event::Read(_)) => Phase::Answered(Answer::Replayed),
            (Phase::Queueing(queued, _), Event::Committed(outcome)) => match outcome {
                Commit::Done => Phase::Answered(Answer::Accepted),
                Commit::Cancelled(causes) => {
                    let [Cause::Condition(Some(item))] = &causes[..] else { panic!("{causes:?}") };
                    let waiting: QueuedOrder = read_item(item.clone()).expect("a queued order");
                    Phase::Answered(match Acceptance::of(*queued, Some(waiting)) {
                        Acceptance::Accepted(_) | Acceptance::Replayed(_) => Answer::Accepted,
                        Acceptance::KeyReused => Answer::Refused,
                    })
                }
            },
            (Phase::Sending(max_total), Event::Sent) => {
                effect = Some(Effect::Send(Role::Message { ask: self.role.ask(), queued_at: self.clock }));
                queueing(ask, max_total, self.clock)
            }
            // The client library sends it again.
            (Phase::Queueing(queued, transaction), Event::Unanswered) => Phase::Queueing(queued, transaction),
            (Phase::Refusing(_, Some(_)), Event::Committed(Commit::Done)) => Phase::Answered(Answer::Refused),
            (Phase::Refusing(_, Some(earlier)), Event::Committed(Commit::Cancelled(_))) => {
                Phase::Refusing(earlier, None)
            }
            (Phase::Restocking(_), Event::Committed(_)) => Phase::Answered(Answer::Void),
            (_, event) => self.place_told(shop, event),
        };
        (actor, effect)
    }
}

fn queueing(ask: &PlaceOrder, max_total: Option<Money>, at: Timestamp) -> Phase {
    let id = OrderId::of(&ask.customer, &ask.key);
    let queued = QueuedOrder::new(id, ask.customer.clone(), ask.basket.hash().clone(), at);
    let queued = QueuedOrder { max_total, ..queued };
    let write = ordering::queueing(&queued).expect("a write");
    Phase::Queueing(Box::new(queued), Transaction::new(&[write]))
}

fn places(keys: Vec<Key>) -> Vec<Place> {
    keys.into_iter().map(Place::from).collect()
}
