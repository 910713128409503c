//! The way in and out for a shop's history: `cargo local import` and `cargo local export`.
//!
//! A file has one record on each line. Export and import are inverse: what an empty table holds after an import of an
//! exported file is exported as the same file. Counters, shares of a discount and other derived values are not in the
//! file; they follow from it.

mod code_records;
mod existing;
mod export;
mod import;
mod input;
mod laws;
mod order_parts;
mod order_record;
mod record;
mod same_product;
mod schema;
mod shipment_laws;
mod sorted;
mod workbench;
mod write;

pub use export::{Exported, export};
pub use import::{Options, Outcome, Placement, Summary, count, import};
pub use schema::json_schema;
pub use workbench::{export_model, import_model};
