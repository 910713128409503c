//! The search index of the catalogue: an OpenSearch index that follows the table.
//!
//! [`Search`] is the port. It finds products, and brings the documents of products up to date. The module [`opensearch`]
//! speaks OpenSearch's REST protocol; another engine is one more module.
//!
//! The index is a copy that may be a few seconds old, and that can be rebuilt from the table at any time. How it stays
//! right although changes are reported late, twice and in any order: [`sync`].
//!
//! **Invariant: a document is written only under the condition that nobody has written it since the table was read for
//! it.**

#![warn(missing_docs)]

mod cursor;
mod document;
mod error;
pub mod opensearch;
mod port;
mod query;
pub mod sync;

pub use document::{Listed, folded};
pub use error::Error;
pub use port::{Found, IndexName, PriceRange, READ_SECRET, Search};
pub use query::{Query, Sort, Words};
