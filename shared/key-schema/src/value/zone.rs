//! The shop's time zone.

use std::str::FromStr;

use jiff::tz::{TimeZone, TimeZoneDatabase};

use super::{Day, Invalid, TimeRange, Timestamp};

/// A time zone, by its name in the tz database, such as `Europe/Berlin`. The database is part of the program: the runtime
/// of a function has none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Zone(TimeZone);

impl Zone {
    pub const UTC: Self = Self(TimeZone::UTC);

    /// The day of this moment.
    pub fn day(&self, at: Timestamp) -> Day {
        at.day_in(&self.0)
    }

    /// The moments from the beginning of one day to the beginning of another.
    pub fn moments(&self, from: Day, to: Day) -> TimeRange {
        let begin = |day: Day| Timestamp::begin_of(day.date(), &self.0);
        TimeRange::between(begin(from), begin(to))
    }
}

impl FromStr for Zone {
    type Err = Invalid;

    fn from_str(name: &str) -> Result<Self, Invalid> {
        let known = if name == "UTC" { Ok(TimeZone::UTC) } else { TimeZoneDatabase::bundled().get(name) };
        known.map(Self).map_err(|_| Invalid::new(format!("{name:?} is no time zone, such as Europe/Berlin")))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::expect_used, reason = "tests")]

    use proptest::prelude::*;
    use proptest::sample;

    use super::*;

    fn day(zone: &str, at: &str) -> String {
        zone.parse::<Zone>().expect("a zone").day(at.parse().expect("a time")).to_string()
    }

    #[test]
    fn a_day_begins_at_midnight_of_the_zone_also_on_the_two_nights_of_the_year() {
        for (zone, before_midnight, midnight, day_after) in [
            ("UTC", "2026-11-20T23:59:59.999Z", "2026-11-21T00:00:00Z", "2026-11-21"),
            // The night in which clocks go forward has 23 hours, and the one in which they go back 25.
            ("Europe/Berlin", "2026-03-28T22:59:59.999Z", "2026-03-28T23:00:00Z", "2026-03-29"),
            ("Europe/Berlin", "2026-03-29T21:59:59.999Z", "2026-03-29T22:00:00Z", "2026-03-30"),
            ("Europe/Berlin", "2026-10-24T21:59:59.999Z", "2026-10-24T22:00:00Z", "2026-10-25"),
            ("Europe/Berlin", "2026-10-25T22:59:59.999Z", "2026-10-25T23:00:00Z", "2026-10-26"),
            ("America/New_York", "2026-03-09T03:59:59.999Z", "2026-03-09T04:00:00Z", "2026-03-09"),
            ("Asia/Kathmandu", "2026-11-20T18:14:59.999Z", "2026-11-20T18:15:00Z", "2026-11-21"),
        ] {
            let is = [day(zone, before_midnight), day(zone, midnight)];
            let after = day_after.parse::<Day>().expect("a day");
            assert_eq!(is, [after.plus(-1).to_string(), day_after.to_owned()], "{zone}");
            let days = zone.parse::<Zone>().expect("a zone").moments(after, after.plus(1));
            let contains = |at: &str| days.contains(at.parse().expect("a time"));
            assert_eq!((contains(before_midnight), contains(midnight)), (false, true), "{zone}");
        }
    }

    proptest! {
        /// Also where clocks change at midnight, and where a day was left out.
        #[test]
        fn a_moment_is_among_those_of_its_day(
            name in sample::select(vec!["UTC", "Europe/Berlin", "America/Havana", "America/Sao_Paulo", "Pacific/Apia"]),
            seconds in 0..2_000_000_000_i64,
        ) {
            let (zone, at) = (name.parse::<Zone>().expect("a zone"), Timestamp::EPOCH);
            let at = at.plus_seconds(u32::try_from(seconds).expect("positive"));
            let day = zone.day(at);
            prop_assert!(zone.moments(day, day.plus(1)).contains(at));
            prop_assert!(!zone.moments(day.plus(-1), day).contains(at));
        }
    }

    #[test]
    fn a_zone_has_a_name() {
        for name in ["", "Berlin", "Europe/Atlantis", "CET-1CEST"] {
            assert!(name.parse::<Zone>().is_err(), "{name}");
        }
    }
}
