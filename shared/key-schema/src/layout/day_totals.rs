//! The totals of each day.
//!
//! | pattern | index | partition | sort |
//! |---|---|---|---|
//! | 21 [`TotalsOfDays`] | table | `day#{date}` | `totals` |

use crate::entity::{DayTotals, Entity as _};
use crate::value::{Day, Days};

use super::{Bound, Consistency, Declaration, Direction, Key, Place, PlaceText, Stored, Template};

const TOTALS: Place<(Day,), ()> = Place::table(Template::new("day#{date}"), Template::new("totals"));

impl Stored for DayTotals {
    const PLACES: &'static [PlaceText] = &[TOTALS.text()];

    fn key(&self) -> Key {
        Self::key_of(&self.date)
    }
}

impl DayTotals {
    /// The key of a day's totals.
    pub fn key_of(day: &Day) -> Key {
        TOTALS.key((day,), ())
    }
}

/// The totals of each day in a range. They are a batch of keys, because each day has a partition of its own.
pub struct TotalsOfDays {
    pub days: Days,
}

impl TotalsOfDays {
    /// The declaration of the pattern.
    pub const DECLARED: Declaration = Declaration {
        number: 21,
        question: "the totals of each day in a range of days",
        place: TOTALS.text(),
        entities: &[DayTotals::TYPE],
        consistency: Consistency::Eventual,
        direction: Direction::Ascending,
        bound: Bound::Collection(92),
    };

    /// The keys to read.
    pub fn keys(&self) -> Vec<Key> {
        self.days.each().map(|day| DayTotals::key_of(&day)).collect()
    }
}
