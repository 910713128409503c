//! Orders that are paid later, such as by bank transfer.

use lambda::{Environment, FromEnvironment, Misconfigured};

/// The days for which an order that is paid later may stay unpaid and reserve its stock. The variable `PAY_LATER_DAYS`;
/// with 0 the shop takes no such orders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PayLater {
    pub days: u32,
}

impl PayLater {
    /// Whether the shop takes orders that are paid later.
    pub const fn is_offered(self) -> bool {
        self.days > 0
    }

    /// The days for which an order keeps its stock after its payment lapsed. The customer is no longer in the shop, and
    /// needs days to read the news. So if the shop takes no orders that are paid later, the time is still three days.
    pub const fn days_after_lapse(self) -> u32 {
        if self.is_offered() { self.days } else { 3 }
    }
}

impl FromEnvironment for PayLater {
    fn from_environment(environment: &Environment) -> Result<Self, Misconfigured> {
        Ok(Self { days: environment.number("PAY_LATER_DAYS", 0..=365)? })
    }
}
