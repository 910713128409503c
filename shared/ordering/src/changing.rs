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
use writes::writes;

/// A change of one order, in progress.
#[derive(Clone, Debug)]
pub struct Changing<'a> {
    transition: Transition<'a>,
    /// The last write that was not answered.
    unanswered: Option<Box<SentChange>>,
    request_id: Option<String>,
}

/// The next request to make.
#[derive(Debug)]
pub enum ChangingAction {
    /// Read the whole order. Then call [`order_read`](Changing::order_read).
    Read {
        /// Whether to pause first, because a write conflicted with others or was not answered.
        backoff: bool,
    },
    /// Read the header and the invoice of this order again, in one transaction. Then call
    /// [`settled`](Changing::settled).
    Settle(Box<WholeOrder>),
    /// Do these writes, in one transaction if there are several. Then call [`written`](Changing::written), or
    /// [`unanswered`](Changing::unanswered).
    Write(Vec<Write>, Box<SentChange>),
    /// Nothing: this is the outcome.
    Done(Box<Transitioned>),
}

/// A write that was sent: the order as it was read, and the order after the write.
#[derive(Clone, Debug)]
pub struct SentChange {
    from: WholeOrder,
    to: WholeOrder,
    /// The number of writes that are conditional on the order as it was read. They come first.
    guards: usize,
}

impl<'a> Changing<'a> {
    /// Starts a change. The first request is a read, without a pause.
    pub fn new(transition: Transition<'a>) -> Self {
        Self { transition, unanswered: None, request_id: None }
    }

    /// The same change, by the request with this id.
    #[must_use]
    pub fn by(self, request_id: Option<String>) -> Self {
        Self { request_id, ..self }
    }

    /// Takes the order as a Query returned it: the header may be older than the invoice, or the other way round.
    ///
    /// # Errors
    /// The order cannot be serialized: a defect.
    pub fn order_read(&mut self, whole: WholeOrder, now: Timestamp) -> Result<ChangingAction, Error> {
        // The conditions of a write detect a torn read. A refusal or an answer has no condition, so it needs a read
        // that is not torn.
        let answer = match self.transition.of(&whole, now) {
            _ if self.is_done(&whole) => Transitioned::Done,
            // What is to be done about a payment depends on the header too, on which a write of the invoice alone has
            // no condition.
            Step::To(next) if next.order != whole.order || whole.is_consistent() => {
                return self.write(whole, *next, now);
            }
            Step::Stay => Transitioned::DoneBefore,
            Step::To(_) | Step::Refuse | Step::Deny(_) => return Ok(ChangingAction::Settle(Box::new(whole))),
        };
        if self.may_answer_with(&whole) {
            Ok(ChangingAction::Done(Box::new(answer(whole))))
        } else {
            Ok(ChangingAction::Settle(Box::new(whole)))
        }
    }

    /// Takes the order with its header and its invoice from one snapshot read.
    ///
    /// # Errors
    /// The order cannot be serialized: a defect.
    pub fn settled(&mut self, whole: WholeOrder, now: Timestamp) -> Result<ChangingAction, Error> {
        // A return or a shipment was made between the two reads. It may be the one of this request.
        if !whole.has_all_parts() {
            return Ok(ChangingAction::Read { backoff: true });
        }
        let outcome = match self.transition.of(&whole, now) {
            _ if self.is_done(&whole) => Transitioned::Done(whole),
            Step::To(next) => return self.write(whole, *next, now),
            Step::Stay => Transitioned::DoneBefore(whole),
            Step::Refuse => Transitioned::Refused(whole.order.status),
            Step::Deny(denial) => Transitioned::Denied(denial),
        };
        Ok(ChangingAction::Done(Box::new(outcome)))
    }

    /// Takes the outcome of the write.
    ///
    /// # Errors
    /// An item to which the cancellation gives something back, such as a gift card, is gone: a defect.
    pub fn written(&mut self, sent: SentChange, outcome: Commit) -> Result<ChangingAction, Error> {
        let Commit::Cancelled(causes) = outcome else {
            return Ok(ChangingAction::Done(Box::new(Transitioned::Done(sent.to))));
        };
        let order_has_changed = causes.iter().take(sent.guards).any(|cause| matches!(cause, Cause::Condition(_)));
        if order_has_changed {
            Ok(ChangingAction::Read { backoff: true })
        } else {
            Err(Error::Inconsistent("an item that an order gives back to is gone"))
        }
    }

    /// Takes note that the write was not answered. It may have been done, or may still be done later.
    pub fn unanswered(&mut self, sent: SentChange) -> ChangingAction {
        self.unanswered = Some(Box::new(sent));
        ChangingAction::Read { backoff: true }
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
            let SentChange { from, to, .. } = &**sent;
            if from.order == to.order { whole.invoice == to.invoice } else { whole.order == to.order }
        })
    }

    fn write(&self, from: WholeOrder, mut to: WholeOrder, now: Timestamp) -> Result<ChangingAction, Error> {
        if from.order != to.order {
            to.order.request_id.clone_from(&self.request_id);
        }
        if from.invoice != to.invoice {
            to.invoice.version = from.invoice.version + 1;
        }
        let (writes, guards) = writes(&from, &to, now)?;
        Ok(ChangingAction::Write(writes, Box::new(SentChange { from, to, guards })))
    }
}
