//! An order with all of its parts.

use super::{
    CardPayment, Credit, Invoice, LineUnits, Order, OrderAddress, OrderFlag, OrderLine, OrderStatus, Payment, Return,
    ReturnStatus, Shipment, ShipmentStatus, Shortfall, Work,
};
use crate::value::{Money, ProductId};

/// An order with its lines, its invoice, its address, its flag, its returns and its shipments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WholeOrder {
    /// The header.
    pub order: Order,
    /// The lines, in the order of the request.
    pub lines: Vec<OrderLine>,
    pub invoice: Invoice,
    /// The address to which the order is shipped, if it has one.
    pub address: Option<OrderAddress>,
    pub flag: Option<OrderFlag>,
    /// The returns, open and closed, the oldest first.
    pub returns: Vec<Return>,
    /// The shipments, the oldest first.
    pub shipments: Vec<Shipment>,
}

impl WholeOrder {
    /// An order of these lines without address, and its invoice.
    pub fn new(order: Order, lines: Vec<OrderLine>, payments: Vec<Payment>) -> Self {
        let invoice = Invoice { taxes: order.taxes(&lines), ..Invoice::new(&order, payments) };
        Self { order, lines, invoice, address: None, flag: None, returns: Vec::new(), shipments: Vec::new() }
    }

    /// Puts returns and shipments in their order: by time, then by id.
    pub fn sort(&mut self) {
        self.returns.sort_by(|a, b| (a.requested_at, &a.return_id).cmp(&(b.requested_at, &b.return_id)));
        self.shipments.sort_by(|a, b| (a.shipped_at, &a.shipment_id).cmp(&(b.shipped_at, &b.shipment_id)));
    }

    /// Whether the states of the payments match the order's status, and their credits those of the header. If not, the
    /// read is torn: header and invoice were read on different sides of a transaction.
    pub fn is_consistent(&self) -> bool {
        self.invoice.credited() == self.order.credited()
            && self.invoice.payments.iter().all(|payment| payment.fits(self.order.status))
    }

    /// Whether the order was paid by card, and the money is not secured any more, because the authorization ended before
    /// the capture. A new payment that is not authorized yet does not change that.
    ///
    /// The answer is the same for a PAID, a PACKING, a SHIPPED and a DELIVERED order. Any other change of the status also changes the
    /// invoice. So a write that is conditional on the invoice cannot record a wrong answer.
    pub fn has_lapsed(&self) -> bool {
        let was_paid = !matches!(self.order.status, OrderStatus::Pending | OrderStatus::Cancelled);
        was_paid && self.invoice.card().is_some_and(CardPayment::has_lapsed)
    }

    /// What is to be done about the payment, if anything.
    pub fn work(&self) -> Option<Work> {
        self.invoice.card().and_then(CardPayment::work).or_else(|| self.has_lapsed().then_some(Work::Lapsed))
    }

    /// The amount that this work is about.
    pub fn amount_of(&self, work: Work) -> Money {
        let amount = self.invoice.card().map_or(0, |card| card.amount_of(work));
        Money::nearest(amount, self.order.total.currency())
    }

    /// The units of a line that are neither cancelled nor returned nor in an open return. Zero if the order has no such
    /// line.
    pub fn units_left(&self, product: &ProductId) -> u32 {
        let line = self.lines.iter().find(|line| line.product_id == *product);
        let gone = self.order.credited_units(product) + self.order.returning_units(product);
        line.map_or(0, |line| line.quantity.get().saturating_sub(gone))
    }

    /// The units of a line that were cancelled: those that are credited and did not come back.
    pub fn cancelled_units(&self, product: &ProductId) -> u32 {
        let received = self.returns.iter().filter(|one| one.status == ReturnStatus::Received);
        let lines = received.flat_map(|one| &one.lines).filter(|line| line.product_id == *product);
        self.order.credited_units(product).saturating_sub(lines.map(|line| line.quantity.get()).sum())
    }

    /// The units of a line that are neither in a shipment nor credited. It has a meaning until the order is delivered:
    /// after that, returned units are credited as well. Zero if the order has no such line.
    pub fn units_unshipped(&self, product: &ProductId) -> u32 {
        let line = self.lines.iter().find(|line| line.product_id == *product);
        let gone = self.order.credited_units(product) + self.order.shipped_units(product);
        line.map_or(0, |line| line.quantity.get().saturating_sub(gone))
    }

    /// Whether the order has shipments, and all units that are left are in them.
    pub fn is_in_shipments(&self) -> bool {
        !self.shipments.is_empty() && self.lines.iter().all(|line| self.units_unshipped(&line.product_id) == 0)
    }

    /// Whether the address, the returns and the shipments are those that the header has. If not, the read is torn: it saw only a
    /// part of the transaction that added one, or changed its status.
    pub fn has_all_parts(&self) -> bool {
        let (shipments, returns) = self.statuses();
        self.address.is_some() == self.order.has_address
            && self.order.shipment_statuses == shipments
            && self.order.return_statuses == returns
    }

    /// The statuses of the shipments and of the returns.
    fn statuses(&self) -> (Vec<ShipmentStatus>, Vec<ReturnStatus>) {
        (self.shipments.iter().map(Shipment::status).collect(), self.returns.iter().map(|one| one.status).collect())
    }

    /// Writes the statuses of shipments and returns into the header. Every change of them ends with this.
    #[must_use]
    pub fn with_statuses(mut self) -> Self {
        self.sort();
        (self.order.shipment_statuses, self.order.return_statuses) = self.statuses();
        self
    }

    /// Whether the order has these units left.
    ///
    /// # Errors
    /// A line has fewer units left.
    pub fn has_left(&self, lines: &[LineUnits]) -> Result<(), Shortfall> {
        let short = lines.iter().find(|line| line.quantity.get() > self.units_left(&line.product_id));
        short.map_or(Ok(()), |line| {
            Err(Shortfall { product_id: line.product_id.clone(), left: self.units_left(&line.product_id) })
        })
    }

    /// The credits of the order after these units are credited as well.
    pub fn credits_with(&self, more: &[LineUnits]) -> Vec<Credit> {
        let more = |product: &ProductId| -> u32 {
            more.iter().filter(|line| line.product_id == *product).map(|line| line.quantity.get()).sum()
        };
        let units = |product: &ProductId| self.order.credited_units(product) + more(product);
        Credit::of(&self.lines, self.order.discount, units)
    }

    /// The order as it was when it was placed: the answer to a repeated request.
    #[must_use]
    pub fn as_placed(&self) -> Self {
        let payments: Vec<Payment> = self.invoice.payments.iter().map(Payment::as_placed).collect();
        Self {
            order: Order {
                status: OrderStatus::when_placed(&payments),
                changed_at: self.order.placed_at,
                version: 1,
                cancellation: None,
                credits: Vec::new(),
                allowances: Vec::new(),
                returning: Vec::new(),
                return_statuses: Vec::new(),
                shipped: Vec::new(),
                shipment_statuses: Vec::new(),
                delivered_at: None,
                ..self.order.clone()
            },
            lines: self.lines.clone(),
            invoice: Invoice { payments, version: 1, ..self.invoice.clone() },
            address: self.address.clone(),
            flag: None,
            returns: Vec::new(),
            shipments: Vec::new(),
        }
    }
}
