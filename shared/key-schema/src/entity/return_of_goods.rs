//! Returns: units that a customer sends back after delivery.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::LineUnits;
use crate::value::{CustomerId, Money, OrderId, ReturnId, Timestamp};

/// A return of some units of an order. The units are credited when staff receive them.
#[serde_with::skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Return {
    pub return_id: ReturnId,
    pub order_id: OrderId,
    pub customer_id: CustomerId,
    /// The shard in the list of open returns. It is stored so that a change of the number of shards moves no return.
    pub shard: u8,
    /// The units, at most one entry for each line of the order.
    pub lines: Vec<LineUnits>,
    /// The reason in the customer's words, if one was given.
    pub reason: Option<String>,
    pub requested_at: Timestamp,
    pub status: ReturnStatus,
    /// The time at which staff received or refused the return.
    pub closed_at: Option<Timestamp>,
    /// Whether the units were put back to the stock.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub restocked: bool,
    /// The amount credited for the units. Absent until they are received.
    pub amount: Option<Money>,
    /// The reason for which staff refused the return.
    pub refusal: Option<String>,
}

/// The status of a return.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub enum ReturnStatus {
    /// The customer requested the return. Staff have not received the units yet.
    Requested,
    /// Staff received the units, and the customer has the credit.
    Received,
    /// Staff refused the return, and nothing is credited.
    Refused,
}
