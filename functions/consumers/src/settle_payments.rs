//! SQS and schedule: asks the payment provider to capture, void or refund the payments that are due.
//!
//! What is due follows from the stored payment alone (`CardPayment::command`), never from the message. So a message that
//! comes twice, late or not at all does no harm: the schedule finds what is left in the list of payments due, and asks
//! the provider which of its own messages were lost. The [`Cashier`] looks at the provider first, records what it sees,
//! asks for what is then due, and looks again.

use std::time::Duration;

use aws_lambda_events::event::sqs::{SqsBatchResponse, SqsEvent};
use futures_util::{StreamExt as _, stream};
use key_schema::access::Access;
use key_schema::entity::{Invoice, OrderStatus, PaymentDue, Work};
use key_schema::layout::{PAYMENTS_DUE, in_shards};
use key_schema::value::{OrderId, TimeRange, Timestamp};
use lambda::{Error, Grant, Measure};
use payments::{Cashier, Failed, Notice, Provider, Settled};
use serde::{Deserialize, Serialize};
use table::{Budget, Reader, StatusShards, Swept};
use tokio::time::{Instant, timeout, timeout_at};
use tracing::{error, info, warn};

/// The function's access to the table. The mark of a payment that is due is written together with what the provider is
/// seen to hold. An undelivered message may be of a payment whose marks stay.
pub const ACCESS: &[&[Access]] = &[
    ordering::FAIL_COMMAND,
    &[Access::delete::<PaymentDue>().in_transactions(), Access::update::<Invoice>(), Access::query(PAYMENTS_DUE)],
];

/// The function's permissions on other services.
pub const GRANTS: &[Grant] = &[
    payments::READ_SECRET,
    Grant::new(&["sqs:DeleteMessage", "sqs:GetQueueAttributes", "sqs:ReceiveMessage"], "DuePayments"),
];

/// With less time left, no further payment is begun. One takes at most this long.
const ONE_PAYMENT: Duration = Duration::from_secs(25);

/// The payments that one environment settles at the same time.
const CONCURRENTLY: usize = 4;

/// The schedule leaves to the queue what is due for fewer seconds.
const YOUNGER: u32 = 10 * 60;

/// The schedule looks at the undelivered messages of so many seconds. Several runs fall into this time.
const UNDELIVERED: u32 = 60 * 60;

/// The payments in one page of the list.
const OF_A_LIST: u8 = 100;

/// The function's dependencies.
#[derive(Clone, Debug)]
pub struct Settler {
    reader: Reader,
    cashier: Cashier,
    provider: Provider,
    shards: StatusShards,
}

lambda::from_environment!(Settler { reader, cashier, provider, shards });

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
pub enum Answer {
    Messages(SqsBatchResponse),
    Sweep(Report),
}

/// The outcome of a run of the schedule.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Report {
    /// The number of payments that are settled: the provider was asked for what was due, or was found to have done it. A
    /// payment of which the rest is left to staff or the customer stays in the list and is not counted.
    settled: u64,
    /// The number of payments that could not be settled. The log has the causes, and the next run tries again.
    failed: u64,
    /// Whether the run had time for all payments.
    done: bool,
}

pub async fn handle(settler: Settler, call: Call, time: Duration) -> Result<Answer, Error> {
    let end = Instant::now() + time.saturating_sub(ONE_PAYMENT);
    match call {
        Call::Due(event) => settler.messages(event, end).await.map(Answer::Messages),
        Call::Sweep {} => settler.sweep(end).await.map(Answer::Sweep),
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    /// The provider has done what was due, or there is nothing left to do.
    Settled,
    /// The provider has nothing to do: staff or the customer have, or the order is gone.
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

    /// Settles every payment that has been due for some time. Then it looks at the payments that a lost message names,
    /// and at those that wait for staff or the customer: a dispute may have ended, or the customer may have paid again.
    async fn sweep(&self, end: Instant) -> Result<Report, Error> {
        let until = Timestamp::now().minus_seconds(YOUNGER);
        let since = TimeRange::parse(None, Some(&until.to_string()))?;
        let shards = in_shards(self.shards.0, |shard| PAYMENTS_DUE.ask((&shard, &since)));
        let (mut report, mut others) = (Report { done: true, ..Report::default() }, Vec::new());
        let mut due = self.reader.sweep(&shards, OF_A_LIST);
        while report.done
            && let Some(Swept { items, unreadable }) = due.next().await?
        {
            report.failed += unreadable;
            let (ours, theirs): (Vec<_>, Vec<_>) = items.into_iter().partition(|mark| mark.work == Work::Provider);
            // A capture that staff have to ask for waits for nobody else.
            others.extend(theirs.into_iter().filter(|mark| mark.work != Work::Capture));
            self.settle_all(ours, end, &mut report).await;
        }
        if report.done {
            self.look_at_undelivered(end).await;
            self.settle_all(others, end, &mut report).await;
        }
        measure(report.settled, report.failed);
        Ok(report)
    }

    /// Settles these payments, several at once, so that one that takes long does not hold back the others.
    async fn settle_all(&self, due: Vec<PaymentDue>, end: Instant, report: &mut Report) {
        let settled = stream::iter(due)
            .map(async |mark| if Instant::now() < end { Some(self.settle(&mark.order_id).await) } else { None });
        for outcome in settled.buffer_unordered(CONCURRENTLY).collect::<Vec<_>>().await {
            match outcome {
                Some(Outcome::Settled) => report.settled += 1,
                Some(Outcome::NotForProvider) => {}
                Some(Outcome::Failed) => report.failed += 1,
                None => report.done = false,
            }
        }
    }

    /// Looks at the payments of which the provider could not tell: one that is settled has no mark. What fails here is
    /// left to the next run, and to the provider, which repeats its messages.
    async fn look_at_undelivered(&self, end: Instant) {
        let since = Timestamp::now().minus_seconds(UNDELIVERED);
        let notices = match timeout_at(end, self.provider.undelivered(since)).await {
            Ok(Ok(notices)) => notices,
            Ok(Err(error)) => return warn!(cause = lambda::chain(&error), "undelivered messages are not known"),
            Err(_) => return warn!("undelivered messages are not known in time"),
        };
        let looks = stream::iter(notices).map(async |notice| {
            if Instant::now() >= end {
                return;
            }
            match timeout(ONE_PAYMENT, lambda::trail_of_part(self.look_at(&notice))).await {
                Ok(Ok(())) => {}
                Ok(Err(failed)) => {
                    let cause = lambda::chain(&failed);
                    warn!(intent = %notice.intent, cause, "a payment of an undelivered message is not seen");
                }
                Err(_) => warn!(intent = %notice.intent, "a payment of an undelivered message is not seen in time"),
            }
        });
        looks.buffer_unordered(CONCURRENTLY).collect::<()>().await;
    }

    /// Looks at the order of a payment. It may be of another program, or of an order that is not here. `expire-orders`
    /// looks at one that is not paid, and may make it paid.
    async fn look_at(&self, notice: &Notice) -> Result<(), Failed> {
        let Some(order) = self.provider.order_of(notice).await? else { return Ok(()) };
        let budget = Budget::of(ONE_PAYMENT);
        let whole = self.reader.order(&order, budget).await?;
        if let Some(whole) = whole.filter(|whole| whole.order.status != OrderStatus::Pending) {
            self.cashier.look_at(whole, budget).await?;
        }
        Ok(())
    }

    /// Settles the payment of an order. One that takes too long fails alone.
    async fn settle(&self, order: &OrderId) -> Outcome {
        let settled = lambda::trail_of_part(async {
            lambda::note("order_id", order.as_str());
            let settled = self.cashier.settle(order, Budget::of(ONE_PAYMENT));
            let outcome = match timeout(ONE_PAYMENT, settled).await {
                Ok(outcome) => outcome.map_err(|cause| lambda::chain(&cause)),
                Err(_) => Err("the payment provider did not answer in time".to_owned()),
            };
            match outcome {
                Ok(Settled::ByProvider) => Outcome::Settled,
                Ok(Settled::NotForProvider) => Outcome::NotForProvider,
                Err(cause) => {
                    error!(cause, "a payment that is due was not settled");
                    Outcome::Failed
                }
            }
        });
        settled.await
    }
}

fn measure(settled: u64, failed: u64) {
    info!(settled, failed, "payments settled");
    lambda::metrics(&[("PaymentsFailed", Measure::Count(failed))]);
}
