//! Days and ranges of days.

use std::fmt;
use std::str::FromStr;

use jiff::civil::Date;
use jiff::{ToSpan as _, Unit};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::{Invalid, KeyPart, TimeRange, Zone};

/// A day, in the years 0 to 9999, such as `2026-11-21`. Days as text sort by time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema)]
#[serde(try_from = "String", into = "String")]
#[schema(value_type = String, format = "date", example = "2026-11-21")]
pub struct Day(Date);

impl Day {
    pub(super) fn of(date: Date) -> Self {
        Self(date)
    }

    pub(super) fn date(self) -> Date {
        self.0
    }

    /// The day this number of days later, or earlier if it is negative. Stops at the first and the last possible day.
    #[must_use]
    pub fn plus(self, days: i64) -> Self {
        Self(self.0.saturating_add(days.days()))
    }
}

impl fmt::Display for Day {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl FromStr for Day {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        // `Date` would also parse longer text, with a time.
        let date = (text.len() == "2026-11-21".len()).then(|| text.parse().ok()).flatten();
        date.map(Self).ok_or_else(|| Invalid::new("a day must look like 2026-11-21"))
    }
}

values!(spelled: Day);

impl KeyPart for Day {
    fn write_to(&self, key: &mut String) {
        key.push_str(&self.to_string());
    }
}

/// The days from `from` (included) to `to` (excluded): at most 92 of them, which is a quarter of a year.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, IntoParams)]
#[serde(try_from = "Ends")]
#[into_params(parameter_in = Query)]
pub struct Days {
    /// The first day.
    #[param(value_type = String, format = Date, example = "2026-11-01")]
    from: Day,
    /// The day after the last one, at most 92 days after the first.
    #[param(value_type = String, format = Date, example = "2026-12-01")]
    to: Day,
}

/// The ends of a range before validation.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Ends {
    from: Day,
    to: Day,
}

impl TryFrom<Ends> for Days {
    type Error = Invalid;

    fn try_from(Ends { from, to }: Ends) -> Result<Self, Invalid> {
        Self::new(from, to)
    }
}

impl Days {
    /// The most days in a range.
    pub const MOST: i32 = 92;

    /// The range between two ends.
    ///
    /// # Errors
    /// The range ends before it begins, or is too long.
    pub fn new(from: Day, to: Day) -> Result<Self, Invalid> {
        let length = from.0.until((Unit::Day, to.0)).map_or(i32::MAX, |span| span.get_days());
        match length {
            ..0 => Err(Invalid::new("from must not be after to")),
            0..=Self::MOST => Ok(Self { from, to }),
            _ => Err(Invalid::new(format!("from and to must be at most {} days apart", Self::MOST))),
        }
    }

    /// The day after the last one.
    pub fn end(&self) -> Day {
        self.to
    }

    /// The moments of these days in a zone.
    pub fn moments(&self, zone: &Zone) -> TimeRange {
        zone.moments(self.from, self.to)
    }

    /// Each day, in order.
    pub fn each(&self) -> impl Iterator<Item = Day> {
        let to = self.to;
        self.from.0.series(1.day()).map(Day).take_while(move |day| *day < to)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::expect_used, reason = "tests")]

    use super::*;
    use crate::value::Timestamp;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_moment_is_in_the_range_of_its_day(at in -62_167_219_200_000i64..253_402_207_199_999) {
            let moment = Timestamp::from_millisecond(at).expect("a moment");
            let day = moment.day();
            prop_assert_eq!(day.to_string(), &moment.to_string()[..10]);
            prop_assert_eq!(day.to_string().parse::<Day>().expect("a day"), day);
            let next = day.0.tomorrow().map(|next| next.to_string()).ok();
            let range = TimeRange::parse(Some(&day.to_string()), next.as_deref()).expect("a range");
            prop_assert!(range.contains(moment));
        }

        #[test]
        fn a_range_of_days_includes_its_beginning_but_not_its_end(start in 0..700_000_i64, length in 0..=92_u8) {
            let from = Day(jiff::civil::date(1, 1, 1) + start.days());
            let to = Day(from.0 + i64::from(length).days());
            let days: Vec<_> = Days::new(from, to).expect("a range").each().collect();
            prop_assert_eq!(days.len(), usize::from(length));
            prop_assert!(days.is_sorted());
            prop_assert!(days.iter().all(|day| (from..to).contains(day)));
        }
    }

    #[test]
    fn a_range_that_is_too_long_or_ends_before_it_begins_is_refused() {
        let day = |text: &str| text.parse::<Day>().expect("a day");
        assert!(Days::new(day("2026-01-01"), day("2026-04-03")).is_ok());
        assert!(Days::new(day("2026-01-01"), day("2026-04-04")).is_err());
        assert!(Days::new(day("2026-01-02"), day("2026-01-01")).is_err());
        assert!(Days::new(day("0001-01-01"), day("9999-12-31")).is_err());
    }

    #[test]
    fn text_that_is_not_a_day_is_refused() {
        for text in ["", "today", "2026-02-30", "2026-11-21T00:00:00Z", "20261121", "-00001-1-1"] {
            assert!(text.parse::<Day>().is_err(), "{text}");
        }
    }

    #[test]
    fn the_moments_of_a_range_of_days_are_from_midnight_to_midnight() {
        let day = |text: &str| text.parse::<Day>().expect("a day");
        let days = Days::new(day("2026-11-21"), day("2026-11-23")).expect("a range");
        assert_eq!(Ok(days.moments(&Zone::UTC)), TimeRange::parse(Some("2026-11-21"), Some("2026-11-23")));
        assert_eq!(days.end(), day("2026-11-23"));
        assert_eq!((day("2026-11-30").plus(1), day("2026-12-01").plus(-1)), (day("2026-12-01"), day("2026-11-30")));
    }
}
