//! The actors: requests, messages and changes. Each makes the decisions of the production code, with one request to the
//! table between two decisions.

mod change;
mod place;

use std::sync::LazyLock;

use key_schema::entity::{Order, QueuedOrder, Rejection, WholeOrder, WholeStock};
use key_schema::layout::Key;
use key_schema::value::{Cells, Money, OrderId, Quantity, Timestamp};
use ordering::changing::{Changing, SentChange};
use ordering::steps::Transition;
use ordering::{
    Acceptance, GuestShare, MaxOpenUnits, Numbering, OrderRequest, Origin, PlacingAttempt, PlacingSettings, SentOrder,
    TaxRules,
};
use stock::Proof;
use table::{Cause, Commit, ProductShards, StatusShards, read_item};

use super::Shop;
use super::bugs::Bug;
use crate::table::{Digested, Place, Seen, Stored, Table, Transaction};

/// The settings of every shop.
static SETTINGS: LazyLock<PlacingSettings> = LazyLock::new(|| PlacingSettings {
    status_shards: StatusShards(1),
    product_shards: ProductShards(1),
    max_open_units: MaxOpenUnits::new(0),
    guest_share: GuestShare { percent: 100 },
    tax_rules: TaxRules::default(),
    numbering: Numbering::default(),
});

/// The role of an actor. `request` is the number of the order that it is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Role {
    /// A request that places an order.
    Request { request: usize },
    /// A request that prefers to be queued.
    RequestLater { request: usize },
    Message {
        request: usize,
        /// When it was accepted.
        queued_at: Timestamp,
    },
    /// One unit of the order's product is returned, as by a cancellation.
    Restock { request: usize },
    /// One unit is transferred from the first cell to the second.
    Shift {
        /// An order of the product.
        request: usize,
    },
    /// A request or a schedule that changes the order.
    Change {
        request: usize,
        /// The requested change.
        transition: Transition<'static>,
        /// The time of its clock, which distinguishes its writes from those of others.
        at: Timestamp,
    },
}

/// The phase of an actor: the request that it waits for.
#[derive(Clone, Debug)]
pub enum Phase {
    /// Reads everything the order depends on.
    Reading(Box<PlacingAttempt<'static>>),
    /// Reads all cells of a stock, after everything else.
    ReadingCells(Box<PlacingAttempt<'static>>, Vec<Stored>, Vec<Place>, Option<Proof>),
    /// Reads all cells of a stock in a snapshot read, after everything else.
    SettlingCells(Box<PlacingAttempt<'static>>, Vec<Stored>, Vec<Place>),
    /// Transfers units into one cell.
    Gathering(Box<PlacingAttempt<'static>>, Vec<(WholeStock, Quantity)>, Digested<Transaction>),
    Committing(Box<PlacingAttempt<'static>>, Box<SentOrder>, Digested<Transaction>),
    /// Returns or transfers units.
    Restocking(Digested<Transaction>),
    /// Reads whether the order exists or is queued.
    Settling(Box<PlacingAttempt<'static>>, Rejection),
    /// Reads the existing order.
    Recalling,
    Queueing(Box<QueuedOrder>, Digested<Transaction>),
    Sending(Option<Money>),
    /// Records the order as refused: for its own acceptance, or else for an earlier one.
    Refusing(Digested<Transaction>, Option<Digested<Transaction>>),
    /// Reads the whole order, item by item.
    ReadingOrder(Box<Changing<'static>>),
    /// Reads the order's header and invoice in a snapshot read.
    SettlingOrder(Box<Changing<'static>>, Box<WholeOrder>),
    /// Sends the writes that change the order.
    Changing(Box<Changing<'static>>, Box<SentChange>, Digested<Transaction>),
    Answered(Answer),
}

/// The answer to a request, or the outcome of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Answer {
    /// 201.
    Placed,
    /// 201, as a replay.
    Replayed,
    /// A problem: the order is not placed, or not changed.
    Refused,
    /// The problem `out-of-stock`.
    SoldOut,
    /// 202.
    Accepted,
    /// 503, a crash or a timeout: the client may retry.
    Unavailable,
    /// A message that is deleted without effect.
    Void,
    /// 200: the order was changed.
    Changed,
    /// 200, as a replay.
    ChangedBefore,
    /// 404: the order does not exist.
    NotFound,
    /// 500: an item cannot be read, or is missing.
    Failed,
}

/// An event that an actor receives.
#[derive(Debug)]
pub(super) enum Event {
    Read(Vec<Stored>),
    Committed(Commit),
    Unanswered,
    NoCapacity,
    Stopped,
    Sent,
}

/// A side effect of an actor.
#[derive(Debug)]
pub(super) enum Effect {
    Send(Role),
}

#[derive(Clone, Debug)]
pub struct Actor {
    pub role: Role,
    pub phase: Phase,
    /// Whether one of its transactions was not answered.
    pub is_unanswered: bool,
    /// The time of its clock, which distinguishes its message from those of others.
    clock: Timestamp,
}

/// The current time. It never changes, so that states do not differ only in time.
pub(super) fn now() -> Timestamp {
    after(0)
}

/// The time this many milliseconds after [`now`].
pub(super) fn after(milliseconds: i64) -> Timestamp {
    Timestamp::from_millisecond(1_795_253_400_000 + milliseconds).expect("a time")
}

impl Phase {
    /// Whether it ended without an answer, so that the client or SQS tries again.
    pub(super) fn is_unavailable(&self) -> bool {
        matches!(self, Self::Answered(Answer::Unavailable))
    }
}

impl Role {
    /// The number of its order.
    pub fn request(&self) -> usize {
        match self {
            Self::Request { request }
            | Self::RequestLater { request }
            | Self::Message { request, .. }
            | Self::Restock { request }
            | Self::Shift { request }
            | Self::Change { request, .. } => *request,
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

    /// Whether it may crash. A return of units is not a request, so it may not.
    pub fn may_stop(&self) -> bool {
        !matches!(self, Self::Restock { .. } | Self::Shift { .. })
    }

    pub fn orders(&self) -> bool {
        matches!(self, Self::Request { .. } | Self::RequestLater { .. })
    }
}

impl Actor {
    pub(super) fn enter(role: Role, shop: &Shop, clock: Timestamp) -> Self {
        let request = shop.requests[role.request()];
        let phase = match &role {
            Role::RequestLater { .. } => Phase::Sending(None),
            Role::Restock { .. } => {
                let product = &request.basket.order().lines[0].product_id;
                let one = 1_i64.try_into().expect("a quantity");
                Phase::Restocking(Transaction::new(&[stock::put_back(product, one).expect("a write")]))
            }
            Role::Shift { .. } => {
                let product = request.basket.order().lines[0].product_id.clone();
                let price = Money::new(0, "EUR".to_owned().try_into().expect("a currency")).expect("an amount");
                let (units, transferred) = (vec![1, 2], vec![0, 0]);
                let whole = WholeStock { units, transferred, ..WholeStock::shared_out(product, price, 0, Cells::ONE) };
                fastrand::seed(99);
                let writes = stock::gathering(&whole, 3).expect("writes").expect("a transfer");
                Phase::Restocking(Transaction::new(&writes))
            }
            Role::Change { transition, .. } => Phase::ReadingOrder(Box::new(Changing::new(*transition))),
            role => Phase::Reading(Box::new(PlacingAttempt::new(request, role.origin(), &SETTINGS))),
        };
        Self { role, phase, is_unanswered: false, clock }
    }

    pub(super) fn is_done(&self) -> bool {
        matches!(self.phase, Phase::Answered(_))
    }

    pub(super) fn is_refused(&self) -> bool {
        matches!(self.phase, Phase::Answered(Answer::Refused | Answer::SoldOut))
    }

    /// Whether its current request is a transaction that places or changes its order.
    pub(super) fn commits(&self) -> bool {
        matches!(self.phase, Phase::Committing(..) | Phase::Changing(..))
    }

    /// Whether its current request may be lost, late, or without capacity.
    pub(super) fn may_fail(&self) -> bool {
        self.commits() || matches!(self.phase, Phase::Gathering(..) | Phase::Queueing(..) | Phase::Refusing(..))
    }

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

    /// Its current read, if that is not a snapshot read.
    pub(super) fn begins_to_read(&self, shop: &Shop, table: &Table) -> Option<Seen> {
        match &self.phase {
            Phase::ReadingOrder(_) => {
                Some(Seen::begin_query(table, change::partition(shop.requests[self.role.request()])))
            }
            Phase::Reading(placing) => Some(Seen::begin(table, places(placing.keys()))),
            Phase::ReadingCells(_, _, places, _) => Some(Seen::begin(table, places.clone())),
            _ => None,
        }
    }

    /// The keys of its current snapshot read.
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

    /// Its next state and side effect after this event.
    pub(super) fn told(&self, shop: &Shop, event: Event) -> (Self, Option<Effect>) {
        let mut actor = self.clone();
        let request = shop.requests[self.role.request()];
        let mut effect = None;
        actor.is_unanswered |= self.commits() && matches!(event, Event::Unanswered);
        let event = match event {
            Event::Unanswered if shop.bug == Some(Bug::UnansweredIsCancelled) => {
                Event::Committed(Commit::Cancelled(Vec::new()))
            }
            event => event,
        };
        actor.phase = match (self.phase.clone(), event) {
            // The message's own acceptance may be in progress, or its order may be placed: the next delivery decides.
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
                effect = Some(Effect::Send(Role::Message { request: self.role.request(), queued_at: self.clock }));
                queueing(request, max_total, self.clock)
            }
            // The SDK retries.
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

fn queueing(request: &OrderRequest, max_total: Option<Money>, at: Timestamp) -> Phase {
    let id = OrderId::of(&request.customer, &request.key);
    let queued = QueuedOrder::new(id, request.customer.clone(), request.basket.hash().clone(), at);
    let queued = QueuedOrder { max_total, ..queued };
    let write = ordering::queueing(&queued).expect("a write");
    Phase::Queueing(Box::new(queued), Transaction::new(&[write]))
}

fn places(keys: Vec<Key>) -> Vec<Place> {
    keys.into_iter().map(Place::from).collect()
}
