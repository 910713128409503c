//! Moments and ranges of time.

use std::fmt;
use std::str::FromStr;

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{RoundMode, TimestampRound, Unit};
use serde::{Deserialize, Serialize};
use utoipa::openapi::schema::{AnyOfBuilder, KnownFormat, ObjectBuilder, Schema, SchemaFormat, Type};
use utoipa::{IntoParams, ToSchema};

use super::{Day, Invalid, KeyPart};

/// A moment, to the millisecond, in the years 0 to 9999.
///
/// It prints at one width, `2026-11-21T09:30:00.000Z`, so that the order of the texts is the order of the moments.
/// A date without a time is midnight UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema)]
#[serde(try_from = "String", into = "String")]
#[schema(value_type = String, format = "date-time", example = "2026-11-21T09:30:00.000Z")]
pub struct Timestamp(jiff::Timestamp);

impl Timestamp {
    /// The present moment, of this machine's clock.
    pub fn now() -> Self {
        Self::rounded(jiff::Timestamp::now(), RoundMode::Floor).unwrap_or(Self(jiff::Timestamp::UNIX_EPOCH))
    }

    /// Milliseconds since 1970; `None` outside the years 0 to 9999.
    pub fn from_millisecond(millisecond: i64) -> Option<Self> {
        Self::rounded(jiff::Timestamp::from_millisecond(millisecond).ok()?, RoundMode::Floor)
    }

    /// Seconds since 1970, as DynamoDB's TTL counts them.
    pub fn as_second(self) -> i64 {
        self.0.as_second()
    }

    /// So many seconds before.
    #[must_use]
    pub fn minus_seconds(self, seconds: u32) -> Self {
        let before = self.0.as_millisecond() - 1000 * i64::from(seconds);
        // The years before 0 are no moments here.
        Self::from_millisecond(before).unwrap_or(self)
    }

    /// The day it lies in, in UTC.
    pub fn day(self) -> Day {
        Day::of(self.0.to_zoned(TimeZone::UTC).date())
    }

    fn parse(text: &str, mode: RoundMode) -> Result<Self, Invalid> {
        let moment = if text.len() == "2026-11-21".len() {
            text.parse::<Date>().and_then(|date| date.to_zoned(TimeZone::UTC)).map(|midnight| midnight.timestamp())
        } else {
            // Not a date: parsed as one, a time without an offset would silently become midnight.
            rfc3339(text).ok_or_else(not_a_time)?.parse()
        };
        moment.ok().and_then(|moment| Self::rounded(moment, mode)).ok_or_else(not_a_time)
    }

    fn rounded(moment: jiff::Timestamp, mode: RoundMode) -> Option<Self> {
        let moment = moment.round(TimestampRound::new().smallest(Unit::Millisecond).mode(mode)).ok()?;
        (0..=9999).contains(&moment.to_zoned(TimeZone::UTC).year()).then_some(Self(moment))
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.3}", self.0)
    }
}

impl FromStr for Timestamp {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        Self::parse(text, RoundMode::Floor)
    }
}

impl TryFrom<String> for Timestamp {
    type Error = Invalid;

    fn try_from(text: String) -> Result<Self, Invalid> {
        text.parse()
    }
}

impl From<Timestamp> for String {
    fn from(moment: Timestamp) -> Self {
        moment.to_string()
    }
}

impl KeyPart for Timestamp {
    fn write_to(&self, key: &mut String) {
        use fmt::Write as _;
        // Writing to a String cannot fail.
        let _ = write!(key, "{self}");
    }
}

fn not_a_time() -> Invalid {
    Invalid::new("a time must look like 2026-11-21T09:30:00Z or 2026-11-21")
}

/// The text with at most nine digits of a second, if it has the form of RFC 3339, 5.6. The library takes other forms of
/// ISO 8601, too: without seconds, without separators, with the name of a time zone.
fn rfc3339(text: &str) -> Option<String> {
    const FORM: &[u8] = b"0000-00-00T00:00:00";
    let (start, rest) = text.split_at_checked(FORM.len())?;
    let fits = |form: u8, byte: u8| match form {
        b'0' => byte.is_ascii_digit(),
        b'T' => byte == b'T' || byte == b't',
        _ => byte == form,
    };
    let (fraction, offset) = rest.split_at(rest.find(|c: char| c != '.' && !c.is_ascii_digit())?);
    let is_fraction = match fraction.strip_prefix('.') {
        Some(digits) => !digits.is_empty() && !digits.contains('.'),
        None => fraction.is_empty(),
    };
    let is_offset = match offset.as_bytes() {
        b"Z" | b"z" => true,
        [b'+' | b'-', hours @ .., b':', m, n] => {
            let [h, g] = hours else { return None };
            (b"00".as_slice()..=b"23").contains(&[*h, *g].as_slice())
                && [h, g, m, n].iter().all(|digit| digit.is_ascii_digit())
                && *m < b'6'
        }
        _ => false,
    };
    if !(start.bytes().zip(FORM).all(|(byte, form)| fits(*form, byte)) && is_fraction && is_offset) {
        return None;
    }
    let (kept, rest) = fraction.split_at(fraction.len().min(".000000000".len()));
    // The last digit that is kept speaks for those that are not: only whether they are all zero matters.
    let sticky = if rest.bytes().any(|digit| digit != b'0') && kept.ends_with('0') { "1" } else { "" };
    Some(format!("{start}{}{sticky}{offset}", &kept[..kept.len() - sticky.len()]))
}

/// The moments from `from` (inclusive) to `to` (exclusive); an absent end is open.
///
/// Half-open ranges meet without gap or overlap: January is from 1 January to 1 February, and holds the last
/// millisecond of the 31st.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, IntoParams)]
#[serde(try_from = "Ends")]
#[into_params(parameter_in = Query)]
pub struct TimeRange {
    /// From this moment on. A date is midnight UTC.
    #[param(schema_with = moment, required = false, example = "2026-01-01")]
    from: Option<Timestamp>,
    /// Until before this moment. A date is midnight UTC.
    #[param(schema_with = moment, required = false, example = "2026-02-01")]
    to: Option<Timestamp>,
}

/// A moment as clients may write it: the schema of RFC 3339's date-time, or of its date.
pub fn moment() -> Schema {
    let text = |format| ObjectBuilder::new().schema_type(Type::String).format(Some(SchemaFormat::KnownFormat(format)));
    let moment = AnyOfBuilder::new().item(text(KnownFormat::DateTime)).item(text(KnownFormat::Date));
    moment.description(Some("A date is midnight UTC.")).into()
}

/// [`moment`], or null.
pub fn optional_moment() -> Schema {
    let moment = AnyOfBuilder::new().item(ObjectBuilder::new().schema_type(Type::Null)).item(moment());
    moment.into()
}

/// The ends of a range as they arrive.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Ends {
    from: Option<String>,
    to: Option<String>,
}

impl TryFrom<Ends> for TimeRange {
    type Error = Invalid;

    fn try_from(Ends { from, to }: Ends) -> Result<Self, Invalid> {
        Self::parse(from.as_deref(), to.as_deref())
    }
}

impl TimeRange {
    /// The range between two ends as a client writes them.
    ///
    /// Ends finer than a millisecond are rounded up: stored moments are whole milliseconds, and `t >= end` holds
    /// for exactly those that are not below the next whole one.
    ///
    /// # Errors
    /// An end that is no time, or a range that ends before it begins.
    pub fn parse(from: Option<&str>, to: Option<&str>) -> Result<Self, Invalid> {
        let end = |text: Option<&str>| text.map(|text| Timestamp::parse(text, RoundMode::Ceil)).transpose();
        let (from, to) = (end(from)?, end(to)?);
        match (from, to) {
            (Some(from), Some(to)) if from > to => Err(Invalid::new("from must not be after to")),
            _ => Ok(Self { from, to }),
        }
    }

    /// From the midnight at which a day begins to another.
    pub(super) fn of_days(from: Day, to: Day) -> Self {
        let midnight = |day: Day| Timestamp::parse(&day.to_string(), RoundMode::Floor).ok();
        Self { from: midnight(from), to: midnight(to) }
    }

    /// The first moment within.
    pub fn from(&self) -> Option<&Timestamp> {
        self.from.as_ref()
    }

    /// The first moment after it.
    pub fn to(&self) -> Option<&Timestamp> {
        self.to.as_ref()
    }

    /// Whether the moment lies within.
    pub fn contains(&self, moment: Timestamp) -> bool {
        self.from.is_none_or(|from| from <= moment) && self.to.is_none_or(|to| moment < to)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::expect_used, reason = "tests")]

    use super::*;
    use proptest::prelude::*;

    fn at(text: &str) -> Timestamp {
        text.parse().expect("a time")
    }

    #[test]
    fn every_way_to_write_a_moment_prints_the_same() {
        for text in ["2026-11-21", "2026-11-21T00:00:00Z", "2026-11-21T01:00:00+01:00", "2026-11-21T00:00:00.0009Z"] {
            assert_eq!(at(text).to_string(), "2026-11-21T00:00:00.000Z", "{text}");
        }
    }

    #[test]
    fn a_time_is_written_as_rfc_3339_says() {
        for text in [
            "2026-11-21t09:30:00.5z",
            "2026-11-21T09:30:00-00:00",
            "2026-11-21T23:59:60Z",
            "2026-11-21T09:30:00.00000000000Z",
        ] {
            assert!(text.parse::<Timestamp>().is_ok(), "{text}");
        }
        for text in [
            "2026-11-21T09:30Z",
            "2026-11-21 09:30:00Z",
            "20261121T093000Z",
            "2026-11-21T09:30:00,5Z",
            "2026-11-21T09:30:00.Z",
            "2026-11-21T09:30:00.5.5Z",
            "2026-11-21T09:30:00+01",
            "2026-11-21T09:30:00+0100",
            "2026-11-21T09:30:00+24:00",
            "2026-11-21T09:30:00+01:60",
            "2026-11-21T09:30:00+01:00:30",
            "2026-11-21T09:30:00Z[UTC]",
            "2026-11-21T24:00:00Z",
            "2026-11-21T09:30:00\u{660}Z",
        ] {
            assert!(text.parse::<Timestamp>().is_err(), "{text}");
        }
    }

    #[test]
    fn what_is_no_moment_of_the_years_0_to_9999_is_refused() {
        for text in ["", "yesterday", "2026-13-01", "-000001-01-01T00:00:00Z", "2026-11-21T09:30:00"] {
            assert!(text.parse::<Timestamp>().is_err(), "{text}");
        }
    }

    #[test]
    fn january_holds_the_last_millisecond_of_the_31st_and_nothing_of_february() {
        let january = TimeRange::parse(Some("2026-01-01"), Some("2026-02-01")).expect("a range");
        assert!(january.contains(at("2026-01-31T23:59:59.999Z")));
        assert!(!january.contains(at("2026-02-01")));
    }

    #[test]
    fn an_end_finer_than_a_millisecond_does_not_reach_back() {
        for text in ["2026-01-01T00:00:00.0005Z", "2026-01-01T00:00:00.000000000001Z"] {
            let range = TimeRange::parse(Some(text), None).expect("a range");
            assert!(!range.contains(at("2026-01-01T00:00:00.000Z")), "{text}");
        }
    }

    proptest! {
        #[test]
        fn text_order_is_time_order_at_one_width(a in -62_167_219_200_000i64..253_402_207_200_000, b in -62_167_219_200_000i64..253_402_207_200_000) {
            let (a, b) = (Timestamp::from_millisecond(a).expect("in range"), Timestamp::from_millisecond(b).expect("in range"));
            prop_assert_eq!(a.to_string().cmp(&b.to_string()), a.cmp(&b));
            prop_assert_eq!(a.to_string().len(), 24);
            prop_assert_eq!(at(&a.to_string()), a);
        }
    }

    #[test]
    fn a_moment_is_a_number_of_seconds_and_lies_in_a_day() {
        let noon = at("2026-11-21T12:00:00.999Z");
        assert_eq!((noon.as_second(), noon.day().to_string()), (1_795_262_400, "2026-11-21".to_owned()));
        assert_eq!(noon.minus_seconds(60), at("2026-11-21T11:59:00.999Z"));
        let first = at("0000-01-01T00:00:00Z");
        assert_eq!(first.minus_seconds(1), first, "the years before 0 are no moments here");
        let about = jiff::Timestamp::now().as_second();
        assert!((about..about + 60).contains(&Timestamp::now().as_second()));
    }

    #[test]
    fn a_range_holds_what_lies_between_its_ends() {
        let range = |from, to| TimeRange::parse(from, to);
        let (morning, noon) = ("2026-11-21T06:00:00.000Z", "2026-11-21T12:00:00.000Z");
        let half = range(Some(morning), Some(noon)).expect("a range");
        assert_eq!((half.from(), half.to()), (Some(&at(morning)), Some(&at(noon))));
        assert!(half.contains(at(morning)) && !half.contains(at(noon)));
        assert!(range(Some(noon), Some(noon)).is_ok_and(|range| !range.contains(at(noon))));
        assert!(range(Some(noon), Some(morning)).is_err());
        assert!(range(None, Some(noon)).is_ok_and(|range| range.contains(at(morning)) && !range.contains(at(noon))));
        assert!(range(Some(noon), None).is_ok_and(|range| !range.contains(at(morning)) && range.contains(at(noon))));
    }

    /// What is finer than a nanosecond decides nothing but whether there is a rest.
    #[test]
    fn digits_beyond_the_ninth_are_a_rest_or_none() {
        let end = |text: &str| TimeRange::parse(Some(text), None).expect("a range").from().map(ToString::to_string);
        let rounded = |text: &str| end(text).expect("an end");
        assert_eq!(rounded("2026-01-01T00:00:00.0000000000Z"), "2026-01-01T00:00:00.000Z");
        assert_eq!(rounded("2026-01-01T00:00:00.0000000001Z"), "2026-01-01T00:00:00.001Z");
        assert_eq!(rounded("2026-01-01T00:00:00.0010000000Z"), "2026-01-01T00:00:00.001Z");
        assert_eq!(rounded("2026-01-01T00:00:00.0010000009Z"), "2026-01-01T00:00:00.002Z");
        assert_eq!(at("2026-01-01T00:00:00.1239999999Z").to_string(), "2026-01-01T00:00:00.123Z");
    }

    #[test]
    fn the_ends_of_a_range_are_read_as_they_arrive() {
        let ends = |from: Option<&str>, to: Option<&str>| {
            TimeRange::try_from(Ends { from: from.map(str::to_owned), to: to.map(str::to_owned) })
        };
        assert_eq!(ends(Some("2026-01-01"), None), TimeRange::parse(Some("2026-01-01"), None));
        assert_ne!(ends(Some("2026-01-01"), None), Ok(TimeRange::default()));
        assert!(ends(Some("2026-01-02"), Some("2026-01-01")).is_err());
    }

    #[test]
    fn a_moment_is_described_as_a_date_or_a_date_and_a_time_and_may_be_null_where_it_is_optional() {
        let of = |schema: Schema| match schema {
            Schema::AnyOf(any) => any.items.len(),
            _ => 0,
        };
        assert_eq!((of(moment()), of(optional_moment())), (2, 2));
    }
}
