//! The shop's mark of few units.

use lambda::{Environment, FromEnvironment, Misconfigured};

/// The most units of a product of which lists say that few are left: the variable `FEW_LEFT`. With 0, a product is in
/// stock until it is sold out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FewLeft(pub u64);

impl FromEnvironment for FewLeft {
    fn from_environment(environment: &Environment) -> Result<Self, Misconfigured> {
        environment.number("FEW_LEFT", 0..=1_000_000).map(Self)
    }
}
