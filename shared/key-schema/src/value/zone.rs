//! The shop's time zone.

use std::str::FromStr;

use jiff::tz::{TimeZone, TimeZoneDatabase};

use super::{Day, Invalid, Timestamp};

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
            let yesterday = day_after.parse::<Day>().expect("a day").plus(-1).to_string();
            assert_eq!(is, [yesterday, day_after.to_owned()], "{zone}");
        }
    }

    #[test]
    fn a_zone_has_a_name() {
        for name in ["", "Berlin", "Europe/Atlantis", "CET-1CEST"] {
            assert!(name.parse::<Zone>().is_err(), "{name}");
        }
    }
}
