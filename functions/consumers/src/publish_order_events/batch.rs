//! The records of a batch until each is published or given up.

use std::collections::BTreeMap;

use futures_util::StreamExt as _;
use futures_util::stream::iter;
use key_schema::entity::Order;
use key_schema::layout::ProductsOfOrder;
use key_schema::value::{SequenceNumber, Timestamp};
use order_events::{Draft, OrderPlaced, Waiting, draft_of};
use stream::{Delivered, LostRecords};
use table::Reader;
use tracing::warn;

use crate::publish_order_events::bus::Entry;

/// The number of orders whose lines are read concurrently.
const CONCURRENCY: usize = 16;

/// A batch of records. `open` has the unfinished ones, by their position in the batch.
pub(crate) struct Batch {
    delivered: Vec<Delivered>,
    open: BTreeMap<usize, Unfinished>,
    finished: Finished,
}

/// The number of finished records that made an event or should have made one.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Finished {
    pub(crate) published: usize,
    pub(crate) given_up: usize,
}

/// An unfinished record.
enum Unfinished {
    /// The record's event can be published.
    Ready(Entry),
    /// The record's event still lacks the lines of the order that was placed.
    Placed(Order, Timestamp),
    /// The record can never be published, for this reason.
    Unreadable(String),
}

impl Batch {
    pub(crate) fn new(mut delivered: Vec<Delivered>) -> Self {
        let open = delivered.iter_mut().enumerate();
        let open = open.filter_map(|(position, delivered)| Some((position, Unfinished::of(delivered)?))).collect();
        Self { delivered, open, finished: Finished::default() }
    }

    pub(crate) fn finished(&self) -> Finished {
        self.finished
    }

    /// The number of records that are neither published nor given up.
    pub(crate) fn unfinished(&self) -> usize {
        self.open.len()
    }

    /// The first unfinished record. Lambda is to deliver the shard again from there.
    pub(crate) fn first_left(&self) -> Option<&SequenceNumber> {
        self.open.keys().next().and_then(|position| self.delivered.get(*position)).map(|record| &record.number)
    }

    /// Reads the lines of the orders that were placed. If an order's lines cannot be read now, its record stays
    /// unchanged.
    pub(crate) async fn read_lines(&mut self, table: &Reader) {
        let placed = self.open.iter().filter_map(|(position, open)| match open {
            Unfinished::Placed(order, written_at) => Some((*position, order.clone(), *written_at)),
            _ => None,
        });
        let placed: Vec<_> = placed.collect();
        let reads = placed.into_iter().map(|(position, order, at)| with_lines(table, position, order, at));
        let read: Vec<_> = iter(reads).buffered(CONCURRENCY).collect().await;
        self.open.extend(read.into_iter().filter_map(|(position, open)| Some((position, open?))));
    }

    /// Sends the records that can never be published to the queue of lost records. Stops if the queue does not accept
    /// one of them.
    pub(crate) async fn give_up(&mut self, lost: &LostRecords) {
        let unreadable = |open: &Unfinished| matches!(open, Unfinished::Unreadable(_));
        let positions: Vec<_> = self.open.iter().filter(|(_, open)| unreadable(open)).map(|(at, _)| *at).collect();
        for position in positions {
            let (Some(Unfinished::Unreadable(reason)), Some(delivered)) =
                (self.open.get(&position), self.delivered.get(position))
            else {
                continue;
            };
            match lost.take(None, delivered, reason).await {
                Ok(()) => {
                    self.open.remove(&position);
                    self.finished.given_up += 1;
                }
                Err(error) => {
                    warn!(cause = lambda::chain(&error), "the queue of lost records did not accept a record");
                    return;
                }
            }
        }
    }

    /// The events that can be published, up to the first record that is not ready: those behind it have to wait, so that
    /// events stay in order.
    pub(crate) fn waiting(&self) -> impl Iterator<Item = Waiting<'_>> {
        self.open.iter().map_while(|(position, open)| match open {
            Unfinished::Ready(entry) => {
                Some(Waiting { position: *position, subject: entry.event.subject(), bytes: entry.detail.len() })
            }
            _ => None,
        })
    }

    /// The event at this position, if it is not published yet.
    pub(crate) fn ready(&self, position: usize) -> Option<&Entry> {
        match self.open.get(&position)? {
            Unfinished::Ready(entry) => Some(entry),
            _ => None,
        }
    }

    /// Records that the event at this position is published.
    pub(crate) fn published(&mut self, position: usize) {
        if self.open.remove(&position).is_some() {
            self.finished.published += 1;
        }
    }
}

impl Unfinished {
    /// The unfinished record; `None` if the record makes no event.
    fn of(delivered: &mut Delivered) -> Option<Self> {
        let record = match &mut delivered.record {
            Ok(record) => record,
            Err(error) => return Some(Self::unreadable(error)),
        };
        let (old, new) = (std::mem::take(&mut record.old), std::mem::take(&mut record.new));
        match draft_of(order_events::Record { name: &record.name, written_at: record.written_at, old, new }) {
            Ok(draft) => Some(match draft? {
                Draft::Event(event) => Self::ready(event, record.written_at),
                Draft::Placed(order) => Self::Placed(order, record.written_at),
            }),
            Err(error) => Some(Self::unreadable(&error)),
        }
    }

    fn ready(event: impl Into<order_events::Event>, written_at: Timestamp) -> Self {
        match Entry::new(event.into(), written_at.as_second()) {
            Ok(entry) => Self::Ready(entry),
            Err(error) => Self::unreadable(&*error),
        }
    }

    fn unreadable(error: &(dyn std::error::Error + 'static)) -> Self {
        Self::Unreadable(lambda::chain(error))
    }
}

/// The record of a placed order after its lines are read; `None` if they cannot be read now.
async fn with_lines(
    table: &Reader,
    position: usize,
    order: Order,
    written_at: Timestamp,
) -> (usize, Option<Unfinished>) {
    let lines = table.collection(&ProductsOfOrder { order: &order.order_id }).await;
    let open = match lines {
        Ok(items) => match OrderPlaced::new(order, items.into_iter().map(|item| item.line).collect()) {
            Ok(event) => Some(Unfinished::ready(event, written_at)),
            Err(missing) => Some(Unfinished::unreadable(&missing)),
        },
        Err(error @ table::Error::Item(_)) => Some(Unfinished::unreadable(&error)),
        Err(error) => {
            warn!(order_id = order.order_id.as_str(), cause = lambda::chain(&error), "order lines could not be read");
            None
        }
    };
    (position, open)
}
