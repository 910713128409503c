//! customers

use super::Operation;

pub(super) const OPERATIONS: &[Operation] = &[];
