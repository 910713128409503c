//! The records of a batch until each is published or given up.

use std::collections::{BTreeMap, HashSet};

use catalogue::FewLeft;
use futures_util::StreamExt as _;
use futures_util::stream::iter;
use key_schema::entity::{Order, OrderItem, OrderStatus};
use key_schema::layout::PRODUCTS_OF_ORDER;
use key_schema::value::{Money, SequenceNumber, Timestamp};
use lambda::Measure;
use order_events::{Draft, Event, OrderPlaced, OrderStatusChanged, PaymentCaptured, Waiting, drafts_of};
use stream::{Delivered, LostRecords};
use table::Reader;
use tracing::{info, warn};

use crate::publish_order_events::bus::Entry;

/// The number of orders whose lines are read concurrently.
const CONCURRENCY: usize = 16;

/// A batch of records. `open` has the unfinished events, by their position among the events of the batch.
pub(crate) struct Batch {
    delivered: Vec<Delivered>,
    /// The index of each event's record. A record may have several events.
    record_of: Vec<usize>,
    open: BTreeMap<usize, Unfinished>,
    finished: Finished,
}

/// The number of events that are published, and of records that are given up.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Finished {
    pub(crate) published: usize,
    pub(crate) given_up: usize,
}

#[allow(clippy::large_enum_variant, reason = "a batch has few events that lack lines")]
enum Unfinished {
    /// The event can be published.
    Ready(Entry),
    /// The event still lacks the lines of the order that was placed.
    Placed(Order, Timestamp),
    /// The record can never be published, for this reason.
    Unreadable(String),
}

impl Batch {
    pub(crate) fn new(mut delivered: Vec<Delivered>, few_left: FewLeft) -> Self {
        let events = delivered.iter_mut().enumerate();
        let events = events
            .flat_map(|(at, delivered)| Unfinished::of(delivered, few_left).into_iter().map(move |one| (at, one)));
        // Of the marks that a product may have crossed, the last one is enough: who is told looks at all of its stock.
        let mut low = HashSet::new();
        let mut events: Vec<_> = events.collect();
        events.reverse();
        events.retain(|(_, event)| match event {
            Unfinished::Ready(Entry { event: Event::StockRanLow(ran_low), .. }) => {
                low.insert(ran_low.product_id.clone())
            }
            _ => true,
        });
        events.reverse();
        let (record_of, open): (Vec<_>, Vec<_>) = events.into_iter().unzip();
        Self { delivered, record_of, open: open.into_iter().enumerate().collect(), finished: Finished::default() }
    }

    pub(crate) fn finished(&self) -> Finished {
        self.finished
    }

    /// The number of events that are neither published nor given up.
    pub(crate) fn unfinished(&self) -> usize {
        self.open.len()
    }

    /// The first record with an unfinished event. Lambda is to deliver the shard again from there.
    pub(crate) fn first_left(&self) -> Option<&SequenceNumber> {
        self.open.keys().next().and_then(|position| self.record(*position)).map(|record| &record.number)
    }

    fn record(&self, position: usize) -> Option<&Delivered> {
        self.record_of.get(position).and_then(|record| self.delivered.get(*record))
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
                (self.open.get(&position), self.record(position))
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

    /// Removes the records that can never be published, and returns them with the reasons.
    pub(crate) fn set_unreadable_aside(&mut self) -> Vec<(SequenceNumber, String)> {
        let unreadable = self.open.extract_if(.., |_, open| matches!(open, Unfinished::Unreadable(_)));
        let unreadable: Vec<_> = unreadable.collect();
        let aside = unreadable.into_iter().filter_map(|(position, open)| match open {
            Unfinished::Unreadable(reason) => Some((self.record(position)?.number.clone(), reason)),
            _ => None,
        });
        aside.collect()
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

    pub(crate) fn published(&mut self, position: usize) {
        if let Some(Unfinished::Ready(entry)) = self.open.remove(&position) {
            entry.tell(count);
            self.finished.published += 1;
        }
    }
}

/// Writes a line for the event, and counts what it says about the shop.
fn count(event: &Event) {
    info!("published");
    let count = |name, is_one| (name, Measure::Count(u64::from(is_one)));
    let amount = |name, money: Money| (name, Measure::Amount(u64::try_from(money.amount()).unwrap_or_default()));
    let of_currency = |money: Money, measures: &[_]| {
        lambda::metrics_of_shop(measures, Some(("Currency", &money.currency().to_string())));
    };
    match event {
        Event::OrderPlaced(OrderPlaced { total, status, .. }) => {
            let is_paid = count("OrdersPaid", *status == OrderStatus::Paid);
            lambda::metrics_of_shop(&[count("OrdersPlaced", true), is_paid], None);
            of_currency(*total, &[amount("OrderValue", *total)]);
        }
        Event::OrderStatusChanged(OrderStatusChanged { to: OrderStatus::Paid, .. }) => {
            lambda::metrics_of_shop(&[count("OrdersPaid", true)], None);
        }
        Event::PaymentCaptured(PaymentCaptured { amount: captured, .. }) => {
            of_currency(*captured, &[amount("MoneyCaptured", *captured)]);
        }
        _ => {}
    }
}

impl Unfinished {
    /// The events of a record.
    fn of(delivered: &mut Delivered, FewLeft(few_left): FewLeft) -> Vec<Self> {
        let record = match &mut delivered.record {
            Ok(record) => record,
            Err(error) => return vec![Self::unreadable(error)],
        };
        let (old, new) = (std::mem::take(&mut record.old), std::mem::take(&mut record.new));
        let at = record.written_at;
        let unfinished = |draft| match draft {
            Draft::Event(event) => Self::ready(event, at),
            Draft::Placed(order) => Self::Placed(*order, at),
        };
        match drafts_of(order_events::Record { name: &record.name, written_at: at, old, new }, few_left) {
            Ok(drafts) => drafts.into_iter().map(unfinished).collect(),
            Err(error) => vec![Self::unreadable(&error)],
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
    let lines = table.collection(&PRODUCTS_OF_ORDER.ask(&order.order_id)).await;
    let open = match lines {
        Ok(items) => match OrderPlaced::new(order, OrderItem::lines(items)) {
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
