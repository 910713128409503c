//! The kinds of items by name, and the kind of a stored item.

use std::fmt::{self, Display, Formatter};
use std::mem::discriminant;
use std::str::FromStr;
use std::sync::LazyLock;

use key_schema::entity::{CancellationCause, OrderStatus, PaymentState, PaymentStatus, ReturnStatus, ShipmentStatus};
use key_schema::layout::Item as Stored;
use serde_dynamo::{Item, from_item};

use super::{Sample, SampleSizes};
use Revision::First;

/// A kind of item, in one of its states.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// No item: a key that finds nothing.
    Absent,
    Customer(Revision),
    ErasedCustomer,
    /// The counters of a customer's orders.
    CustomerStats(Revision),
    Cart(Revision),
    CustomerAddresses,
    /// The item in the place of an erased customer's cart.
    ErasedCart,
    /// A guest who has ordered nothing.
    Guest,
    KeptGuest,
    EmailClaim,
    UsernameClaim,
    Product(Revision),
    /// A product that is a variant of another.
    Variant,
    ProductDescription,
    Stock(Revision),
    /// The first cell of a stock in several cells.
    FirstCell(Revision),
    StockCell(Revision),
    ProductStats(Revision),
    CategoryCount(Revision),
    ViewShard(Revision),
    ViewMark,
    Order(OrderStatus),
    /// The header of an order that was not paid in time. It has no reason.
    ExpiredOrder,
    /// The header of a delivered order with an open return of each line.
    ReturningOrder,
    /// The header of an order of which a unit of each line was cancelled or returned.
    CreditedOrder(OrderStatus),
    /// The header of a delivered order that staff gave an amount of back.
    AllowedOrder,
    OrderItem,
    OrderAddress,
    /// The invoice of an order whose payment, if any, staff record.
    Invoice(PaymentState),
    CardInvoice(PaymentState),
    /// The same, if the provider must still capture or void the payment.
    DueInvoice(PaymentState),
    /// An invoice that waits for its number. Its payment is due.
    UnnumberedInvoice,
    /// The same with its number.
    NumberedInvoice,
    InvoiceCounter(Revision),
    PaymentDue,
    Return(ReturnStatus),
    Shipment,
    /// The header of an order of which a unit of each line is in a shipment.
    PackingOrder,
    /// The header of an order of which a part is delivered.
    PartlyDeliveredOrder,
    OrderFlag(Revision),
    QueuedOrder,
    RefusedOrder,
    Discount(Revision),
    GiftCard(Revision),
    GiftCardEntry(PaymentStatus),
    Taxes(Revision),
    ShippingRates,
    DayTotals(Revision),
    StreamCheckpoint(Revision),
    /// Counts of a batch that are not yet added to the counters.
    ParkedCounts,
    /// The right to add the parked counts to the counters.
    FoldLease(Revision),
    Reconciliation(Revision),
    /// The stored answer to a request that created a product with an idempotency key.
    KeptProduct,
    /// The stored answer to a request that adjusted a stock with an idempotency key.
    KeptAdjustment,
    Migration(Revision),
    /// Items that a migration has to copy again.
    Repair,
    CopyProgress(Revision),
}

/// A revision of an item that changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Revision {
    /// The created item.
    First,
    /// Changed, with the same size.
    Changed,
    /// Changed, with another index key: a product in another category.
    Moved,
}

/// Every kind, except for [`Kind::Absent`].
static KINDS: LazyLock<Vec<Kind>> = LazyLock::new(|| {
    let sample = Sample::new(SampleSizes::TYPICAL);
    sample.iter().flat_map(|sample| sample.images().map(|(kind, _)| kind)).collect()
});

impl Display for Kind {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        write!(formatter, "{self:?}")
    }
}

impl FromStr for Kind {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut kinds = KINDS.iter().chain([&Self::Absent]);
        kinds.find(|kind| kind.to_string() == text).copied().ok_or_else(|| format!("{text}: no kind of item"))
    }
}

impl Kind {
    /// The kind of a stored item: the first revision of a kind that has several. `None` for an item that is of no
    /// entity.
    pub fn of(item: &Item) -> Option<Self> {
        Some(match from_item(item.clone()).ok()? {
            Stored::Customer(one) if one.is_erased() => Self::ErasedCustomer,
            Stored::Customer(_) => Self::Customer(First),
            Stored::CustomerStats(_) => Self::CustomerStats(First),
            Stored::Cart(one) if one.erased_at.is_some() => Self::ErasedCart,
            Stored::Cart(_) => Self::Cart(First),
            Stored::CustomerAddresses(_) => Self::CustomerAddresses,
            Stored::Guest(one) if one.expires_at.is_some() => Self::Guest,
            Stored::Guest(_) => Self::KeptGuest,
            Stored::EmailClaim(_) => Self::EmailClaim,
            Stored::UsernameClaim(_) => Self::UsernameClaim,
            Stored::Product(one) if one.variant_of.is_some() => Self::Variant,
            Stored::Product(_) => Self::Product(First),
            Stored::ProductDescription(_) => Self::ProductDescription,
            Stored::Stock(one) if one.cells.is_one() => Self::Stock(First),
            Stored::Stock(_) => Self::FirstCell(First),
            Stored::StockCell(_) => Self::StockCell(First),
            Stored::ProductStats(_) => Self::ProductStats(First),
            Stored::CategoryCount(_) => Self::CategoryCount(First),
            Stored::ViewShard(_) => Self::ViewShard(First),
            Stored::ViewMark(_) => Self::ViewMark,
            Stored::Order(order) => match order.cancellation.as_ref().and_then(|cancellation| cancellation.cause) {
                Some(CancellationCause::Unpaid) => Self::ExpiredOrder,
                _ if order.status == OrderStatus::Packing && !order.shipped.is_empty() => Self::PackingOrder,
                _ if order.status == OrderStatus::Shipped
                    && order.shipment_statuses.contains(&ShipmentStatus::Delivered) =>
                {
                    Self::PartlyDeliveredOrder
                }
                _ if !order.returning.is_empty() => Self::ReturningOrder,
                _ if !order.allowances.is_empty() => Self::AllowedOrder,
                None if !order.credits.is_empty() => Self::CreditedOrder(order.status),
                _ => Self::Order(order.status),
            },
            Stored::OrderItem(_) => Self::OrderItem,
            Stored::OrderAddress(_) => Self::OrderAddress,
            Stored::Invoice(invoice) if invoice.unnumbered.is_some() => Self::UnnumberedInvoice,
            Stored::Invoice(invoice) if invoice.number.is_some() => Self::NumberedInvoice,
            Stored::Invoice(invoice) => match invoice.card() {
                None => Self::Invoice(invoice.payments.first()?.state()),
                Some(card) => match card.state() {
                    state if card.provider.is_none() => Self::Invoice(state),
                    state if state != PaymentState::RefundDue && card.command().is_some() => Self::DueInvoice(state),
                    state => Self::CardInvoice(state),
                },
            },
            Stored::InvoiceCounter(_) => Self::InvoiceCounter(First),
            Stored::PaymentDue(_) => Self::PaymentDue,
            Stored::OrderFlag(_) => Self::OrderFlag(First),
            Stored::Return(one) => Self::Return(one.status),
            Stored::Shipment(_) => Self::Shipment,
            Stored::QueuedOrder(one) if one.refusal.is_some() => Self::RefusedOrder,
            Stored::QueuedOrder(_) => Self::QueuedOrder,
            Stored::Discount(_) => Self::Discount(First),
            Stored::GiftCard(_) => Self::GiftCard(First),
            Stored::GiftCardEntry(one) => Self::GiftCardEntry(one.status),
            Stored::Taxes(_) => Self::Taxes(First),
            Stored::ShippingRates(_) => Self::ShippingRates,
            Stored::DayTotals(_) => Self::DayTotals(First),
            Stored::StreamCheckpoint(_) => Self::StreamCheckpoint(First),
            Stored::ParkedCounts(_) => Self::ParkedCounts,
            Stored::FoldLease(_) => Self::FoldLease(First),
            Stored::Reconciliation(_) => Self::Reconciliation(First),
            Stored::IdempotencyRecord(one) if one.status == 201 => Self::KeptProduct,
            Stored::IdempotencyRecord(_) => Self::KeptAdjustment,
            Stored::Migration(_) => Self::Migration(First),
            Stored::Repair(_) => Self::Repair,
            Stored::CopyProgress(_) => Self::CopyProgress(First),
        })
    }

    /// The kind itself, or every revision of it.
    pub fn revisions(self) -> Vec<Self> {
        if !self.to_string().ends_with("(First)") {
            return vec![self];
        }
        KINDS.iter().filter(|kind| discriminant(*kind) == discriminant(&self)).copied().collect()
    }
}
