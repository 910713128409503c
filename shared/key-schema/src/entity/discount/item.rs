//! The layout of a discount code's item.
//!
//! Release 0.1.0 would apply a code without regard to what it does not know, such as a revocation. So an item has
//! `percent`, without which that release cannot read it, only if that release would apply the code rightly. Otherwise the
//! percentage is in `percentOff`, and that release places no order with the code.

use serde::{Deserialize, Serialize};

use super::{Discount, Reduction};
use crate::entity::stock::is_zero;
use crate::value::{Category, DiscountCode, Invalid, Money, Percent, Timestamp};

/// A discount code as its item has it.
#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct DiscountItem {
    code: DiscountCode,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    percent: Option<Percent>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    percent_off: Option<Percent>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    amount: Option<Money>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    category: Option<Category>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    min_subtotal: Option<Money>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    combinable: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    from: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    to: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    max_uses: Option<u32>,
    uses: u32,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    revoked: bool,
    #[serde(default, skip_serializing_if = "is_zero")]
    version: u64,
    created_at: Timestamp,
}

impl From<Discount> for DiscountItem {
    fn from(discount: Discount) -> Self {
        let Discount { code, reduction, category, min_subtotal, combinable, from, to, max_uses, .. } = discount;
        let Discount { uses, revoked, version, created_at, .. } = discount;
        let is_known = !revoked && min_subtotal.is_none() && category.is_none();
        let (percent, percent_off) = match reduction.percent() {
            percent if is_known => (percent, None),
            percent => (None, percent),
        };
        let amount = reduction.amount();
        Self {
            code,
            percent,
            percent_off,
            amount,
            category,
            min_subtotal,
            combinable,
            from,
            to,
            max_uses,
            uses,
            revoked,
            version,
            created_at,
        }
    }
}

impl TryFrom<DiscountItem> for Discount {
    type Error = Invalid;

    fn try_from(item: DiscountItem) -> Result<Self, Self::Error> {
        let DiscountItem { code, percent, percent_off, amount, category, min_subtotal, combinable, .. } = item;
        let DiscountItem { from, to, max_uses, uses, revoked, version, created_at, .. } = item;
        let reduction = Reduction::of(percent.or(percent_off), amount)?;
        Ok(Self {
            code,
            reduction,
            category,
            min_subtotal,
            combinable,
            from,
            to,
            max_uses,
            uses,
            revoked,
            version,
            created_at,
        })
    }
}
