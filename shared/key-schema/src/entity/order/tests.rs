//! The statuses of an order, and the order as it was placed.
#![allow(clippy::expect_used, reason = "tests")]

use super::OrderStatus::{self, Cancelled, Delivered, Packing, Paid, Pending, Shipped};
use super::{Cancellation, CancellationCause, Credit, Order, OrderFlag};
use crate::entity::{CardPayment, Payment, PaymentStatus, ReturnStatus, ShipmentStatus, WholeOrder};
use crate::value::{Timestamp, eur};
use single_table::KeyPart as _;

const ALL: [OrderStatus; 6] = [Pending, Paid, Packing, Shipped, Delivered, Cancelled];

#[test]
fn an_order_advances_step_by_step_and_can_be_cancelled_only_before_it_is_shipped() {
    #[rustfmt::skip]
    let table = [
        // From       to Pending  Paid   Packing Shipped Delivered Cancelled
        (Pending,   [false,   true,  false,  false,  false,    true]),
        (Paid,      [false,   false, true,   true,   false,    true]),
        (Packing,   [false,   false, false,  true,   true,     true]),
        (Shipped,   [false,   false, false,  false,  true,     false]),
        (Delivered, [false,   false, false,  false,  false,    false]),
        (Cancelled, [false,   false, false,  false,  false,    false]),
    ];
    assert_eq!(table.map(|(from, _)| from), ALL, "a row for each status");
    for (from, row) in table {
        assert_eq!(ALL.map(|to| from.may_become(to)), row, "from {from}");
    }
}

#[test]
fn a_status_has_the_same_text_in_keys_in_items_and_when_displayed() {
    for status in ALL {
        let mut key = String::new();
        status.write_to(&mut key);
        let item: String = serde_dynamo::from_attribute_value::<serde_dynamo::AttributeValue, _>(
            serde_dynamo::to_attribute_value(status).expect("a value"),
        )
        .expect("text");
        assert_eq!((key, item), (status.to_string(), status.to_string()));
    }
}

#[test]
fn a_new_order_is_pending_only_if_it_has_a_card_payment() {
    let card = Payment::Card(CardPayment::of(eur(1)));
    assert_eq!(OrderStatus::when_placed(&[gift_card(), card]), Pending);
    assert_eq!(OrderStatus::when_placed(&[gift_card()]), Paid);
    assert_eq!(OrderStatus::when_placed(&[]), Paid, "an order with a discount of 100 % needs no payment");
}

#[test]
fn as_placed_undoes_all_later_changes() {
    let card = Payment::Card(CardPayment::of(eur(5)));
    for payments in [vec![gift_card()], vec![gift_card(), card]] {
        let placed = placed(&payments);
        let mut later = placed.clone();
        later.order.status = Cancelled;
        later.order.version = 3;
        later.order.changed_at = at("2026-11-22");
        later.order.delivered_at = Some(at("2026-11-22"));
        later.order.return_statuses = vec![ReturnStatus::Requested];
        later.order.shipment_statuses = vec![ShipmentStatus::Delivered];
        let product_id = "cup".parse().expect("an id");
        later.order.credits = vec![Credit { product_id, units: 1, gross: 4, amount: 3 }];
        later.invoice = later.invoice.with_credited(3);
        later.order.cancellation = Some(Cancellation {
            at: at("2026-11-22"),
            reason: Some("too late".to_owned()),
            cause: Some(CancellationCause::Staff),
        });
        later.flag = Some(OrderFlag {
            order_id: later.order.order_id.clone(),
            reason: "a mode, please".to_owned(),
            flagged_at: at("2026-11-22"),
        });
        for payment in &mut later.invoice.payments {
            if let Payment::Card(card) = payment {
                *card = card.paid_under("bank-1");
            }
            *payment = payment.clone().cancelled(false);
        }
        assert_eq!(later.as_placed(), placed);
        assert_ne!(later, placed);
    }
}

pub(in crate::entity) fn placed(payments: &[Payment]) -> WholeOrder {
    let (order_id, customer_id) = ("first".parse().expect("an id"), "ada".parse().expect("an id"));
    let order = Order {
        status: OrderStatus::when_placed(payments),
        ..Order::new(order_id, customer_id, at("2026-11-21"), eur(10))
    };
    WholeOrder::new(order, Vec::new(), payments.to_vec())
}

fn gift_card() -> Payment {
    let status = PaymentStatus::Captured;
    Payment::GiftCard { code: "GIFT".parse().expect("a code"), amount: eur(5), status, credited: 0 }
}

fn at(text: &str) -> Timestamp {
    text.parse().expect("a time")
}
