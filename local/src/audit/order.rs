//! The amounts and payments of one order.

use key_schema::entity::{Balance, Invoice, Order, OrderLine, OrderStatus, Payment, PaymentState};
use key_schema::value::Money;

/// The breaches of one order that has all its lines and its invoice.
pub(super) fn faults(order: &Order, lines: &[OrderLine], invoice: &Invoice) -> Vec<String> {
    let mut faults = Vec::new();
    for line in lines {
        if line.unit_price.checked_mul(line.quantity.get()) != Some(line.amount) {
            let OrderLine { product_id, unit_price, amount, .. } = line;
            let quantity = line.quantity.get();
            faults.push(format!("{quantity} {product_id} at {unit_price} are said to be {amount}"));
        }
    }
    let units: u32 = lines.iter().map(|line| line.quantity.get()).sum();
    // The last release does not write the number.
    if ![0, units].contains(&order.units) {
        faults.push(format!("its lines have {units} units, its header says {}", order.units));
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
        if !payment.fits(order.status) {
            let (amount, state) = (payment.amount(), payment.state());
            faults.push(format!("a payment of {amount} is {state:?}, the order {}", order.status));
        }
    }
    if let Some((moved, owed)) = moved_and_owed(order, invoice)
        && moved != owed
    {
        faults.push(format!("money received less money returned: {moved}; the amount due: {owed}"));
    }
    faults
}

/// The money received for an order less the money returned, and the amount that the shop owes for it: goods until the
/// order is cancelled, and from then on a refund; at any time what was paid twice. `None` if the amounts cannot be added up, which another check
/// reports.
fn moved_and_owed(order: &Order, invoice: &Invoice) -> Option<(Money, Money)> {
    let balances: Vec<_> = invoice.payments.iter().map(Payment::balance).collect();
    let sum = |of: fn(&Balance) -> Money| sum(balances.iter().map(of), order.total);
    let moved = sum(|balance| balance.received)?.checked_sub(sum(|balance| balance.returned)?)?;
    let due = sum(|balance| balance.due)?;
    if order.status == OrderStatus::Cancelled {
        return Some((moved, due));
    }
    let open = invoice.payments.iter().filter(|payment| payment.state() != PaymentState::Captured);
    let paid = open.map(Payment::amount).try_fold(order.total, Money::checked_sub)?;
    Some((moved, paid.checked_add(due)?))
}

/// The sum, if all amounts have one currency.
fn sum(amounts: impl Iterator<Item = Money>, like: Money) -> Option<Money> {
    let mut amounts = amounts;
    amounts.try_fold(Money::zero(like.currency()), Money::checked_add)
}
