//! The ledger: the requests of every operation.
//!
//! An operation is one case of a function's call. Its requests are recorded by the tests, and their cost is computed
//! from the items of a [`Sample`].

mod number;
#[cfg(test)]
mod tests;
mod text;

pub use number::{Many, Size};

use std::iter::Sum;
use std::ops::Mul;
use std::sync::LazyLock;

use key_schema::layout::{Consistency, Declaration, share_of_page};

use crate::rules::{self, Images, TRANSACTION};
use crate::{Charge, Units, size};
use sample_items::{Kind, Sample};

/// One case of one function.
#[derive(Clone, Debug)]
pub struct Operation {
    /// The function, by its name.
    pub function: String,
    /// The case in a few words, unique for the function.
    pub case: String,
    /// Its requests to the table, in sequence.
    pub requests: Vec<Several<Request>>,
}

/// One request to the table.
#[derive(Clone, Debug)]
pub enum Request {
    /// A `Query` along an access pattern, and what it finds.
    Query(Declaration, Vec<Several<Kind>>),
    /// A `BatchGetItem` along an access pattern, and what is under its keys.
    Keys(Declaration, Vec<Several<Kind>>),
    /// A `BatchGetItem` of any other keys.
    Batch(Consistency, Vec<Several<Kind>>),
    ReadTransaction(Vec<Several<Kind>>),
    /// One write, as a request of its own.
    Write(Write),
    Transaction(Vec<Several<Write>>),
    /// One write whose condition fails. DynamoDB bills it and does not report it.
    Failed(Write),
    /// A `TransactWriteItems` that is cancelled. DynamoDB bills it and does not report it.
    Cancelled(Vec<Several<Write>>),
    /// A `TransactWriteItems` that is sent again under its token after it succeeded.
    Repeated(Vec<Several<Write>>),
}

/// A write of one item: what becomes of which.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Write {
    /// Put where there was none.
    New(Kind),
    /// Put in place of another.
    Over(Kind, Kind),
    /// Changed where it lies.
    Update(Kind, Kind),
    Delete(Kind),
    /// Left as it is: a condition of a transaction.
    Check(Kind),
}

/// A repeated thing.
#[derive(Clone, Copy, Debug)]
pub struct Several<T> {
    pub many: Many,
    pub of: T,
}

impl Many {
    fn count(self, sample: &Sample) -> usize {
        usize::try_from(self.of(sample.sizes())).unwrap_or(usize::MAX)
    }
}

impl<T> Several<T> {
    fn count(&self, sample: &Sample) -> usize {
        self.many.count(sample)
    }
}

/// The recorded operations: `cargo test -p capacity --test ledger` compares them with what the functions do.
const RECORDED: &str = include_str!("../../operations.txt");

static OPERATIONS: LazyLock<Vec<Operation>> = LazyLock::new(|| {
    #[expect(clippy::panic, reason = "the file is compiled in, and a test parses it")]
    text::parse(RECORDED).unwrap_or_else(|error| panic!("operations.txt: {error}"))
});

pub fn operations() -> impl Iterator<Item = &'static Operation> {
    OPERATIONS.iter()
}

/// The operation of this function and this case, if there is one.
pub fn find(function: &str, case: &str) -> Option<&'static Operation> {
    operations().find(|operation| operation.function == function && operation.case == case)
}

impl Operation {
    pub fn charge(&self, sample: &Sample) -> Charge {
        self.requests.iter().map(|request| request.charge(sample)).sum()
    }

    /// The charge of its reads along this access pattern.
    pub fn charge_along(&self, pattern: &Declaration, sample: &Sample) -> Option<Charge> {
        let is_of = |of: &Declaration| reads_like(of, pattern) && of.consistency == pattern.consistency;
        let along = self.requests.iter().find(|request| request.of.pattern().is_some_and(is_of))?;
        Some(along.charge(sample))
    }

    /// The charge that DynamoDB reports: without that of failed writes.
    pub fn reported(&self, sample: &Sample) -> Charge {
        let reported = self.requests.iter().map(|request| {
            let charge = request.charge(sample);
            if request.of.is_reported() { charge } else { Charge { requests: charge.requests, ..Charge::default() } }
        });
        reported.sum()
    }

    /// The writes that are done, each with whether it is a part of a transaction.
    pub fn writes(&self) -> impl Iterator<Item = (Write, bool)> {
        self.requests.iter().flat_map(|request| match &request.of {
            Request::Write(write) => vec![(*write, false)],
            Request::Transaction(writes) => writes.iter().map(|write| (write.of, true)).collect(),
            _ => Vec::new(),
        })
    }

    /// The access patterns of its reads.
    pub fn patterns(&self) -> impl Iterator<Item = &Declaration> {
        self.requests.iter().filter_map(|request| request.of.pattern())
    }

    /// The difference in billed storage.
    pub fn stored(&self, sample: &Sample) -> Units {
        sum(sample, &self.requests, |request| match request {
            Request::Write(write) => write.images(sample).stored(),
            Request::Transaction(writes) => sum(sample, writes, |write| write.images(sample).stored()),
            _ => Units::default(),
        })
    }
}

/// Whether two patterns make the same request: they ask for the same kinds of items in the same place.
pub fn reads_like(one: &Declaration, other: &Declaration) -> bool {
    one.place == other.place && one.entities == other.entities
}

impl Several<Request> {
    /// The charge of all repetitions.
    fn charge(&self, sample: &Sample) -> Charge {
        let requests = self.many.of(sample.sizes());
        let each = match &self.of {
            Request::Query(pattern, found) => Charge {
                requests: 1.0,
                read: Units::of(pattern.place.index, rules::read_units(self.found(sample, found), pattern.consistency)),
                write: Units::default(),
            },
            request => request.charge(sample),
        };
        each * f64::from(requests)
    }

    /// The bytes that each Query finds. All of them together find these items, except for a page of a list in several
    /// shards: each shard is asked for its share and some more.
    fn found(&self, sample: &Sample, found: &[Several<Kind>]) -> usize {
        let requests = self.many.count(sample).max(1);
        let bytes = found.iter().map(|kind| {
            let bytes = size::of_kind(sample, kind.of);
            if self.many.of.shards(sample.sizes()).is_some() && kind.many.of == Size::Listed {
                let page = u8::try_from(kind.many.of(sample.sizes())).unwrap_or(u8::MAX);
                usize::from(share_of_page(page, requests)) * bytes
            } else {
                (kind.count(sample) * bytes).div_ceil(requests)
            }
        });
        bytes.sum()
    }
}

impl Request {
    fn pattern(&self) -> Option<&Declaration> {
        match self {
            Self::Query(pattern, _) | Self::Keys(pattern, _) => Some(pattern),
            _ => None,
        }
    }

    fn charge(&self, sample: &Sample) -> Charge {
        let (mut read, mut write) = (Units::default(), Units::default());
        match self {
            // Several Queries share what they find.
            Self::Query(..) => {}
            Self::Batch(consistency, keys) | Self::Keys(Declaration { consistency, .. }, keys) => {
                read.table = sum(sample, keys, |key| rules::read_units(size::of_kind(sample, *key), *consistency));
            }
            Self::ReadTransaction(keys) => {
                read.table = sum(sample, keys, |key| rules::transactional_read_units(size::of_kind(sample, *key)));
            }
            Self::Write(one) => write = one.images(sample).units(1.0),
            Self::Transaction(writes) => {
                write = sum(sample, writes, |write| write.images(sample).units(TRANSACTION));
            }
            // A failed write does not reach the indexes.
            Self::Failed(one) => write.table = one.images(sample).table(),
            Self::Cancelled(writes) => {
                write.table = sum(sample, writes, |write| TRANSACTION * write.images(sample).table());
            }
            Self::Repeated(writes) => read.table = sum(sample, writes, |write| write.images(sample).repeated()),
        }
        Charge { requests: if self.is_sent(sample) { 1.0 } else { 0.0 }, read, write }
    }

    /// Whether the request is sent. A batch without keys is not.
    fn is_sent(&self, sample: &Sample) -> bool {
        !matches!(self, Self::Batch(_, keys) if keys.iter().all(|key| key.many.of(sample.sizes()) == 0))
    }

    fn is_reported(&self) -> bool {
        !matches!(self, Self::Failed(_) | Self::Cancelled(_))
    }

    fn action(&self) -> &'static str {
        match self {
            Self::Query(..) => "Query",
            Self::Keys(..) | Self::Batch(..) => "BatchGetItem",
            Self::ReadTransaction(_) => "TransactGetItems",
            Self::Transaction(_) | Self::Cancelled(_) | Self::Repeated(_) => "TransactWriteItems",
            Self::Write(write) | Self::Failed(write) => match write {
                Write::New(_) | Write::Over(..) => "PutItem",
                Write::Update(..) => "UpdateItem",
                Write::Delete(_) => "DeleteItem",
                // A check occurs in transactions only.
                Write::Check(_) => "TransactWriteItems",
            },
        }
    }
}

/// The sum over all of these, with their repetitions.
fn sum<T, S: Sum + Mul<f64, Output = S>>(sample: &Sample, all: &[Several<T>], of: impl Fn(&T) -> S) -> S {
    all.iter().map(|several| of(&several.of) * f64::from(several.many.of(sample.sizes()))).sum()
}

impl Write {
    /// The kind of the item that it writes, or deletes, or checks.
    pub fn kind(self) -> Kind {
        match self {
            Self::New(kind) | Self::Over(_, kind) | Self::Update(_, kind) | Self::Delete(kind) | Self::Check(kind) => {
                kind
            }
        }
    }

    /// The charge of the write alone, or as a part of a transaction.
    pub fn units(self, sample: &Sample, is_in_transaction: bool) -> Units {
        self.images(sample).units(if is_in_transaction { TRANSACTION } else { 1.0 })
    }

    /// The item before and after it.
    fn images(self, sample: &Sample) -> Images<'_> {
        let (before, after) = match self {
            Self::New(kind) => (Kind::Absent, kind),
            Self::Over(before, after) | Self::Update(before, after) => (before, after),
            Self::Delete(kind) => (kind, Kind::Absent),
            Self::Check(kind) => (kind, kind),
        };
        Images { before: sample.item(before), after: sample.item(after) }
    }
}
