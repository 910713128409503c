//! The decisions of changing an order, without I/O.
//!
//! [`Changing`] is a state machine: it returns the next request to make, takes the answer, and decides what follows.
//! [`Lifecycle`](crate::Lifecycle) has the loop that makes the requests. The model in `lab/models` drives the same
//! state machine through every interleaving.

#[cfg(test)]
mod tests;
mod writes;

use key_schema::entity::WholeOrder;
use key_schema::value::Timestamp;
use table::{Cause, Commit, Error, Write};

use crate::Transitioned;
use crate::steps::{Step, Transition};
use writes::{guards, writes};

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
            Step::Refuse | Step::Deny(_) => return Ok(Next::Settle(Box::new(whole))),
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
        // A return or a shipment was made between the two reads. It may be the one of this request.
        if !whole.has_all_parts() {
            return Ok(Next::Read { backoff: true });
        }
        let outcome = match self.transition.of(&whole, now) {
            _ if self.is_done(&whole) => Transitioned::Done(whole),
            Step::To(next) => return write(whole, *next, now),
            Step::Stay => Transitioned::DoneBefore(whole),
            Step::Refuse => Transitioned::Refused(whole.order.status),
            Step::Deny(denial) => Transitioned::Denied(denial),
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
            Err(Error::Inconsistent("an item that an order gives back to is gone"))
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
        whole.is_consistent() || matches!(self.transition, Transition::Expire { .. } | Transition::ExpireLapsed { .. })
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
        guards(&self.from, &self.to)
    }
}

fn write(from: WholeOrder, to: WholeOrder, now: Timestamp) -> Result<Next, Error> {
    Ok(Next::Write(writes(&from, &to, now)?, Box::new(Sent { from, to })))
}
