//! What happens to an order after it is placed: paid, shipped, delivered, or called off.
//!
//! Each change is decided on the whole order as it is read, and written under the condition that its version has
//! not moved since. Whoever comes second reads again and decides again, so that any number of them, in any order,
//! end as if they had come one by one.

use key_schema::entity::{
    Cancellation, Discount, GiftCard, GiftCardEntry, Invoice, Order, OrderStatus, Payment, PaymentStatus, WholeOrder,
};
use key_schema::value::{OrderId, Timestamp};
use lambda::{Environment, FromEnvironment, Misconfigured};
use table::{Budget, Cause, Condition, Error, Reader, Write, Writer};

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

/// What a change makes of an order as it is.
enum Step {
    To(Box<WholeOrder>),
    Stay,
    Refuse,
}

impl FromEnvironment for Lifecycle {
    fn from_environment(environment: &Environment) -> Result<Self, Misconfigured> {
        let writer = Writer::from_environment(environment)?.once();
        Ok(Self { reader: Reader::from_environment(environment)?, writer })
    }
}

impl Lifecycle {
    /// Takes the order to the next status of its way: shipped or delivered.
    pub async fn advance(&self, id: &OrderId, to: OrderStatus, budget: Budget) -> Result<Change, Error> {
        let step = |whole: &WholeOrder| match whole.order.status {
            // Payment and cancellation move more than the status, and have ways of their own.
            _ if !matches!(to, OrderStatus::Shipped | OrderStatus::Delivered) => Step::Refuse,
            status if status == to => Step::Stay,
            status if status.may_become(to) => Step::To(Box::new(with_status(whole, to))),
            _ => Step::Refuse,
        };
        self.change(id, |_| true, step, budget).await
    }

    /// Captures the card's part, after which the order is paid. `reference` is what the bank calls the payment;
    /// another one for a payment that was captured before is refused.
    pub async fn capture(&self, id: &OrderId, reference: &str, budget: Budget) -> Result<Change, Error> {
        let step = |whole: &WholeOrder| {
            let captured_before = whole.invoice.payments.iter().any(|payment| {
                matches!(payment, Payment::Card { status: PaymentStatus::Captured, reference: Some(known), .. } if known == reference)
            });
            if captured_before {
                return Step::Stay;
            }
            if !whole.order.status.may_become(OrderStatus::Paid) {
                return Step::Refuse;
            }
            let mut paid = with_status(whole, OrderStatus::Paid);
            for payment in &mut paid.invoice.payments {
                if let Payment::Card { status, reference: known, .. } = payment {
                    (*status, *known) = (PaymentStatus::Captured, Some(reference.to_owned()));
                }
            }
            Step::To(Box::new(paid))
        };
        self.change(id, |_| true, step, budget).await
    }

    /// Calls the order off, if `may_see` it: what it took from stock, discount code and gift cards goes back, and
    /// its payments are refunded, in one transaction.
    pub async fn cancel(
        &self,
        id: &OrderId,
        reason: Option<&str>,
        may_see: impl Fn(&Order) -> bool,
        budget: Budget,
    ) -> Result<Change, Error> {
        let step = |whole: &WholeOrder| {
            if whole.order.status == OrderStatus::Cancelled {
                return Step::Stay;
            }
            if !whole.order.status.may_become(OrderStatus::Cancelled) {
                return Step::Refuse;
            }
            let mut cancelled = with_status(whole, OrderStatus::Cancelled);
            let reason = reason.map(str::to_owned);
            cancelled.order.cancellation = Some(Cancellation { at: Timestamp::now(), reason });
            let payments = whole.invoice.payments.iter().cloned().map(Payment::refunded).collect();
            cancelled.invoice = Invoice { payments, ..cancelled.invoice };
            Step::To(Box::new(cancelled))
        };
        self.change(id, may_see, step, budget).await
    }

    /// Reads, decides, writes; and again when somebody else was faster, or when it is not known whether the write
    /// happened.
    async fn change(
        &self,
        id: &OrderId,
        may_see: impl Fn(&Order) -> bool,
        step: impl Fn(&WholeOrder) -> Step,
        budget: Budget,
    ) -> Result<Change, Error> {
        let mut written: Option<WholeOrder> = None;
        let mut attempt = 1;
        loop {
            let whole = self.reader.order(id, budget).await?;
            let Some(whole) = whole.filter(|whole| may_see(&whole.order)) else { return Ok(Change::NotFound) };
            if written.as_ref() == Some(&whole) {
                return Ok(Change::Done(whole));
            }
            let next = match step(&whole) {
                Step::To(next) => *next,
                Step::Stay => return Ok(Change::DoneBefore(whole)),
                Step::Refuse => return Ok(Change::Refused(whole.order.status)),
            };
            let last = match self.write(&whole, &next, budget).await {
                Ok(true) => return Ok(Change::Done(next)),
                Ok(false) => Error::contention("others were changing the order for too long"),
                Err(error @ Error::Unanswered(_)) => {
                    written = Some(next);
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

    /// Writes what is different; `false` if the order has moved on since it was read.
    async fn write(&self, from: &WholeOrder, to: &WholeOrder, budget: Budget) -> Result<bool, Error> {
        let header = Write::change(&from.order, &to.order, Condition::version(from.order.version)?)?;
        if from.invoice == to.invoice && to.order.status != OrderStatus::Cancelled {
            return Ok(self.writer.write(header, budget).await?.is_ok());
        }
        // A Query may show a header of after a transaction and an invoice of before it, so the invoice has a
        // condition too.
        let as_read = Condition::as_read(&from.invoice, &to.invoice)?;
        let mut writes = vec![header, Write::change(&from.invoice, &to.invoice, as_read)?];
        if to.order.status == OrderStatus::Cancelled {
            writes.extend(put_back(from)?);
        }
        match self.writer.commit(writes, budget).await? {
            Ok(()) => Ok(true),
            Err(causes) if causes.iter().take(2).any(|cause| matches!(cause, Cause::Condition(_))) => Ok(false),
            Err(_) => Err(Error::Refused("something the order was made of is gone".into())),
        }
    }
}

/// The order in its next version, with this status.
fn with_status(whole: &WholeOrder, status: OrderStatus) -> WholeOrder {
    let mut next = whole.clone();
    next.order.status = status;
    next.order.changed_at = Some(Timestamp::now());
    next.order.version += 1;
    next
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
