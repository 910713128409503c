//! What the API shows of things that are stored in several items. Entities of one item are shown as they are.

mod customer;
mod order;
mod product;

pub use customer::{CustomerStatsView, CustomerView};
pub use order::{FlagView, OrderView};
pub use product::{ProductStatsView, ProductView};
