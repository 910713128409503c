//! The cap of open units per customer.

use std::num::NonZeroU32;

use key_schema::entity::{CustomerStats, Rejection};
use lambda::{Environment, FromEnvironment, Misconfigured};

/// The most open units that a customer may have: units in orders that reserve stock and wait for payment. The variable
/// `MAX_OPEN_UNITS`; 0 is no cap.
///
/// The number of open units is counted from the table's stream, so it lags behind by a fraction of a second: orders that
/// a customer places within that time do not count against each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MaxOpenUnits(Option<NonZeroU32>);

impl MaxOpenUnits {
    /// A cap, or none if `units` is 0.
    pub const fn new(units: u32) -> Self {
        Self(NonZeroU32::new(units))
    }

    /// Whether there is a cap.
    pub(crate) const fn is_on(self) -> bool {
        self.0.is_some()
    }

    /// Whether a customer with these stats may place an order of so many units that waits for payment.
    pub(crate) fn admits(self, units: u32, stats: Option<&CustomerStats>) -> Result<(), Rejection> {
        let Some(allowed) = self.0 else { return Ok(()) };
        // A counter is negative for a moment if a payment is counted before its order.
        let open = stats.and_then(|stats| u64::try_from(stats.open_units).ok()).unwrap_or_default();
        let allowed = u64::from(allowed.get());
        if open.saturating_add(units.into()) > allowed { Err(Rejection::OpenUnits { open, allowed }) } else { Ok(()) }
    }
}

impl FromEnvironment for MaxOpenUnits {
    fn from_environment(environment: &Environment) -> Result<Self, Misconfigured> {
        environment.number("MAX_OPEN_UNITS", 0..=1_000_000).map(Self::new)
    }
}
