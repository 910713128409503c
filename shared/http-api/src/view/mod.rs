//! What the API shows of things that are stored in several items, or with what is nobody's business. Other entities are
//! shown as they are.

mod cart;
mod customer;
mod day_totals;
mod discount;
mod gift_card;
mod invoice;
mod order;
mod overview;
mod product;
mod queued_order;

pub use cart::CartView;
pub use customer::{CustomerStatsView, CustomerView};
pub use day_totals::{DayTotalsView, StatusCountView};
pub use discount::DiscountView;
pub use gift_card::{GiftCardView, IssuedGiftCardView};
pub use invoice::{InvoiceView, PaymentView};
pub use order::{FlagView, FlaggedOrderView, OrderItemView, OrderView};
pub use overview::OverviewView;
pub use product::{ProductCountsView, ProductStatsView, ProductView};
pub use queued_order::{OrderStateView, QueuedOrderView};

/// A count as it is shown. It is below zero only between two shards of the stream, for a moment.
fn at_rest(count: i64) -> u64 {
    u64::try_from(count).unwrap_or_default()
}
