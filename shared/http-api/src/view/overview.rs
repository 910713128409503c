use key_schema::entity::{Customer, Order};
use serde::Serialize;
use utoipa::ToSchema;

use super::{CustomerView, OrderView};

/// A customer with the newest of the customer's orders.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = Overview)]
pub struct OverviewView {
    customer: CustomerView,
    orders: Vec<OrderView>,
}

impl OverviewView {
    pub fn new(customer: Customer, orders: Vec<Order>) -> Self {
        Self { customer: customer.into(), orders: orders.into_iter().map(OrderView::from).collect() }
    }
}
