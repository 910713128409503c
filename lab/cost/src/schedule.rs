//! Schedules of EventBridge and AWS Backup.

use anyhow::{Context, Result, bail, ensure};
use rust_decimal::{Decimal, dec};

use super::month::{Month, SECONDS_PER_DAY};

/// A schedule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Schedule {
    /// At an interval of this many seconds.
    Every(Decimal),
    /// Once a month.
    Monthly,
}

impl Schedule {
    /// Parses `rate(15 minutes)`, or a `cron` for once a day, once a week or once a month. An error names the
    /// expression.
    pub fn parse(expression: &str) -> Result<Self> {
        Self::read(expression).with_context(|| format!("how often {expression} comes is not known here"))
    }

    fn read(expression: &str) -> Result<Self> {
        let (kind, fields) =
            expression.strip_suffix(')').and_then(|text| text.split_once('(')).context("no schedule")?;
        let fields: Vec<_> = fields.split_whitespace().collect();
        match (kind, &*fields) {
            ("rate", [count, unit]) => {
                let seconds = match unit.trim_end_matches('s') {
                    "minute" => dec!(60),
                    "hour" => dec!(3600),
                    "day" => SECONDS_PER_DAY,
                    _ => bail!("a rate is so many minutes, hours or days"),
                };
                let count: Decimal = count.parse().context("a rate has a number")?;
                ensure!(count > Decimal::ZERO, "a rate is of something");
                Ok(Self::Every(count * seconds))
            }
            ("cron", [minute, hour, of_month, "*", of_week, "*"]) if is_one(minute) && is_one(hour) => {
                match (*of_month, *of_week) {
                    ("*", "?") | ("?", "*") => Ok(Self::Every(SECONDS_PER_DAY)),
                    ("?", day) if is_one(day) => Ok(Self::Every(dec!(7) * SECONDS_PER_DAY)),
                    (day, "?") if is_one(day) => Ok(Self::Monthly),
                    _ => bail!("not one day of a week or of a month"),
                }
            }
            _ => bail!("neither a rate nor a cron of one time of the day"),
        }
    }

    /// The seconds from one time to the next.
    pub fn seconds(self, month: Month) -> Decimal {
        match self {
            Self::Every(seconds) => seconds,
            Self::Monthly => month.seconds(),
        }
    }

    /// The days from one time to the next.
    pub fn days(self, month: Month) -> Decimal {
        self.seconds(month) / SECONDS_PER_DAY
    }
}

/// Whether a field of a cron has one value: a number, or the name of a day.
fn is_one(field: &str) -> bool {
    !field.is_empty() && field.chars().all(|one| one.is_ascii_alphanumeric())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_schedule_is_read_as_aws_writes_it() {
        let month = Month::try_from(dec!(730)).unwrap();
        for (expression, seconds) in [
            ("rate(1 minute)", dec!(60)),
            ("rate(15 minutes)", dec!(900)),
            ("rate(2 days)", dec!(172800)),
            ("cron(30 3 * * ? *)", dec!(86400)),
            ("cron(30 3 ? * SUN *)", dec!(604800)),
            ("cron(30 3 1 * ? *)", month.seconds()),
        ] {
            assert_eq!(Schedule::parse(expression).unwrap().seconds(month), seconds, "{expression}");
        }
    }

    #[test]
    fn a_schedule_that_is_not_understood_is_refused_and_not_guessed() {
        for expression in [
            "",
            "rate(15)",
            "rate(0 minutes)",
            "rate(2 moons)",
            "cron(0/15 * * * ? *)",
            "cron(30 3,15 * * ? *)",
            "cron(30 3 ? * MON-FRI *)",
            "cron(30 3 1 6 ? *)",
            "cron(30 3 1 * SUN *)",
        ] {
            let error = format!("{:#}", Schedule::parse(expression).unwrap_err());
            assert!(error.starts_with(&format!("how often {expression} comes is not known here")), "{error}");
        }
    }
}
