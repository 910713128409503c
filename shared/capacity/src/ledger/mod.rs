//! The ledger: what every operation asks of the table.
//!
//! An operation is what one call of a function does in one course of events. Its requests are data. What they cost is
//! computed from the items of a [`Sample`].

mod access;
mod catalogue;
mod customers;
mod orders;
mod stream;
#[cfg(test)]
mod tests;

use key_schema::layout::{Consistency, Declaration};

use crate::rules::{self, Images, Indexes, TRANSACTION};
use crate::sample::{Extent, Kind, Sample};
use crate::{Charge, Units};

/// One course of one function.
#[derive(Clone, Copy, Debug)]
pub struct Operation {
    /// The function, by its name.
    pub function: &'static str,
    /// What happens, in a few words: unique among those of the function.
    pub course: &'static str,
    /// What it asks of the table, one after the other.
    pub requests: &'static [Request],
}

/// One request to the table, or several of a kind.
#[derive(Clone, Copy, Debug)]
pub enum Request {
    /// A `Query` along an access pattern, and what it finds.
    Query(Declaration, &'static [Several<Kind>]),
    /// A `Query` for each of several partitions of one pattern, and what all of them together find, evenly spread.
    Queries(Many, Declaration, &'static [Several<Kind>]),
    /// A `BatchGetItem` of these keys.
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

/// So many of something.
#[derive(Clone, Copy, Debug)]
pub struct Several<T> {
    /// How many.
    pub many: Many,
    /// Of what.
    pub of: T,
}

/// How many: once, or as often as something occurs in the [`Extent`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Many {
    /// One.
    One,
    /// As many as an order has lines.
    Lines,
    /// As many as an order has gift cards.
    GiftCards,
    /// One if an order has a discount code.
    Discounts,
    /// As many as a cart has lines.
    CartLines,
    /// As many as are on a page.
    Listed,
    /// As many as a status has shards.
    StatusShards,
    /// As many as the views of a product have parts.
    ViewShards,
    /// As many as a batch of the stream has customers.
    Customers,
    /// As many as it has products.
    Products,
    /// As many as it has days.
    Days,
}

/// One of these.
const fn one<T>(of: T) -> Several<T> {
    Several { many: Many::One, of }
}

/// So many of these.
const fn each<T>(many: Many, of: T) -> Several<T> {
    Several { many, of }
}

/// Every operation of every function, in the order of the functions' names within each part of the shop.
pub const OPERATIONS: &[&[Operation]] =
    &[access::OPERATIONS, catalogue::OPERATIONS, customers::OPERATIONS, orders::OPERATIONS, stream::OPERATIONS];

/// All of them.
pub fn operations() -> impl Iterator<Item = &'static Operation> {
    OPERATIONS.iter().flat_map(|part| part.iter())
}

/// The operation of this function and this course, if there is one.
pub fn find(function: &str, course: &str) -> Option<&'static Operation> {
    operations().find(|operation| operation.function == function && operation.course == course)
}

impl Many {
    /// How many these are.
    pub fn of(self, extent: &Extent) -> u32 {
        match self {
            Self::One => 1,
            Self::Lines => extent.lines,
            Self::GiftCards => extent.gift_cards,
            Self::Discounts => extent.discount.into(),
            Self::CartLines => extent.cart_lines,
            Self::Listed => extent.listed,
            Self::StatusShards => extent.status_shards,
            Self::ViewShards => extent.view_shards,
            Self::Customers => extent.batch.customers,
            Self::Products => extent.batch.products,
            Self::Days => extent.batch.days,
        }
    }
}

impl Operation {
    /// What it is charged, in the table as it is declared.
    pub fn charge(&self, sample: &Sample) -> Charge {
        self.charge_with(sample, Indexes::DECLARED)
    }

    /// What it would be charged if the indexes had these attributes.
    pub fn charge_with(&self, sample: &Sample, indexes: Indexes) -> Charge {
        self.requests.iter().map(|request| request.charge(sample, indexes)).sum()
    }

    /// What DynamoDB reports of it: its charge without that of the requests that fail.
    pub fn reported(&self, sample: &Sample) -> Charge {
        let charges = self.requests.iter().map(|request| {
            let charge = request.charge(sample, Indexes::DECLARED);
            if request.is_reported() { charge } else { Charge { requests: charge.requests, ..Charge::default() } }
        });
        charges.sum()
    }

    /// The requests by their names in DynamoDB.
    pub fn actions(&self, sample: &Sample) -> Vec<&'static str> {
        self.requests.iter().flat_map(|request| request.actions(sample)).collect()
    }

    /// The bytes that it leaves stored, as they are billed, less those that were there before.
    pub fn stored(&self, sample: &Sample) -> Units {
        let of = |writes: &[Several<Write>]| {
            let of = |write: &Several<Write>| {
                write.of.images(sample).stored(Indexes::DECLARED) * f64::from(write.many.of(sample.extent()))
            };
            writes.iter().map(of).sum()
        };
        let each = self.requests.iter().map(|request| match request {
            Request::Write(write) => of(&[one(*write)]),
            Request::Transaction(writes) => of(writes),
            _ => Units::default(),
        });
        each.sum()
    }
}

impl Request {
    fn charge(&self, sample: &Sample, indexes: Indexes) -> Charge {
        let count = |many: Many| f64::from(many.of(sample.extent()));
        let (mut requests, mut read, mut write) = (1.0, Units::default(), Units::default());
        match self {
            Self::Query(pattern, found) => read = query(sample, pattern, found, 1),
            Self::Queries(many, pattern, found) => {
                requests = count(*many);
                read = query(sample, pattern, found, many.of(sample.extent()).max(1)) * requests;
            }
            Self::Batch(consistency, keys) => {
                let of = |key: &Several<Kind>| rules::read_units(sample.bytes(key.of), *consistency) * count(key.many);
                read.table = keys.iter().map(of).sum();
                // A batch of no keys is not sent.
                if keys.iter().all(|key| key.many.of(sample.extent()) == 0) {
                    requests = 0.0;
                }
            }
            Self::ReadTransaction(keys) => {
                let of = |key: &Several<Kind>| rules::transactional_read_units(sample.bytes(key.of)) * count(key.many);
                read.table = keys.iter().map(of).sum();
            }
            Self::Write(one) => write = one.units(sample, 1.0, indexes),
            Self::Transaction(writes) => {
                let of = |write: &Several<Write>| write.of.units(sample, TRANSACTION, indexes) * count(write.many);
                write = writes.iter().map(of).sum();
            }
            // What is not written reaches no index.
            Self::Failed(one) => write.table = one.units(sample, 1.0, indexes).table,
            Self::Cancelled(writes) => {
                let of =
                    |write: &Several<Write>| write.of.units(sample, TRANSACTION, indexes).table * count(write.many);
                write.table = writes.iter().map(of).sum();
            }
            Self::Repeated(writes) => {
                let of = |write: &Several<Write>| write.of.images(sample).repeated() * count(write.many);
                read.table = writes.iter().map(of).sum();
            }
        }
        Charge { requests, read, write }
    }

    fn is_reported(&self) -> bool {
        !matches!(self, Self::Failed(_) | Self::Cancelled(_))
    }

    fn actions(&self, sample: &Sample) -> Vec<&'static str> {
        let action = match self {
            Self::Query(..) | Self::Queries(..) => "Query",
            Self::Batch(..) => "BatchGetItem",
            Self::ReadTransaction(_) => "TransactGetItems",
            Self::Transaction(_) | Self::Cancelled(_) | Self::Repeated(_) => "TransactWriteItems",
            Self::Write(write) | Self::Failed(write) => match write {
                Write::New(_) | Write::Over(..) => "PutItem",
                Write::Update(..) => "UpdateItem",
                Write::Delete(_) => "DeleteItem",
                // A check alone is no request.
                Write::Check(_) => "TransactWriteItems",
            },
        };
        let times = match self {
            Self::Queries(many, ..) => many.of(sample.extent()),
            Self::Batch(_, keys) => keys.iter().any(|key| key.many.of(sample.extent()) > 0).into(),
            _ => 1,
        };
        (0..times).map(|_| action).collect()
    }
}

/// What one of so many queries finds, added up and rounded.
fn query(sample: &Sample, pattern: &Declaration, found: &[Several<Kind>], of: u32) -> Units {
    let bytes = |found: &Several<Kind>| {
        let each = usize::try_from(found.many.of(sample.extent()).div_ceil(of)).unwrap_or(usize::MAX);
        sample.bytes(found.of).saturating_mul(each)
    };
    let bytes = found.iter().map(bytes).sum();
    Units::of(pattern.place.index, rules::read_units(bytes, pattern.consistency))
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

    fn units(self, sample: &Sample, factor: f64, indexes: Indexes) -> Units {
        self.images(sample).units(factor, indexes)
    }
}
