//! Whoever acts: requests and messages. Production's decisions, and between them one request to the table each.

use key_schema::entity::{Order, QueuedOrder, Rejection};
use key_schema::layout::{CellsOfStock, Key};
use key_schema::value::{Money, OrderId, Timestamp};
use ordering::{Attempt, Found, FoundItem, Next, Origin, PlaceOrder, Placement, Placing, Waiting};
use stock::Look;
use table::{Cause, Item, ProductShards, StatusShards, read_item};

use crate::table::{Digested, Place, Stored, Transaction};

const STATUS_SHARDS: StatusShards = StatusShards(1);
const PRODUCT_SHARDS: ProductShards = ProductShards(1);

/// What an actor is there for. `ask` is the number of what is ordered.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
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
}

/// What an actor waits for.
#[derive(Clone, Debug)]
pub enum Phase {
    /// Everything the order depends on.
    Reading(Box<Placing<'static>>),
    /// All cells of a stock, after everything else.
    ReadingCells(Box<Placing<'static>>, Vec<Stored>, Vec<Place>, Look),
    /// The order's transaction.
    Committing(Box<Placing<'static>>, Box<Attempt>, Digested<Transaction>),
    /// Units that come back.
    Restocking(Digested<Transaction>),
    /// Whether the order is there or waits.
    Settling(Box<Placing<'static>>, Rejection),
    /// The order that is there.
    Recalling,
    /// That the order waits is written down.
    Queueing(Box<QueuedOrder>, Digested<Transaction>),
    /// The message is sent.
    Sending(Option<Money>),
    /// That the order is refused is written down.
    Refusing(Digested<Transaction>),
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
    /// A problem that says why there is no order.
    Refused,
    /// 202.
    Accepted,
    /// 503: try again.
    Unavailable,
    /// A message that has nothing left to do.
    Void,
}

/// What an actor is told.
#[derive(Debug)]
pub(super) enum Event {
    Read(Vec<Stored>),
    Committed(Result<(), Vec<Cause>>),
    Unanswered,
    NoCapacity,
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
}

type Asks<'a> = &'a [&'static PlaceOrder];

/// It is always the same moment, so that no two states differ only in that.
pub(super) fn now() -> Timestamp {
    Timestamp::from_millisecond(1_795_253_400_000).expect("a time")
}

impl Role {
    /// Which order.
    pub fn ask(&self) -> usize {
        match self {
            Self::Request { ask } | Self::RequestLater { ask } | Self::Message { ask, .. } | Self::Restock { ask } => {
                *ask
            }
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

    /// Whether it asks for an order.
    pub fn orders(&self) -> bool {
        matches!(self, Self::Request { .. } | Self::RequestLater { .. })
    }
}

impl Actor {
    pub(super) fn enter(role: Role, asks: Asks<'_>) -> Self {
        let ask = asks[role.ask()];
        let phase = match &role {
            Role::RequestLater { .. } => Phase::Sending(None),
            Role::Restock { .. } => {
                let product = &ask.basket.request().lines[0].product_id;
                let one = 1_i64.try_into().expect("a quantity");
                Phase::Restocking(Transaction::new(&[stock::put_back(product, one).expect("a write")]))
            }
            role => Phase::Reading(Box::new(Placing::new(ask, role.origin(), STATUS_SHARDS, PRODUCT_SHARDS))),
        };
        Self { role, phase, is_unanswered: false }
    }

    pub(super) fn is_done(&self) -> bool {
        matches!(self.phase, Phase::Answered(_))
    }

    /// Whether it is the order's transaction that it waits for.
    pub(super) fn commits(&self) -> bool {
        matches!(self.phase, Phase::Committing(..))
    }

    /// The transaction that it waits for.
    pub(super) fn transaction(&self) -> Option<&Digested<Transaction>> {
        match &self.phase {
            Phase::Committing(_, _, transaction)
            | Phase::Restocking(transaction)
            | Phase::Queueing(_, transaction)
            | Phase::Refusing(transaction) => Some(transaction),
            _ => None,
        }
    }

    /// The places that it reads one by one.
    pub(super) fn reads(&self) -> Option<Vec<Place>> {
        match &self.phase {
            Phase::Reading(placing) => Some(places(placing.keys())),
            Phase::ReadingCells(_, _, places, Look::Glance | Look::Close) => Some(places.clone()),
            _ => None,
        }
    }

    /// The places that it reads at one moment.
    pub(super) fn reads_at_once(&self) -> Option<Vec<Place>> {
        match &self.phase {
            Phase::ReadingCells(_, _, places, Look::AtOnce) => Some(places.clone()),
            Phase::Settling(placing, _) => {
                Some(places(vec![Order::key_of(placing.id()), QueuedOrder::key_of(placing.id())]))
            }
            Phase::Recalling => Some(Vec::new()),
            _ => None,
        }
    }

    /// What it does when it is told this.
    pub(super) fn told(&self, asks: Asks<'_>, event: Event) -> (Self, Option<Effect>) {
        let mut actor = self.clone();
        let ask = asks[self.role.ask()];
        let mut effect = None;
        actor.is_unanswered |= matches!(event, Event::Unanswered);
        actor.phase = match (self.phase.clone(), event) {
            (Phase::Reading(placing), Event::Read(items)) => {
                let found: Found = items.iter().map(read).collect();
                let mut cells = placing.cells_to_read(&found);
                let first = cells.next().map(|(first, look)| (first.clone(), look));
                assert!(cells.next().is_none(), "the shops of this model have one product in cells");
                drop(cells);
                match first {
                    Some((first, look)) => {
                        let pattern = CellsOfStock { product: &first.product_id, cells: first.cells };
                        let places = places(pattern.keys());
                        Phase::ReadingCells(placing, items, places, look)
                    }
                    None => self.found(ask, placing, &found),
                }
            }
            (Phase::ReadingCells(placing, items, _, _), Event::Read(cells)) => {
                let mut found: Found = items.iter().map(read).collect();
                let (first, _) = placing.cells_to_read(&found).next().expect("the stock whose cells were read");
                let first = first.clone();
                let pattern = CellsOfStock { product: &first.product_id, cells: first.cells };
                let cells = cells.iter().map(|cell| read_item(cell.0.clone()).expect("a cell")).collect();
                found.learn(pattern.assemble(cells).expect("as many cells as there are"));
                self.found(ask, placing, &found)
            }
            (Phase::Committing(mut placing, attempt, _), Event::Committed(outcome)) => {
                let next = placing.committed(*attempt, outcome).expect("items that can be read");
                self.follow(ask, placing, next)
            }
            (Phase::Committing(mut placing, ..), Event::Unanswered) => {
                let next = placing.unanswered();
                self.follow(ask, placing, next)
            }
            (Phase::Committing(placing, ..), Event::NoCapacity) => match (self.role.origin(), placing.max_total()) {
                (Origin::Request, Some(max_total)) => Phase::Sending(Some(max_total)),
                _ => Phase::Answered(Answer::Unavailable),
            },
            (Phase::Settling(placing, rejection), Event::Read(items)) => {
                let next = placing.settled(rejection, items.iter().map(read).collect(), now());
                self.follow(ask, placing, next)
            }
            (Phase::Recalling, Event::Read(_)) => Phase::Answered(Answer::Replayed),
            (Phase::Queueing(queued, _), Event::Committed(outcome)) => match outcome {
                Ok(()) => Phase::Answered(Answer::Accepted),
                Err(causes) => {
                    let [Cause::Condition(Some(item))] = &causes[..] else { panic!("{causes:?}") };
                    let waiting: QueuedOrder = read_item(item.clone()).expect("a queued order");
                    if waiting.request_hash == queued.request_hash {
                        Phase::Answered(Answer::Accepted)
                    } else {
                        Phase::Answered(Answer::Refused)
                    }
                }
            },
            (Phase::Sending(max_total), Event::Sent) => {
                effect = Some(Effect::Send(Role::Message { ask: self.role.ask(), queued_at: now() }));
                queueing(ask, max_total)
            }
            (Phase::Restocking(_), Event::Committed(_)) => Phase::Answered(Answer::Void),
            (Phase::Refusing(_), Event::Committed(Ok(()))) => Phase::Answered(Answer::Refused),
            (Phase::Refusing(_), Event::Committed(Err(_))) => Phase::Answered(Answer::Void),
            (phase, event) => panic!("{event:?} in {phase:?}"),
        };
        (actor, effect)
    }

    fn found(&self, ask: &'static PlaceOrder, mut placing: Box<Placing<'static>>, found: &Found) -> Phase {
        let next = placing.found(found, now()).expect("an order that can be written");
        self.follow(ask, placing, next)
    }

    fn follow(&self, ask: &'static PlaceOrder, placing: Box<Placing<'static>>, next: Next) -> Phase {
        match next {
            Next::Read { .. } => Phase::Reading(placing),
            Next::Commit(writes, attempt) => Phase::Committing(placing, attempt, Transaction::new(&writes)),
            Next::Gather(_) => panic!("no order of these shops is larger than what a cell has"),
            Next::Settle(rejection) => Phase::Settling(placing, rejection),
            Next::Recall => Phase::Recalling,
            Next::Unknown => Phase::Answered(Answer::Unavailable),
            Next::Done(placement) => match *placement {
                Placement::Placed(_) => Phase::Answered(Answer::Placed),
                Placement::Replayed(_) => Phase::Answered(Answer::Replayed),
                Placement::Void => Phase::Answered(Answer::Void),
                Placement::NotAccepted => Phase::Answered(Answer::Unavailable),
                Placement::Mismatch => panic!("no message of these shops holds another request"),
                Placement::NoCapacity { max_total } => Phase::Sending(Some(max_total)),
                Placement::Waits(queued) => Phase::Sending(queued.max_total),
                Placement::Rejected(rejection) => match &self.role {
                    Role::Message { queued_at, .. } => {
                        let waiting =
                            Waiting { order: ask.clone(), queued_at: *queued_at, max_total: None, is_redriven: false };
                        let writes = ordering::refusal(&waiting, rejection, now()).expect("writes");
                        Phase::Refusing(Transaction::new(&writes))
                    }
                    _ => Phase::Answered(Answer::Refused),
                },
            },
        }
    }
}

fn queueing(ask: &PlaceOrder, max_total: Option<Money>) -> Phase {
    let id = OrderId::of(&ask.customer, &ask.key);
    let queued = QueuedOrder::new(id, ask.customer.clone(), ask.basket.hash().clone(), now());
    let queued = QueuedOrder { max_total, ..queued };
    let write = ordering::queueing(&queued).expect("a write");
    Phase::Queueing(Box::new(queued), Transaction::new(&[write]))
}

fn places(keys: Vec<Key>) -> Vec<Place> {
    keys.into_iter().map(Place::from).collect()
}

fn read(stored: &Stored) -> FoundItem {
    read_item(Item::clone(&stored.0)).expect("an item that an order depends on")
}
