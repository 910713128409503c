//! The stock of a product: reading it, and every write that changes it.
//!
//! Most stocks are one item. The stock of a product that is ordered very often is divided into several cells, each in a
//! partition of its own, and an order line takes its units from one of them.
//!
//! - [`whole`] reads all cells, in one of the [modes](ReadMode). [`Proof`] decides, without I/O, whether what was read
//!   proves that there is too little.
//! - [`take`], [`put_back`] and [`gather`] are the changes that orders make. [`gathering`] has the writes of `gather`.
//! - [`begin`], [`adjust`] and [`change`] are the changes that the shop makes.
//! - [`reprice`], [`level`] and [`give_up_cells`] write cell by cell, because one transaction over all cells of a busy
//!   stock would always conflict with orders.
//!
//! **Invariant: no other crate writes a number of units. The units that can be sold are the sum of all cells. Only
//! sales, cancellations and adjustments change that sum, and no cell ever falls below zero.**

#![warn(missing_docs)]

mod access;
mod change;
mod order;
mod read;
mod transfers;

pub use access::{ADJUST, READ, RESHAPE, SNAPSHOT};
pub use change::{adjust, begin, change, reprice};
pub use order::{Source, gather, gathering, put_back, release, take, take_for_guest};
pub use read::{NextRead, Proof, ReadMode, product, whole};
pub use transfers::{give_up_cells, level};
