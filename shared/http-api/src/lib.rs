//! The HTTP edge: what every route has in common between API Gateway and its handler.
//!
//! A function crate declares a [`Route`], a `handle` and a [`Description`]; [`serve`] makes a Lambda of the first
//! two. `handle` takes what the function may touch and a [`Request`], whose methods turn text into typed values or
//! refuse it, and gives an [`Answer`]: a [`Reply`] or a [`Problem`].
//!
//! **Invariant: how a problem becomes a status and a document is decided here alone, and nobody passes without the
//! route's scope.**

#![warn(missing_docs)]

mod caller;
mod describe;
mod event;
mod idempotency;
mod if_match;
mod json;
mod prefer;
mod problem;
mod query;
mod rejection;
mod reply;
mod request;
mod response;
mod route;
mod serve;
mod telemetry;
mod view;

pub use caller::{ADMIN_SCOPE, Caller, SHOP_SCOPE, Scope};
pub use describe::{Description, open_api};
pub use idempotency::Once;
pub use if_match::IfMatch;
pub use lambda::Error;
pub use problem::{Kind, Problem};
pub use query::Unfiltered;
pub use reply::{Answer, Reply};
pub use request::Request;
pub use route::{Method, Route};
pub use serve::{invoke, serve};
pub use view::{
    CartView, CustomerStatsView, CustomerView, DayTotalsView, DiscountView, FlagView, GiftCardView, InvoiceView,
    OrderItemView, OrderStateView, OrderView, OverviewView, PaymentView, ProductCountsView, ProductStatsView,
    ProductView, QueuedOrderView, StatusCountView,
};
