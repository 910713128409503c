//! The events of returns.

use key_schema::entity::{LineUnits, Return, ReturnStatus};
use key_schema::value::{Money, Timestamp};

use crate::EventId;
use crate::event::LAYOUT_VERSION;

event! {
    /// A customer wants to send units of a delivered order back.
    ReturnRequested of return {
        /// The units to be returned.
        pub lines: Vec<LineUnits>,
        /// The time of the request.
        pub requested_at: Timestamp,
    }

    /// Staff received the units of a return, or refused it. If they received them, the customer is credited; what goes
    /// back by card also has an event `RefundDue`.
    ReturnReceived of return {
        /// The units of the return.
        pub lines: Vec<LineUnits>,
        /// Whether the return was accepted. If not, nothing is credited.
        pub accepted: bool,
        /// Whether the units were put back to the stock.
        pub restocked: bool,
        /// The amount credited for the units. Absent if the return was refused.
        #[schema(nullable = false)]
        pub amount: Option<Money>,
        /// The time of the receipt.
        pub received_at: Timestamp,
    }
}

impl ReturnRequested {
    pub(crate) fn new(of: Return) -> Self {
        Self {
            id: EventId::of("ReturnRequested", &[&of.return_id]),
            layout_version: LAYOUT_VERSION,
            return_id: of.return_id,
            order_id: of.order_id,
            customer_id: of.customer_id,
            lines: of.lines,
            requested_at: of.requested_at,
        }
    }
}

impl ReturnReceived {
    /// The event of a change of a return; `None` if it does not close the return.
    pub(crate) fn new(before: &Return, after: Return) -> Option<Self> {
        let is_closed = before.status == ReturnStatus::Requested && after.status != ReturnStatus::Requested;
        let received_at = after.closed_at.filter(|_| is_closed)?;
        Some(Self {
            id: EventId::of("ReturnReceived", &[&after.return_id]),
            layout_version: LAYOUT_VERSION,
            return_id: after.return_id,
            order_id: after.order_id,
            customer_id: after.customer_id,
            lines: after.lines,
            accepted: after.status == ReturnStatus::Received,
            restocked: after.restocked,
            amount: after.amount,
            received_at,
        })
    }
}
