//! The smallest conceivable charge of an operation, and the reasons for a higher charge.

use key_schema::layout::{Consistency, Declaration};

use super::{Operation, Request, Several, sum};
use crate::rules;
use crate::{Charge, Units, size};
use sample_items::{Sample, SampleSizes};

/// A reason why an operation is charged more than the least.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// Several items change atomically.
    Together,
    /// The written values depend on values that were read.
    Decided,
    /// The read is strongly consistent.
    Fresh,
    /// The read items are in several partitions: so that no partition gets all the writes, or because they are of different
    /// kinds.
    Spread,
    /// Another item has to be read first, which contains the key.
    Detour,
    /// A write failed and was retried, or data was read again before a refusal.
    Certain,
}

impl Reason {
    /// Every reason.
    pub const ALL: [Self; 6] = [Self::Together, Self::Decided, Self::Fresh, Self::Spread, Self::Detour, Self::Certain];

    /// The reason's name in the documentation.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Together => "together",
            Self::Decided => "decided",
            Self::Fresh => "fresh",
            Self::Spread => "spread",
            Self::Detour => "detour",
            Self::Certain => "certain",
        }
    }
}

impl Operation {
    /// The smallest conceivable charge. For a write: each item written once into the same indexes, without a
    /// transaction and without reading first. For a read: one contiguous, eventually consistent read of the answer.
    pub fn least(&self, sample: &Sample) -> Charge {
        let write: Units = sum(sample, &self.requests, |request| request.written_once(sample));
        let is_write = self.requests.iter().any(|request| request.of.writes());
        if is_write || self.requests.is_empty() {
            return Charge { requests: if is_write { 1.0 } else { 0.0 }, write, read: Units::default() };
        }
        let bytes = self.requests.iter().map(|request| request.answered(sample)).sum();
        let index = self.requests.iter().find_map(|request| match &request.of {
            Request::Query(Declaration { place, .. }, _) => Some(place.index),
            _ => None,
        });
        let read = rules::read_units(bytes, Consistency::Eventual);
        let read = index.map_or(Units { table: read, ..Units::default() }, |index| Units::of(index, read));
        Charge { requests: 1.0, read, write }
    }

    /// The reasons for a charge above the least: requests made for correctness or scale, not for the write or the
    /// answer itself.
    pub fn reasons(&self, sizes: &SampleSizes) -> Vec<Reason> {
        let any = |is: fn(&Request) -> bool| self.requests.iter().any(|request| is(&request.of));
        let is_write = any(Request::writes);
        let is_detour = !is_write && self.requests.len() > 1;
        let is_sharded = |request: &Several<Request>| request.many.of.shards(sizes).is_some_and(|shards| shards > 1);
        let of_several = |request: &Request| matches!(request, Request::Batch(_, kinds) if kinds.len() > 1);
        let is_spread = self.requests.iter().any(is_sharded)
            || any(|request| matches!(request, Request::Keys(..)))
            || !is_write && any(of_several);
        let is_vain = any(|request| {
            matches!(
                request,
                Request::Failed(_) | Request::Cancelled(_) | Request::Repeated(_) | Request::ReadTransaction(_)
            )
        });
        let holds = [
            (any(|request| matches!(request, Request::Transaction(_) | Request::Cancelled(_))), Reason::Together),
            (is_write && any(Request::reads), Reason::Decided),
            (!is_write && any(Request::is_strong), Reason::Fresh),
            (is_spread, Reason::Spread),
            (is_detour && !is_vain && !is_spread, Reason::Detour),
            (is_vain, Reason::Certain),
        ];
        holds.into_iter().filter_map(|(holds, reason)| holds.then_some(reason)).collect()
    }
}

impl Several<Request> {
    /// The bytes read for the answer.
    fn answered(&self, sample: &Sample) -> usize {
        let (Request::Query(_, kinds)
        | Request::Keys(_, kinds)
        | Request::Batch(_, kinds)
        | Request::ReadTransaction(kinds)) = &self.of
        else {
            return 0;
        };
        let bytes = kinds.iter().map(|kind| size::of_kind(sample, kind.of) * kind.count(sample)).sum::<usize>();
        // Several Queries share what they find.
        if matches!(self.of, Request::Query(..)) { bytes } else { bytes * self.count(sample) }
    }
}

impl Request {
    /// Whether it changes an item.
    fn writes(&self) -> bool {
        matches!(self, Self::Write(_) | Self::Transaction(_))
    }

    fn reads(&self) -> bool {
        matches!(self, Self::Query(..) | Self::Keys(..) | Self::Batch(..) | Self::ReadTransaction(_))
    }

    fn is_strong(&self) -> bool {
        let (Self::Query(Declaration { consistency, .. }, _)
        | Self::Keys(Declaration { consistency, .. }, _)
        | Self::Batch(consistency, _)) = self
        else {
            return false;
        };
        *consistency == Consistency::Strong
    }

    /// Units of the written items, each written separately. A check writes nothing.
    fn written_once(&self, sample: &Sample) -> Units {
        let once = |write: &super::Write| match write {
            super::Write::Check(_) => Units::default(),
            write => write.images(sample).units(1.0),
        };
        match self {
            Self::Write(write) => once(write),
            Self::Transaction(writes) => sum(sample, writes, once),
            _ => Units::default(),
        }
    }
}
