//! The header of an order, its invoice, and its entries on gift cards.

use key_schema::entity::OrderStatus::{Cancelled, Delivered, Packing, Pending, Shipped};
use key_schema::entity::PaymentState::{
    self, Authorized, Captured, Declined, Expired, Pending as Unpaid, RefundDue, Refunded, Voided,
};
use key_schema::entity::{
    Allowance, Cancellation, CancellationCause, CardPayment, CodeUse, Credit, GiftCardEntry, Held, Invoice,
    InvoiceCounter, LineUnits, Order, OrderStatus, Payment, PaymentStatus, Progress, ProviderPayment, ReturnStatus,
    ShipmentStatus, Transfer,
};
use key_schema::value::{Invalid, InvoiceNumber, Quantity, RequestHash};
use serde_dynamo::Item;

use super::{Images, NoSample, Parts, item, number};
use crate::{Kind, Revision};

/// A gateway's id of a request.
pub(super) const REQUEST: &str = "fxlFO9BGgSVEcqU=";

/// The counter of a series of invoice numbers.
pub(super) fn invoice_counter(revision: Revision) -> Result<Item, NoSample> {
    item(&InvoiceCounter { series: "2026".parse()?, last: number(revision).into() })
}

impl Parts<'_> {
    pub(super) fn order(&self, status: OrderStatus) -> Result<Item, NoSample> {
        item(&self.header(status))
    }

    pub(super) fn expired(&self) -> Result<Item, NoSample> {
        let cause = Some(CancellationCause::Unpaid);
        let cancellation = Some(Cancellation { at: self.later, reason: None, cause });
        item(&Order { cancellation, ..self.header(Cancelled) })
    }

    /// One entry for each line of the order.
    pub(super) fn by_line<T: Clone>(&self, entry: T) -> Vec<T> {
        (0..self.sizes.lines).map(|_| entry.clone()).collect()
    }

    pub(super) fn returning(&self) -> Result<Item, NoSample> {
        let unit = LineUnits { product_id: self.product.clone(), quantity: Quantity::try_from(1)? };
        item(&Order {
            returning: self.by_line(unit),
            return_statuses: vec![ReturnStatus::Requested],
            ..self.header(Delivered)
        })
    }

    pub(super) fn partly_delivered(&self) -> Result<Item, NoSample> {
        let unit = LineUnits { product_id: self.product.clone(), quantity: Quantity::try_from(1)? };
        let shipped = self.by_line(unit);
        let shipment_statuses = vec![ShipmentStatus::Delivered, ShipmentStatus::Shipped];
        item(&Order { shipped, shipment_statuses, ..self.header(Shipped) })
    }

    pub(super) fn packing(&self) -> Result<Item, NoSample> {
        let unit = LineUnits { product_id: self.product.clone(), quantity: Quantity::try_from(1)? };
        let shipment_statuses = vec![ShipmentStatus::Shipped];
        item(&Order { shipped: self.by_line(unit), shipment_statuses, ..self.header(Packing) })
    }

    pub(super) fn credited(&self, status: OrderStatus) -> Result<Item, NoSample> {
        let amount = self.price.amount();
        let credit = Credit { product_id: self.product.clone(), units: 1, gross: amount, amount };
        let return_statuses = (status == Delivered).then_some(ReturnStatus::Received).into_iter().collect();
        item(&Order { credits: self.by_line(credit), return_statuses, ..self.header(status) })
    }

    pub(super) fn allowed(&self) -> Result<Item, NoSample> {
        let key = Some(RequestHash::of(b"key"));
        let allowance = Allowance { key, amount: 1, reason: Some(self.reason.clone()), at: self.later };
        item(&Order { allowances: vec![allowance], ..self.header(Delivered) })
    }

    pub(super) fn header(&self, status: OrderStatus) -> Order {
        let cancelled = || Cancellation {
            at: self.later,
            reason: Some(self.reason.clone()),
            cause: Some(CancellationCause::Customer),
        };
        Order {
            status,
            changed_at: if status == Pending { self.at } else { self.later },
            discount: self.price,
            codes: Vec::from_iter(self.sizes.discount.then(|| CodeUse {
                code: self.discount.clone(),
                amount: self.price,
                counted: true,
            })),
            line_count: u8::try_from(self.sizes.lines).unwrap_or(u8::MAX),
            units: self.sizes.lines,
            shard: 1,
            cancellation: (status == Cancelled).then(cancelled),
            delivered_at: (status == Delivered).then_some(self.later),
            request_id: Some(REQUEST.to_owned()),
            ..Order::new(self.order.clone(), self.customer.clone(), self.at, self.price)
        }
    }

    /// An invoice whose card payment is in this state: at the provider, or as staff record it.
    pub(super) fn invoice(&self, state: PaymentState, provider: Option<ProviderPayment>) -> Result<Item, NoSample> {
        item(&self.invoice_paid(state, provider))
    }

    /// An invoice that waits for its number, and the same with its number.
    pub(super) fn numbered(&self) -> Result<Images, NoSample> {
        let waiting = Invoice { unnumbered: Some(0), ..self.invoice_paid(Unpaid, None) };
        let number = InvoiceNumber { series: "2026".parse()?, place: 1 };
        let numbered = waiting.clone().numbered(number);
        Ok(vec![(Kind::UnnumberedInvoice, item(&waiting)?), (Kind::NumberedInvoice, item(&numbered)?)])
    }

    fn invoice_paid(&self, state: PaymentState, provider: Option<ProviderPayment>) -> Invoice {
        let is_open = [Unpaid, Declined, Authorized].contains(&state);
        // Gift cards are charged and refunded at once.
        let of_gift_card = if is_open || state == Captured { PaymentStatus::Captured } else { PaymentStatus::Refunded };
        let by_gift_card = Payment::GiftCard {
            code: self.gift_card.clone(),
            amount: self.amount(499),
            status: of_gift_card,
            credited: 0,
        };
        let mut payments: Vec<_> = (0..self.sizes.gift_cards).map(|_| by_gift_card.clone()).collect();
        let transfer = || Transfer { reference: self.reason.clone(), amount: self.price.amount() };
        let by_staff = |states: &[PaymentState]| (provider.is_none() && states.contains(&state)).then(transfer);
        payments.push(Payment::Card(CardPayment {
            cancelled: !is_open && state != Captured,
            expired: state == Expired,
            transfer: by_staff(&[Captured, RefundDue, Refunded]),
            refunds: by_staff(&[Refunded]).into_iter().collect(),
            provider,
            ..CardPayment::of(self.price)
        }));
        Invoice::new(&self.header(Pending), payments)
    }

    /// The payment at the provider. Its id is as long as Stripe's.
    pub(super) fn at_provider(&self, state: PaymentState) -> Result<ProviderPayment, Invalid> {
        let amount = self.price.amount();
        let progress = match state {
            Unpaid => Progress::Started,
            Declined => Progress::Declined,
            Authorized => Progress::Authorized,
            Captured | RefundDue | Refunded => Progress::Captured,
            Voided | Expired => Progress::Ended,
        };
        let captured = if progress == Progress::Captured { amount } else { 0 };
        let refunded = if state == Refunded { amount } else { 0 };
        Ok(ProviderPayment {
            capture_requested: captured > 0,
            refund: u32::from([RefundDue, Refunded].contains(&state)),
            refunding: if state == RefundDue { amount } else { 0 },
            held: Held { captured, refunded, ..Held::of(progress) },
            ..ProviderPayment::new("pi_000000000000000000000000".parse()?, 1)
        })
    }

    /// An order's entry on a gift card.
    pub(super) fn gift_card_entry(&self, status: PaymentStatus) -> Result<Item, NoSample> {
        item(&GiftCardEntry {
            code: self.gift_card.clone(),
            order_id: self.order.clone(),
            amount: self.amount(499),
            at: self.at,
            status,
            returned: 0,
        })
    }
}
