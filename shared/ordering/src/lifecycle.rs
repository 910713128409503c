//! What happens to an order after it is placed: paid, shipped, delivered, or cancelled.
//!
//! Each change is decided on the whole order as it is read, and written under the condition that its version has
//! not moved since. Whoever comes second reads again and decides again, so that any number of them, in any order,
//! end as if they had come one by one.

use key_schema::entity::{Discount, GiftCard, GiftCardEntry, Order, OrderStatus, Payment, PaymentStatus, WholeOrder};
use key_schema::layout::{InOrder, Stored as _};
use key_schema::value::{InvoiceId, OrderId, Timestamp};
use lambda::{Environment, FromEnvironment, Misconfigured};
use table::{Budget, Cause, Condition, Error, Reader, Write, Writer};

use crate::steps::{self, Cancel, Step};

/// Changes orders.
#[derive(Clone, Debug)]
pub struct Lifecycle {
    reader: Reader,
    writer: Writer,
}

/// What came of a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// It is done.
    Done(WholeOrder),
    /// It had been done before.
    DoneBefore(WholeOrder),
    /// An order of this status cannot change so.
    Refused(OrderStatus),
    /// There is no such order, or the caller may not see it.
    NotFound,
}

impl FromEnvironment for Lifecycle {
    fn from_environment(environment: &Environment) -> Result<Self, Misconfigured> {
        let writer = Writer::from_environment(environment)?.once();
        Ok(Self { reader: Reader::from_environment(environment)?, writer })
    }
}

impl Lifecycle {
    /// Takes the order to its next status: shipped or delivered.
    pub async fn advance(&self, id: &OrderId, to: OrderStatus, budget: Budget) -> Result<Change, Error> {
        self.change(id, |_| true, |whole| steps::advance(whole, to, Timestamp::now()), budget).await
    }

    /// Records that the bank has taken the card's part of an invoice: [`steps::capture`].
    pub async fn capture(&self, invoice: &InvoiceId, reference: &str, budget: Budget) -> Result<Change, Error> {
        let step = |whole: &WholeOrder| steps::capture(whole, reference, Timestamp::now());
        self.change_paid_by(invoice, step, budget).await
    }

    /// Records that the customer has got back what was due: [`steps::confirm_refund`].
    pub async fn confirm_refund(&self, invoice: &InvoiceId, reference: &str, budget: Budget) -> Result<Change, Error> {
        self.change_paid_by(invoice, |whole| steps::confirm_refund(whole, reference), budget).await
    }

    /// Cancels the order, if `may_see` it: [`steps::cancel`], in one transaction.
    pub async fn cancel(
        &self,
        id: &OrderId,
        cancel: Cancel<'_>,
        may_see: impl Fn(&Order) -> bool,
        budget: Budget,
    ) -> Result<Change, Error> {
        let may_see = |whole: &WholeOrder| may_see(&whole.order);
        self.change(id, may_see, |whole| steps::cancel(whole, cancel, Timestamp::now()), budget).await
    }

    /// Cancels the order, if it is not paid and was placed at or before the deadline: [`steps::expire`]. Whether it did.
    ///
    /// It is tried once. Whoever changes the order at the same time is right, and an order that stays unpaid is met
    /// again.
    pub async fn expire(&self, id: &OrderId, deadline: Timestamp, budget: Budget) -> Result<bool, Error> {
        let Some(whole) = self.reader.order(id, budget).await? else { return Ok(false) };
        match steps::expire(&whole, deadline, Timestamp::now()) {
            Step::To(next) => self.write(&whole, &next, budget).await,
            Step::Stay | Step::Refuse => Ok(false),
        }
    }

    /// Changes the order of an invoice.
    async fn change_paid_by(
        &self,
        invoice: &InvoiceId,
        step: impl Fn(&WholeOrder) -> Step,
        budget: Budget,
    ) -> Result<Change, Error> {
        let Some(order) = self.reader.order_of_invoice(invoice).await? else { return Ok(Change::NotFound) };
        // The order of an invoice that has an id of the last release has no invoice with another id.
        self.change(&order, |whole| whole.invoice.invoice_id == *invoice, step, budget).await
    }

    /// Reads, decides, writes; and again when somebody else was faster, or when it is not known whether the write
    /// happened.
    async fn change(
        &self,
        id: &OrderId,
        is_meant: impl Fn(&WholeOrder) -> bool,
        step: impl Fn(&WholeOrder) -> Step,
        budget: Budget,
    ) -> Result<Change, Error> {
        let mut unanswered: Option<Unanswered> = None;
        let mut attempt = 1;
        loop {
            let whole = self.reader.order(id, budget).await?;
            let Some(mut whole) = whole.filter(&is_meant) else { return Ok(Change::NotFound) };
            if unanswered.as_ref().is_some_and(|write| write.is_done(&whole)) {
                return Ok(Change::Done(whole));
            }
            let mut decided = step(&whole);
            // The header may have been read before a transaction and the invoice after it. A write would find out; a
            // refusal must not rest on it, and neither must an answer.
            if decided == Step::Refuse || (decided == Step::Stay && !whole.is_consistent()) {
                whole = self.settled(whole, budget).await?;
                decided = step(&whole);
            }
            let next = match decided {
                Step::To(next) => *next,
                Step::Stay => return Ok(Change::DoneBefore(whole)),
                Step::Refuse => return Ok(Change::Refused(whole.order.status)),
            };
            let last = match self.write(&whole, &next, budget).await {
                Ok(true) => return Ok(Change::Done(next)),
                Ok(false) => Error::contention("others were changing the order for too long"),
                Err(error @ Error::Unanswered(_)) => {
                    unanswered = Some(Unanswered { from: whole, to: next });
                    error
                }
                Err(error) => return Err(error),
            };
            if !budget.wait(attempt).await {
                return Err(last);
            }
            attempt += 1;
        }
    }

    /// The order with its header and its invoice as they are at one moment.
    async fn settled(&self, whole: WholeOrder, budget: Budget) -> Result<WholeOrder, Error> {
        let mut settled = whole;
        let keys = vec![Order::key_of(&settled.order.order_id), settled.invoice.key()];
        for item in self.reader.settled(keys, budget).await? {
            match item {
                InOrder::Order(order) => settled.order = order,
                InOrder::Invoice(invoice) => settled.invoice = invoice,
                _ => {}
            }
        }
        Ok(settled)
    }

    /// Writes what is different; `false` if the order has moved on since it was read.
    async fn write(&self, from: &WholeOrder, to: &WholeOrder, budget: Budget) -> Result<bool, Error> {
        let writes = match <[Write; 1]>::try_from(writes(from, to)?) {
            // A transaction would cost twice as much, and one write is whole without it.
            Ok([write]) => return Ok(self.writer.write(write, budget).await?.is_ok()),
            Err(writes) => writes,
        };
        match self.writer.commit(writes, budget).await? {
            Ok(()) => Ok(true),
            Err(causes) if causes.iter().take(2).any(|cause| matches!(cause, Cause::Condition(_))) => Ok(false),
            Err(_) => Err(Error::Refused("something the order was made of is gone".into())),
        }
    }
}

/// A write of which it is not known whether it happened.
struct Unanswered {
    from: WholeOrder,
    to: WholeOrder,
}

impl Unanswered {
    /// Whether what it was to write is there. What others write beside it, a flag for one, does not matter.
    fn is_done(&self, whole: &WholeOrder) -> bool {
        let Self { from, to } = self;
        (from.order == to.order || whole.order == to.order)
            && (from.invoice == to.invoice || whole.invoice == to.invoice)
    }
}

/// The writes that make `to` of `from`: the header and the invoice where they differ, in this order, and what goes back
/// if the order is cancelled by it. Several are one transaction.
///
/// # Errors
/// An entity cannot be written as an item: a defect.
pub fn writes(from: &WholeOrder, to: &WholeOrder) -> Result<Vec<Write>, Error> {
    let mut writes = Vec::new();
    if from.order != to.order {
        writes.push(Write::change(&from.order, &to.order, Condition::version(from.order.version)?)?);
    }
    if from.invoice != to.invoice {
        // A Query may show a header of after a transaction and an invoice of before it, so the invoice has a condition
        // of its own.
        let as_read = Condition::as_read(&from.invoice, &to.invoice)?;
        writes.push(Write::change(&from.invoice, &to.invoice, as_read)?);
    }
    if from.order.status != to.order.status && to.order.status == OrderStatus::Cancelled {
        writes.extend(put_back(from)?);
    }
    Ok(writes)
}

/// Puts back what placing the order took. The header's version guards all of it: it happens once.
fn put_back(whole: &WholeOrder) -> Result<Vec<Write>, Error> {
    let mut writes = Vec::new();
    for line in &whole.lines {
        writes.push(stock::put_back(&line.product_id, line.quantity)?);
    }
    if let Some(code) = &whole.order.discount_code {
        let was_used = Condition::new("#uses >= :one").value(":one", 1)?;
        writes.push(Write::update(Discount::key_of(code), "SET #uses = #uses - :one", was_used));
    }
    for payment in &whole.invoice.payments {
        let Payment::GiftCard { code, amount, .. } = payment else { continue };
        let is_there = Condition::present().value(":amount", amount.amount())?;
        let key = GiftCard::key_of(code);
        writes.push(Write::update(key, "SET #balance.#amount = #balance.#amount + :amount", is_there));
        let taken = GiftCardEntry {
            code: code.clone(),
            order_id: whole.order.order_id.clone(),
            amount: *amount,
            at: whole.order.placed_at,
            status: PaymentStatus::Captured,
        };
        let given_back = GiftCardEntry { status: PaymentStatus::Refunded, ..taken.clone() };
        writes.push(Write::change(&taken, &given_back, Condition::present())?);
    }
    Ok(writes)
}
