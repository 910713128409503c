//! The records of a shard that its mark has passed although they are not counted.

use std::fmt::{self, Display, Formatter};
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::value::{Invalid, SequenceNumber};

/// The most spans in one list, so that a checkpoint stays small.
const MOST_SPANS: usize = 16;

/// The records of a shard that its mark has passed, and that are or may be not counted. A record outside of all spans is
/// counted, unless the list has [forgotten](Self::is_forgotten) it.
///
/// A span may contain records that do not count, and were never delivered. It never contains a record that is counted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Uncounted {
    #[serde(default)]
    spans: Vec<Span>,
    /// The last record whose counting state is unknown, because its span was dropped when the list was full.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    forgotten: Option<SequenceNumber>,
}

/// A span of records, written as mathematicians write intervals: `[7,9]` are the records 7 to 9, `(7,9)` are those between
/// them, and `(,9)` are those before 9.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Span {
    from: Option<Bound>,
    to: Bound,
}

/// An end of a span, and whether it belongs to the span.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Bound {
    number: SequenceNumber,
    is_inside: bool,
}

impl Span {
    /// These two records and those between them.
    pub fn of(first: SequenceNumber, last: SequenceNumber) -> Self {
        let [from, to] = [first, last].map(|number| Bound { number, is_inside: true });
        Self { from: Some(from), to }
    }

    /// The records after `mark`, or all if there is none, up to and including `last`.
    pub fn after(mark: Option<SequenceNumber>, last: SequenceNumber) -> Self {
        let from = mark.map(|number| Bound { number, is_inside: false });
        Self { from, to: Bound { number: last, is_inside: true } }
    }

    /// The records after `mark`, or all if there is none, that are before `next`.
    pub fn between(mark: Option<SequenceNumber>, next: SequenceNumber) -> Self {
        let from = mark.map(|number| Bound { number, is_inside: false });
        Self { from, to: Bound { number: next, is_inside: false } }
    }

    fn contains(&self, number: &SequenceNumber) -> bool {
        let begins = self.from.as_ref().is_none_or(|from| *number > from.number || from.holds(number));
        begins && (*number < self.to.number || self.to.holds(number))
    }

    /// What is left of the span without the records from `first` to `last`.
    fn without(self, first: &SequenceNumber, last: &SequenceNumber) -> Vec<Self> {
        let Self { from, to } = self;
        let before = from.as_ref().is_none_or(|from| from.number < *first);
        let behind = to.number > *last;
        let outside = |number: &SequenceNumber| Bound { number: number.clone(), is_inside: false };
        let mut left = Vec::new();
        if before {
            let end = if to.number < *first { to.clone() } else { outside(first) };
            left.push(Self { from: from.clone(), to: end });
        }
        if behind {
            let begin = from.filter(|from| from.number > *last).unwrap_or_else(|| outside(last));
            left.push(Self { from: Some(begin), to });
        }
        left
    }
}

impl Bound {
    fn holds(&self, number: &SequenceNumber) -> bool {
        self.is_inside && self.number == *number
    }
}

impl Uncounted {
    /// Whether there is no such record.
    pub fn is_empty(&self) -> bool {
        self.spans.is_empty() && self.forgotten.is_none()
    }

    /// Whether this record is known to be not counted.
    pub fn contains(&self, number: &SequenceNumber) -> bool {
        self.spans.iter().any(|span| span.contains(number))
    }

    /// Whether nobody knows any more whether this record is counted.
    pub fn is_forgotten(&self, number: &SequenceNumber) -> bool {
        !self.contains(number) && self.forgotten.as_ref().is_some_and(|forgotten| number <= forgotten)
    }

    /// Adds records that the mark passes now. If the list is full, its oldest span is forgotten.
    pub fn add(&mut self, span: Span) {
        self.spans.push(span);
        if self.spans.len() > MOST_SPANS {
            let oldest = self.spans.remove(0).to.number;
            self.forget(oldest);
        }
    }

    /// Takes note that nobody knows which records up to this one are counted, apart from those that are listed.
    pub fn forget(&mut self, last: SequenceNumber) {
        self.forgotten = Some(self.forgotten.take().map_or(last.clone(), |forgotten| forgotten.max(last)));
    }

    /// Removes records that are counted now: those from `first` to `last`.
    pub fn remove(&mut self, first: &SequenceNumber, last: &SequenceNumber) {
        let spans = std::mem::take(&mut self.spans);
        self.spans = spans.into_iter().flat_map(|span| span.without(first, last)).collect();
    }
}

impl Display for Span {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match &self.from {
            Some(Bound { number, is_inside }) => write!(f, "{}{number}", if *is_inside { '[' } else { '(' })?,
            None => f.write_str("(")?,
        }
        write!(f, ",{}{}", self.to.number, if self.to.is_inside { ']' } else { ')' })
    }
}

impl From<Span> for String {
    fn from(span: Span) -> Self {
        span.to_string()
    }
}

impl TryFrom<String> for Span {
    type Error = Invalid;

    fn try_from(text: String) -> Result<Self, Invalid> {
        text.parse()
    }
}

impl FromStr for Span {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        let wrong = || Invalid::new("a span of records is like [7,9] or (7,9)");
        let (from, to) = text.split_once(',').ok_or_else(wrong)?;
        let (begins_inside, from) = match from.split_at_checked(1) {
            Some(("[", from)) => (true, from),
            Some(("(", from)) => (false, from),
            _ => return Err(wrong()),
        };
        let (to, ends_inside) = match (to.strip_suffix(']'), to.strip_suffix(')')) {
            (Some(to), _) => (to, true),
            (_, Some(to)) => (to, false),
            _ => return Err(wrong()),
        };
        let from = match from {
            "" if begins_inside => return Err(wrong()),
            "" => None,
            number => Some(Bound { number: number.parse()?, is_inside: begins_inside }),
        };
        Ok(Self { from, to: Bound { number: to.parse()?, is_inside: ends_inside } })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::expect_used, reason = "tests")]

    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    fn number(number: u32) -> SequenceNumber {
        number.to_string().parse().expect("a number")
    }

    // A list is the set of its records: those that were added and not removed since then.
    proptest! {
        #[test]
        fn a_list_is_the_set_of_its_records(steps in prop::collection::vec((any::<bool>(), 0..40_u32, 0..6_u32, 0..3_u8), 1..12)) {
            let (mut list, mut set) = (Uncounted::default(), BTreeSet::new());
            for (adds, at, length, form) in steps {
                let end = at + length;
                if adds {
                    let (span, records) = match form {
                        0 => (Span::of(number(at), number(end)), at..end + 1),
                        1 => (Span::after(Some(number(at)), number(end)), at + 1..end + 1),
                        _ => (Span::between(None, number(end)), 0..end),
                    };
                    list.add(span);
                    set.extend(records);
                } else {
                    list.remove(&number(at), &number(end));
                    set.retain(|record| !(at..=end).contains(record));
                }
                let stored = serde_json::to_string(&list).expect("JSON");
                list = serde_json::from_str(&stored).expect("a list");
                for record in 0..50 {
                    let (is_in, is_gone) = (list.contains(&number(record)), list.is_forgotten(&number(record)));
                    prop_assert_eq!(is_in || is_gone && set.contains(&record), set.contains(&record), "{} {:?}", record, &list);
                }
            }
        }
    }

    #[test]
    fn a_full_list_forgets_its_oldest_spans_and_says_so() {
        let mut list = Uncounted::default();
        for at in 0..20 {
            list.add(Span::of(number(10 * at), number(10 * at + 1)));
        }
        for at in 0..20 {
            let (known, forgotten) = (list.contains(&number(10 * at)), list.is_forgotten(&number(10 * at)));
            assert_eq!((known, forgotten), (at >= 4, at < 4), "{at}");
        }
        // Between the forgotten spans nobody knows either.
        assert!(list.is_forgotten(&number(25)) && !list.is_forgotten(&number(35)));
        for wrong in ["", ",", "[1", "[,2]", "[1;2]", "1,2", "(x,2)"] {
            assert!(wrong.parse::<Span>().is_err(), "{wrong}");
        }
    }
}
