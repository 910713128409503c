//! Access patterns: the questions that the table answers.

use std::marker::PhantomData;

use crate::template::{Given, KeyPart, Parameter, Parts, Spelling, Values};
use crate::{Index, Kinds, Place, PlaceText, SortRange};

/// One question that a Query on the table or an index answers. Every Query is made from one.
///
/// `Parameters` is the type of the only parameter, or the tuple of their types: the parts of the partition key, and after
/// them perhaps the first part of the sort key, or a range of that. `Item` is the type of the items in the answer.
pub struct Pattern<Parameters, Item> {
    /// The pattern as data, from which documentation and tests are made.
    pub declared: Declaration,
    types: PhantomData<fn(Parameters) -> Item>,
}

impl<Parameters, Item> Clone for Pattern<Parameters, Item> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<Parameters, Item> Copy for Pattern<Parameters, Item> {}

/// Parameters that choose sort keys in one partition of a place with these keys: all of the partition key's parts, or one
/// or two of them and then the first part of the sort key or a range of it.
pub trait Choose<Partition, Sort> {
    /// What the parameters give of the sort key.
    const CHOSEN: Chosen;
}

impl<Partition, Sort> Choose<Partition, Sort> for Partition {
    const CHOSEN: Chosen = Chosen::Nothing;
}

impl<A: KeyPart, X: Parameter<Part = Sort::First>, Sort: Parts> Choose<A, Sort> for (A, X) {
    const CHOSEN: Chosen = Chosen::of::<X>();
}

impl<A: KeyPart, B: KeyPart, X: Parameter<Part = Sort::First>, Sort: Parts> Choose<(A, B), Sort> for (A, B, X) {
    const CHOSEN: Chosen = Chosen::of::<X>();
}

/// What the parameters of a pattern give of the sort key, after the whole partition key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Chosen {
    /// Nothing.
    Nothing,
    /// Its first part.
    Part,
    /// A range of its first part.
    Range,
}

impl Chosen {
    const fn of<X: Parameter>() -> Self {
        if X::IS_RANGE { Self::Range } else { Self::Part }
    }
}

/// The patterns of a place. Reads of the table are strongly consistent, unless the pattern is
/// [`eventual`](Pattern::eventual). Those of an index never are.
impl<Partition: Parts, Sort: Parts> Place<Partition, Sort> {
    /// At most one item. If the sort key repeats the partition key, that is the item which the partition is named after.
    pub const fn one<P: Choose<Partition, Sort>, T: Kinds>(self, number: u8, question: &'static str) -> Pattern<P, T> {
        pattern(number, question, self.text(), Bound::One, P::CHOSEN)
    }

    /// The items of this place in a partition, page by page.
    pub const fn list<P: Choose<Partition, Sort>, T: Kinds>(self, number: u8, question: &'static str) -> Pattern<P, T> {
        pattern(number, question, self.text(), Bound::Page, P::CHOSEN)
    }

    /// All items of a partition, of this kind and of the others that are kept there.
    pub const fn collection<T: Kinds>(self, number: u8, question: &'static str, bound: Bound) -> Pattern<Partition, T> {
        pattern(number, question, PlaceText { sort: "", ..self.text() }, bound, Chosen::Nothing)
    }

    /// Items that are read by their keys, at most this number. It is no Query.
    pub const fn batch<T: Kinds>(self, number: u8, question: &'static str, most: u16) -> Declaration {
        let pattern = pattern::<Partition, T>(number, question, self.text(), Bound::AtMost(most), Chosen::Nothing);
        Declaration { is_batch: true, ..pattern.eventual().declared }
    }
}

const fn pattern<P, T: Kinds>(
    number: u8,
    question: &'static str,
    place: PlaceText,
    bound: Bound,
    chosen: Chosen,
) -> Pattern<P, T> {
    let consistency = match place.index {
        Index::Table => Consistency::Strong,
        Index::Gsi1 | Index::Gsi2 => Consistency::Eventual,
    };
    let (entities, direction) = (T::KINDS, Direction::Ascending);
    let declared =
        Declaration { number, question, place, chosen, is_batch: false, entities, consistency, direction, bound };
    Pattern { declared, types: PhantomData }
}

impl<Parameters, Item> Pattern<Parameters, Item> {
    /// The same, read with eventual consistency.
    #[must_use]
    pub const fn eventual(mut self) -> Self {
        self.declared.consistency = Consistency::Eventual;
        self
    }

    /// The same from the highest sort key down.
    #[must_use]
    pub const fn descending(mut self) -> Self {
        self.declared.direction = Direction::Descending;
        self
    }

    /// The question with these parameters.
    ///
    /// `BETWEEN` includes both of its ends, but here both ends of a range are prefixes that no complete key equals, because
    /// another part follows the one of the range. Every key of the excluded end sorts after its prefix, so the range is
    /// exactly half-open. A sort key that ends with the part of the range would include its end. A range without a start or an
    /// end is still bounded, so that it contains only keys with such a part.
    pub fn ask(&self, parameters: impl Values<Parameters>) -> Query<Item> {
        let (partition, range) = self.declared.keys(|take| parameters.each(take));
        Query { declared: self.declared, partition, range, item: PhantomData }
    }
}

/// A pattern with its parameters: the keys that one Query reads. They are canonical.
#[derive(Clone, Debug)]
pub struct Query<Item> {
    /// The pattern.
    pub declared: Declaration,
    /// The partition key.
    pub partition: String,
    /// The sort keys.
    pub range: SortRange,
    item: PhantomData<fn() -> Item>,
}

impl<Item> Query<Item> {
    /// The sort keys that remain to be read after `position`; without one, all of them.
    pub fn rest(&self, position: Option<&str>) -> SortRange {
        position.map_or_else(|| self.range.clone(), |position| self.range.rest(self.declared.direction, position))
    }
}

/// An access pattern as data.
#[derive(Clone, Copy, Debug)]
pub struct Declaration {
    /// The pattern's number in the documentation.
    pub number: u8,
    /// The question in words.
    pub question: &'static str,
    /// The place of the items. If a pattern reads several kinds of items, the place of the first kind. The sort key is
    /// empty if the pattern reads whole partitions.
    pub place: PlaceText,
    /// What the parameters give of the sort key.
    pub chosen: Chosen,
    /// Whether the items are read by their keys instead of a Query.
    pub is_batch: bool,
    /// The kinds of items in the answer.
    pub entities: &'static [&'static str],
    /// The consistency of the read.
    pub consistency: Consistency,
    /// The order of the items.
    pub direction: Direction,
    /// The bound on the number of items.
    pub bound: Bound,
}

impl Declaration {
    /// The partition key and the sort keys that a Query reads, for these parameters.
    pub(crate) fn keys(&self, each: impl FnOnce(&mut dyn FnMut(Given<'_>))) -> (String, SortRange) {
        let Self { place, bound, .. } = *self;
        let (mut partition, mut sort) = (Spelling::new(place.partition), Spelling::new(place.sort));
        let mut between = None;
        each(&mut |given| match given {
            Given::Part(part) if !partition.is_complete() => partition.add(part),
            Given::Part(part) => sort.add(part),
            Given::Between([from, to]) => {
                let end = |part: Option<&dyn KeyPart>, open: &str| {
                    let mut end = sort.clone();
                    match part {
                        Some(part) => end.add(part),
                        None => end.key.push_str(open),
                    }
                    end.key
                };
                let (low, high) = (end(from, SortRange::FIRST), end(to, SortRange::AFTER_DIGITS));
                between = Some(SortRange::Between { low, high });
            }
        });
        let range = match between {
            Some(between) => between,
            None if sort.is_complete() && !sort.key.is_empty() => SortRange::Exactly(sort.key),
            None if bound == Bound::One && place.sort == place.partition => SortRange::Exactly(partition.key.clone()),
            // DynamoDB refuses an empty string in a key condition.
            None if sort.key.is_empty() => SortRange::Whole,
            None => SortRange::BeginsWith(sort.key),
        };
        (partition.key, range)
    }
}

/// The consistency of a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Consistency {
    /// Strongly consistent: the read sees every write that was acknowledged before. Only reads of the table can be, at
    /// twice the price.
    Strong,
    /// Eventually consistent: the read may miss a recent write. All reads of an index are.
    Eventual,
}

/// The order of the items.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From the lowest sort key: the oldest first.
    Ascending,
    /// From the highest sort key: the newest first.
    Descending,
}

/// The bound on the size of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// At most one item.
    One,
    /// All items, which are never more than this number.
    AtMost(u16),
    /// All items, however many. One request for each megabyte.
    All,
    /// A page of at most 100 items.
    Page,
}
