//! SQS and schedule: asks the payment provider to capture, void or refund the payments that are due.
//!
//! What is due follows from the stored payment alone (`CardPayment::command`), never from the message. So a message that
//! comes twice, late or not at all does no harm: the schedule finds what is left in the list of payments due. For each
//! payment the function looks at the provider first, records what it sees, asks for what is then due, and records that.
//! A crash anywhere in between loses nothing and does nothing twice, because a request has an idempotency key that is a
//! pure function of the order and of what is asked.

use std::time::Duration;

use aws_lambda_events::event::sqs::{SqsBatchResponse, SqsEvent};
use futures_util::{StreamExt as _, stream};
use key_schema::access::Access;
use key_schema::entity::CardPayment;
use key_schema::layout::{PAYMENTS_DUE, in_shards};
use key_schema::value::{OrderId, TimeRange, Timestamp};
use lambda::{Error, Grant, Measure};
use ordering::steps::Transition;
use ordering::{Lifecycle, Target, Transitioned};
use payments::Provider;
use serde::{Deserialize, Serialize};
use table::{Budget, Reader, StatusShards, Swept};
use tokio::time::Instant;
use tracing::{error, info};

/// The function's access to the table.
pub const ACCESS: &[&[Access]] = &[ordering::REPORT_PAYMENT, &[Access::query(PAYMENTS_DUE)]];

/// The function's permissions on other services.
pub const GRANTS: &[Grant] = &[
    payments::READ_SECRET,
    Grant::new(&["sqs:DeleteMessage", "sqs:GetQueueAttributes", "sqs:ReceiveMessage"], "DuePayments"),
];

/// With less time left, no further payment is begun. One takes at most this long.
const ONE_PAYMENT: Duration = Duration::from_secs(25);

/// The number of payments that one environment settles concurrently.
const CONCURRENTLY: usize = 4;

/// The schedule leaves younger payments to the queue.
const YOUNGER: u32 = 10 * 60;

/// The number of payments in one page of the list.
const OF_A_LIST: u8 = 100;

/// The requests that one payment may need: what is due may change while it is settled.
const MOST_COMMANDS: usize = 4;

/// The function's dependencies.
#[derive(Clone, Debug)]
pub struct Settler {
    reader: Reader,
    orders: Lifecycle,
    provider: Provider,
    shards: StatusShards,
}

lambda::from_environment!(Settler { reader, orders, provider, shards });

/// An event of either source.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub enum Call {
    /// Messages of the queue, each with an event `PaymentDue`.
    Due(SqsEvent),
    /// The schedule. The content of its event does not matter.
    Sweep {},
}

/// The answer to either source.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum Settled {
    Messages(SqsBatchResponse),
    Sweep(Report),
}

/// The outcome of a run of the schedule.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Report {
    /// The number of payments that are settled: the provider was asked for what was due, or was found to have done it. A
    /// payment that only staff can settle, because they recorded it, stays in the list and is not counted.
    settled: u64,
    /// The number of payments that could not be settled. The log has the causes, and the next run tries again.
    failed: u64,
    /// Whether the run reached the end of the list.
    done: bool,
}

pub async fn handle(settler: Settler, call: Call, time: Duration) -> Result<Settled, Error> {
    let end = Instant::now() + time.saturating_sub(ONE_PAYMENT);
    match call {
        Call::Due(event) => settler.messages(event, end).await.map(Settled::Messages),
        Call::Sweep {} => settler.sweep(end).await.map(Settled::Sweep),
    }
}

/// The outcome for one payment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    /// The provider has done what was due, or there is nothing left to do.
    Settled,
    /// The provider has nothing to do: staff must refund a payment that they recorded, or the order is gone.
    NotForProvider,
    /// The log has the cause.
    Failed,
}

/// A message's body: an event as EventBridge delivers it.
#[derive(Deserialize)]
struct Envelope {
    detail: Due,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Due {
    order_id: OrderId,
}

impl Settler {
    /// Settles the payments that the messages name. A message that fails comes back after its visibility timeout, and in
    /// the end goes to the dead-letter queue; the schedule goes on trying.
    async fn messages(&self, event: SqsEvent, end: Instant) -> Result<SqsBatchResponse, Error> {
        let results = stream::iter(event.records).map(async |message| {
            let id = message.message_id.unwrap_or_default();
            let envelope = serde_json::from_str::<Envelope>(message.body.as_deref().unwrap_or_default());
            let outcome = match envelope {
                Ok(_) if Instant::now() >= end => Outcome::Failed,
                Ok(Envelope { detail }) => self.settle(&detail.order_id).await,
                Err(cause) => {
                    error!(message_id = id, %cause, "a message names no payment");
                    Outcome::Failed
                }
            };
            (id, outcome)
        });
        let mut response = SqsBatchResponse::default();
        let (mut settled, mut failed) = (0, 0);
        for (id, outcome) in results.buffer_unordered(CONCURRENTLY).collect::<Vec<_>>().await {
            match outcome {
                Outcome::Settled => settled += 1,
                Outcome::NotForProvider => {}
                Outcome::Failed => {
                    failed += 1;
                    response.add_failure(id);
                }
            }
        }
        measure(settled, failed);
        Ok(response)
    }

    /// Settles every payment that has been due for some time.
    async fn sweep(&self, end: Instant) -> Result<Report, Error> {
        let until = Timestamp::now().minus_seconds(YOUNGER);
        let since = TimeRange::parse(None, Some(&until.to_string()))?;
        let shards = in_shards(self.shards.0, |shard| PAYMENTS_DUE.ask((&shard, &since)));
        let (mut report, mut due) = (Report::default(), self.reader.sweep(&shards, OF_A_LIST));
        'list: loop {
            let Some(Swept { items, unreadable }) = due.next().await? else {
                report.done = true;
                break;
            };
            report.failed += unreadable;
            for mark in items.into_iter().filter(|mark| !mark.lapsed) {
                if Instant::now() >= end {
                    break 'list;
                }
                match self.settle(&mark.order_id).await {
                    Outcome::Settled => report.settled += 1,
                    Outcome::NotForProvider => {}
                    Outcome::Failed => report.failed += 1,
                }
            }
        }
        measure(report.settled, report.failed);
        Ok(report)
    }

    /// Settles the payment of an order.
    async fn settle(&self, order: &OrderId) -> Outcome {
        match self.try_to_settle(order).await {
            Ok(outcome) => outcome,
            Err(cause) => {
                error!(%order, cause = lambda::chain(&*cause), "a payment that is due was not settled");
                Outcome::Failed
            }
        }
    }

    async fn try_to_settle(&self, order: &OrderId) -> Result<Outcome, Error> {
        let budget = Budget::of(ONE_PAYMENT);
        let Some(whole) = self.reader.order(order, budget).await? else { return Ok(Outcome::NotForProvider) };
        let Some(mut card) = whole.invoice.card().cloned() else { return Ok(Outcome::Settled) };
        if card.command().is_none() {
            // If the payment is still due, staff have to refund it.
            return Ok(if card.is_due() { Outcome::NotForProvider } else { Outcome::Settled });
        }
        for _ in 0..MOST_COMMANDS {
            let Some(provider) = &card.provider else { return Ok(Outcome::Settled) };
            // The provider may have carried out an earlier command whose answer was lost.
            let seen = self.provider.look_at(&provider.intent).await?;
            card = self.record(order, &card, &seen, budget).await?;
            let (Some(command), Some(provider)) = (card.command(), &card.provider) else {
                return Ok(Outcome::Settled);
            };
            let done = self.provider.carry_out(command, order, &provider.intent).await?;
            info!(%order, ?command, "asked of the payment provider");
            card = self.record(order, &card, &done, budget).await?;
            if card.command().is_none() {
                return Ok(Outcome::Settled);
            }
        }
        Err(format!("the payment is still due after {MOST_COMMANDS} requests to the provider").into())
    }

    /// Records what the provider says about a payment, and returns the payment after that.
    async fn record(
        &self,
        order: &OrderId,
        card: &CardPayment,
        seen: &payments::Intent,
        budget: Budget,
    ) -> Result<CardPayment, Error> {
        if card.knows(&seen.id, seen.report) {
            return Ok(card.clone());
        }
        let report = Transition::ReportPayment { intent: &seen.id, amount: seen.amount, report: seen.report };
        match self.orders.change(Target::Order(order), report, budget).await? {
            Transitioned::Done(whole) | Transitioned::DoneBefore(whole) => {
                Ok(whole.invoice.card().cloned().ok_or("an invoice has lost its card payment")?)
            }
            Transitioned::Refused(_) | Transitioned::Denied(_) => {
                Err("the payment provider has another amount than the order".into())
            }
            Transitioned::NotFound => Err("the order is gone".into()),
        }
    }
}

fn measure(settled: u64, failed: u64) {
    info!(settled, failed, "payments settled");
    lambda::metrics(&[("PaymentsSettled", Measure::Count(settled)), ("PaymentsFailed", Measure::Count(failed))]);
}
