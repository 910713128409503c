//! The records of discount codes and gift cards.

use key_schema::entity::{Discount, GiftCard, Reduction};
use key_schema::value::{Category, Charge, DiscountCode, GiftCardCode, Money, Percent, Timestamp};
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;
use utoipa::ToSchema;

use super::record::{given, past};

/// A discount code. Its uses are those of the orders that have it.
#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct DiscountRecord {
    pub code: DiscountCode,
    /// The percentage off the sum of the code's lines. Either this or `amount`.
    pub percent: Option<Percent>,
    /// The amount off the sum of the code's lines, or the whole sum if it is less.
    pub amount: Option<Money>,
    /// The category of the products to whose lines the code applies. If absent: to all lines.
    pub category: Option<Category>,
    /// The least sum of the code's lines, before any discount.
    pub min_subtotal: Option<Money>,
    /// Whether an order may have the code beside others.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub combinable: bool,
    /// The first moment at which the code is valid.
    pub from: Option<Timestamp>,
    /// The first moment at which the code is no longer valid.
    pub to: Option<Timestamp>,
    /// The most orders that may use the code.
    pub max_uses: Option<u32>,
    /// Whether staff have revoked the code.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub revoked: bool,
    /// The number of times that staff have changed the code.
    #[serde(default, skip_serializing_if = "is_never")]
    pub version: u64,
    pub created_at: Timestamp,
}

/// A gift card. Its balance is `initial` less the amounts that orders took.
#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct GiftCardRecord {
    pub code: GiftCardCode,
    /// The amount before the orders of the history. If earlier uses of the card are not in the history, the amount that
    /// they left.
    #[serde(deserialize_with = "given::<Charge, _, _>")]
    #[schema(value_type = Charge)]
    pub initial: Money,
    pub created_at: Timestamp,
    /// The first moment at which no order can spend the card any more.
    pub valid_until: Option<Timestamp>,
    /// Whether the card is blocked. The orders of the history may have spent it before.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub blocked: bool,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_never(times: &u64) -> bool {
    *times == 0
}

impl DiscountRecord {
    /// The code without uses: each order of the history adds its own.
    pub(super) fn entity(&self, now: Timestamp) -> Result<Discount, Vec<String>> {
        let mut reasons = Vec::new();
        past(&mut reasons, "createdAt", self.created_at, now);
        let Self { code, percent, amount, category, min_subtotal, combinable, from, to, .. } = self.clone();
        let Self { max_uses, revoked, version, created_at, .. } = *self;
        let reduction = Reduction::of(percent, amount).map_err(|why| reasons.push(why.to_string()));
        match reduction {
            Ok(reduction) if reasons.is_empty() => Ok(Discount {
                code,
                reduction,
                category,
                min_subtotal,
                combinable,
                from,
                to,
                max_uses,
                uses: 0,
                held_by_guests: 0,
                revoked,
                version,
                created_at,
            }),
            _ => Err(reasons),
        }
    }
}

impl From<Discount> for DiscountRecord {
    fn from(discount: Discount) -> Self {
        let Discount {
            code,
            reduction,
            min_subtotal,
            category,
            combinable,
            from,
            to,
            max_uses,
            uses: _,
            held_by_guests: _,
            revoked,
            version,
            created_at,
        } = discount;
        Self {
            code,
            percent: reduction.percent(),
            amount: reduction.amount(),
            category,
            min_subtotal,
            combinable,
            from,
            to,
            max_uses,
            revoked,
            version,
            created_at,
        }
    }
}

impl GiftCardRecord {
    /// The card before any order.
    pub(super) fn entity(&self, now: Timestamp) -> Result<GiftCard, Vec<String>> {
        let mut reasons = Vec::new();
        past(&mut reasons, "createdAt", self.created_at, now);
        let Self { code, initial, created_at, valid_until, blocked } = self.clone();
        if reasons.is_empty() {
            Ok(GiftCard { valid_until, blocked, ..GiftCard::new(code, initial, created_at) })
        } else {
            Err(reasons)
        }
    }
}

impl From<GiftCard> for GiftCardRecord {
    fn from(card: GiftCard) -> Self {
        let GiftCard { code, balance: _, initial, created_at, valid_until, blocked, version: _ } = card;
        Self { code, initial, created_at, valid_until, blocked }
    }
}
