//! What may become of an order after it is placed: each decision as a pure function of the order and of the time.
//!
//! Nothing here reads or writes. [`Changing`](crate::changing::Changing) asks one of these functions about an order that
//! was read, and says what to write.

use key_schema::entity::{
    Cancellation, CancellationCause, Invoice, Order, OrderStatus, Payment, PaymentState, PaymentStatus, Settlement,
    WholeOrder,
};
use key_schema::value::Timestamp;

#[cfg(test)]
pub(crate) mod tests;

/// What a change makes of an order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// This.
    To(Box<WholeOrder>),
    /// Nothing: it has been made before.
    Stay,
    /// Nothing: an order like this cannot change so.
    Refuse,
}

/// What may be asked of an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transition<'a> {
    /// Ships or delivers it: [`advance`].
    Advance(OrderStatus),
    /// Records that the bank has taken the card's part: [`capture`].
    Capture {
        /// The bank's name for the payment.
        reference: &'a str,
    },
    /// Cancels it: [`cancel`].
    Cancel(Cancel<'a>),
    /// Cancels it if it was not paid in time: [`expire`].
    Expire {
        /// An order that was placed later than this is left alone.
        deadline: Timestamp,
    },
    /// Records that the customer has got back what was due: [`confirm_refund`].
    ConfirmRefund {
        /// The bank's name for the refund.
        reference: &'a str,
    },
}

impl Transition<'_> {
    /// Decides on the order as it was read.
    pub fn of(self, whole: &WholeOrder, now: Timestamp) -> Step {
        match self {
            Self::Advance(to) => advance(whole, to, now),
            Self::Capture { reference } => capture(whole, reference, now),
            Self::Cancel(of) => cancel(whole, of, now),
            Self::Expire { deadline } => expire(whole, deadline, now),
            Self::ConfirmRefund { reference } => confirm_refund(whole, reference),
        }
    }
}

/// Why an order is cancelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cancel<'a> {
    /// Who or what cancels it.
    pub cause: CancellationCause,
    /// Why, if somebody said.
    pub reason: Option<&'a str>,
}

/// The order is shipped, or delivered. Payment and cancellation change more than the status and are steps of their own.
///
/// An order that has gone on from there was shipped before: a request whose answer was lost is told so, and not refused.
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

/// The bank has taken the card's part; `reference` is what it calls the payment. The order is paid then. If the order is
/// cancelled, the money came too late: it is recorded, and is to be given back.
///
/// The same reference again changes nothing. Another reference for a payment that was taken before is refused: it would
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

/// The order is cancelled: what it took from stock, discount code and gift cards goes back, a card payment that was taken
/// is to be given back, and one that was not is void.
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

/// An order that is not paid, and was placed at or before `deadline`, is cancelled for that.
pub fn expire(whole: &WholeOrder, deadline: Timestamp, now: Timestamp) -> Step {
    if whole.order.status == OrderStatus::Pending && whole.order.placed_at <= deadline {
        cancel(whole, Cancel { cause: CancellationCause::Unpaid, reason: None }, now)
    } else {
        Step::Stay
    }
}

/// The customer has got back what was due; `reference` is what the bank calls the refund. The same reference again
/// changes nothing; where nothing is due, it is refused.
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

/// The card payment. An invoice has at most one: what the gift cards leave.
fn card(invoice: &Invoice) -> Option<&Payment> {
    invoice.payments.iter().find(|payment| matches!(payment, Payment::Card { .. }))
}

/// The header in its next version, with this status.
fn with_status(whole: &WholeOrder, status: OrderStatus, now: Timestamp) -> Order {
    Order { status, changed_at: Some(now), version: whole.order.version + 1, ..whole.order.clone() }
}
