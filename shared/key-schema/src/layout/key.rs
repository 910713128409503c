//! How a key is spelled: templates, and the places in the table made of them.

use std::marker::PhantomData;

use crate::value::{KeyPart, TimeRange, Timestamp};

use super::SortRange;

/// The spelling of a key, with a `{placeholder}` for each typed part: `i#{issuedAt}#{invoiceId}`.
///
/// `Parts` is the tuple of the parts' types. Filled in whole it is the key of an item; filled in part it is what
/// such keys begin with.
pub struct Template<Parts> {
    text: &'static str,
    parts: PhantomData<fn(Parts)>,
}

impl<Parts> Clone for Template<Parts> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<Parts> Copy for Template<Parts> {}

impl<Parts: Arity> Template<Parts> {
    /// A template with one placeholder for each of `Parts`.
    ///
    /// # Panics
    /// With any other number. All templates are constants, where that does not compile.
    pub const fn new(text: &'static str) -> Self {
        let (bytes, mut at, mut placeholders) = (text.as_bytes(), 0, 0);
        while at < bytes.len() {
            if bytes[at] == b'{' {
                placeholders += 1;
            }
            at += 1;
        }
        assert!(placeholders == Parts::COUNT, "a template needs one placeholder for each of its parts");
        Self { text, parts: PhantomData }
    }

    /// The template as it is written.
    pub const fn text(&self) -> &'static str {
        self.text
    }

    /// The key with these parts.
    pub fn fill(&self, parts: impl Full<Parts>) -> String {
        self.prefix(parts)
    }

    /// What every key with these leading parts begins with, up to the first part that is not given.
    pub fn prefix(&self, leading: impl Prefix<Parts>) -> String {
        let mut key = String::with_capacity(96);
        let mut rest = self.text;
        leading.each(&mut |part| {
            // `new` counted the placeholders and the trait bounds count the parts, so each part finds its placeholder.
            if let Some((before, after)) = rest.split_once('{') {
                key.push_str(before);
                part.write_to(&mut key);
                rest = after.split_once('}').map_or("", |(_, after)| after);
            }
        });
        key.push_str(rest.split('{').next().unwrap_or_default());
        key
    }
}

/// A tuple of part types.
pub trait Arity {
    /// How many there are.
    const COUNT: usize;
}

/// References to the first parts of a template, none and all included.
pub trait Prefix<Parts> {
    /// Calls `write` with each, in order.
    fn each(self, write: &mut dyn FnMut(&dyn KeyPart));
}

/// References to all parts of a template.
pub trait Full<Parts>: Prefix<Parts> {}

macro_rules! whole {
    ($(($($part:ident)*))+) => {$(
        impl<$($part,)*> Arity for ($($part,)*) {
            const COUNT: usize = <[&str]>::len(&[$(stringify!($part)),*]);
        }

        impl<$($part: KeyPart,)*> Full<($($part,)*)> for ($(&$part,)*) {}
    )+};
}

macro_rules! leading {
    ($(($($given:ident)*) of ($($part:ident)*))+) => {$(
        impl<$($part: KeyPart,)*> Prefix<($($part,)*)> for ($(&$given,)*) {
            #[allow(non_snake_case, reason = "the parts are named as their types")]
            #[allow(unused_variables, reason = "no part at all is a prefix too")]
            fn each(self, write: &mut dyn FnMut(&dyn KeyPart)) {
                let ($($given,)*) = self;
                $(write($given);)*
            }
        }
    )+};
}

whole! { () (A) (A B) (A B C) }

leading! {
    () of ()
    () of (A)
    (A) of (A)
    () of (A B)
    (A) of (A B)
    (A B) of (A B)
    () of (A B C)
    (A) of (A B C)
    (A B) of (A B C)
    (A B C) of (A B C)
}

/// The table itself or one of its two overloaded indexes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Index {
    /// The table: attributes `PK` and `SK`.
    Table,
    /// The first index: attributes `GSI1PK` and `GSI1SK`.
    Gsi1,
    /// The second index: attributes `GSI2PK` and `GSI2SK`.
    Gsi2,
}

impl Index {
    /// The index's name in DynamoDB; `None` for the table itself.
    pub const fn name(self) -> Option<&'static str> {
        match self {
            Self::Table => None,
            Self::Gsi1 => Some("GSI1"),
            Self::Gsi2 => Some("GSI2"),
        }
    }

    /// The attributes that hold the partition key and the sort key.
    pub const fn attributes(self) -> (&'static str, &'static str) {
        match self {
            Self::Table => ("PK", "SK"),
            Self::Gsi1 => ("GSI1PK", "GSI1SK"),
            Self::Gsi2 => ("GSI2PK", "GSI2SK"),
        }
    }
}

/// Where items of one kind lie in one index: the partition they share and the position each has there.
pub struct Place<Partition, Sort> {
    pub(super) index: Index,
    pub(super) partition: Template<Partition>,
    pub(super) sort: Template<Sort>,
}

impl<Partition, Sort> Clone for Place<Partition, Sort> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<Partition, Sort> Copy for Place<Partition, Sort> {}

/// A [`Place`] as text, for charts and checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlaceText {
    /// The table or the index.
    pub index: Index,
    /// The partition key's template.
    pub partition: &'static str,
    /// The sort key's template.
    pub sort: &'static str,
}

impl<Partition: Arity, Sort: Arity> Place<Partition, Sort> {
    /// A place in the table.
    pub(super) const fn table(partition: Template<Partition>, sort: Template<Sort>) -> Self {
        Self { index: Index::Table, partition, sort }
    }

    /// A place in the first index.
    pub(super) const fn gsi1(partition: Template<Partition>, sort: Template<Sort>) -> Self {
        Self { index: Index::Gsi1, partition, sort }
    }

    /// A place in the second index.
    pub(super) const fn gsi2(partition: Template<Partition>, sort: Template<Sort>) -> Self {
        Self { index: Index::Gsi2, partition, sort }
    }

    /// The place as text.
    pub const fn text(&self) -> PlaceText {
        PlaceText { index: self.index, partition: self.partition.text(), sort: self.sort.text() }
    }

    /// The key of the item with these parts.
    pub(super) fn key(&self, partition: impl Full<Partition>, sort: impl Full<Sort>) -> Key {
        Key { index: self.index, partition: self.partition.fill(partition), sort: self.sort.fill(sort) }
    }
}

impl<Partition: Arity, Sort: Arity> Place<Partition, Sort>
where
    (): Prefix<Sort>,
{
    /// All positions.
    pub(super) fn all(&self) -> SortRange {
        let prefix = self.sort.prefix(());
        // DynamoDB refuses an empty string in a key condition.
        if prefix.is_empty() { SortRange::Whole } else { SortRange::BeginsWith(prefix) }
    }

    /// The positions within a range of time, where time comes first.
    ///
    /// Both ends are prefixes that no whole key equals, so `BETWEEN`, which holds both of its ends, is exactly
    /// half-open here: every key of the moment `to` sorts after the bare prefix. An open end is still an end:
    /// nothing that is not sorted by time lies within, in particular not the profile's `o#~` among a customer's
    /// orders.
    pub(super) fn within(&self, range: &TimeRange) -> SortRange
    where
        for<'a> (&'a Timestamp,): Prefix<Sort>,
    {
        let end = |moment: Option<&Timestamp>, open: &str| match moment {
            Some(moment) => self.sort.prefix((moment,)),
            None => self.sort.prefix(()) + open,
        };
        SortRange::Between { low: end(range.from(), SortRange::FIRST), high: end(range.to(), SortRange::AFTER_DIGITS) }
    }
}

/// A partition key and a sort key in one index.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Key {
    /// Where the key holds.
    pub index: Index,
    /// The partition key.
    pub partition: String,
    /// The sort key.
    pub sort: String,
}

#[cfg(test)]
mod tests {
    #![allow(clippy::expect_used, reason = "tests")]

    use super::*;
    use crate::value::{CustomerId, OrderId};

    #[test]
    fn an_open_range_of_time_leaves_out_what_is_not_sorted_by_time() {
        const ORDERS: Place<(CustomerId,), (Timestamp, OrderId)> =
            Place::gsi2(Template::new("c#{customerId}"), Template::new("o#{placedAt}#{orderId}"));
        let since = TimeRange::parse(Some("2026-01-01"), None).expect("a range");
        for range in [ORDERS.within(&TimeRange::default()), ORDERS.within(&since)] {
            assert!(range.contains("o#2026-11-21T09:30:00.000Z#first"));
            assert!(!range.contains("o#~"), "the profile");
            assert!(!range.contains("p#2026-11-21T09:30:00.000Z#first#teapot"), "a line");
        }
    }
}
