//! The HTTP layer: routes, handlers, requests, replies, problems and the OpenAPI description.
//!
//! The module of a function declares two items:
//!
//! - `ROUTE`, a [`Route`]: method, path, scope, possible problems, permissions and a sample request.
//! - `handle`, an async function that implements [`Handler`]. Its first argument is the function's dependencies. Its
//!   other arguments are parts of the request, each of a type that implements [`FromRequest`]. It returns a type that
//!   implements [`Respond`], or a [`Problem`].
//!
//! Everything else follows from these two: [`serve()`] runs the function on Lambda by `lambda_http`, [`describe()`] makes its
//! part of the OpenAPI document, and [`fits`] checks at compile time that the handler takes the parameters of the route's
//! path. [`routes!`] lists the functions of a program.
//!
//! **Invariants: only this crate turns a problem into a status and a document. No handler runs before the token's scope
//! is checked. No handler gets a payment card number. No answer that depends on the caller may be cached. Every
//! change by the staff is in the audit log.**

mod audit;
mod caching;
mod caller;
mod card_number;
mod describe;
mod entity_tag;
mod event;
mod extract;
mod handler;
mod idempotency;
mod if_match;
mod json;
mod part;
mod prefer;
mod problem;
mod query;
mod registry;
mod rejection;
mod reply;
mod request;
mod respond;
mod route;
mod serve;
mod telemetry;
mod view;

pub use audit::{AUDIT_MARK, SECRET_COLLECTIONS};
pub use caching::Lifetime;
pub use caller::{ADMIN_SCOPE, Caller, SHOP_SCOPE, Scope};
pub use describe::{Description, describe, open_api, publish};
pub use extract::{
    CustomerOrGuest, FromRequest, GuestOfPath, IdsOr, Json, List, OptionalJson, OwnCustomer, OwnGuest, Path,
    PathParameter, Query, SignedBody,
};
pub use handler::{Handler, fits};
pub use idempotency::Once;
pub use if_match::IfMatch;
pub use json::read_document;
pub use lambda::{Error, Function, Program};
pub use part::{Part, ProductResults};
pub use prefer::PrefersAsync;
pub use problem::{Kind, Problem};
pub use query::Unfiltered;
pub use registry::RouteFunction;
pub use reply::{Answer, Reply};
pub use request::Request;
pub use respond::{
    Accepted, All, Created, Either, Html, Introduced, Pollable, Replayable, Respond, Serialized, Versioned,
};
pub use route::{Example, Limit, Method, Route, Verb};
pub use serve::{serve, start};
pub use view::{
    AddressesView, AllowanceView, CartLineView, CartView, CategoryView, CodeUseView, CreditView, CustomerStatsView,
    CustomerView, DayTotalsView, DiscountView, ExportedView, FacetsView, FlagView, FlaggedOrderView, GiftCardView,
    GuestView, ImageUploadView, ImageView, ImagesView, InvoiceView, IssuedGiftCardView, OrderItemView, OrderLineView,
    OrderStateView, OrderView, OverviewView, PastOfferView, PaymentDueView, PaymentIntentView, PaymentMethodView,
    PaymentView, PriceRangeView, ProductCountsView, ProductStatsView, ProductView, QueuedOrderView, QuoteView,
    QuotedPaymentView, ReturnView, SearchView, ShipmentView, ShippingView, StatusCountView, StoredCartView, TaxesView,
};
