//! The length of a month.

use rust_decimal::{Decimal, dec};
use serde::Deserialize;

const HOURS_PER_DAY: Decimal = dec!(24);
pub(super) const SECONDS_PER_HOUR: Decimal = dec!(3600);
pub(super) const SECONDS_PER_DAY: Decimal = dec!(86400);

/// A month with the price list's number of hours. It is the only source of the length of a month in a bill.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(try_from = "Decimal")]
pub struct Month {
    hours: Decimal,
}

impl Month {
    pub fn hours(self) -> Decimal {
        self.hours
    }

    pub fn days(self) -> Decimal {
        self.hours / HOURS_PER_DAY
    }

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
