//! The key schema: the entities that Till stores, their keys, and every access pattern of the table.
//!
//! - [`value`]: the types of all fields, such as ids, money and times. Text is parsed into them, or refused.
//! - [`entity`]: the entities, as plain data without keys.
//! - [`layout`]: the keys of each entity in the table and its two indexes, and the access patterns that read them.
//! - [`access`]: a function's requests to the table, as data, from which its role follows.
//! - [`markdown_tables`]: the layout as the tables in `docs/key-schema.md`.
//!
//! The crate has no AWS client and no async. Its only clock is `Timestamp::now`, which nothing else in the crate calls.
//!
//! Templates, places, patterns, pages and cursors are those of [`single_table`], which knows no shop.
//!
//! **Invariant: no other crate spells a key.** In this crate, exactly one [`Template`](layout::Template) spells each
//! partition key and each sort key.

pub mod access;
pub mod entity;
pub mod layout;
pub mod markdown_tables;
pub mod value;

pub use single_table::{cursor, json, page};
