//! The least that an operation could be charged, and why it is charged more.

use key_schema::layout::{Consistency, Declaration};

use super::{Many, Operation, Request, Several, Sharded, sum};
use crate::rules::{self, Indexes};
use crate::sample::{Kind, Sample, SampleSizes};
use crate::{Charge, Units};

/// Why an operation is charged more than the least.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// Several items change together or not at all.
    Together,
    /// What is written depends on what was read.
    Decided,
    /// The answer holds what was acknowledged before.
    Fresh,
    /// What is read lies in several partitions, so that no partition takes all the writes.
    Spread,
    /// The way leads over another item.
    Detour,
    /// Something was tried in vain, or looked at again, until the answer was certain.
    Certain,
}

impl Reason {
    /// Every reason.
    pub const ALL: [Self; 6] = [Self::Together, Self::Decided, Self::Fresh, Self::Spread, Self::Detour, Self::Certain];

    /// A word for it.
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
    /// What anybody would have to be charged who writes the same items, or answers with the same, into the same
    /// indexes: each item written once, outside of any transaction, and nothing read before; or one eventually
    /// consistent read of all that is in the answer, as if it lay side by side.
    pub fn least(&self, sample: &Sample) -> Charge {
        let write: Units = sum(sample, self.requests, |request| request.written_once(sample));
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

    /// Why it is charged more than the least: which of its requests nobody would make who only had to pay.
    pub fn reasons(&self, sizes: &SampleSizes) -> Vec<Reason> {
        let any = |is: fn(&Request) -> bool| self.requests.iter().any(|request| is(&request.of));
        let is_write = any(Request::writes);
        let is_detour = !is_write && self.requests.len() > 1;
        let is_sharded = |many| matches!(many, Many::Shards(of) if of.shards(sizes) > 1);
        let is_spread = self.requests.iter().any(|request| is_sharded(request.many))
            || any(|request| matches!(request, Request::Keys(..)));
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
    /// Bytes of what it reads for the answer. All shards of a list together hold one page of it, and an order is in one
    /// status at a time.
    fn answered(&self, sample: &Sample) -> usize {
        let (Request::Query(_, kinds)
        | Request::Keys(_, kinds)
        | Request::Batch(_, kinds)
        | Request::ReadTransaction(kinds)) = &self.of
        else {
            return 0;
        };
        let lists = match self.many {
            Many::Shards(Sharded::ProductsOfOrder) => Many::Lines,
            Many::Shards(Sharded::Statuses(_) | Sharded::Product) => Many::One,
            many => many,
        };
        let listed = |kind: &Several<Kind>| match kind.many {
            Many::ShareOfPage(_) => Many::Listed,
            many => many,
        };
        let bytes = kinds.iter().map(|kind| sample.bytes(kind.of) * listed(kind).count(sample));
        lists.count(sample) * bytes.sum::<usize>()
    }
}

impl Request {
    /// Whether it leaves something different.
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

    /// Units of what it writes, each item for itself. A check writes nothing.
    fn written_once(&self, sample: &Sample) -> Units {
        let once = |write: &super::Write| match write {
            super::Write::Check(_) => Units::default(),
            write => write.images(sample).units(1.0, Indexes::DECLARED),
        };
        match self {
            Self::Write(write) => once(write),
            Self::Transaction(writes) => sum(sample, writes as &[Several<_>], once),
            _ => Units::default(),
        }
    }
}
