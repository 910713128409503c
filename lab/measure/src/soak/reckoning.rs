//! The end of all payments: staff close the list of payments due, and then both books and the soak's own agree.

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::{Context, Result};
use key_schema::entity::{CancellationCause, Dispute, OrderStatus, WholeOrder};
use key_schema::value::OrderId;
use lambda::{Environment, FromEnvironment as _};
use local::pretend_provider::{Entry, RefundStatus};
use shop::payment_laws::{self, Known};
use table::{Budget, Reader};

use super::books::{Books, Moved};
use super::payer::{close, payments_due};
use super::process::Process;
use super::shop::Shop;
use super::stack::PAY_WITHIN_MINUTES;
use super::storm::Storm;
use crate::workspace;

/// The most times that the list of payments due is closed. What is closed may leave work for somebody else.
const ROUNDS: u8 = 12;

/// The longest wait for the webhooks. The pauses of the provider are up to a minute.
const PATIENCE: Duration = Duration::from_mins(3);

/// Lets the schedules run and staff act until nothing is due.
pub(super) async fn close_all(shop: &Shop, storm: &Storm, process: &mut Process) -> Result<()> {
    storm.calm();
    // Whoever has not paid by then never does.
    tokio::time::sleep(Duration::from_mins(PAY_WITHIN_MINUTES.into())).await;
    let table = workspace::template()?.table_name().to_owned();
    for round in 0..ROUNDS {
        let quiet = async {
            while !storm.is_quiet() {
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        };
        tokio::time::timeout(PATIENCE, quiet).await.context("some webhooks are never taken")?;
        process.settle().await?;
        shop::provider::age_payments_due(&process.dynamodb_url, &table).await;
        let reports = [shop.run_schedule("settle-payments").await, shop.run_schedule("expire-orders").await];
        process.settle().await?;
        let due = payments_due(shop).await;
        let is_done = |report: &Option<serde_json::Value>| {
            report.as_ref().is_some_and(|it| it["settled"] == 0 && it["failed"] == 0 && it["done"] == true)
        };
        if due.is_empty() && reports.iter().all(is_done) {
            return Ok(());
        }
        for (number, (order, work)) in (0_u8..).zip(due) {
            close(shop, storm, &order, &work, &format!("end-{round}"), number).await;
        }
    }
    for (order, work) in payments_due(shop).await {
        shop.books.complain(format!("order {order} stays in the list of payments due: {work}"));
    }
    Ok(())
}

/// Compares the payments of orders in three books: the table's, the provider's, and the soak's own.
pub(super) struct Reckoning<'a> {
    reader: Reader,
    books: &'a Books,
    /// The provider's intents, by order.
    intents: BTreeMap<String, Vec<Entry>>,
    /// In minor units: what the provider holds, what staff received and refunded, and what the shop is to have.
    held: i64,
    received: i64,
    refunded: i64,
    wanted: i64,
}

impl<'a> Reckoning<'a> {
    pub(super) fn of(operator: &Environment, storm: &Storm, books: &'a Books) -> Result<Self> {
        for status in storm.wrong_answers() {
            books.complain(format!("a webhook was answered with {status}"));
        }
        let mut intents = BTreeMap::<String, Vec<Entry>>::new();
        for entry in storm.provider.ledger().intents.into_values() {
            intents.entry(entry.order.clone().unwrap_or_default()).or_default().push(entry);
        }
        let reader = Reader::from_environment(operator)?;
        Ok(Self { reader, books, intents, held: 0, received: 0, refunded: 0, wanted: 0 })
    }

    /// Compares the books of one order. Returns the units that were credited, by product.
    pub(super) async fn judge(&mut self, id: &str) -> Result<BTreeMap<String, i64>> {
        let order = id.parse::<OrderId>().ok().context("an order's id")?;
        let whole = self.reader.order(&order, Budget::of(PATIENCE)).await?.context("the order is there")?;
        let (intents, moved) = (self.intents.remove(id).unwrap_or_default(), self.books.moved(id));
        for what in self.broken(&whole, &intents, &moved) {
            self.books.complain(what);
        }
        Ok(whole.order.credits.iter().map(|credit| (credit.product_id.to_string(), credit.units.into())).collect())
    }

    fn broken(&mut self, whole: &WholeOrder, intents: &[Entry], moved: &Moved) -> Vec<String> {
        let WholeOrder { order, invoice, .. } = whole;
        let known = Known { is_old: !order.pay_later, was_paid: moved.paid_at.is_some(), captures_when_shipped: true };
        let entries: Vec<_> = intents.iter().collect();
        let mut broken = payment_laws::broken(order, invoice, &entries, known);
        let mut agree = |what: &str, one: i64, other: i64| {
            if one != other {
                broken.push(format!("order {}: {what}: {one} and {other}\n  {moved:?}\n  {whole:?}", order.order_id));
            }
        };

        let expired = order.cancellation.as_ref().filter(|it| it.cause == Some(CancellationCause::Unpaid));
        if let (Some(cancellation), Some(paid_at)) = (expired, moved.paid_at) {
            let too_early = cancellation.at.minus_seconds(PAY_WITHIN_MINUTES * 60) < paid_at;
            agree("paid, and cancelled for being unpaid", too_early.into(), 0);
        }
        let allowed: i64 = order.allowances.iter().map(|allowance| allowance.amount).sum();
        agree("amounts given back", allowed, moved.allowed);
        if order.status != OrderStatus::Cancelled {
            let credited: u32 = order.credits.iter().map(|credit| credit.units).sum();
            agree("units credited", credited.into(), (moved.cancelled + moved.returned).into());
        }
        let Some(card) = invoice.card() else { return broken };
        let by_hand: i64 = card.refunds.iter().map(|refund| refund.amount).sum();
        agree("received by staff", card.transfer.as_ref().map_or(0, |transfer| transfer.amount), moved.received);
        agree("refunded by staff", by_hand, moved.refunded);
        // What a dispute took, and was written off, comes back if the shop wins.
        let is_won = card.held().dispute == Some(Dispute::Won);
        let came_back = if is_won { card.written_off.max(moved.written_off) } else { card.written_off };
        agree("written off", came_back, moved.written_off);
        let refunds = || intents.iter().flat_map(|entry| &entry.refunds).filter(|refund| !refund.is_release());
        let sum = |of_shop: bool| -> i64 {
            refunds().filter(|refund| refund.metadata.contains_key("refund") == of_shop).map(|it| it.amount).sum()
        };
        agree("refunded in the dashboard", sum(false), moved.by_dashboard);
        let failed: i64 = refunds()
            .filter(|it| matches!(it.status, RefundStatus::Failed | RefundStatus::Canceled))
            .map(|it| it.amount)
            .sum();
        let held: i64 = intents.iter().map(Entry::held).sum();
        let captured: i64 = intents.iter().map(|entry| entry.captured).sum();
        agree("captured, and explained", captured, held + card.held().disputed + sum(true) + sum(false) - failed);
        agree(
            "held by the provider and staff, and received less returned",
            held + moved.received - moved.refunded,
            card.received() - card.returned() - card.held().disputed,
        );
        if card.received() > 0 {
            let agreed = payment_laws::agreed(card);
            self.wanted += agreed.max((held + moved.received - moved.refunded).min(0));
        }
        self.held += held;
        self.received += moved.received;
        self.refunded += moved.refunded;
        broken
    }

    /// Complains unless the sums agree, and returns a line that has them.
    pub(super) fn close(self) -> String {
        let Self { books, intents, held, received, refunded, wanted, .. } = self;
        for order in intents.into_iter().filter(|(_, of)| of.iter().any(|it| it.captured > 0)).map(|(order, _)| order) {
            books.complain(format!("the provider has money of {order:?}, which is no order"));
        }
        if held + received - refunded != wanted {
            books.complain(format!("{held} at the provider and {received} less {refunded} by hand are not {wanted}"));
        }
        format!(
            "money: {held} at the provider, {received} received and {refunded} refunded by staff; the shop is to have {wanted}"
        )
    }
}
