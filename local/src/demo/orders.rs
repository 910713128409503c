//! The orders of the demo shop: at least one in every state.

use Step::{
    Cancel, Capture, Credit, Deliver, Dispute, Flag, Lapse, Pay, Queue, Receive, Refuse, Return, Ship, Transfer,
};

use super::{ALAN, CUSTOMER as ADA, GUEST};
use crate::pretend_provider::DisputeStatus::{self, Lost, NeedsResponse, Won};

/// An order, whose name is its idempotency key.
pub(super) struct Order {
    pub(super) name: &'static str,
    pub(super) by: &'static str,
    pub(super) lines: &'static [(&'static str, u32)],
    /// More fields of the order, in JSON.
    pub(super) more: &'static str,
    pub(super) steps: &'static [Step],
}

/// What becomes of an order.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Step {
    /// It goes through the queue.
    Queue,
    /// The customer pays with this card.
    Pay(&'static str),
    /// Staff record a bank transfer.
    Transfer,
    /// Staff capture the payment in the provider's dashboard.
    Capture,
    /// The authorization ends before anybody captured it.
    Lapse,
    /// The cardholder disputes the payment, and the bank decides this.
    Dispute(DisputeStatus),
    /// Staff ship these units of the first line, or all that is left.
    Ship(Option<u32>),
    /// The newest shipment arrives.
    Deliver,
    /// The customer requests the return of a unit of this line.
    Return(usize),
    /// Staff receive the newest return.
    Receive,
    Refuse,
    Cancel,
    /// Staff give back this many cents.
    Credit(u32),
    Flag,
}

const VISA: Step = Pay("pm_card_visa");
const MASTERCARD: Step = Pay("pm_card_mastercard");
const DECLINED: Step = Pay("pm_card_chargeDeclinedInsufficientFunds");
const ALL: Step = Ship(None);

#[rustfmt::skip]
pub(super) const ORDERS: [Order; 15] = [
    of("unpaid", ADA, &[("paper-filters", 3)], r#"{"payLater": true}"#, &[]),
    of("declined", ALAN, &[("decaf-beans", 2)], "{}", &[DECLINED]),
    of("cancelled", GUEST, &[("hand-grinder", 1)], "{}", &[Cancel]),
    of("paid", GUEST, &[("espresso-beans", 2), ("paper-filters", 1)], "{}", &[VISA]),
    of("paid-by-gift-card", ALAN, &[("filter-beans-250g", 1)], r#"{"giftCards": ["GIFT-40-DEMO"]}"#, &[Flag]),
    of("lapsed", ADA, &[("gooseneck-kettle", 1)], "{}", &[MASTERCARD, Lapse]),
    of("shipped-in-part", ALAN, &[("filter-beans", 3), ("decaf-beans", 1)], "{}", &[VISA, Ship(Some(2))]),
    of("shipped", ALAN, &[("hand-grinder", 1)], "{}", &[Transfer, ALL, Credit(500)]),
    of("delivered", ADA, &[("espresso-beans", 2)], r#"{"discountCode": "SPRING15", "shippingMethod": "express"}"#, &[VISA, ALL, Deliver]),
    of("refunded", ADA, &[("gooseneck-kettle", 2)], "{}", &[MASTERCARD, Capture, Cancel]),
    of("returned", ADA, &[("filter-beans", 1), ("hand-grinder", 1), ("paper-filters", 2)], "{}",
        &[VISA, ALL, Deliver, Return(0), Return(1), Receive, Return(2), Refuse]),
    of("disputed", ALAN, &[("filter-beans-500g", 1)], "{}", &[VISA, Capture, Dispute(NeedsResponse)]),
    of("dispute-won", ADA, &[("decaf-beans", 1)], "{}", &[MASTERCARD, Capture, Dispute(Won)]),
    of("dispute-lost", ALAN, &[("espresso-beans", 1)], "{}", &[VISA, Capture, Dispute(Lost)]),
    // Sold out.
    of("rejected", ADA, &[("moka-pot", 1)], "{}", &[Queue]),
];

const fn of(
    name: &'static str,
    by: &'static str,
    lines: &'static [(&'static str, u32)],
    more: &'static str,
    steps: &'static [Step],
) -> Order {
    Order { name, by, lines, more, steps }
}
