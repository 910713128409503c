//! IAM on a laptop: what a function's role in `template.yaml` does not allow is refused here as AWS refuses it.
//!
//! On Lambda each function has its role's credentials. Here its access key is its logical id, so whoever receives a
//! call knows which function signed it. A [`Guard`] makes of the call the [`Ask`]s by which AWS authorises it, and
//! holds them against the policies of that function's role. Whoever else signs (a developer, a test) may do anything.
//!
//! The evaluator is our own: `awsim-iam-policy` 0.8 reads a statement without a `Resource` as one about everything,
//! takes the names of condition keys literally, and would turn `serde_json`'s `preserve_order` on for every function
//! in this build. This one refuses to read what it does not know, so what it does not know widens nothing.

mod ask;
mod dynamodb;
mod expression;
mod guard;
mod policy;
mod services;
mod statement;
#[cfg(test)]
mod tests;
mod wildcard;

pub use self::ask::Ask;
pub(crate) use self::guard::{Denial, caller};
pub use self::guard::{Guard, Ruling};
pub use self::policy::{Policy, permit};
pub use self::statement::{Condition, Effect, Operator, Quantifier, Statement};
