//! Schedule: cancels the orders that were not paid in time.
//!
//! The list of pending orders is the work list, oldest first: an order that is paid or cancelled leaves it. So a run
//! needs to remember nothing. What it does not finish, the next one does, and two at once do no harm, because each order
//! is cancelled under the condition that its version is as it was read. The list may be behind; the order itself is read
//! strongly and decides.

use std::time::Duration;

use key_schema::access::Access;
use key_schema::entity::OrderStatus;
use key_schema::layout::OrdersOfStatus;
use key_schema::value::{TimeRange, Timestamp};
use lambda::{Environment, Error, FromEnvironment, Grant, Measure, Misconfigured};
use ordering::Lifecycle;
use serde::{Deserialize, Serialize};
use table::{Budget, Reader, StatusShards};
use tokio::time::Instant;
use tracing::{error, info};

/// What it asks of the table.
pub const ACCESS: &[&[Access]] = &[ordering::EXPIRE];

/// Nothing: it asks no other service.
pub const GRANTS: &[Grant] = &[];

/// With less time left, no other order is begun: the one that is under way takes that much at most.
const KEPT_BACK: Duration = Duration::from_secs(10);

/// How many orders are listed at a time.
const OF_A_LIST: u8 = 100;

/// What this function may touch, and how long an order may stay unpaid.
#[derive(Clone, Debug)]
pub struct Expirer {
    reader: Reader,
    orders: Lifecycle,
    shards: StatusShards,
    pay_within_minutes: u32,
}

impl FromEnvironment for Expirer {
    fn from_environment(environment: &Environment) -> Result<Self, Misconfigured> {
        Ok(Self {
            reader: Reader::from_environment(environment)?,
            orders: Lifecycle::from_environment(environment)?,
            shards: StatusShards::from_environment(environment)?,
            pay_within_minutes: environment.number("PAY_WITHIN_MINUTES", 1..=100_000)?,
        })
    }
}

/// A scheduled event. Nothing in it matters.
#[derive(Debug, Deserialize)]
pub struct Tick {}

/// What came of a run.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Report {
    /// How many orders were cancelled.
    expired: u64,
    /// How many had been paid or cancelled meanwhile.
    settled: u64,
    /// How many could not be cancelled, for a reason that is in the log. The next run tries them again.
    failed: u64,
    /// Whether the list was walked to its end.
    done: bool,
}

/// One order after the other: that is what keeps the pace from disturbing the shop.
pub async fn handle(expirer: Expirer, _: Tick, time: Duration) -> Result<Report, Error> {
    let end = Instant::now() + time.saturating_sub(KEPT_BACK);
    let deadline = Timestamp::now().minus_seconds(expirer.pay_within_minutes * 60);
    let placed = TimeRange::parse(None, Some(&deadline.to_string()))?;
    let shards = OrdersOfStatus::in_shards(OrderStatus::Pending, expirer.shards.0, &placed);

    let (mut report, mut position) = (Report::default(), None);
    'list: loop {
        let (orders, stopped) = expirer.reader.merged_after(&shards, position.as_deref(), OF_A_LIST).await?;
        for order in orders {
            if Instant::now() >= end {
                break 'list;
            }
            match expirer.orders.expire(&order.order_id, deadline, Budget::of(KEPT_BACK)).await {
                Ok(true) => report.expired += 1,
                Ok(false) => report.settled += 1,
                Err(cause) => {
                    report.failed += 1;
                    error!(order = %order.order_id, cause = lambda::chain(&cause), "an unpaid order was not cancelled");
                }
            }
        }
        position = stopped;
        if position.is_none() {
            report.done = true;
            break;
        }
    }
    let Report { expired, settled, failed, done } = report;
    info!(expired, settled, failed, done, "unpaid orders cancelled");
    lambda::metrics(&[("OrdersExpired", Measure::Count(expired)), ("ExpiriesFailed", Measure::Count(failed))]);
    Ok(report)
}
