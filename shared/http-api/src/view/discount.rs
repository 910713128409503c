use key_schema::entity::{CodeUse, Discount};
use key_schema::value::{Category, DiscountCode, Money, Percent, Timestamp};
use serde::Serialize;
use utoipa::ToSchema;

/// A discount code.
#[serde_with::skip_serializing_none]
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Discount)]
pub struct DiscountView {
    /// The code that customers enter.
    code: DiscountCode,
    /// The percentage by which the code reduces the sum of its lines. Absent: the code takes off an amount.
    #[schema(nullable = false)]
    percent: Option<Percent>,
    /// The amount by which the code reduces the sum of its lines, at most to zero. Absent: the code takes off a percentage.
    #[schema(nullable = false)]
    amount: Option<Money>,
    /// The category of the products to whose lines the code applies. Absent: it applies to all lines.
    #[schema(nullable = false)]
    category: Option<Category>,
    /// The least sum of the code's lines, before any discount. Absent: any sum.
    #[schema(nullable = false)]
    min_subtotal: Option<Money>,
    /// Whether an order may have the code beside others. Absent: it may not.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    combinable: bool,
    /// The moment from which the code is valid. Absent: it has no start.
    from: Option<Timestamp>,
    /// The moment from which the code is no longer valid. Absent: it has no end.
    to: Option<Timestamp>,
    /// The number of orders that may use the code. Absent: any number.
    #[schema(value_type = Option<u64>, minimum = 1, maximum = 4_294_967_295u64)]
    max_uses: Option<u32>,
    /// The number of orders that use the code. Absent without `maxUses`: the uses of such a code are not counted.
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
        let (percent, amount) = (discount.reduction.percent(), discount.reduction.amount());
        let Discount { code, category, min_subtotal, combinable, from, to, max_uses, revoked, created_at, .. } =
            discount;
        Self {
            code,
            percent,
            amount,
            category,
            min_subtotal,
            combinable,
            from,
            to,
            max_uses,
            uses,
            revoked,
            created_at,
        }
    }
}

/// A discount code of an order, with what it takes off.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = CodeUse)]
pub struct CodeUseView {
    code: DiscountCode,
    amount: Money,
}

impl CodeUseView {
    /// The codes of an order that has several, in the order in which they apply. Nothing of an order with one.
    pub fn of_several(codes: Vec<CodeUse>) -> Vec<Self> {
        let several = Some(codes).filter(|codes| codes.len() > 1).unwrap_or_default();
        several.into_iter().map(|CodeUse { code, amount, counted: _ }| Self { code, amount }).collect()
    }
}
