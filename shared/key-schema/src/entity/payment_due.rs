//! Payments on which the shop has to act.

use serde::{Deserialize, Serialize};

use super::Work;
use crate::value::{Money, OrderId, Timestamp};

/// A mark on an order about whose payment something is to be done. The item exists only while that is so. The invoice
/// says what is due; the mark is how it is found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PaymentDue {
    pub order_id: OrderId,
    /// The shard in the list of payments due. It is stored so that a change of the number of shards moves no mark.
    pub shard: u8,
    /// The time since which the payment is due.
    pub since: Timestamp,
    /// What is to be done, and by whom.
    pub work: Work,
    /// The amount that it is about.
    pub amount: Money,
}
