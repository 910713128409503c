//! The customer's right of withdrawal.

use lambda::{Environment, FromEnvironment, Misconfigured};

/// The number of days after delivery on which a customer may request a return: the variable `WITHDRAWAL_DAYS`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Withdrawal {
    pub days: u16,
}

impl FromEnvironment for Withdrawal {
    fn from_environment(environment: &Environment) -> Result<Self, Misconfigured> {
        Ok(Self { days: environment.number("WITHDRAWAL_DAYS", 0..=3_650)? })
    }
}
