//! The stock of a product: what there is of it, and every write that changes that.
//!
//! Most stocks are one item. One that everybody orders from at once lies in several cells, each in a partition of its
//! own, and an order takes from one of them:
//!
//! - [`whole`]: what lies in all cells, looked at as closely as it takes. [`Proof`]: when that is certain. Pure.
//! - [`take`], [`put_back`], [`gather`]: what orders do to a stock. [`gathering`]: the writes of the last. Pure.
//! - [`begin`], [`adjust`], [`change`]: what the shop does to it.
//! - [`reprice`], [`level`], [`give_up_cells`]: what is done cell by cell, because a busy stock is never free in all cells.
//!
//! **Invariant: no other crate writes how many there are. What can be sold is the sum of the cells, and only what is
//! sold, given back or adjusted changes it; no cell is ever below zero.**

#![warn(missing_docs)]

mod change;
mod moves;
mod order;
mod read;

pub use change::{adjust, begin, change, reprice};
pub use moves::{give_up_cells, level};
pub use order::{Source, gather, gathering, put_back, take};
pub use read::{NextRead, Proof, ReadMode, product, whole};
