//! Copying one table to another while the shop writes both: the first copy, repairs, and the comparison.
//!
//! - [`plan`]: the one decision. It compares an item with its copy, both read at one moment, and says which transaction
//!   makes them equal. Pure.
//! - [`steps`]: the phases of a migration, and the conditions of each step from one to the next. Pure.
//! - [`Copier`] works off the segments of a run, and asks both tables the same questions ([`Comparison`]). [`Repairs`]
//!   are carried out round after round. [`Migrator`] starts runs and makes steps.
//!
//! **Invariant: an item is copied only by a transaction that checks the item it is copied from.** So nothing that was
//! deleted comes back, and no worker overwrites what another one or the shop has written since. A worker may be killed,
//! delayed or run twice at any point.

#![warn(missing_docs)]

mod access;
mod assignment;
mod batches;
mod compare;
mod copier;
mod error;
mod item;
mod migrator;
mod pace;
mod patterns;
pub mod plan;
mod repair;
pub mod steps;
mod sums;
mod sync;
#[cfg(test)]
mod tests;

pub use access::{COPY, REPAIR};
pub use assignment::Assignment;
pub use compare::is_different;
pub use copier::{Copier, fence};
pub use error::Error;
pub use item::{is_copied, same};
pub use migrator::{Migrator, State};
pub use pace::Pace;
pub use patterns::{Answers, Choice, Comparison, MOST_DIFFERING};
pub use repair::{ONE_REPAIR, Repaired, Repairs, repair_fence};
pub use sums::{digest, sum};
