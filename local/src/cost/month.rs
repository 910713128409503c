//! How long a month is.

use rust_decimal::{Decimal, dec};
use serde::Deserialize;

const HOURS_PER_DAY: Decimal = dec!(24);
pub(super) const SECONDS_PER_HOUR: Decimal = dec!(3600);
pub(super) const SECONDS_PER_DAY: Decimal = dec!(86400);

/// A month, of as many hours as the price list says. Nothing else in a bill knows how long a month is.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(try_from = "Decimal")]
pub struct Month {
    hours: Decimal,
}

impl Month {
    /// For what is paid for by the hour.
    pub fn hours(self) -> Decimal {
        self.hours
    }

    /// For what is kept for days, or comes each day.
    pub fn days(self) -> Decimal {
        self.hours / HOURS_PER_DAY
    }

    /// For what goes on all the time.
    pub fn seconds(self) -> Decimal {
        self.hours * SECONDS_PER_HOUR
    }
}

impl TryFrom<Decimal> for Month {
    type Error = String;

    fn try_from(hours: Decimal) -> Result<Self, String> {
        if hours <= Decimal::ZERO {
            return Err(format!("a month has more than {hours} hours"));
        }
        Ok(Self { hours })
    }
}
