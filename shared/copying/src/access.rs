//! What copying asks of the two tables, beside the Scan.

use key_schema::access::{Access, Action};
use key_schema::entity::{CopyProgress, Migration};
use key_schema::layout::REPAIRS_DUE;

/// What making a pair equal asks for: items of every kind, and only in transactions.
const ITEMS: [Access; 4] = [
    Access::everywhere(Action::GetItem),
    Access::everywhere(Action::ConditionCheckItem),
    Access::everywhere(Action::PutItem),
    Access::everywhere(Action::DeleteItem),
];

/// What working off a segment asks for. A comparison looks for repairs that are due.
pub const COPY: &[&[Access]] = &[&ITEMS, &[Access::batch_get::<CopyProgress>(), Access::query(REPAIRS_DUE)]];

/// What carrying out repairs asks for. The phase is reported.
pub const REPAIR: &[&[Access]] = &[&ITEMS, &[Access::batch_get::<Migration>(), Access::query(REPAIRS_DUE)]];
