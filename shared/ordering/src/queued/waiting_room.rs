//! The waiting room: while many orders wait in the queue, new ones go there first.

use std::sync::Arc;
use std::time::Duration;

use lambda::{Environment, FromEnvironment, Misconfigured, Service};
use queue::Queue;
use tokio::sync::Mutex;
use tokio::time::{Instant, timeout};
use tracing::warn;

use super::message::write_units_of;
use crate::Basket;

/// The time for which an environment believes what it last read of the queue.
const BELIEVED: Duration = Duration::from_secs(1);

/// The longest that an order waits for the length of the queue. After that, the last known length counts.
const PATIENCE: Duration = Duration::from_millis(500);

const LONGEST_WAIT: Duration = Duration::from_hours(1);

/// Decides whether an order has to go to the queue first.
///
/// Without a waiting room, an order that comes while others wait is placed at once if there is capacity at that moment. So
/// it may take the last unit before an order that waits. With a waiting room, orders go to the queue first while more than
/// `WAITING_ROOM_ORDERS` orders wait there. With 0 there is no waiting room.
///
/// A crowd that wants one product fills the waiting room, although the table has capacity: see
/// [`Orders::place_unless_crowded`](crate::Orders::place_unless_crowded).
///
/// Each environment reads the length of the queue before its first event, and then at most once a second. If the length
/// cannot be read, the last known one counts. If none is known, there is no waiting room.
#[derive(Clone, Debug)]
pub struct WaitingRoom {
    room: Option<Arc<Room>>,
    /// The rate of the drain, in write units per second.
    rate: u32,
}

#[derive(Debug)]
struct Room {
    /// The most orders in the queue with which new orders are placed at once.
    most: u64,
    queue: Queue,
    seen: Mutex<Seen>,
}

/// The length of the queue.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    length: u64,
    /// When it was last read, or the last attempt to read it began.
    at: Option<Instant>,
}

impl FromEnvironment for WaitingRoom {
    fn from_environment(environment: &Environment) -> Result<Self, Misconfigured> {
        let most: u64 = environment.number("WAITING_ROOM_ORDERS", 0..=1_000_000)?;
        let rate = environment.number("DRAIN_WRITE_UNITS", 1..=1_000_000)?;
        // Also without a room: a function that is deployed with one needs its variables.
        let queue = Queue::from_environment(environment)?;
        if most == 0 {
            return Ok(Self { room: None, rate });
        }
        let room = Arc::new(Room { most, queue, seen: Mutex::default() });
        let warmed = Arc::clone(&room);
        environment.warm_up(Service::Sqs, async move { _ = warmed.length().await });
        Ok(Self { room: Some(room), rate })
    }
}

impl WaitingRoom {
    /// Whether the shop has a waiting room.
    pub const fn is_there(&self) -> bool {
        self.room.is_some()
    }

    /// The time for which a new order with this basket has to wait behind others. `None`: it need not wait.
    pub async fn wait(&self, basket: &Basket) -> Option<Duration> {
        let room = self.room.as_ref()?;
        let orders = room.length().await;
        (orders > room.most).then(|| self.behind(orders, basket))
    }

    /// The time until an order is placed that waits behind so many, if each takes as many units as this one, and the drain
    /// has all the capacity that it may use.
    fn behind(&self, orders: u64, basket: &Basket) -> Duration {
        let each = write_units_of(basket);
        // The busiest of the table and its indexes limits the drain.
        let units = each.indexes.values().copied().fold(each.table, f64::max);
        #[expect(clippy::cast_precision_loss, reason = "a number of messages is far below 2^52")]
        let seconds = orders as f64 * units / f64::from(self.rate);
        Duration::from_secs_f64(seconds.min(LONGEST_WAIT.as_secs_f64()))
    }
}

impl Room {
    async fn length(&self) -> u64 {
        let mut seen = self.seen.lock().await;
        if seen.at.is_none_or(|at| at.elapsed() >= BELIEVED) {
            seen.at = Some(Instant::now());
            match timeout(PATIENCE, self.queue.length()).await {
                Ok(Ok(length)) => seen.length = length,
                Ok(Err(error)) => warn!(cause = lambda::chain(&error), "the length of the queue is not known"),
                Err(_) => warn!("the length of the queue is not known in time"),
            }
        }
        seen.length
    }
}

#[cfg(test)]
mod tests {
    use crate::NewOrder;

    use super::*;

    #[test]
    fn a_wait_is_the_backlog_over_the_rate_of_the_drain_and_an_hour_at_most() {
        let order = r#"{"lines":[{"productId":"cup","quantity":1},{"productId":"saucer","quantity":1}]}"#;
        let order: NewOrder = serde_json::from_str(order).expect("a order");
        let two_lines = Basket::try_from(order).expect("a basket");
        let room = WaitingRoom { room: None, rate: 200 };
        let wait = |orders| room.behind(orders, &two_lines).as_secs();
        // 14 units for each order.
        assert_eq!([0, 1000, u64::MAX].map(wait), [0, 70, 3600]);
    }
}
