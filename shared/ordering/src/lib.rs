//! Orders: placing them, by one code path for requests and queue messages, and changing them afterwards.
//!
//! | module | what it tells |
//! |---|---|
//! | `placing` | An [`OrderRequest`] comes in, a [`PlacingAttempt`] is under way, a [`PlacingOutcome`] ends it. Its files tell this in order: `request`, `read`, `quote`, `tax_engine`, `decide`, `write`, `drive`. [`Orders`] places orders, and [`Quotes`] answers what they would cost. |
//! | `queued` | Placing an order later: [`WaitingRoom`], [`Intake`], [`OrderMessage`]. |
//! | [`changing`], [`steps`] | Paying, shipping, delivering, cancelling and taking back an order. [`Lifecycle`] makes the requests, [`Changing`](changing::Changing) decides, and `steps` has the rules of each change. |
//! | `settings` | The shop's settings on which orders depend. |
//! | `access` | The access of all this to the table and to the queue. |
//!
//! **Why was an order refused?** `placing/quote.rs` refuses by the items as they were read, and `placing/write.rs` by a
//! condition of the transaction. `placing/decide.rs` decides whether the refusal stands, or a stronger read comes first.
//!
//! **Invariant: an order is placed completely or not at all, and once.** Everything that placing writes is one
//! transaction. Its first condition is that the order does not exist; the order's id is a function of the customer and
//! the idempotency key.

mod access;
pub mod changing;
mod lifecycle;
mod placing;
mod queued;
mod settings;
pub mod steps;

pub use access::*;
pub use lifecycle::{Lifecycle, Target, Transitioned};
pub use placing::decide::{Origin, PlacingAction, PlacingAttempt, PlacingOutcome, SentOrder};
pub use placing::drive::{GuestOrders, NotQuoted, Orders, Quotes};
pub use placing::quote::Quote;
pub use placing::read::{ItemRead, ItemsRead};
pub use placing::request::{
    Basket, BasketError, MOST_CODES, MOST_GIFT_CARDS, MOST_GUEST_LINES, MOST_LINES, NewOrder, OrderRequest,
    RequestedLine, SavedId, ShipTo,
};
pub use placing::tax_engine::{READ_TAX_SECRET, TaxEngine, TaxEngineError, TaxRequest, TaxResponse};
pub use queued::intake::{Acceptance, Intake, NotAccepted, queueing};
pub use queued::message::{OrderMessage, UnreadableMessage};
pub use queued::refuse::{RefusedAcceptance, refusal};
pub use queued::waiting_room::WaitingRoom;
pub use settings::{
    CaptureWhen, GuestShare, Guests, MaxOpenUnits, Numbering, PayLater, PlacingSettings, ReturnShipping, TaxRules,
    Withdrawal,
};
