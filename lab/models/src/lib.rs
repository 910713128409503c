//! Exhaustive exploration of concurrent events: every order of steps, every lost answer, every duplicate.
//!
//! Each model is a small shop. Its actors decide with the same pure code as production
//! ([`ordering::PlacingAttempt`]), and the table of the orders' model applies the same [`table::Write`](::table::Write)s
//! that production sends. The model checker (`stateright`) visits every reachable
//! state, and checks the invariants in each.
//!
//! `cargo test -p models` explores small models; `cargo model` explores larger ones. docs/models.md has the results.
//!
//! **Invariant: no model makes a decision of the production code. A model only chooses the next event.**

#![allow(
    clippy::expect_used,
    clippy::missing_panics_doc,
    clippy::panic,
    reason = "a model that cannot go on is a failed test"
)]

pub mod expression;
pub mod migration;
pub mod order;
pub mod payment;
#[cfg(test)]
mod stock;
pub mod table;
