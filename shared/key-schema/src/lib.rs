//! The key schema: what Till stores, where each item lies, and every question the table answers.
//!
//! - [`value`]: the typed parts that everything is made of. Text becomes one of them at the edge or is refused.
//! - [`entity`]: the entities, as plain data. They know nothing of keys.
//! - [`layout`]: where each entity lies in the table and its two indexes, and the access patterns that read it there.
//! - [`cursor`]: how far a client has read in a list.
//! - [`markdown_tables`]: the layout as the charts in the documentation.
//!
//! The crate is pure: no AWS client, no async, no clock.
//!
//! **Invariant: no other crate spells a key.** Within this one each partition and each sort key is spelled in
//! exactly one [`Template`](layout::Template), which writing fills in and reading fills in part, so that the two
//! cannot drift.

#![warn(missing_docs)]

pub mod cursor;
pub mod entity;
pub mod layout;
pub mod markdown_tables;
pub mod value;
