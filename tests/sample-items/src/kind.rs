//! The kinds of items by name, and the kind of a stored item.

use std::fmt::{self, Display, Formatter};
use std::mem::discriminant;
use std::str::FromStr;
use std::sync::LazyLock;

use key_schema::entity::{CancellationCause, OrderStatus, PaymentState};
use key_schema::entity::{
    Cart, CategoryCount, CopyProgress, Customer, CustomerAddresses, CustomerStats, DayTotals, Discount, EmailClaim,
    Entity as _, FoldLease, GiftCard, GiftCardEntry, Guest, IdempotencyRecord, Invoice, InvoiceCounter, Move, Order,
    OrderAddress, OrderFlag, OrderItem, ParkedCounts, PaymentDue, Product, ProductDescription, ProductStats,
    QueuedOrder, Reconciliation, Repair, Return, Shipment, ShippingRates, Stock, StockCell, StreamCheckpoint, Taxes,
    UsernameClaim, ViewMark, ViewShard,
};
use key_schema::layout::ENTITY_TYPE;
use key_schema::value::Cells;
use serde_dynamo::{AttributeValue, Item, from_item};

use super::Revision::First;
use super::{Kind, Sample, SampleSizes};

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
        let Some(AttributeValue::S(entity)) = item.get(ENTITY_TYPE) else { return None };
        Some(match entity.as_str() {
            Customer::TYPE if item.contains_key("erasedAt") => Self::ErasedCustomer,
            Customer::TYPE => Self::Customer(First),
            CustomerStats::TYPE => Self::CustomerStats(First),
            Cart::TYPE if item.contains_key("erasedAt") => Self::ErasedCart,
            Cart::TYPE => Self::Cart(First),
            CustomerAddresses::TYPE => Self::CustomerAddresses,
            Guest::TYPE => match from_item::<_, Guest>(item.clone()).ok()?.expires_at {
                Some(_) => Self::Guest,
                None => Self::KeptGuest,
            },
            EmailClaim::TYPE => Self::EmailClaim,
            UsernameClaim::TYPE => Self::UsernameClaim,
            Product::TYPE if item.contains_key("variantOf") => Self::Variant,
            Product::TYPE => Self::Product(First),
            ProductDescription::TYPE => Self::ProductDescription,
            Stock::TYPE => match from_item::<_, Stock>(item.clone()).ok()?.cells {
                Cells::ONE => Self::Stock(First),
                _ => Self::FirstCell(First),
            },
            StockCell::TYPE => Self::StockCell(First),
            ProductStats::TYPE => Self::ProductStats(First),
            CategoryCount::TYPE => Self::CategoryCount(First),
            ViewShard::TYPE => Self::ViewShard(First),
            ViewMark::TYPE => Self::ViewMark,
            Order::TYPE => {
                let order: Order = from_item(item.clone()).ok()?;
                match order.cancellation.and_then(|cancellation| cancellation.cause) {
                    Some(CancellationCause::Unpaid) => Self::ExpiredOrder,
                    _ if order.status == OrderStatus::Packing && !order.shipped.is_empty() => Self::PackingOrder,
                    _ if order.status == OrderStatus::Shipped && order.delivered_count > 0 => {
                        Self::PartlyDeliveredOrder
                    }
                    _ if !order.returning.is_empty() => Self::ReturningOrder,
                    None if !order.credits.is_empty() => Self::CreditedOrder(order.status),
                    _ => Self::Order(order.status),
                }
            }
            OrderItem::TYPE => Self::OrderItem,
            OrderAddress::TYPE => Self::OrderAddress,
            Invoice::TYPE => {
                let invoice: Invoice = from_item(item.clone()).ok()?;
                if invoice.unnumbered.is_some() {
                    return Some(Self::UnnumberedInvoice);
                }
                if invoice.number.is_some() {
                    return Some(Self::NumberedInvoice);
                }
                let Some(card) = invoice.card() else { return Some(Self::Invoice(invoice.payments.first()?.state())) };
                match card.state() {
                    state if card.provider.is_none() => Self::Invoice(state),
                    state if state != PaymentState::RefundDue && card.command().is_some() => Self::DueInvoice(state),
                    state => Self::CardInvoice(state),
                }
            }
            InvoiceCounter::TYPE => Self::InvoiceCounter(First),
            OrderFlag::TYPE => Self::OrderFlag(First),
            QueuedOrder::TYPE => match from_item::<_, QueuedOrder>(item.clone()).ok()?.refusal {
                None => Self::QueuedOrder,
                Some(_) => Self::RefusedOrder,
            },
            Discount::TYPE => Self::Discount(First),
            GiftCard::TYPE => Self::GiftCard(First),
            GiftCardEntry::TYPE => Self::GiftCardEntry(from_item::<_, GiftCardEntry>(item.clone()).ok()?.status),
            PaymentDue::TYPE => Self::PaymentDue,
            Return::TYPE => Self::Return(from_item::<_, Return>(item.clone()).ok()?.status),
            ShippingRates::TYPE => Self::ShippingRates,
            Shipment::TYPE => Self::Shipment,
            DayTotals::TYPE => Self::DayTotals(First),
            StreamCheckpoint::TYPE => Self::StreamCheckpoint(First),
            ParkedCounts::TYPE => Self::ParkedCounts,
            FoldLease::TYPE => Self::FoldLease(First),
            Taxes::TYPE => Self::Taxes(First),
            Reconciliation::TYPE => Self::Reconciliation(First),
            Move::TYPE => Self::Move(First),
            Repair::TYPE => Self::Repair,
            CopyProgress::TYPE => Self::CopyProgress(First),
            IdempotencyRecord::TYPE => match from_item::<_, IdempotencyRecord>(item.clone()).ok()?.status {
                201 => Self::KeptProduct,
                _ => Self::KeptAdjustment,
            },
            _ => return None,
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
