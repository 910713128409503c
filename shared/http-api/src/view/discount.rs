use key_schema::entity::Discount;
use key_schema::value::{DiscountCode, Percent, Timestamp};
use serde::Serialize;
use utoipa::ToSchema;

/// A discount code.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Discount)]
pub struct DiscountView {
    /// The code that customers enter.
    code: DiscountCode,
    /// The percentage by which the code reduces the sum of the lines.
    percent: Percent,
    /// The moment from which the code is valid. Absent: it has no start.
    #[serde(skip_serializing_if = "Option::is_none")]
    from: Option<Timestamp>,
    /// The moment from which the code is no longer valid. Absent: it has no end.
    #[serde(skip_serializing_if = "Option::is_none")]
    to: Option<Timestamp>,
    /// The number of orders that may use the code. Absent: any number.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<u64>, minimum = 1, maximum = 4_294_967_295u64)]
    max_uses: Option<u32>,
    /// The number of orders that use the code. Absent without `maxUses`: the uses of such a code are not counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<u64>, maximum = 4_294_967_295u64)]
    uses: Option<u32>,
    created_at: Timestamp,
}

impl From<Discount> for DiscountView {
    fn from(discount: Discount) -> Self {
        let uses = discount.is_limited().then_some(discount.uses);
        let Discount { code, percent, from, to, max_uses, uses: _, created_at } = discount;
        Self { code, percent, from, to, max_uses, uses, created_at }
    }
}
