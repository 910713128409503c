//! IAM on a laptop: calls that a function's role in the template does not allow are refused, as on AWS.
//!
//! On Lambda each execution environment has its own credentials of the function's role. Here its access key is the
//! function's logical id and a number, so a service knows which environment of which function signed a call. A [`Guard`] derives from the call the [`Ask`]s by which AWS authorises
//! it, and evaluates them against the policies of that function's role. Callers with another access key (a developer, a
//! test) may do anything.
//!
//! The evaluator is our own. `awsim-iam-policy` 0.8 reads a statement without a `Resource` as one about every resource,
//! compares the names of condition keys literally, and would change the maps of `serde_json` for every function
//! in this build. This evaluator fails on every policy element that it does not know, so an unknown element never
//! widens a permission.

mod ask;
mod caller;
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
pub(crate) use self::caller::{Caller, caller};
pub(crate) use self::guard::Denial;
pub use self::guard::{Guard, Ruling};
pub use self::policy::{Policy, permit};
pub use self::statement::{Condition, Effect, Operator, Quantifier, Statement};
pub(crate) use self::wildcard::matches_arn;
