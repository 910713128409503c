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
mod extract;
mod handler;
mod idempotency;
mod if_match;
mod json;
mod prefer;
mod problem;
mod query;
mod rejection;
mod reply;
mod request;
mod respond;
mod response;
mod route;
mod serve;
mod telemetry;
mod view;

pub use caller::{ADMIN_SCOPE, Caller, SHOP_SCOPE, Scope};
pub use describe::{Description, describe, open_api};
pub use extract::{FromRequest, Json, List, OptionalJson, OwnCustomer, Path, PathParameter, Query};
pub use handler::{Handler, fits};
pub use idempotency::Once;
pub use if_match::IfMatch;
pub use lambda::Error;
pub use prefer::PrefersAsync;
pub use problem::{Kind, Problem};
pub use query::Unfiltered;
pub use reply::{Answer, Reply};
pub use request::Request;
pub use respond::{Accepted, All, AskAgain, Created, Either, Kept, Replayable, Respond, Versioned};
pub use route::{Example, Limit, Method, Route, Verb};
pub use serve::{invoke, serve};
pub use view::{
    CartView, CustomerStatsView, CustomerView, DayTotalsView, DiscountView, FlagView, FlaggedOrderView, GiftCardView,
    InvoiceView, IssuedGiftCardView, OrderItemView, OrderStateView, OrderView, OverviewView, PaymentView,
    ProductCountsView, ProductStatsView, ProductView, QueuedOrderView, StatusCountView,
};
