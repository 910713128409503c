//! What reading and changing a stock asks of the table.

use key_schema::access::Access;
use key_schema::entity::{Stock, StockCell};

/// Reading a stock, in one cell or in several.
pub const READ: &[Access] = &[Access::batch_get::<Stock>(), Access::batch_get::<StockCell>()];

/// A snapshot read of all cells.
pub const SNAPSHOT: &[Access] = &[Access::transact_get::<Stock>(), Access::transact_get::<StockCell>()];

/// Adjusting a stock, and transferring units between its cells.
pub const ADJUST: &[Access] =
    &[Access::update::<Stock>().in_transactions(), Access::update::<StockCell>().in_transactions()];

/// Changing the price of a stock, cell by cell, and the number of its cells.
pub const RESHAPE: &[Access] = &[
    Access::update::<Stock>().in_transactions(),
    Access::update::<StockCell>(),
    Access::put::<StockCell>().in_transactions(),
    Access::delete::<StockCell>().in_transactions(),
];
