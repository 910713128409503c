//! The books of one order: what it came to, and how it is paid.

use key_schema::entity::{Invoice, Order, OrderLine, OrderStatus, Payment, PaymentStatus};
use key_schema::value::Money;

/// What is wrong with an order that is there with all its lines and its invoice.
pub(super) fn faults(order: &Order, lines: &[OrderLine], invoice: &Invoice) -> Vec<String> {
    let mut faults = Vec::new();
    for line in lines {
        if line.unit_price.checked_mul(line.quantity.get()) != Some(line.amount) {
            let OrderLine { product_id, unit_price, amount, .. } = line;
            let quantity = line.quantity.get();
            faults.push(format!("{quantity} {product_id} at {unit_price} are said to be {amount}"));
        }
    }
    let amounts = [
        ("the lines", sum(lines.iter().map(|line| line.amount), order.subtotal), "the subtotal", order.subtotal),
        ("subtotal less discount", order.subtotal.checked_sub(order.discount), "the total", order.total),
        ("the invoice", Some(invoice.amount), "the total", order.total),
        ("the payments", sum(invoice.payments.iter().map(Payment::amount), order.total), "the total", order.total),
    ];
    for (one, amount, other, expected) in amounts {
        if amount != Some(expected) {
            let amount = amount.map_or("nothing that can be added up".to_owned(), |amount| amount.to_string());
            faults.push(format!("{one}: {amount}; {other}: {expected}"));
        }
    }
    if (&invoice.order_id, &invoice.customer_id) != (&order.order_id, &order.customer_id) {
        faults.push(format!("its invoice is for the order {} of {}", invoice.order_id, invoice.customer_id));
    }
    for payment in &invoice.payments {
        let (status, expected) = (status(payment), expected(payment, order.status));
        if status != expected {
            faults.push(format!("a payment of {} is {status:?}, the order {}", payment.amount(), order.status));
        }
    }
    faults
}

/// The sum, if all are in one currency.
fn sum(amounts: impl Iterator<Item = Money>, like: Money) -> Option<Money> {
    let mut amounts = amounts;
    amounts.try_fold(Money::zero(like.currency()), Money::checked_add)
}

fn status(payment: &Payment) -> PaymentStatus {
    match payment {
        Payment::GiftCard { status, .. } | Payment::Card { status, .. } => *status,
    }
}

/// Where a payment of an order stands.
fn expected(payment: &Payment, order: OrderStatus) -> PaymentStatus {
    match (order, payment) {
        (OrderStatus::Cancelled, _) => PaymentStatus::Refunded,
        (OrderStatus::Pending, Payment::Card { .. }) => PaymentStatus::Authorized,
        _ => PaymentStatus::Captured,
    }
}
