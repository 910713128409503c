use std::borrow::Cow;

use key_schema::entity::{OrderStatus, QueuedOrder, Refusal};
use key_schema::value::{CustomerId, Money, OrderId, Timestamp};
use serde::Serialize;
use serde_json::Value;
use utoipa::openapi::schema::{Object, ObjectBuilder, Type};
use utoipa::openapi::{Ref, RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use super::OrderView;
use crate::Problem;

/// An order that was accepted and waits in the queue, or that was rejected.
#[serde_with::skip_serializing_none]
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = QueuedOrder)]
pub struct QueuedOrderView {
    order_id: OrderId,
    customer_id: CustomerId,
    status: QueueStatus,
    queued_at: Timestamp,
    /// The greatest total with which the order may be placed. If its total is greater then, the order is rejected.
    max_total: Option<Money>,
    /// The time since which the order is delayed.
    delayed_at: Option<Timestamp>,
    rejected_at: Option<Timestamp>,
    /// The reason for the rejection: the problem that an order placed at once would have got.
    #[schema(schema_with = problem_document)]
    problem: Option<Value>,
}

/// The status of an order that is not placed.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub(crate) enum QueueStatus {
    /// The order waits in the queue.
    Queued,
    /// The order waits, and the shop's staff must act before it is placed or rejected.
    Delayed,
    /// The order could not be placed, and will not be.
    Rejected,
}

impl QueueStatus {
    pub(crate) fn of(order: &QueuedOrder) -> Self {
        match (&order.refusal, order.dead_since) {
            (Some(_), _) => Self::Rejected,
            (None, Some(_)) => Self::Delayed,
            (None, None) => Self::Queued,
        }
    }
}

/// A placed order, or an order that was accepted and is not placed.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub enum OrderStateView {
    Placed(Box<OrderView>),
    /// The order waits in the queue, or was rejected.
    Queued(QueuedOrderView),
}

impl From<QueuedOrder> for QueuedOrderView {
    fn from(order: QueuedOrder) -> Self {
        let status = QueueStatus::of(&order);
        let (rejected_at, problem) = match order.refusal {
            Some(Refusal { at, rejection }) => (Some(at), Some(Problem::rejected(rejection))),
            None => (None, None),
        };
        Self {
            order_id: order.order_id,
            customer_id: order.customer_id,
            status,
            queued_at: order.queued_at,
            max_total: order.max_total,
            delayed_at: order.dead_since.filter(|_| problem.is_none()),
            rejected_at,
            // The document has only texts and numbers, so serializing it cannot fail.
            problem: problem.and_then(|problem| serde_json::to_value(problem.document()).ok()),
        }
    }
}

/// Written by hand: the derived schema has descriptions beside the references to the choices, which generators of
/// clients do not accept.
impl PartialSchema for OrderStateView {
    fn schema() -> RefOr<Schema> {
        let object = |schema| if let RefOr::T(Schema::Object(object)) = schema { object } else { Object::default() };
        let (mut order, queued) = (object(OrderView::schema()), object(QueuedOrderView::schema()));
        order.description =
            Some("A placed order, or one that was accepted and is not placed: see `status`.".to_owned());
        order.required.retain(|name| queued.required.contains(name));
        for (name, member) in queued.properties {
            order.properties.entry(name).or_insert(member);
        }
        let statuses = [OrderStatus::schema(), QueueStatus::schema()].map(object);
        let statuses = statuses.into_iter().flat_map(|status| status.enum_values.unwrap_or_default());
        let status = ObjectBuilder::new().schema_type(Type::String).enum_values(Some(statuses));
        order.properties.insert("status".to_owned(), status.into());
        order.into()
    }
}

impl ToSchema for OrderStateView {
    fn name() -> Cow<'static, str> {
        "OrderState".into()
    }

    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        OrderView::schemas(schemas);
        QueuedOrderView::schemas(schemas);
    }
}

fn problem_document() -> RefOr<Schema> {
    RefOr::Ref(Ref::from_schema_name("Problem"))
}
