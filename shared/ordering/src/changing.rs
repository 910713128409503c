//! The decisions of changing an order, without I/O.
//!
//! [`Changing`] says which request to make next, is told its answer, and decides what follows. The loop that makes the
//! requests is [`Lifecycle`](crate::Lifecycle). The model in `tests/models` drives the same decisions through every
//! interleaving.

use key_schema::entity::{Discount, GiftCard, GiftCardEntry, OrderStatus, Payment, PaymentStatus, WholeOrder};
use key_schema::value::Timestamp;
use table::{Cause, Commit, Condition, Error, Write};

use crate::Transitioned;
use crate::steps::{Step, Transition};

#[cfg(test)]
mod tests;

/// A change of one order that is under way.
#[derive(Clone, Debug)]
pub struct Changing<'a> {
    transition: Transition<'a>,
    /// The last write whose outcome is not known.
    unanswered: Option<Box<Sent>>,
}

/// The next request to make.
#[derive(Debug)]
pub enum Next {
    /// Read the whole order, after a pause if others were in the way. Then [`found`](Changing::found).
    Read {
        /// Whether to pause first.
        backoff: bool,
    },
    /// Read the header and the invoice of this order again, in one transaction. Then [`settled`](Changing::settled).
    Settle(Box<WholeOrder>),
    /// Do these writes, several of them in one transaction. Then [`written`](Changing::written), or
    /// [`unanswered`](Changing::unanswered).
    Write(Vec<Write>, Box<Sent>),
    /// Nothing: this is the outcome.
    Done(Box<Transitioned>),
}

/// A write that was sent: the order as it was read, and what the write makes of it.
#[derive(Clone, Debug)]
pub struct Sent {
    from: WholeOrder,
    to: WholeOrder,
}

impl<'a> Changing<'a> {
    /// Begins. The first request is a read, without a pause.
    pub fn new(transition: Transition<'a>) -> Self {
        Self { transition, unanswered: None }
    }

    /// The order was read, item by item: the header may be older than the invoice, or the other way round.
    ///
    /// # Errors
    /// An order that cannot be written as items: a defect.
    pub fn found(&mut self, whole: WholeOrder, now: Timestamp) -> Result<Next, Error> {
        if self.is_done(&whole) {
            let is_sure = self.is_sure(&whole);
            return Ok(if is_sure {
                Next::Done(Box::new(Transitioned::Done(whole)))
            } else {
                Next::Settle(Box::new(whole))
            });
        }
        // A write finds out whether it was decided on a torn read. A refusal must not rest on one, and neither must an
        // answer.
        match self.transition.of(&whole, now) {
            Step::To(next) => write(whole, *next),
            Step::Stay if self.is_sure(&whole) => Ok(Next::Done(Box::new(Transitioned::DoneBefore(whole)))),
            Step::Stay | Step::Refuse => Ok(Next::Settle(Box::new(whole))),
        }
    }

    /// The order with its header and its invoice as they are at one moment.
    ///
    /// # Errors
    /// An order that cannot be written as items: a defect.
    pub fn settled(&mut self, whole: WholeOrder, now: Timestamp) -> Result<Next, Error> {
        let change = match self.transition.of(&whole, now) {
            _ if self.is_done(&whole) => Transitioned::Done(whole),
            Step::To(next) => return write(whole, *next),
            Step::Stay => Transitioned::DoneBefore(whole),
            Step::Refuse => Transitioned::Refused(whole.order.status),
        };
        Ok(Next::Done(Box::new(change)))
    }

    /// The write was done, or refused for these causes: one for each of its writes.
    ///
    /// # Errors
    /// Something that the order took from, such as a gift card, is gone: a defect.
    pub fn written(&mut self, sent: Sent, outcome: Commit) -> Result<Next, Error> {
        let Commit::Cancelled(causes) = outcome else { return Ok(Next::Done(Box::new(Transitioned::Done(sent.to)))) };
        let is_outrun = causes.iter().take(sent.guards()).any(|cause| matches!(cause, Cause::Condition(_)));
        if is_outrun {
            Ok(Next::Read { backoff: true })
        } else {
            Err(Error::Inconsistent("something the order was made of is gone"))
        }
    }

    /// The write was sent, and whether it was done is not known. It may still be on its way.
    pub fn unanswered(&mut self, sent: Sent) -> Next {
        self.unanswered = Some(Box::new(sent));
        Next::Read { backoff: true }
    }

    /// Whether the order may be shown as it was read. An expiry shows it to nobody, so its function needs no permission to
    /// read in a transaction.
    fn is_sure(&self, whole: &WholeOrder) -> bool {
        whole.is_consistent() || matches!(self.transition, Transition::Expire { .. })
    }

    /// Whether the write that was not answered has been done. What others have written beside it, a flag for one, does not
    /// matter, and neither does what became of the invoice later: the transaction that wrote the header wrote both.
    fn is_done(&self, whole: &WholeOrder) -> bool {
        self.unanswered.as_ref().is_some_and(|sent| {
            let Sent { from, to } = &**sent;
            if from.order == to.order { whole.invoice == to.invoice } else { whole.order == to.order }
        })
    }
}

impl Sent {
    /// How many of the writes are conditional on the order as it was read. They come first.
    fn guards(&self) -> usize {
        usize::from(self.from.order != self.to.order) + usize::from(self.from.invoice != self.to.invoice)
    }
}

fn write(from: WholeOrder, to: WholeOrder) -> Result<Next, Error> {
    Ok(Next::Write(writes(&from, &to)?, Box::new(Sent { from, to })))
}

/// The writes that make `to` of `from`: the header and the invoice where they differ, in this order, and what goes back
/// if the order is cancelled by it.
fn writes(from: &WholeOrder, to: &WholeOrder) -> Result<Vec<Write>, Error> {
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
