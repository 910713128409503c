use key_schema::entity::{Customer, CustomerStats};
use key_schema::value::{CustomerId, EmailAddress, Money, Timestamp, Username};
use serde::Serialize;
use utoipa::ToSchema;

use super::at_rest;

/// A customer.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Customer)]
pub struct CustomerView {
    customer_id: CustomerId,
    username: Username,
    email: EmailAddress,
    name: String,
    created_at: Timestamp,
    /// Also the `ETag`.
    version: u64,
    /// The guests whom the customer has claimed. Each has its own list of orders, invoices and products, and its own
    /// export, under `/customers/{guestId}`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(max_items = 20)]
    guests: Vec<CustomerId>,
    /// Left out of answers that only read the profile.
    #[serde(skip_serializing_if = "Option::is_none")]
    stats: Option<CustomerStatsView>,
}

/// The sums over a customer's orders.
#[derive(Clone, Debug, Default, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = CustomerStats)]
pub struct CustomerStatsView {
    /// The number of orders, without cancelled ones.
    orders: u64,
    /// The sum of their totals, for each currency.
    spent: Vec<Money>,
}

impl CustomerView {
    /// A customer with the stats. Before the first order is counted, all stats are zero.
    pub fn new(customer: Customer, stats: Option<CustomerStats>) -> Self {
        let stats = stats.map(|stats| CustomerStatsView { orders: at_rest(stats.orders), spent: stats.spent.money() });
        Self { stats: Some(stats.unwrap_or_default()), ..customer.into() }
    }
}

impl From<Customer> for CustomerView {
    fn from(customer: Customer) -> Self {
        Self {
            customer_id: customer.customer_id,
            username: customer.username,
            email: customer.email,
            name: customer.name,
            created_at: customer.created_at,
            version: customer.version,
            guests: customer.guests,
            stats: None,
        }
    }
}
