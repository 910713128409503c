//! The rules for changing a placed order: each one is a pure function of the order and the time.
//!
//! [`Changing`](crate::changing::Changing) applies one of these functions to an order that was read, and writes the
//! result.

use key_schema::entity::{
    Cancellation, CancellationCause, Invoice, Order, OrderStatus, Payment, PaymentState, PaymentStatus, Settlement,
    WholeOrder,
};
use key_schema::value::Timestamp;

#[cfg(test)]
pub(crate) mod tests;

/// The result of applying a change to an order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// The order changes to this.
    To(Box<WholeOrder>),
    /// The order stays as it is: the change was made before.
    Stay,
    /// The order does not allow the change.
    Refuse,
}

/// A change that may be requested of an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transition<'a> {
    /// Ships or delivers the order: [`advance`].
    Advance(OrderStatus),
    /// Records that the bank has captured the card payment: [`capture`].
    Capture {
        /// The bank's name for the payment.
        reference: &'a str,
    },
    /// Cancels the order: [`cancel`].
    Cancel(Cancel<'a>),
    /// Cancels the order if it was not paid in time: [`expire`].
    Expire {
        /// The latest time of placing for which an order expires.
        deadline: Timestamp,
    },
    /// Records that the bank has refunded the customer: [`confirm_refund`].
    ConfirmRefund {
        /// The bank's name for the refund.
        reference: &'a str,
    },
}

impl Transition<'_> {
    /// Applies the change to an order.
    pub fn of(self, whole: &WholeOrder, now: Timestamp) -> Step {
        match self {
            Self::Advance(to) => advance(whole, to, now),
            Self::Capture { reference } => capture(whole, reference, now),
            Self::Cancel(cancellation) => cancel(whole, cancellation, now),
            Self::Expire { deadline } => expire(whole, deadline, now),
            Self::ConfirmRefund { reference } => confirm_refund(whole, reference),
        }
    }
}

/// A request to cancel an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cancel<'a> {
    /// The person or process that cancels the order.
    pub cause: CancellationCause,
    /// The reason in words, if one was given.
    pub reason: Option<&'a str>,
}

/// Ships or delivers the order. Other statuses are refused: payment and cancellation have functions of their own.
///
/// If the order already has the status or has passed it, the result is [`Step::Stay`], so that a repeated request is
/// not refused.
pub fn advance(whole: &WholeOrder, to: OrderStatus, now: Timestamp) -> Step {
    match whole.order.status {
        _ if !matches!(to, OrderStatus::Shipped | OrderStatus::Delivered) => Step::Refuse,
        status if status == to || status.may_have_been(to) => Step::Stay,
        status if status.may_become(to) => {
            Step::To(Box::new(WholeOrder { order: with_status(whole, to, now), ..whole.clone() }))
        }
        _ => Step::Refuse,
    }
}

/// Records that the bank has captured the card payment under `reference`. A pending order becomes paid. If the order is
/// cancelled, the payment came too late: it is recorded, and a refund is due.
///
/// The same reference again changes nothing. A different reference for a captured payment is refused, because it would
/// be a second payment.
pub fn capture(whole: &WholeOrder, reference: &str, now: Timestamp) -> Step {
    let Some(Payment::Card { reference: known, .. }) = card(&whole.invoice) else { return Step::Refuse };
    if let Some(known) = known {
        return if known == reference { Step::Stay } else { Step::Refuse };
    }
    let mut next = whole.clone();
    match whole.order.status {
        OrderStatus::Pending => next.order = with_status(whole, OrderStatus::Paid, now),
        OrderStatus::Cancelled => {}
        _ => return Step::Refuse,
    }
    for payment in &mut next.invoice.payments {
        if let Payment::Card { status, reference: known, settlement, .. } = payment {
            *known = Some(reference.to_owned());
            if whole.order.status == OrderStatus::Cancelled {
                *settlement = Some(Settlement::RefundDue);
            } else {
                *status = PaymentStatus::Captured;
            }
        }
    }
    Step::To(Box::new(next))
}

/// Cancels the order. A captured card payment becomes due for refund, and any other card payment void. The writes of
/// the cancellation also give back what the order took from stocks, discount code and gift cards.
pub fn cancel(whole: &WholeOrder, cancel: Cancel<'_>, now: Timestamp) -> Step {
    match whole.order.status {
        OrderStatus::Cancelled => Step::Stay,
        status if status.may_become(OrderStatus::Cancelled) => {
            let Cancel { cause, reason } = cancel;
            let mut next = whole.clone();
            next.order = with_status(whole, OrderStatus::Cancelled, now);
            next.order.cancellation =
                Some(Cancellation { at: now, reason: reason.map(str::to_owned), cause: Some(cause) });
            next.invoice.payments = whole.invoice.payments.iter().cloned().map(Payment::cancelled).collect();
            Step::To(Box::new(next))
        }
        _ => Step::Refuse,
    }
}

/// Cancels the order if it is not paid and was placed at or before `deadline`.
pub fn expire(whole: &WholeOrder, deadline: Timestamp, now: Timestamp) -> Step {
    if whole.order.status == OrderStatus::Pending && whole.order.placed_at <= deadline {
        cancel(whole, Cancel { cause: CancellationCause::Unpaid, reason: None }, now)
    } else {
        Step::Stay
    }
}

/// Records that the bank has refunded the customer under `reference`. The same reference again changes nothing. If no
/// refund is due, the change is refused.
pub fn confirm_refund(whole: &WholeOrder, reference: &str) -> Step {
    let Some(payment @ Payment::Card { settlement, .. }) = card(&whole.invoice) else { return Step::Refuse };
    match (payment.state(), settlement) {
        (PaymentState::Refunded, Some(Settlement::Refunded { reference: known })) if known == reference => Step::Stay,
        (PaymentState::RefundDue, _) => {
            let mut next = whole.clone();
            for payment in &mut next.invoice.payments {
                if let Payment::Card { settlement, .. } = payment {
                    *settlement = Some(Settlement::Refunded { reference: reference.to_owned() });
                }
            }
            Step::To(Box::new(next))
        }
        _ => Step::Refuse,
    }
}

/// The card payment. An invoice has at most one, for what the gift cards leave.
fn card(invoice: &Invoice) -> Option<&Payment> {
    invoice.payments.iter().find(|payment| matches!(payment, Payment::Card { .. }))
}

/// The order's header with this status and the next version.
fn with_status(whole: &WholeOrder, status: OrderStatus, now: Timestamp) -> Order {
    Order { status, changed_at: Some(now), version: whole.order.version + 1, ..whole.order.clone() }
}
