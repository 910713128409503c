//! The rules for changing a placed order: each one is a pure function of the order and the time.
//!
//! [`Changing`](crate::changing::Changing) applies one of these functions to an order that was read, and writes the
//! result.

use key_schema::entity::{
    Cancellation, CancellationCause, CardPayment, Order, OrderStatus, Payment, PaymentState, PaymentStatus, Progress,
    ProviderPayment, Report, Settlement, WholeOrder,
};
use key_schema::value::{IntentId, Money, Timestamp};

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
    Advance {
        to: OrderStatus,
        /// Whether shipping the order asks for the capture of its payment.
        captures: bool,
    },
    /// Records that the customer started to pay: [`start_payment`].
    StartPayment { intent: &'a IntentId, attempt: u32 },
    /// Records what the payment provider reported: [`report_payment`].
    ReportPayment {
        intent: &'a IntentId,
        /// The amount of the intent.
        amount: Money,
        report: Report,
    },
    /// Asks for the capture of an authorized payment: [`request_capture`].
    RequestCapture,
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
            Self::Advance { to, captures } => advance(whole, to, captures, now),
            Self::StartPayment { intent, attempt } => start_payment(whole, intent, attempt),
            Self::ReportPayment { intent, amount, report } => report_payment(whole, intent, amount, report, now),
            Self::RequestCapture => request_capture(whole),
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

/// Ships or delivers the order. Other statuses are refused: payment and cancellation have functions of their own. An
/// order whose payment is neither captured nor reserved is not shipped.
///
/// If the order already has the status or has passed it, the result is [`Step::Stay`], so that a repeated request is
/// not refused.
pub fn advance(whole: &WholeOrder, to: OrderStatus, captures: bool, now: Timestamp) -> Step {
    match whole.order.status {
        _ if !matches!(to, OrderStatus::Shipped | OrderStatus::Delivered) => Step::Refuse,
        status if status == to || status.may_have_been(to) => Step::Stay,
        status if status.may_become(to) => {
            let order = with_status(whole, to, now);
            let Some(card) = whole.invoice.card().filter(|_| to == OrderStatus::Shipped) else {
                return Step::To(Box::new(WholeOrder { order, ..whole.clone() }));
            };
            if !card.is_secured() {
                return Step::Refuse;
            }
            let card = if captures { with_capture_requested(card) } else { card.clone() };
            Step::To(Box::new(WholeOrder { order, invoice: whole.invoice.clone().with_card(card), ..whole.clone() }))
        }
        _ => Step::Refuse,
    }
}

/// Records that the customer started to pay with this intent. If the order already has this intent, nothing changes. If
/// it has another that is not ended, or cannot be paid any more, the change is refused.
pub fn start_payment(whole: &WholeOrder, intent: &IntentId, attempt: u32) -> Step {
    let Some(card) = whole.invoice.card() else { return Step::Refuse };
    if card.provider.as_ref().is_some_and(|provider| provider.intent == *intent) {
        return Step::Stay;
    }
    if card.next_attempt() != Some(attempt) {
        return Step::Refuse;
    }
    // If the order is shipped, its new payment is captured as soon as it is authorized, as the old one should have been.
    let capture_requested = card.provider.as_ref().is_some_and(|provider| provider.capture_requested);
    let provider = ProviderPayment { intent: intent.clone(), attempt, capture_requested, report: Report::STARTED };
    to_card(whole, CardPayment { provider: Some(provider), ..card.clone() })
}

/// Records what the payment provider reported about an intent. A pending order becomes paid once the payment is
/// authorized or captured. If the order is cancelled, a captured payment is due for refund.
///
/// A report about another intent than the order's newest changes nothing, because an intent is replaced only after it
/// ended. A report about another amount is refused.
pub fn report_payment(whole: &WholeOrder, intent: &IntentId, amount: Money, report: Report, now: Timestamp) -> Step {
    let Some(card) = whole.invoice.card() else { return Step::Refuse };
    if amount != card.amount {
        return Step::Refuse;
    }
    let card = match &card.provider {
        Some(provider) if provider.intent == *intent => card.clone(),
        Some(_) => return Step::Stay,
        // The report is faster than the request that started the payment.
        None => {
            let provider = ProviderPayment {
                intent: intent.clone(),
                attempt: 1,
                capture_requested: false,
                report: Report::STARTED,
            };
            CardPayment { provider: Some(provider), ..card.clone() }
        }
    };
    let card = card.reported(report);
    let mut next = WholeOrder { invoice: whole.invoice.clone().with_card(card.clone()), ..whole.clone() };
    if whole.order.status == OrderStatus::Pending && card.is_secured() {
        next.order = with_status(whole, OrderStatus::Paid, now);
    }
    if next == *whole { Step::Stay } else { Step::To(Box::new(next)) }
}

/// Asks for the capture of an authorized payment. If it is captured or was asked for before, nothing changes.
pub fn request_capture(whole: &WholeOrder) -> Step {
    match whole.invoice.card() {
        Some(card) if card.state() == PaymentState::Captured => Step::Stay,
        Some(card) if card.state() == PaymentState::Authorized && card.provider.is_some() => {
            let next = with_capture_requested(card);
            if next == *card { Step::Stay } else { to_card(whole, next) }
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
    let Some(card) = whole.invoice.card() else { return Step::Refuse };
    if let Some(known) = &card.reference {
        return if known == reference { Step::Stay } else { Step::Refuse };
    }
    let mut card = CardPayment { reference: Some(reference.to_owned()), ..card.clone() };
    let mut next = whole.clone();
    match whole.order.status {
        OrderStatus::Pending => {
            next.order = with_status(whole, OrderStatus::Paid, now);
            card.status = PaymentStatus::Captured;
        }
        OrderStatus::Cancelled => card.settlement = Some(Settlement::RefundDue),
        _ => return Step::Refuse,
    }
    next.invoice = next.invoice.with_card(card);
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
            let expired = cause == CancellationCause::Unpaid;
            let payments = whole.invoice.payments.iter().cloned();
            next.invoice.payments = payments.map(|payment| Payment::cancelled(payment, expired)).collect();
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
/// refund is due, or the payment provider makes it, the change is refused.
pub fn confirm_refund(whole: &WholeOrder, reference: &str) -> Step {
    let Some(card) = whole.invoice.card() else { return Step::Refuse };
    match (card.state(), &card.settlement) {
        (PaymentState::Refunded, Some(Settlement::Refunded { reference: known })) if known == reference => Step::Stay,
        (PaymentState::RefundDue, _) if card.is_recorded_by_staff() => {
            let settlement = Some(Settlement::Refunded { reference: reference.to_owned() });
            to_card(whole, CardPayment { settlement, ..card.clone() })
        }
        _ => Step::Refuse,
    }
}

/// The order with this card payment, and everything else as it was.
fn to_card(whole: &WholeOrder, card: CardPayment) -> Step {
    Step::To(Box::new(WholeOrder { invoice: whole.invoice.clone().with_card(card), ..whole.clone() }))
}

/// The payment after a request to capture it. A payment that is not at the provider is captured already.
fn with_capture_requested(card: &CardPayment) -> CardPayment {
    let mut next = card.clone();
    if let Some(provider) = &mut next.provider {
        provider.capture_requested |= provider.report.progress == Progress::Authorized;
    }
    next
}

/// The order's header with this status and the next version.
fn with_status(whole: &WholeOrder, status: OrderStatus, now: Timestamp) -> Order {
    Order { status, changed_at: Some(now), version: whole.order.version + 1, ..whole.order.clone() }
}
