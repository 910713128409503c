use key_schema::entity::Discount;
use key_schema::value::{DiscountCode, Percent, Timestamp};
use serde::Serialize;
use utoipa::ToSchema;

/// A discount code.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Discount)]
pub struct DiscountView {
    /// The code, as customers enter it.
    code: DiscountCode,
    /// Per cent off the lines' sum.
    percent: Percent,
    /// Good from this moment on; absent: at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    from: Option<Timestamp>,
    /// Good until before this moment; absent: for ever.
    #[serde(skip_serializing_if = "Option::is_none")]
    to: Option<Timestamp>,
    /// How many orders may use it; absent: any number.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<u64>, minimum = 1, maximum = 4_294_967_295u64)]
    max_uses: Option<u32>,
    /// How many orders use it; absent without `maxUses`, because the uses of such a code are not counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<u64>, maximum = 4_294_967_295u64)]
    uses: Option<u32>,
    /// When it was made.
    created_at: Timestamp,
}

impl From<Discount> for DiscountView {
    fn from(discount: Discount) -> Self {
        let uses = discount.is_limited().then_some(discount.uses);
        let Discount { code, percent, from, to, max_uses, uses: _, created_at } = discount;
        Self { code, percent, from, to, max_uses, uses, created_at }
    }
}
