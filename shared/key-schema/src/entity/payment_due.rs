//! Payments on which the shop has to act.

use serde::{Deserialize, Serialize};

use crate::value::{OrderId, Timestamp};

/// A mark on an order whose payment is due: the provider must be asked to capture, void or refund it, staff must refund
/// it, or the customer must pay again, because it lapsed. The item exists only while that is so. The invoice says what is
/// due; the mark is how it is found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PaymentDue {
    pub order_id: OrderId,
    /// The shard in the list of payments due. It is stored so that a change of the number of shards moves no mark.
    pub shard: u8,
    /// The time since which the payment is due.
    pub since: Timestamp,
    /// Whether the payment only waits for the customer: see [`WholeOrder::has_lapsed`](super::WholeOrder::has_lapsed).
    /// Then there is nothing to ask of the provider.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub lapsed: bool,
}
