//! The laws of money that hold once everything has settled.

use key_schema::entity::{self, CancellationCause, CardPayment, Entity, Held, Invoice, Order, OrderStatus, Progress};
use local::pretend_provider::{Dispute, DisputeStatus, Entry, Refund, RefundStatus, Status};
use serde::de::DeserializeOwned;
use serde_dynamo::Item;
use serde_json::Value;
use shop::Shop;

use super::world::Purchase;

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

/// An order's end in words, and the laws that it breaks.
pub fn judge(shop: &Shop, dump: &[Value], purchase: &Purchase, captures_when_shipped: bool) -> (String, Vec<String>) {
    let id = purchase.id();
    let (header, invoice): (Order, Invoice) = (stored(dump, id), stored(dump, id));
    let ledger = shop.ledger();
    let intents: Vec<_> = ledger.of_order(id).collect();
    let mut broken = of_order(&header, &invoice, purchase.is_old, &shop.bus().events(), &intents);
    let state = invoice.card().map_or("paid by gift cards".to_owned(), |card| format!("{:?}", card.state()));
    match invoice.card() {
        Some(card) => broken.extend(of_card(&header, card, &intents, captures_when_shipped)),
        None if !intents.is_empty() => {
            broken.push("gift cards paid the order, and the provider has an intent".to_owned());
        }
        None => {}
    }
    let end = format!("{} {state}", header.status);
    let told = |what: String| format!("order {id}, {end}: {what}\n  {:?}\n  {intents:?}", invoice.card());
    (end.clone(), broken.into_iter().map(told).collect())
}

/// The item of this kind in the collection of an order.
fn stored<T: Entity + DeserializeOwned>(dump: &[Value], order: &str) -> T {
    let is_wanted = |item: &&Value| item["EntityType"]["S"] == T::TYPE && item["orderId"]["S"] == order;
    let item = dump.iter().find(is_wanted).expect("an item");
    let item: Item = serde_json::from_value(item.clone()).expect("an item");
    serde_dynamo::from_item(item).expect("an entity")
}

/// The laws of expiry: an order that is unpaid, or whose payment lapsed, ends. Any other paid order does not expire.
fn of_order(order: &Order, invoice: &Invoice, is_old: bool, events: &[Value], intents: &[&Entry]) -> Vec<String> {
    let mut broken = Vec::new();
    if is_old && order.status == OrderStatus::Pending {
        broken.push("it was not paid in time, and keeps its stock".to_owned());
    }
    let is_secured = invoice.card().is_none_or(CardPayment::is_secured);
    if is_old && order.status == OrderStatus::Paid && !is_secured {
        broken.push("its payment lapsed and was not replaced in time, and it keeps its stock".to_owned());
    }
    let has_lapsed = intents.iter().any(|entry| entry.status == Status::Canceled);
    let was_paid = events.iter().any(|event| {
        event["detail-type"] == "OrderStatusChanged"
            && event["detail"]["orderId"] == order.order_id.as_str()
            && event["detail"]["to"] == "PAID"
    });
    let expired = order.cancellation.as_ref().is_some_and(|it| it.cause == Some(CancellationCause::Unpaid));
    if expired && (was_paid && !has_lapsed || !is_old) {
        broken.push(format!("it expired, and was paid: {was_paid}, lapsed: {has_lapsed}, old: {is_old}"));
    }
    broken
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
    let wanted = if is_captured && card.transfer.is_none() { card.wanted() } else { 0 };
    // What the provider cannot refund, staff do. What somebody took from a captured payment is missing.
    let by_hand: i64 = card.refunds.iter().map(|refund| refund.amount).sum();
    let missing = if is_captured { card.missing() } else { 0 };
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
