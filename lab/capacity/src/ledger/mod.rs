//! The ledger: the requests of every operation.
//!
//! An operation is one case of a function's call. Its requests are data, and their cost is computed from the items of a
//! [`Sample`].

mod access;
mod catalogue;
mod cells;
mod customers;
mod least;
mod orders;
mod stream;
#[cfg(test)]
mod tests;

pub use least::Reason;

use std::iter::Sum;
use std::ops::Mul;

use key_schema::layout::{Consistency, Declaration, share_of_page};

use crate::rules::{self, Images, Indexes, TRANSACTION};
use crate::{Charge, Units, size};
use sample_items::{Kind, Sample, SampleSizes};

/// One case of one function.
#[derive(Clone, Copy, Debug)]
pub struct Operation {
    /// The function, by its name.
    pub function: &'static str,
    /// The case in a few words, unique for the function.
    pub case: &'static str,
    /// Its requests to the table, in sequence.
    pub requests: &'static [Several<Request>],
}

/// One request to the table.
#[derive(Clone, Copy, Debug)]
pub enum Request {
    /// A `Query` along an access pattern, and what it finds.
    Query(Declaration, &'static [Several<Kind>]),
    /// A `BatchGetItem` along an access pattern, and what is under its keys.
    Keys(Declaration, &'static [Several<Kind>]),
    /// A `BatchGetItem` of any other keys.
    Batch(Consistency, &'static [Several<Kind>]),
    /// A `TransactGetItems` of these keys.
    ReadTransaction(&'static [Several<Kind>]),
    /// One write, as a request of its own.
    Write(Write),
    /// A `TransactWriteItems`.
    Transaction(&'static [Several<Write>]),
    /// One write whose condition fails. DynamoDB bills it and does not report it.
    Failed(Write),
    /// A `TransactWriteItems` that is cancelled. DynamoDB bills it and does not report it.
    Cancelled(&'static [Several<Write>]),
    /// A `TransactWriteItems` that is sent again under its token after it succeeded.
    Repeated(&'static [Several<Write>]),
}

/// A write of one item: what becomes of which.
#[derive(Clone, Copy, Debug)]
pub enum Write {
    /// Put where there was none.
    New(Kind),
    /// Put in place of another.
    Over(Kind, Kind),
    /// Changed where it lies.
    Update(Kind, Kind),
    /// Deleted.
    Delete(Kind),
    /// Left as it is: a condition of a transaction.
    Check(Kind),
}

/// A repeated thing.
#[derive(Clone, Copy, Debug)]
pub struct Several<T> {
    /// The repetitions.
    pub many: Many,
    /// The thing.
    pub of: T,
}

/// A number: a constant, or one from the [`SampleSizes`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Many {
    /// One.
    One,
    /// As many as an order has lines.
    Lines,
    /// As many as an order has lines besides one.
    OtherLines,
    /// As many as an order has gift cards.
    GiftCards,
    /// One if an order has a discount code.
    Discounts,
    /// As many as a cart has lines.
    CartLines,
    /// As many as are on a page.
    Listed,
    /// As many as one shard of such a list is asked for, so that a page comes of all of them.
    ShareOfPage(Sharded),
    /// As many as such lists have shards together.
    Shards(Sharded),
    /// This constant.
    Times(u32),
    /// As many as the views of a product have parts.
    ViewShards,
    /// As many cells as a stock in several has besides the first.
    OtherCells,
    /// As many as a batch of the stream has customers.
    Customers,
    /// As many as it has products.
    Products,
    /// As many as it has days.
    Days,
}

/// Lists of which each lies in several shards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sharded {
    /// The orders of so many statuses.
    Statuses(u32),
    /// The orders of a product.
    Product,
    /// The orders of each product of an order.
    ProductsOfOrder,
}

impl Sharded {
    /// The number of shards of each list.
    fn shards(self, sizes: &SampleSizes) -> u8 {
        match self {
            Self::Statuses(_) => sizes.status_shards,
            Self::Product | Self::ProductsOfOrder => sizes.product_shards,
        }
    }

    /// The number of lists.
    fn lists(self, sizes: &SampleSizes) -> u32 {
        match self {
            Self::Statuses(statuses) => statuses,
            Self::Product => 1,
            Self::ProductsOfOrder => sizes.lines,
        }
    }
}

impl<T> Several<T> {
    fn count(&self, sample: &Sample) -> usize {
        self.many.count(sample)
    }
}

/// A case of a function.
const fn of(function: &'static str, case: &'static str, requests: &'static [Several<Request>]) -> Operation {
    Operation { function, case, requests }
}

/// One of these.
const fn one<T>(of: T) -> Several<T> {
    Several { many: Many::One, of }
}

/// Repeats a thing.
const fn each<T>(many: Many, of: T) -> Several<T> {
    Several { many, of }
}

/// Every operation of every function, in the order of the functions' names within each part of the shop.
pub const OPERATIONS: &[&[Operation]] = &[
    access::OPERATIONS,
    catalogue::OPERATIONS,
    customers::OPERATIONS,
    orders::OPERATIONS,
    cells::OPERATIONS,
    stream::OPERATIONS,
];

/// All operations.
pub fn operations() -> impl Iterator<Item = &'static Operation> {
    OPERATIONS.iter().flat_map(|part| part.iter())
}

/// The operation of this function and this case, if there is one.
pub fn find(function: &str, case: &str) -> Option<&'static Operation> {
    operations().find(|operation| operation.function == function && operation.case == case)
}

impl Many {
    /// The number of repetitions, for these sizes.
    pub fn of(self, sizes: &SampleSizes) -> u32 {
        match self {
            Self::One => 1,
            Self::Lines => sizes.lines,
            Self::GiftCards => sizes.gift_cards,
            Self::Discounts => sizes.discount.into(),
            Self::CartLines => sizes.cart_lines,
            Self::Listed => sizes.listed.into(),
            Self::ShareOfPage(of) => share_of_page(sizes.listed, of.shards(sizes).into()).into(),
            Self::Shards(of) => of.lists(sizes) * u32::from(of.shards(sizes)),
            Self::Times(times) => times,
            Self::ViewShards => sizes.view_shards,
            Self::OtherLines => sizes.lines.saturating_sub(1),
            Self::OtherCells => u32::from(sizes.cells).saturating_sub(1),
            Self::Customers => sizes.batch.customers,
            Self::Products => sizes.batch.products,
            Self::Days => sizes.batch.days,
        }
    }

    fn count(self, sample: &Sample) -> usize {
        usize::try_from(self.of(sample.sizes())).unwrap_or(usize::MAX)
    }
}

impl Operation {
    /// The charge, with the declared indexes.
    pub fn charge(&self, sample: &Sample) -> Charge {
        self.charge_with(sample, Indexes::DECLARED)
    }

    /// The charge if the index entries had these attributes.
    pub fn charge_with(&self, sample: &Sample, indexes: Indexes) -> Charge {
        sum(sample, self.requests, |request| request.charge(sample, indexes))
    }

    /// The charge of its reads along this access pattern.
    pub fn charge_along(&self, pattern: &Declaration, sample: &Sample) -> Option<Charge> {
        let is_of = |of: &Declaration| of.question == pattern.question && of.consistency == pattern.consistency;
        let is_along = |request: &&Several<Request>| request.of.pattern().is_some_and(is_of);
        let along = self.requests.iter().find(is_along)?;
        Some(along.of.charge(sample, Indexes::DECLARED) * f64::from(along.many.of(sample.sizes())))
    }

    /// The charge that DynamoDB reports: without that of failed writes.
    pub fn reported(&self, sample: &Sample) -> Charge {
        sum(sample, self.requests, |request| {
            let charge = request.charge(sample, Indexes::DECLARED);
            if request.is_reported() { charge } else { Charge { requests: charge.requests, ..Charge::default() } }
        })
    }

    /// The access patterns of its reads.
    pub fn patterns(&self) -> impl Iterator<Item = &'static Declaration> {
        self.requests.iter().filter_map(|request| request.of.pattern())
    }

    /// The DynamoDB actions of its requests.
    pub fn actions(&self, sample: &Sample) -> Vec<&'static str> {
        let all = self.requests.iter().filter(|request| request.of.is_sent(sample));
        all.flat_map(|request| vec![request.of.action(); request.count(sample)]).collect()
    }

    /// The difference in billed storage.
    pub fn stored(&self, sample: &Sample) -> Units {
        self.stored_with(sample, Indexes::DECLARED)
    }

    /// The difference in billed storage if the index entries had these attributes.
    pub fn stored_with(&self, sample: &Sample, indexes: Indexes) -> Units {
        sum(sample, self.requests, |request| match request {
            Request::Write(write) => write.images(sample).stored(indexes),
            Request::Transaction(writes) => sum(sample, writes, |write| write.images(sample).stored(indexes)),
            _ => Units::default(),
        })
    }
}

impl Request {
    fn pattern(&self) -> Option<&Declaration> {
        match self {
            Self::Query(pattern, _) | Self::Keys(pattern, _) => Some(pattern),
            _ => None,
        }
    }

    fn charge(&self, sample: &Sample, indexes: Indexes) -> Charge {
        let (mut read, mut write) = (Units::default(), Units::default());
        match self {
            Self::Query(pattern, found) => {
                let each = |found: &Several<Kind>| size::of_kind(sample, found.of) * found.count(sample);
                let bytes = found.iter().map(each).sum();
                read = Units::of(pattern.place.index, rules::read_units(bytes, pattern.consistency));
            }
            Self::Batch(consistency, keys) | Self::Keys(Declaration { consistency, .. }, keys) => {
                read.table = sum(sample, keys, |key| rules::read_units(size::of_kind(sample, *key), *consistency));
            }
            Self::ReadTransaction(keys) => {
                read.table = sum(sample, keys, |key| rules::transactional_read_units(size::of_kind(sample, *key)));
            }
            Self::Write(one) => write = one.images(sample).units(1.0, indexes),
            Self::Transaction(writes) => {
                write = sum(sample, writes, |write| write.images(sample).units(TRANSACTION, indexes));
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
