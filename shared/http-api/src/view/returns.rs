use key_schema::entity::{OrderLine, Return, ReturnStatus};
use key_schema::value::{CustomerId, Money, OrderId, ReturnId, Timestamp};
use serde::Serialize;
use utoipa::ToSchema;

use super::shipments::UnitsView;

/// A return of units of an order.
#[serde_with::skip_serializing_none]
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Return)]
pub struct ReturnView {
    return_id: ReturnId,
    order_id: OrderId,
    customer_id: CustomerId,
    /// The units, in the order of the order's lines.
    lines: Vec<UnitsView>,
    /// The customer's reason, if one was given.
    #[schema(nullable = false)]
    reason: Option<String>,
    /// The time of the request.
    requested_at: Timestamp,
    status: ReturnStatus,
    /// The time at which staff received or refused the return.
    #[schema(nullable = false)]
    closed_at: Option<Timestamp>,
    /// Whether the units were put back to the stock. Absent until the return is received.
    #[schema(nullable = false)]
    restocked: Option<bool>,
    /// The amount credited for the units. Absent until the return is received.
    #[schema(nullable = false)]
    amount: Option<Money>,
    /// The reason for which staff refused the return.
    #[schema(nullable = false)]
    refusal: Option<String>,
}

impl ReturnView {
    /// A return of units of an order with these lines. Without the lines, the units have no names.
    pub fn new(of: Return, lines: &[OrderLine]) -> Self {
        Self {
            return_id: of.return_id,
            order_id: of.order_id,
            customer_id: of.customer_id,
            lines: UnitsView::of(of.lines, lines),
            reason: of.reason,
            requested_at: of.requested_at,
            status: of.status,
            closed_at: of.closed_at,
            restocked: (of.status == ReturnStatus::Received).then_some(of.restocked),
            amount: of.amount,
            refusal: of.refusal,
        }
    }
}
