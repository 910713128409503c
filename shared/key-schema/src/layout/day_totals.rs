//! The totals of each day.

use crate::entity::DayTotals;
use crate::value::{Day, Days};

use super::{Declaration, Key, Place, PlaceText, Stored, Template};

const TOTALS: Place<Day, ()> = Place::table(Template::new("day#{date}"), Template::new("totals"));

/// The totals of each day in a range. They are a batch of keys, because each day has a partition of its own.
pub const TOTALS_OF_DAYS: Declaration = TOTALS.batch::<DayTotals>(21, "the totals of each day in a range of days", 92);

impl Stored for DayTotals {
    const PLACES: &'static [PlaceText] = &[TOTALS.text()];

    fn key(&self) -> Key {
        Self::key_of(&self.date)
    }
}

impl DayTotals {
    /// The key of a day's totals.
    pub fn key_of(day: &Day) -> Key {
        TOTALS.key(day, ())
    }

    /// The keys of the totals of these days.
    pub fn keys_of(days: Days) -> Vec<Key> {
        days.each().map(|day| Self::key_of(&day)).collect()
    }
}
