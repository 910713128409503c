//! The representations of entities that are stored in several items or have internal fields. The API shows other
//! entities as they are stored.

mod address;
mod cart;
mod category;
mod customer;
mod day_totals;
mod discount;
mod exported;
mod gift_card;
mod guest;
mod image;
mod invoice;
mod order;
mod overview;
mod payment;
mod product;
mod queued_order;
mod quote;
mod returns;
mod search;
mod shipments;
mod shipping;
mod taxes;

pub use address::AddressesView;
pub use cart::{CartLineView, CartView, PastOfferView, StoredCartView};
pub use category::CategoryView;
pub use customer::{CustomerStatsView, CustomerView};
pub use day_totals::{DayTotalsView, StatusCountView};
pub use discount::{CodeUseView, DiscountView};
pub use exported::ExportedView;
pub use gift_card::{GiftCardView, IssuedGiftCardView};
pub use guest::GuestView;
pub use image::{ImageUploadView, ImageView, ImagesView};
pub use invoice::{InvoiceView, PaymentView};
pub use order::{
    AllowanceView, CreditView, FlagView, FlaggedOrderView, OrderItemView, OrderLineView, OrderView, PaymentMethodView,
};
pub use overview::OverviewView;
pub use payment::{PaymentDueView, PaymentIntentView};
pub use product::{ProductCountsView, ProductStatsView, ProductView};
pub(crate) use queued_order::QueueStatus;
pub use queued_order::{OrderStateView, QueuedOrderView};
pub use quote::{QuoteView, QuotedPaymentView};
pub use returns::ReturnView;
pub use search::{FacetsView, PriceRangeView, SearchView};
pub use shipments::ShipmentView;
pub use shipping::ShippingView;
pub use taxes::TaxesView;

/// The count, or 0 if it is negative. A count may be negative for a while: a cancellation may be counted before its
/// order, if the two are in different shards of the stream.
fn at_rest(count: i64) -> u64 {
    u64::try_from(count).unwrap_or_default()
}
