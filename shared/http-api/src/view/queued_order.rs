use std::borrow::Cow;

use key_schema::entity::{QueuedOrder, Refusal};
use key_schema::value::{CustomerId, Money, OrderId, Timestamp};
use serde::Serialize;
use serde_json::Value;
use utoipa::openapi::schema::OneOfBuilder;
use utoipa::openapi::{Ref, RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use super::OrderView;
use crate::Problem;

/// An order that was accepted, to be placed later.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = QueuedOrder)]
pub struct QueuedOrderView {
    order_id: OrderId,
    customer_id: CustomerId,
    status: QueueStatus,
    queued_at: Timestamp,
    /// The most that it may cost when it is placed. If it would cost more by then, it is rejected.
    #[serde(skip_serializing_if = "Option::is_none")]
    max_total: Option<Money>,
    /// Since when it is delayed.
    #[serde(skip_serializing_if = "Option::is_none")]
    delayed_at: Option<Timestamp>,
    /// When it was rejected.
    #[serde(skip_serializing_if = "Option::is_none")]
    rejected_at: Option<Timestamp>,
    /// Why: what the request would have been answered if it had been placed at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(schema_with = problem_document)]
    problem: Option<Value>,
}

/// Where an order stands that is not placed.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
enum QueueStatus {
    /// It waits to be placed.
    Queued,
    /// It waits still, but something is in the way that the shop's staff has to repair. Then it is placed or rejected.
    Delayed,
    /// Its turn came, and it could not be placed.
    Rejected,
}

/// An order, or what has become of it so far.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub enum OrderStateView {
    /// It is placed.
    Placed(Box<OrderView>),
    /// It was accepted, to be placed later.
    Queued(QueuedOrderView),
}

impl From<QueuedOrder> for QueuedOrderView {
    fn from(order: QueuedOrder) -> Self {
        let (rejected_at, problem) = match order.refusal {
            Some(Refusal { at, rejection }) => (Some(at), Some(Problem::from(rejection))),
            None => (None, None),
        };
        Self {
            order_id: order.order_id,
            customer_id: order.customer_id,
            status: match (&problem, order.dead_since) {
                (Some(_), _) => QueueStatus::Rejected,
                (None, Some(_)) => QueueStatus::Delayed,
                (None, None) => QueueStatus::Queued,
            },
            queued_at: order.queued_at,
            max_total: order.max_total,
            delayed_at: order.dead_since.filter(|_| problem.is_none()),
            rejected_at,
            // Text and numbers only: writing them as JSON cannot fail.
            problem: problem.and_then(|problem| serde_json::to_value(problem.document()).ok()),
        }
    }
}

/// By hand: what is derived describes each choice beside its reference, which generators of clients do not take.
impl PartialSchema for OrderStateView {
    fn schema() -> RefOr<Schema> {
        let choices = OneOfBuilder::new()
            .item(Ref::from_schema_name(OrderView::name()))
            .item(Ref::from_schema_name(QueuedOrderView::name()));
        choices.description(Some("An order, or what has become of it so far.")).into()
    }
}

impl ToSchema for OrderStateView {
    fn name() -> Cow<'static, str> {
        "OrderState".into()
    }

    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        schemas.push((OrderView::name().into(), OrderView::schema()));
        schemas.push((QueuedOrderView::name().into(), QueuedOrderView::schema()));
        OrderView::schemas(schemas);
        QueuedOrderView::schemas(schemas);
    }
}

fn problem_document() -> RefOr<Schema> {
    RefOr::Ref(Ref::from_schema_name("Problem"))
}
