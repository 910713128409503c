//! Schedule: cancels the orders that were not paid in time.
//!
//! The list of pending orders, oldest first, is the work list: an order that is paid or cancelled leaves the list. So a
//! run stores no progress, and the next run does what this one did not finish. Concurrent runs do no harm, because an
//! order is cancelled on condition that its version has not changed since it was read. The list comes from an index and
//! may be out of date, so each decision is based on a strongly consistent read of the order itself.

use std::time::Duration;

use key_schema::access::Access;
use key_schema::entity::OrderStatus;
use key_schema::layout::OrdersOfStatus;
use key_schema::value::{TimeRange, Timestamp};
use lambda::{Environment, Error, FromEnvironment, Grant, Measure, Misconfigured};
use ordering::{Lifecycle, PayLater};
use serde::{Deserialize, Serialize};
use table::{Budget, Reader, StatusShards};
use tokio::time::Instant;
use tracing::{error, info};

/// The function's access to the table.
pub const ACCESS: &[&[Access]] = &[ordering::EXPIRE];

/// None: the function calls no other service.
pub const GRANTS: &[Grant] = &[];

/// With less time left, no further order is begun. Cancelling one order takes at most this long.
const ONE_ORDER: Duration = Duration::from_secs(10);

/// The number of orders in one page of the list.
const PAGE_SIZE: u8 = 100;

/// The function's dependencies, and the time for which an order may stay unpaid.
#[derive(Clone, Debug)]
pub struct Expirer {
    reader: Reader,
    orders: Lifecycle,
    shards: StatusShards,
    pay_within_minutes: u32,
    pay_later: PayLater,
}

impl FromEnvironment for Expirer {
    fn from_environment(environment: &Environment) -> Result<Self, Misconfigured> {
        Ok(Self {
            reader: Reader::from_environment(environment)?,
            orders: Lifecycle::from_environment(environment)?,
            shards: StatusShards::from_environment(environment)?,
            pay_within_minutes: environment.number("PAY_WITHIN_MINUTES", 1..=100_000)?,
            pay_later: PayLater::from_environment(environment)?,
        })
    }
}

/// A scheduled event. Its content does not matter.
#[derive(Debug, Deserialize)]
pub struct ScheduledEvent {}

/// The outcome of a run.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Report {
    /// The number of orders that this run cancelled.
    expired: u64,
    /// The number of orders that were paid or cancelled in the meantime.
    settled: u64,
    /// The number of orders that could not be cancelled. The log has the causes, and the next run tries again.
    failed: u64,
    /// Whether the run reached the end of the list.
    done: bool,
}

/// Cancels one order after the other, to leave the table's capacity to the shop's requests.
pub async fn handle(expirer: Expirer, _: ScheduledEvent, time: Duration) -> Result<Report, Error> {
    let end = Instant::now() + time.saturating_sub(ONE_ORDER);
    let now = Timestamp::now();
    let deadline = now.minus_seconds(expirer.pay_within_minutes * 60);
    // Never earlier than the other orders.
    let deadline_later = now.minus_seconds(expirer.pay_later.days * 24 * 60 * 60).min(deadline);
    let placed = TimeRange::parse(None, Some(&deadline.to_string()))?;
    let shards = OrdersOfStatus::in_shards(OrderStatus::Pending, expirer.shards.0, &placed);

    let (mut report, mut position) = (Report::default(), None);
    'list: loop {
        let (orders, stopped) = expirer.reader.merged_after(&shards, position.as_deref(), PAGE_SIZE).await?;
        for order in orders {
            if Instant::now() >= end {
                break 'list;
            }
            let deadline = if order.pay_later { deadline_later } else { deadline };
            if order.placed_at > deadline {
                continue;
            }
            match expirer.orders.expire(&order.order_id, deadline, Budget::of(ONE_ORDER)).await {
                Ok(true) => report.expired += 1,
                Ok(false) => report.settled += 1,
                Err(cause) => {
                    report.failed += 1;
                    error!(
                        order_id = order.order_id.as_str(),
                        cause = lambda::chain(&cause),
                        "an unpaid order was not cancelled"
                    );
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
