//! The payment provider: the place where customers' cards are charged.
//!
//! [`Provider`] is the port. It has the things that Till needs of a provider, in Till's own terms: start a payment, look
//! at it, capture, void and refund it, check what the provider sends, and ask for what it could not send. The module
//! [`stripe`] speaks Stripe's protocol; another provider is one more module. [`Cashier`] keeps the provider's book and the
//! table's in agreement.
//!
//! No card number ever reaches Till. The customer's browser gives the card to the provider, and Till knows the payment by
//! the provider's id.

mod cashier;
mod error;
mod provider;
mod secret;
pub mod stripe;

pub use cashier::{Cashier, Failed, Seen, Settled};
pub use error::Error;
pub use provider::{Currencies, Intent, Notice, Provider, READ_SECRET};
pub use stripe::signature::NotGenuine;
