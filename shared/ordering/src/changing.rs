//! The decisions of changing an order, without I/O.
//!
//! [`Changing`] is a state machine: it returns the next request to make, takes the answer, and decides what follows.
//! [`Lifecycle`](crate::Lifecycle) has the loop that makes the requests. The model in `lab/models` drives the same
//! state machine through every interleaving.

use key_schema::entity::{
    CardPayment, Discount, GiftCard, GiftCardEntry, OrderStatus, Payment, PaymentDue, PaymentStatus, WholeOrder,
};
use key_schema::value::Timestamp;
use table::{Cause, Commit, Condition, Error, Write};

use crate::Transitioned;
use crate::steps::{Step, Transition};

#[cfg(test)]
mod tests;

/// A change of one order, in progress.
#[derive(Clone, Debug)]
pub struct Changing<'a> {
    transition: Transition<'a>,
    /// The last write that was not answered.
    unanswered: Option<Box<Sent>>,
}

/// The next request to make.
#[derive(Debug)]
pub enum Next {
    /// Read the whole order. Then call [`found`](Changing::found).
    Read {
        /// Whether to pause first, because a write conflicted with others or was not answered.
        backoff: bool,
    },
    /// Read the header and the invoice of this order again, in one transaction. Then call
    /// [`settled`](Changing::settled).
    Settle(Box<WholeOrder>),
    /// Do these writes, in one transaction if there are several. Then call [`written`](Changing::written), or
    /// [`unanswered`](Changing::unanswered).
    Write(Vec<Write>, Box<Sent>),
    /// Nothing: this is the outcome.
    Done(Box<Transitioned>),
}

/// A write that was sent: the order as it was read, and the order after the write.
#[derive(Clone, Debug)]
pub struct Sent {
    from: WholeOrder,
    to: WholeOrder,
}

impl<'a> Changing<'a> {
    /// Starts a change. The first request is a read, without a pause.
    pub fn new(transition: Transition<'a>) -> Self {
        Self { transition, unanswered: None }
    }

    /// Takes the order as a Query returned it: the header may be older than the invoice, or the other way round.
    ///
    /// # Errors
    /// The order cannot be serialized: a defect.
    pub fn found(&mut self, whole: WholeOrder, now: Timestamp) -> Result<Next, Error> {
        // The conditions of a write detect a torn read. A refusal or an answer has no condition, so it needs a read
        // that is not torn.
        let answer = match self.transition.of(&whole, now) {
            _ if self.is_done(&whole) => Transitioned::Done,
            Step::To(next) => return write(whole, *next, now),
            Step::Stay => Transitioned::DoneBefore,
            Step::Refuse => return Ok(Next::Settle(Box::new(whole))),
        };
        if self.may_answer_with(&whole) {
            Ok(Next::Done(Box::new(answer(whole))))
        } else {
            Ok(Next::Settle(Box::new(whole)))
        }
    }

    /// Takes the order with its header and its invoice from one snapshot read.
    ///
    /// # Errors
    /// The order cannot be serialized: a defect.
    pub fn settled(&mut self, whole: WholeOrder, now: Timestamp) -> Result<Next, Error> {
        let outcome = match self.transition.of(&whole, now) {
            _ if self.is_done(&whole) => Transitioned::Done(whole),
            Step::To(next) => return write(whole, *next, now),
            Step::Stay => Transitioned::DoneBefore(whole),
            Step::Refuse => Transitioned::Refused(whole.order.status),
        };
        Ok(Next::Done(Box::new(outcome)))
    }

    /// Takes the outcome of the write.
    ///
    /// # Errors
    /// An item to which the cancellation gives something back, such as a gift card, is gone: a defect.
    pub fn written(&mut self, sent: Sent, outcome: Commit) -> Result<Next, Error> {
        let Commit::Cancelled(causes) = outcome else { return Ok(Next::Done(Box::new(Transitioned::Done(sent.to)))) };
        let order_has_changed = causes.iter().take(sent.guards()).any(|cause| matches!(cause, Cause::Condition(_)));
        if order_has_changed {
            Ok(Next::Read { backoff: true })
        } else {
            Err(Error::Inconsistent("an item that a cancelled order gives back to is gone"))
        }
    }

    /// Takes note that the write was not answered. It may have been done, or may still be done later.
    pub fn unanswered(&mut self, sent: Sent) -> Next {
        self.unanswered = Some(Box::new(sent));
        Next::Read { backoff: true }
    }

    /// Whether this read may be returned as the answer. An expiry returns the order to nobody, so it never needs a
    /// snapshot read, and its function no permission for one.
    fn may_answer_with(&self, whole: &WholeOrder) -> bool {
        whole.is_consistent() || matches!(self.transition, Transition::Expire { .. })
    }

    /// Whether the write that was not answered has been done.
    ///
    /// If the write changed the header, only the header is compared: the invoice was written in the same transaction,
    /// and may have changed again since. Other items, such as a flag, do not matter.
    fn is_done(&self, whole: &WholeOrder) -> bool {
        self.unanswered.as_ref().is_some_and(|sent| {
            let Sent { from, to } = &**sent;
            if from.order == to.order { whole.invoice == to.invoice } else { whole.order == to.order }
        })
    }
}

impl Sent {
    /// The number of writes that are conditional on the order as it was read. They come first.
    fn guards(&self) -> usize {
        usize::from(self.from.order != self.to.order) + usize::from(self.from.invoice != self.to.invoice)
    }
}

fn write(from: WholeOrder, to: WholeOrder, now: Timestamp) -> Result<Next, Error> {
    Ok(Next::Write(writes(&from, &to, now)?, Box::new(Sent { from, to })))
}

/// The writes that change the order from `from` to `to`: the header and the invoice, each if it differs; then the mark of
/// a payment that becomes due, or is not due any more; and then the writes of [`put_back`] if this cancels the order.
fn writes(from: &WholeOrder, to: &WholeOrder, now: Timestamp) -> Result<Vec<Write>, Error> {
    let mut writes = Vec::new();
    if from.order != to.order {
        writes.push(Write::change(&from.order, &to.order, Condition::version(from.order.version)?)?);
    }
    if from.invoice != to.invoice {
        // A Query may return a header from after a transaction and an invoice from before it, so the invoice has a
        // condition of its own.
        let as_read = Condition::as_read(&from.invoice, &to.invoice)?;
        writes.push(Write::change(&from.invoice, &to.invoice, as_read)?);
    }
    let is_due = |whole: &WholeOrder| whole.invoice.card().is_some_and(CardPayment::is_due);
    match (is_due(from), is_due(to)) {
        (false, true) => {
            let (order_id, shard) = (to.order.order_id.clone(), to.order.shard);
            writes.push(Write::put(&PaymentDue { order_id, shard, since: now })?);
        }
        // The last release marks nothing, so the mark may be absent.
        (true, false) => writes.push(Write::delete(PaymentDue::key_of(&to.order.order_id))),
        _ => {}
    }
    if from.order.status != to.order.status && to.order.status == OrderStatus::Cancelled {
        writes.extend(put_back(from)?);
    }
    Ok(writes)
}

/// The writes that give back what placing the order took from stocks, discount code and gift cards. They happen once,
/// because the condition on the header's version is in the same transaction.
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
        let exists = Condition::present().value(":amount", amount.amount())?;
        let key = GiftCard::key_of(code);
        writes.push(Write::update(key, "SET #balance.#amount = #balance.#amount + :amount", exists));
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
