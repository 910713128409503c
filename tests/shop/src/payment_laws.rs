//! The laws of money that hold once everything has settled.

use key_schema::entity::{self, CancellationCause, CardPayment, Held, Invoice, Order, OrderStatus, Progress};
use local::pretend_provider::{Dispute, DisputeStatus, Entry, Refund, RefundStatus, Status};

/// What the provider has recorded of an intent, in Till's terms.
fn held_of(entry: &Entry) -> Held {
    let progress = match entry.status {
        Status::RequiresPaymentMethod if entry.declined.is_some() => Progress::Declined,
        Status::RequiresPaymentMethod => Progress::Started,
        Status::RequiresCapture => Progress::Authorized,
        Status::Canceled if entry.is_charged => Progress::Released,
        Status::Canceled => Progress::Ended,
        Status::Succeeded => Progress::Captured,
    };
    let sum = |wanted: fn(&&Refund) -> bool| entry.refunds.iter().filter(wanted).map(|refund| refund.amount).sum();
    let has_failed = |refund: &&Refund| matches!(refund.status, RefundStatus::Failed | RefundStatus::Canceled);
    let is_open =
        |one: &Dispute| matches!(one.status, DisputeStatus::NeedsResponse | DisputeStatus::WarningNeedsResponse);
    let takes = |one: &&Dispute| matches!(one.status, DisputeStatus::NeedsResponse | DisputeStatus::Lost);
    Held {
        progress,
        captured: entry.captured,
        refunded: sum(|it| !it.is_release() && !matches!(it.status, RefundStatus::Failed | RefundStatus::Canceled)),
        failed: entry
            .refunds
            .iter()
            .filter(has_failed)
            .filter(|it| it.metadata.contains_key("refund"))
            .map(|it| it.amount)
            .sum(),
        disputed: entry.disputes.iter().filter(takes).map(|it| it.amount).sum(),
        dispute: match entry.disputes.as_slice() {
            [] => None,
            all if all.iter().any(is_open) => Some(entity::Dispute::Open),
            all if all.iter().any(|it| takes(&it)) => Some(entity::Dispute::Lost),
            _ => Some(entity::Dispute::Won),
        },
    }
}

/// What the shop's items and the provider's ledger do not say of an order.
#[derive(Clone, Copy, Debug)]
pub struct Known {
    /// Whether it is so old that it expires unless it is paid.
    pub is_old: bool,
    /// Whether it was paid at some time.
    pub was_paid: bool,
    pub captures_when_shipped: bool,
}

/// The laws that an order breaks, by its items and by the provider's intents of it.
pub fn broken(order: &Order, invoice: &Invoice, intents: &[&Entry], known: Known) -> Vec<String> {
    let mut broken = of_order(order, invoice, intents, known);
    match invoice.card() {
        Some(card) => broken.extend(of_card(order, card, intents, known.captures_when_shipped)),
        None if !intents.is_empty() => {
            broken.push("gift cards paid the order, and the provider has an intent".to_owned());
        }
        None => {}
    }
    let end = format!("{} {}", order.status, end_of(invoice));
    let told = |what: String| format!("order {}, {end}: {what}\n  {:?}\n  {intents:?}", order.order_id, invoice.card());
    broken.into_iter().map(told).collect()
}

/// The end of an order's payment, in words.
pub fn end_of(invoice: &Invoice) -> String {
    invoice.card().map_or("paid by gift cards".to_owned(), |card| format!("{:?}", card.state()))
}

/// The laws of expiry: an order that is unpaid, or whose payment lapsed, ends. Any other paid order does not expire.
fn of_order(order: &Order, invoice: &Invoice, intents: &[&Entry], known: Known) -> Vec<String> {
    let Known { is_old, was_paid, .. } = known;
    let mut broken = Vec::new();
    if is_old && order.status == OrderStatus::Pending {
        broken.push("it was not paid in time, and keeps its stock".to_owned());
    }
    let is_secured = invoice.card().is_none_or(CardPayment::is_secured);
    if is_old && order.status == OrderStatus::Paid && !is_secured {
        broken.push("its payment lapsed and was not replaced in time, and it keeps its stock".to_owned());
    }
    let has_lapsed = intents.iter().any(|entry| entry.status == Status::Canceled);
    let expired = order.cancellation.as_ref().is_some_and(|it| it.cause == Some(CancellationCause::Unpaid));
    if expired && (was_paid && !has_lapsed || !is_old) {
        broken.push(format!("it expired, and was paid: {was_paid}, lapsed: {has_lapsed}, old: {is_old}"));
    }
    broken
}

/// What the shop is to have of a payment in the end. Below zero if staff wrote off what went back beyond the payment.
pub fn agreed(card: &CardPayment) -> i64 {
    let owed = if card.cancelled { 0 } else { card.amount.amount() - card.credited };
    owed - card.written_off
}

/// The laws of a card payment. The audit checks the amounts within the table; here is what the provider must agree with.
fn of_card(order: &Order, card: &CardPayment, intents: &[&Entry], captures_when_shipped: bool) -> Vec<String> {
    let mut broken = Vec::new();
    let mut law = |holds: bool, text: &str| {
        if !holds {
            broken.push(text.to_owned());
        }
    };
    let held: i64 = intents.iter().map(|entry| entry.held()).sum();
    let is_open = |entry: &&&Entry| entry.status == Status::RequiresCapture;
    let newest = card.provider.as_ref();

    for entry in intents {
        let possible = card.wanted().min(card.amount.amount())..=card.amount.amount();
        law(possible.contains(&entry.amount), "the customer is asked for the card's part, less credits");
        law(
            card.amount.currency().to_string().eq_ignore_ascii_case(&entry.currency),
            "the customer is asked in the order's currency",
        );
        match newest {
            Some(payment) if payment.intent.as_str() == entry.id => {
                law(payment.held == held_of(entry), "the table knows what the provider has recorded");
            }
            _ => law(entry.held() == 0 && !is_open(&entry), "an intent that the table does not know holds no money"),
        }
    }
    law(newest.is_none_or(|payment| intents.iter().any(|it| it.id == payment.intent.as_str())), "the intent exists");
    law(intents.iter().filter(|entry| entry.captured > 0).count() <= 1, "the customer is charged once");
    law(intents.iter().filter(is_open).count() <= 1, "the customer's money is reserved once");

    let is_captured = card.held().captured > 0;
    // What the provider cannot refund, staff do. What somebody took from a captured payment is missing. If staff wrote off
    // more than the payment, because more went back than came in, nothing is due.
    let by_hand: i64 = card.refunds.iter().map(|refund| refund.amount).sum();
    let missing = if is_captured { card.missing() } else { 0 };
    let agreed = agreed(card);
    let wanted = if is_captured { agreed.max((held - by_hand).min(0)) } else { 0 };
    let expected = wanted + card.due_by_staff() + by_hand - missing;
    law(held == expected || card.transfer.is_some(), "the provider holds what the shop may keep");
    law(card.command().is_none(), "what is due is done");
    law(card.work().is_none(), "staff can close what is left");
    match order.status {
        OrderStatus::Cancelled => {
            law(!intents.iter().any(|it| is_open(&it)) && held <= by_hand, "no money of a cancelled order is held");
        }
        OrderStatus::Pending => {
            law(intents.iter().all(|it| !is_open(&it) && it.captured == 0), "a payment makes an order paid");
        }
        OrderStatus::Shipped | OrderStatus::Delivered => {
            let is_settled = is_captured || card.transfer.is_some() || card.wanted() == 0;
            // An authorization may lapse between the shipping and the capture. Then the customer may pay again.
            let has_lapsed = intents.iter().any(|it| it.status == Status::Canceled);
            law(is_settled || has_lapsed || !captures_when_shipped, "what is shipped is captured");
        }
        OrderStatus::Paid | OrderStatus::Packing => {}
    }
    broken
}
