use key_schema::entity::Discount;
use key_schema::value::{DiscountCode, Money, Percent, Timestamp};
use serde::Serialize;
use utoipa::ToSchema;

/// A discount code.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Discount)]
pub struct DiscountView {
    /// The code that customers enter.
    code: DiscountCode,
    /// The percentage by which the code reduces the sum of the lines. Absent: the code takes off an amount.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    percent: Option<Percent>,
    /// The amount by which the code reduces the sum of the lines, at most to zero. Absent: the code takes off a percentage.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    amount: Option<Money>,
    /// The least sum of the lines, before the discount. Absent: any sum.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    min_subtotal: Option<Money>,
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
    /// Whether staff have revoked the code: new orders with it are refused. Absent: it is not revoked.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    revoked: bool,
    created_at: Timestamp,
}

impl From<Discount> for DiscountView {
    fn from(discount: Discount) -> Self {
        let uses = discount.is_limited().then_some(discount.uses);
        let Discount { code, reduction, min_subtotal, from, to, max_uses, revoked, created_at, .. } = discount;
        let (percent, amount) = (reduction.percent(), reduction.amount());
        Self { code, percent, amount, min_subtotal, from, to, max_uses, uses, revoked, created_at }
    }
}
