//! Ranges of time.

use jiff::RoundMode;
use serde::Deserialize;
use single_table::{Given, Parameter};
use utoipa::IntoParams;

use super::time::moment;
use super::{Invalid, KeyPart, Timestamp};

/// The moments from `from` (included) to `to` (excluded). Without `from` or `to`, the range is unbounded on that side.
///
/// Such half-open ranges adjoin without gap or overlap: January is from 1 January to 1 February, and includes the last
/// millisecond of the 31st.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, IntoParams)]
#[serde(try_from = "Ends")]
#[into_params(parameter_in = Query)]
pub struct TimeRange {
    /// The first moment of the range. A date is midnight UTC.
    #[param(schema_with = moment, required = false, example = "2026-01-01")]
    from: Option<Timestamp>,
    /// The first moment after the range. A date is midnight UTC.
    #[param(schema_with = moment, required = false, example = "2026-02-01")]
    to: Option<Timestamp>,
}

/// The ends of a range before validation.
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
    /// The range between two ends from a request.
    ///
    /// An end that is finer than a millisecond is rounded up. Stored moments are whole milliseconds, so the comparison
    /// with the rounded end has the same result.
    ///
    /// # Errors
    /// An end is not a time, or the range ends before it begins.
    pub fn parse(from: Option<&str>, to: Option<&str>) -> Result<Self, Invalid> {
        let end = |text: Option<&str>| text.map(|text| Timestamp::parse(text, RoundMode::Ceil)).transpose();
        let (from, to) = (end(from)?, end(to)?);
        match (from, to) {
            (Some(from), Some(to)) if from > to => Err(Invalid::new("from must not be after to")),
            _ => Ok(Self { from, to }),
        }
    }

    /// The moments from one to another. Without one of them, the range is open there.
    pub(super) fn between(from: Option<Timestamp>, to: Option<Timestamp>) -> Self {
        Self { from, to }
    }

    /// The first moment of the range.
    pub fn from(&self) -> Option<&Timestamp> {
        self.from.as_ref()
    }

    /// The first moment after the range.
    pub fn to(&self) -> Option<&Timestamp> {
        self.to.as_ref()
    }

    /// Whether the moment is in the range.
    pub fn contains(&self, moment: Timestamp) -> bool {
        self.from.is_none_or(|from| from <= moment) && self.to.is_none_or(|to| moment < to)
    }
}

impl Parameter for TimeRange {
    type Part = Timestamp;

    const IS_RANGE: bool = true;

    fn given(&self) -> Given<'_> {
        Given::Between([&self.from, &self.to].map(|end| end.as_ref().map(|moment| moment as &dyn KeyPart)))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::expect_used, reason = "tests")]

    use super::*;

    fn at(text: &str) -> Timestamp {
        text.parse().expect("a time")
    }

    #[test]
    fn january_includes_the_last_millisecond_of_the_31st_and_nothing_of_february() {
        let january = TimeRange::parse(Some("2026-01-01"), Some("2026-02-01")).expect("a range");
        assert!(january.contains(at("2026-01-31T23:59:59.999Z")));
        assert!(!january.contains(at("2026-02-01")));
    }

    #[test]
    fn an_end_finer_than_a_millisecond_is_rounded_up() {
        for text in ["2026-01-01T00:00:00.0005Z", "2026-01-01T00:00:00.000000000001Z"] {
            let range = TimeRange::parse(Some(text), None).expect("a range");
            assert!(!range.contains(at("2026-01-01T00:00:00.000Z")), "{text}");
        }
    }

    #[test]
    fn a_range_includes_its_beginning_but_not_its_end() {
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

    #[test]
    fn digits_after_the_ninth_only_decide_whether_an_end_is_rounded_up() {
        let end = |text: &str| TimeRange::parse(Some(text), None).expect("a range").from().map(ToString::to_string);
        let rounded = |text: &str| end(text).expect("an end");
        assert_eq!(rounded("2026-01-01T00:00:00.0000000000Z"), "2026-01-01T00:00:00.000Z");
        assert_eq!(rounded("2026-01-01T00:00:00.0000000001Z"), "2026-01-01T00:00:00.001Z");
        assert_eq!(rounded("2026-01-01T00:00:00.0010000000Z"), "2026-01-01T00:00:00.001Z");
        assert_eq!(rounded("2026-01-01T00:00:00.0010000009Z"), "2026-01-01T00:00:00.002Z");
        assert_eq!(at("2026-01-01T00:00:00.1239999999Z").to_string(), "2026-01-01T00:00:00.123Z");
    }

    #[test]
    fn the_ends_of_a_range_are_validated_when_they_are_deserialized() {
        let ends = |from: Option<&str>, to: Option<&str>| {
            TimeRange::try_from(Ends { from: from.map(str::to_owned), to: to.map(str::to_owned) })
        };
        assert_eq!(ends(Some("2026-01-01"), None), TimeRange::parse(Some("2026-01-01"), None));
        assert_ne!(ends(Some("2026-01-01"), None), Ok(TimeRange::default()));
        assert!(ends(Some("2026-01-02"), Some("2026-01-01")).is_err());
    }
}
