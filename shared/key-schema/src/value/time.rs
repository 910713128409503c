//! Moments.

use std::fmt;
use std::str::FromStr;

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{RoundMode, TimestampRound, Unit};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa::openapi::schema::{ObjectBuilder, Schema, SchemaFormat, SchemaType, Type};

use super::{Day, Invalid, KeyPart};

/// A moment, to the millisecond, in the years 0 to 9999.
///
/// As text it has a fixed width, `2026-11-21T09:30:00.000Z`, so that moments as text sort by time. A date without a
/// time is midnight UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema)]
#[serde(try_from = "String", into = "String")]
#[schema(value_type = String, format = "date-time", example = "2026-11-21T09:30:00.000Z")]
pub struct Timestamp(jiff::Timestamp);

impl Timestamp {
    /// The present moment, from this machine's clock.
    pub fn now() -> Self {
        Self::rounded(jiff::Timestamp::now(), RoundMode::Floor).unwrap_or(Self::EPOCH)
    }

    /// The moment at which 1970 began: long ago.
    pub const EPOCH: Self = Self(jiff::Timestamp::UNIX_EPOCH);

    /// The moment this many milliseconds after 1970 began; `None` outside the years 0 to 9999.
    pub fn from_millisecond(millisecond: i64) -> Option<Self> {
        Self::rounded(jiff::Timestamp::from_millisecond(millisecond).ok()?, RoundMode::Floor)
    }

    /// Milliseconds since 1970.
    pub fn as_millisecond(self) -> i64 {
        self.0.as_millisecond()
    }

    /// Seconds since 1970, as DynamoDB's TTL counts them.
    pub fn as_second(self) -> i64 {
        self.0.as_second()
    }

    /// The moment this many seconds earlier.
    #[must_use]
    pub fn minus_seconds(self, seconds: u32) -> Self {
        let before = self.0.as_millisecond() - 1000 * i64::from(seconds);
        // A moment before the year 0 cannot be represented.
        Self::from_millisecond(before).unwrap_or(self)
    }

    /// The moment this many seconds later.
    #[must_use]
    pub fn plus_seconds(self, seconds: u32) -> Self {
        // A moment after the year 9999 cannot be represented.
        Self::from_millisecond(self.0.as_millisecond() + 1000 * i64::from(seconds)).unwrap_or(self)
    }

    /// The day of this moment in UTC.
    pub fn day(self) -> Day {
        self.day_in(&TimeZone::UTC)
    }

    pub(super) fn day_in(self, zone: &TimeZone) -> Day {
        Day::of(zone.to_datetime(self.0).date())
    }

    /// The first moment of this date in a zone.
    pub(super) fn begin_of(date: Date, zone: &TimeZone) -> Option<Self> {
        Self::rounded(date.to_zoned(zone.clone()).ok()?.timestamp(), RoundMode::Floor)
    }

    pub(super) fn parse(text: &str, mode: RoundMode) -> Result<Self, Invalid> {
        let moment = if text.len() == "2026-11-21".len() {
            text.parse::<Date>().and_then(|date| date.to_zoned(TimeZone::UTC)).map(|midnight| midnight.timestamp())
        } else {
            // Not parsed as a `Date`: a time without an offset would silently become midnight.
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

values!(spelled: Timestamp);

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

/// The text with at most nine decimals of a second, if it has the form of RFC 3339, 5.6. The library would also accept
/// other forms of ISO 8601: without seconds, without separators, or with the name of a time zone.
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
    // Rounding depends only on whether the dropped digits are all zero. If not, the last kept digit must not be zero
    // either.
    let sticky = if rest.bytes().any(|digit| digit != b'0') && kept.ends_with('0') { "1" } else { "" };
    Some(format!("{start}{}{sticky}{offset}", &kept[..kept.len() - sticky.len()]))
}

/// The schema of a moment in a request: a date-time or a date of RFC 3339. It is no union of the two, because clients that
/// openapi-generator makes for Java fail on a union in a query.
pub fn moment() -> Schema {
    moment_or(SchemaType::new(Type::String))
}

/// The schema of [`moment`] or null.
pub fn optional_moment() -> Schema {
    moment_or(SchemaType::from_iter([Type::String, Type::Null]))
}

fn moment_or(kind: SchemaType) -> Schema {
    let format = SchemaFormat::Custom("date-time-or-date".to_owned());
    let moment = ObjectBuilder::new().schema_type(kind).format(Some(format));
    moment.description(Some("Like 2026-11-21T09:30:00Z, or a date: midnight UTC.")).into()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::expect_used, reason = "tests")]

    use super::*;
    use proptest::prelude::*;
    use utoipa::openapi::schema::Object;

    fn at(text: &str) -> Timestamp {
        text.parse().expect("a time")
    }

    #[test]
    fn all_spellings_of_a_moment_have_the_same_text() {
        for text in ["2026-11-21", "2026-11-21T00:00:00Z", "2026-11-21T01:00:00+01:00", "2026-11-21T00:00:00.0009Z"] {
            assert_eq!(at(text).to_string(), "2026-11-21T00:00:00.000Z", "{text}");
        }
    }

    #[test]
    fn a_time_must_have_the_form_of_rfc_3339() {
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
    fn text_that_is_no_moment_in_the_years_0_to_9999_is_refused() {
        for text in ["", "yesterday", "2026-13-01", "-000001-01-01T00:00:00Z", "2026-11-21T09:30:00"] {
            assert!(text.parse::<Timestamp>().is_err(), "{text}");
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
    fn a_moment_has_its_seconds_since_1970_and_its_day() {
        let noon = at("2026-11-21T12:00:00.999Z");
        assert_eq!((noon.as_second(), noon.day().to_string()), (1_795_262_400, "2026-11-21".to_owned()));
        assert_eq!(noon.minus_seconds(60), at("2026-11-21T11:59:00.999Z"));
        let first = at("0000-01-01T00:00:00Z");
        assert_eq!(first.minus_seconds(1), first, "there is no moment before the year 0");
        let about = jiff::Timestamp::now().as_second();
        assert!((about..about + 60).contains(&Timestamp::now().as_second()));
    }

    #[test]
    fn the_schema_of_an_optional_moment_allows_null() {
        let may_be_null = |schema| {
            let Schema::Object(Object { schema_type, .. }) = schema else { return false };
            schema_type == SchemaType::from_iter([Type::String, Type::Null])
        };
        assert_eq!([moment(), optional_moment()].map(may_be_null), [false, true]);
    }
}
