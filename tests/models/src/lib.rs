//! Exhaustive exploration of what can happen at once: every order of steps, every lost answer, every copy.
//!
//! Each model is a small shop. Its actors decide with the same pure code that production runs
//! ([`counting::Batch`](::counting::Batch), [`ordering::Placing`]), and the table of the orders' model applies the very
//! [`table::Write`](::table::Write)s that production sends. The model checker (`stateright`) visits every state that
//! some schedule reaches, and checks the invariants in each.
//!
//! `cargo test -p models` explores small models; `cargo model` explores larger ones. docs/models.md says what was
//! explored.
//!
//! **Invariant: no model decides anything that production decides. A model only chooses what happens next.**

#![allow(
    clippy::expect_used,
    clippy::missing_panics_doc,
    clippy::panic,
    reason = "a model that cannot go on is a failed test"
)]

pub mod counting;
pub mod expression;
pub mod order;
#[cfg(test)]
mod stock;
pub mod table;
