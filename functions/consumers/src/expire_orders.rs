//! Schedule: cancels the orders that were not paid in time, and those whose payment lapsed and was not replaced in time.
//!
//! The list of pending orders and the list of payments due, each oldest first, are the work lists: an order that is paid
//! or cancelled leaves them. So a run stores no progress, and the next run does what this one did not finish. Concurrent
//! runs do no harm, because an order is cancelled on condition that its version and its payment have not changed since it
//! was read. The lists come from an index and may be out of date, so each decision is based on a strongly consistent read
//! of the order itself, and on a look at the payment provider. If the provider does not answer, the order stays.

use std::time::Duration;

use key_schema::access::Access;
use key_schema::entity::{OrderStatus, Work};
use key_schema::layout::{ORDERS_OF_STATUS, PAYMENTS_DUE, in_shards};
use key_schema::value::{OrderId, TimeRange, Timestamp};
use lambda::{Environment, Error, FromEnvironment, Grant, Measure, Misconfigured, ScheduledEvent};
use ordering::steps::Transition;
use ordering::{PayLater, Transitioned};
use payments::Cashier;
use serde::Serialize;
use table::{Budget, Reader, StatusShards, Swept};
use tokio::time::Instant;
use tracing::{error, info};

/// The function's access to the table.
pub const ACCESS: &[&[Access]] = &[
    ordering::OBSERVE_PAYMENT,
    ordering::EXPIRE,
    ordering::EXPIRE_LAPSED,
    &[Access::query(ORDERS_OF_STATUS), Access::query(PAYMENTS_DUE)],
];

/// The function's permissions on other services.
pub const GRANTS: &[Grant] = &[payments::READ_SECRET];

/// With less time left, no further order is begun. Cancelling one order takes at most this long.
const ONE_ORDER: Duration = Duration::from_secs(25);

const PAGE_SIZE: u8 = 100;

/// The function's dependencies, and the time for which an order may stay unpaid.
#[derive(Clone, Debug)]
pub struct Expirer {
    reader: Reader,
    cashier: Cashier,
    shards: StatusShards,
    pay_within_minutes: u32,
    guest_pay_within_minutes: u32,
    pay_later: PayLater,
}

impl FromEnvironment for Expirer {
    fn from_environment(environment: &Environment) -> Result<Self, Misconfigured> {
        Ok(Self {
            reader: Reader::from_environment(environment)?,
            cashier: Cashier::from_environment(environment)?,
            shards: StatusShards::from_environment(environment)?,
            pay_within_minutes: environment.number("PAY_WITHIN_MINUTES", 1..=100_000)?,
            guest_pay_within_minutes: environment.number("GUEST_PAY_WITHIN_MINUTES", 1..=100_000)?,
            pay_later: PayLater::from_environment(environment)?,
        })
    }
}

/// The outcome of a run.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Report {
    /// The number of orders that this run cancelled.
    expired: u64,
    /// The number of orders that were paid or cancelled in the meantime.
    settled: u64,
    /// The number of orders that could not be cancelled. The log has the causes, and the next run tries again.
    failed: u64,
    /// Whether the run reached the end of both lists.
    done: bool,
}

/// Cancels one order after the other, to leave the table's capacity to the shop's requests.
pub async fn handle(expirer: Expirer, _: ScheduledEvent, time: Duration) -> Result<Report, Error> {
    let end = Instant::now() + time.saturating_sub(ONE_ORDER);
    let mut report = Report::default();
    report.done = expirer.unpaid(end, &mut report).await? && expirer.lapsed(end, &mut report).await?;
    let Report { expired, settled, failed, done } = report;
    info!(expired, settled, failed, done, "unpaid orders cancelled");
    lambda::metrics(&[("OrdersExpired", Measure::Count(expired)), ("ExpiriesFailed", Measure::Count(failed))]);
    Ok(report)
}

impl Expirer {
    /// Cancels the pending orders whose time is over. Returns whether it reached the end of their list.
    async fn unpaid(&self, end: Instant, report: &mut Report) -> Result<bool, Error> {
        let (deadline, deadline_later) = (self.deadline(0), self.deadline(self.pay_later.days));
        let of_guests = Timestamp::now().minus_seconds(self.guest_pay_within_minutes * 60).max(deadline);
        let placed = TimeRange::parse(None, Some(&of_guests.to_string()))?;
        let shards = in_shards(self.shards.0, |shard| ORDERS_OF_STATUS.ask((&OrderStatus::Pending, &shard, &placed)));
        let mut pending = self.reader.sweep(&shards, PAGE_SIZE);
        while let Some(Swept { items, unreadable }) = pending.next().await? {
            report.failed += unreadable;
            for order in items {
                if Instant::now() >= end {
                    return Ok(false);
                }
                let deadline = match order {
                    _ if order.pay_later => deadline_later,
                    _ if order.customer_id.is_guest() => of_guests,
                    _ => deadline,
                };
                if order.placed_at > deadline {
                    continue;
                }
                self.expire(&order.order_id, Transition::Expire { deadline }, report).await;
            }
        }
        Ok(true)
    }

    /// Cancels the paid orders whose payment lapsed and was not replaced in time. Their marks are in the list of payments
    /// due, so no other paid order is read. Returns whether it reached the end of both lists.
    async fn lapsed(&self, end: Instant, report: &mut Report) -> Result<bool, Error> {
        let deadline = self.deadline(self.pay_later.days_after_lapse());
        let since = TimeRange::parse(None, Some(&deadline.to_string()))?;
        let shards = in_shards(self.shards.0, |shard| PAYMENTS_DUE.ask((&shard, &since)));
        let mut due = self.reader.sweep(&shards, PAGE_SIZE);
        while let Some(Swept { items, unreadable }) = due.next().await? {
            report.failed += unreadable;
            for mark in items.into_iter().filter(|mark| mark.work == Work::Lapsed) {
                if Instant::now() >= end {
                    return Ok(false);
                }
                self.expire(&mark.order_id, Transition::ExpireLapsed { deadline }, report).await;
            }
        }
        Ok(true)
    }

    /// The time this many days ago, and never later than the deadline of an order that is paid at once.
    fn deadline(&self, days: u32) -> Timestamp {
        let now = Timestamp::now();
        now.minus_seconds(days * 24 * 60 * 60).min(now.minus_seconds(self.pay_within_minutes * 60))
    }

    /// Cancels the order by this change, unless it was paid or cancelled in the meantime.
    async fn expire(&self, order: &OrderId, expiry: Transition<'_>, report: &mut Report) {
        let expiring = Box::pin(self.cashier.expire(order, expiry, Budget::of(ONE_ORDER)));
        match lambda::trail_of_part(expiring).await {
            Ok(Transitioned::Done(_)) => report.expired += 1,
            Ok(_) => report.settled += 1,
            Err(cause) => {
                report.failed += 1;
                let cause = lambda::chain(&cause);
                error!(order_id = order.as_str(), cause, "an unpaid order was not cancelled");
            }
        }
    }
}
