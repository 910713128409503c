//! The entities, as plain data.

mod address;
mod availability;
mod card_payment;
mod cart;
mod category_count;
mod copy_progress;
mod credit;
mod customer;
mod day_totals;
mod discount;
mod gift_card;
mod guest;
mod idempotency_record;
mod invoice;
mod invoice_counter;
mod migration;
mod order;
mod order_status;
mod parked_counts;
mod payment_due;
mod phase;
mod placement;
mod product;
mod product_description;
mod queued_order;
mod reconciliation;
mod rejection;
mod repair;
mod return_of_goods;
mod shipment;
mod shipping;
mod stock;
mod stream_checkpoint;
mod tally;
mod tax;
#[cfg(test)]
mod tests;
mod uncounted;
mod whole_order;

pub use single_table::Entity;

pub use address::{
    Address, CustomerAddresses, Destination, NewAddress, NewDestination, OrderAddress, PastAddress, SavedAddress,
};
pub use availability::Availability;
pub use card_payment::{CardPayment, Command, Dispute, Held, Progress, ProviderPayment, Transfer, Work};
pub use cart::{Cart, CartLine};
pub use category_count::CategoryCount;
pub use copy_progress::{Checksum, CopyProgress, CopyTask, PairOfSums};
pub use credit::{Allowance, Credit, LineUnits, Shortfall, net_amounts, shares};
pub use customer::{Customer, CustomerStats, EmailClaim, UsernameClaim};
pub use day_totals::DayTotals;
pub use discount::{CodeUse, Discount, Reduction};
pub use gift_card::{GiftCard, GiftCardEntry};
pub use guest::Guest;
pub use idempotency_record::IdempotencyRecord;
pub use invoice::{Balance, Invoice, Payment, PaymentState, PaymentStatus};
pub use invoice_counter::InvoiceCounter;
pub use migration::Migration;
pub use order::{Cancellation, CancellationCause, Order, OrderFlag, OrderItem, OrderLine};
pub use order_status::OrderStatus;
pub use parked_counts::{FoldLease, ParkedCounts};
pub use payment_due::PaymentDue;
pub use phase::{Phase, Side};
pub use placement::is_recent;
pub use product::{ImageUrls, Offer, Product, ProductImage, ProductStats, ViewMark, ViewShard};
pub use product_description::ProductDescription;
pub use queued_order::{QueuedOrder, Refusal};
pub use reconciliation::Reconciliation;
pub use rejection::Rejection;
pub use repair::{ItemKey, Repair};
pub use return_of_goods::{Return, ReturnStatus};
pub use shipment::{Shipment, ShipmentStatus};
pub use shipping::{
    BandsBy, ChosenMethod, OfferedMethod, ShippingBand, ShippingMethod, ShippingRates, ShippingZone, weight_of,
};
pub use stock::{Stock, StockCell, WholeStock};
pub use stream_checkpoint::StreamCheckpoint;
pub use tally::Sums;
pub use tax::{
    CategoryTax, CountryTaxes, LineTax, Prices, RateTax, TaxRate, Taxes, tax_lines, tax_on_top, wrongly_taxed,
};
pub use uncounted::{Span, Uncounted};
pub use whole_order::WholeOrder;
