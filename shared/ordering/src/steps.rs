//! The rules for changing a placed order: each one is a pure function of the order and the time.
//!
//! [`Changing`](crate::changing::Changing) applies one of these functions to an order that was read, and writes the
//! result.

mod allowing;
mod cancelling;
mod paying;
mod returning;
mod shipping;
#[cfg(test)]
pub(crate) mod tests;

use key_schema::entity::{
    CancellationCause, Command, Held, LineUnits, Order, OrderStatus, ReturnStatus, Shortfall, WholeOrder, Work,
};
use key_schema::value::{Day, IdempotencyKey, IntentId, Money, ReturnId, ShipmentId, Timestamp};

use crate::Withdrawal;

pub use allowing::allow;
pub use cancelling::{cancel, cancel_units, expire, expire_lapsed};
pub use paying::{capture, confirm_refund, fail_command, observe_payment, request_capture, start_payment, write_off};
pub use returning::{receive_return, request_return};
pub use shipping::{advance, deliver_shipment, ship_items};

/// The result of applying a change to an order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// The order changes to this.
    To(Box<WholeOrder>),
    /// The order stays as it is: the change was made before.
    Stay,
    /// The order's status does not allow the change.
    Refuse,
    /// The order's status allows such a change, but not this one.
    Deny(Denial),
}

/// The reason why an order whose status allows a change does not allow this one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Denial {
    /// A line has fewer units left.
    TooFewUnits(Shortfall),
    /// The period for withdrawal is over.
    TooLate {
        /// The last day on which the customer could request the return.
        last_day: Day,
    },
    /// The order has as many returns as an order may have.
    TooManyReturns,
    /// The idempotency key made another return, shipment or allowance of this order.
    KeyReused,
    /// The order has as many shipments as an order may have.
    TooManyShipments,
    /// The order has as many allowances as an order may have.
    TooManyAllowances,
    /// Less is left of what the customer paid: this amount.
    TooMuch(Money),
    /// The payment or the refund has this amount, and not the one that the caller says.
    OtherAmount(Money),
    /// The payment is not secured, or cannot be captured, because something is to be done about it first.
    OpenPayment(Work),
    /// Nothing is missing of the payment.
    Paid,
    /// The order has no such shipment.
    UnknownShipment,
    /// Some units of the order are shipped, so it cannot be cancelled as a whole.
    PartlyShipped,
    /// The order has no such return.
    UnknownReturn,
    /// The return was received or refused before, with another result.
    Closed(ReturnStatus),
}

/// A change that may be requested of an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transition<'a> {
    /// Packs, ships or delivers the order: [`advance`].
    Advance {
        to: OrderStatus,
        /// Whether shipping the order asks for the capture of its payment.
        captures: bool,
    },
    /// Ships units of the order: [`ship_items`].
    ShipItems(ShipmentRequest<'a>),
    /// Records that a shipment was delivered: [`deliver_shipment`].
    DeliverShipment { id: &'a ShipmentId },
    /// Records that the customer started to pay: [`start_payment`].
    StartPayment {
        intent: &'a IntentId,
        attempt: u32,
        /// The amount of the intent.
        amount: Money,
    },
    /// Records what the payment provider holds: [`observe_payment`].
    ObservePayment {
        intent: &'a IntentId,
        /// The amount of the intent.
        amount: Money,
        held: Held,
        /// The highest number among the refunds that Till made of this intent.
        newest_refund: u32,
    },
    /// Records that the payment provider did not do what it was asked for: [`fail_command`].
    FailCommand {
        command: Command,
        /// The provider's code for why it refuses for good. `None` if it failed.
        code: Option<&'a str>,
    },
    /// Asks for the capture of an authorized payment: [`request_capture`].
    RequestCapture,
    /// Records that the bank has captured the card payment: [`capture`].
    Capture {
        /// The bank's name for the payment.
        reference: &'a str,
        /// The amount, if the caller says it.
        amount: Option<Money>,
    },
    /// Cancels the order: [`cancel`].
    Cancel(Cancel<'a>),
    /// Cancels some units of the order: [`cancel_units`].
    CancelUnits {
        /// For each product, the number of units that are cancelled in the end, those cancelled before included.
        lines: &'a [LineUnits],
        cancel: Cancel<'a>,
    },
    /// Gives money back without units: [`allow`].
    Allow(AllowanceRequest<'a>),
    /// Records that the customer wants to send units back: [`request_return`].
    RequestReturn(ReturnRequest<'a>),
    /// Records that staff received or refused a return: [`receive_return`].
    ReceiveReturn(Receipt<'a>),
    /// Cancels the order if it was not paid in time: [`expire`].
    Expire {
        /// The latest time of placing for which an order expires.
        deadline: Timestamp,
    },
    /// Cancels the order if its payment lapsed and was not replaced in time: [`expire_lapsed`].
    ExpireLapsed {
        /// The latest time of placing for which an order expires.
        deadline: Timestamp,
    },
    /// Records that the bank has refunded the customer: [`confirm_refund`].
    ConfirmRefund {
        /// The bank's name for the refund.
        reference: &'a str,
        /// The amount, if the caller says it.
        amount: Option<Money>,
    },
    /// Records that the shop goes without money that it misses: [`write_off`].
    WriteOff {
        /// The amount, if the caller says it.
        amount: Option<Money>,
    },
}

impl Transition<'_> {
    /// Applies the change to an order.
    pub fn of(self, whole: &WholeOrder, now: Timestamp) -> Step {
        match self {
            Self::Advance { to, captures } => advance(whole, to, captures, now),
            Self::ShipItems(request) => ship_items(whole, request, now),
            Self::DeliverShipment { id } => deliver_shipment(whole, id, now),
            Self::StartPayment { intent, attempt, amount } => start_payment(whole, intent, attempt, amount),
            Self::ObservePayment { intent, amount, held, newest_refund } => {
                observe_payment(whole, intent, amount, (held, newest_refund), now)
            }
            Self::FailCommand { command, code } => fail_command(whole, command, code, now),
            Self::RequestCapture => request_capture(whole),
            Self::Capture { reference, amount } => capture(whole, reference, amount, now),
            Self::Cancel(cancellation) => cancel(whole, cancellation, now),
            Self::CancelUnits { lines, cancel } => cancel_units(whole, lines, cancel, now),
            Self::Allow(request) => allow(whole, request, now),
            Self::RequestReturn(request) => request_return(whole, request, now),
            Self::ReceiveReturn(receipt) => receive_return(whole, receipt, now),
            Self::Expire { deadline } => expire(whole, deadline, now),
            Self::ExpireLapsed { deadline } => expire_lapsed(whole, deadline, now),
            Self::ConfirmRefund { reference, amount } => confirm_refund(whole, reference, amount),
            Self::WriteOff { amount } => write_off(whole, amount),
        }
    }
}

impl Transition<'_> {
    /// Whether this expiry would cancel the order, if its intent were ended at the payment provider.
    pub fn needs_void(self, whole: &WholeOrder) -> bool {
        let is_over = match self {
            Self::Expire { deadline } => cancelling::is_unpaid(whole, deadline),
            Self::ExpireLapsed { deadline } => cancelling::is_lapsed(whole, deadline),
            _ => false,
        };
        is_over && cancelling::is_open(whole)
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

/// A request to give money back without units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AllowanceRequest<'a> {
    pub key: &'a IdempotencyKey,
    pub amount: Money,
    /// The reason in words.
    pub reason: &'a str,
}

/// A request to ship units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShipmentRequest<'a> {
    /// The id of the shipment, which is a function of the order and the idempotency key.
    pub id: &'a ShipmentId,
    /// The units of different products. `None` for all that are left.
    pub lines: Option<&'a [LineUnits]>,
    /// The carrier's name.
    pub carrier: &'a str,
    /// The carrier's number of the shipment.
    pub tracking_number: Option<&'a str>,
    /// The web page that tracks the shipment.
    pub tracking_url: Option<&'a str>,
    /// Whether shipping asks for the capture of the order's payment.
    pub captures: bool,
}

/// A request to return units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReturnRequest<'a> {
    /// The id of the return, which is a function of the order and the idempotency key.
    pub id: &'a ReturnId,
    /// The units of different products.
    pub lines: &'a [LineUnits],
    /// The reason in words, if one was given.
    pub reason: Option<&'a str>,
    /// The period after delivery in which the return may be requested. `None` for any time.
    pub within: Option<&'a Withdrawal>,
}

/// What staff decided about a return.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Receipt<'a> {
    pub id: &'a ReturnId,
    pub verdict: ReturnVerdict<'a>,
}

/// Whether the customer gets the credit for a return.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReturnVerdict<'a> {
    /// The units came back.
    Accept {
        /// Whether they go back to the stock.
        restock: bool,
        /// Whether the last unit of an order brings back the price of shipping.
        with_shipping: bool,
    },
    /// The return is refused.
    Refuse {
        /// The reason in words.
        reason: &'a str,
    },
}

fn next_version(whole: &WholeOrder) -> Order {
    Order { version: whole.order.version + 1, ..whole.order.clone() }
}

/// The order's header with this status and the next version.
fn with_status(whole: &WholeOrder, status: OrderStatus, now: Timestamp) -> Order {
    Order { status, changed_at: now, ..next_version(whole) }
}

/// The order after these units are credited as well. Its version grows by one.
fn credited(whole: &WholeOrder, more: &[LineUnits], now: Timestamp) -> WholeOrder {
    let order = Order { credits: whole.credits_with(more), changed_at: now, ..next_version(whole) };
    with_order(whole, order)
}

/// The order with this header, whose credits have changed.
fn with_order(whole: &WholeOrder, order: Order) -> WholeOrder {
    let invoice = whole.invoice.clone().with_credited(order.credited());
    WholeOrder { order, invoice, ..whole.clone() }
}
