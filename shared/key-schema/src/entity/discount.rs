//! Discount codes.

use serde::{Deserialize, Serialize};

use super::Rejection;
use super::stock::is_zero;
use crate::value::{Category, DiscountCode, Invalid, Money, Percent, Timestamp};

/// A discount code.
#[serde_with::skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Discount {
    pub code: DiscountCode,
    /// What the code takes off the sum of its lines.
    #[serde(flatten)]
    pub reduction: Reduction,
    /// The category of the products to whose lines the code applies. Without it, the code applies to all lines.
    pub category: Option<Category>,
    /// The least sum of the code's lines, before any discount. Without it, any sum will do.
    pub min_subtotal: Option<Money>,
    /// Whether an order may have the code beside others, if they all may.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub combinable: bool,
    /// The first moment at which the code is valid. Without it, the code is valid at once.
    pub from: Option<Timestamp>,
    /// The first moment at which the code is no longer valid. Without it, the code is valid forever.
    pub to: Option<Timestamp>,
    /// The most orders that may use the code. Without it, any number may.
    pub max_uses: Option<u32>,
    /// The number of orders that use the code, if `max_uses` limits it. Otherwise uses are not counted.
    pub uses: u32,
    /// The uses in the unpaid orders of guests.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub held_by_guests: i64,
    /// Whether staff have revoked the code. No new order may use it; orders that have it keep it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub revoked: bool,
    /// The number of times that staff have written the code. Uses do not count.
    pub version: u64,
    pub created_at: Timestamp,
}

/// The use of a discount code by an order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CodeUse {
    pub code: DiscountCode,
    /// The amount that the code takes off.
    pub amount: Money,
    /// Whether the order counts as one of the code's uses. A cancellation gives that use back.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub counted: bool,
}

/// What a discount code takes off the sum of its lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Reduction {
    /// A percentage of the sum.
    Percent(Percent),
    /// This amount, or the whole sum if it is less. Orders in another currency cannot use the code.
    Amount(Money),
}

impl Reduction {
    /// The reduction of fields of which exactly one must be there.
    ///
    /// # Errors
    /// Both are there or neither, or the amount is zero.
    pub fn of(percent: Option<Percent>, amount: Option<Money>) -> Result<Self, Invalid> {
        match (percent, amount) {
            (Some(percent), None) => Ok(Self::Percent(percent)),
            (None, Some(amount)) if amount.is_zero() => Err(Invalid::new("amount: must be more than zero")),
            (None, Some(amount)) => Ok(Self::Amount(amount)),
            _ => Err(Invalid::new("a discount code has either percent or amount")),
        }
    }

    /// The percentage, if it is one.
    pub fn percent(self) -> Option<Percent> {
        match self {
            Self::Percent(percent) => Some(percent),
            Self::Amount(_) => None,
        }
    }

    /// The amount, if it is a fixed one.
    pub fn amount(self) -> Option<Money> {
        match self {
            Self::Percent(_) => None,
            Self::Amount(amount) => Some(amount),
        }
    }
}

impl Discount {
    /// Whether customers may use the code at this moment, as far as its window and a revocation decide.
    pub fn is_valid(&self, now: Timestamp) -> bool {
        !self.revoked && self.from.is_none_or(|from| from <= now) && self.to.is_none_or(|to| now < to)
    }

    /// Whether the number of uses is limited.
    pub fn is_limited(&self) -> bool {
        self.max_uses.is_some()
    }

    /// Whether a use is left.
    pub fn has_uses_left(&self) -> bool {
        self.max_uses.is_none_or(|most| self.uses < most)
    }

    /// The amount that the code takes off its lines of an order that is placed now. `sum` is the sum of the lines, and
    /// `left` is what earlier codes have left of it. The amount is at most that.
    ///
    /// # Errors
    /// The code cannot be used now, or not for this sum.
    pub fn off(&self, sum: Money, left: Money, now: Timestamp) -> Result<Money, Rejection> {
        self.check(now)?;
        let is_reached = |least: Money| sum.checked_min(least) == Some(least);
        let off = match self.reduction {
            Reduction::Percent(percent) => Some(left.percent(percent)),
            Reduction::Amount(amount) => amount.checked_min(left),
        };
        off.filter(|_| self.min_subtotal.is_none_or(is_reached)).ok_or_else(|| self.invalid())
    }

    /// Checks that an order that is placed now may use the code, whatever it contains.
    ///
    /// # Errors
    /// The code is not valid now, or has no uses left.
    pub fn check(&self, now: Timestamp) -> Result<(), Rejection> {
        if !self.is_valid(now) {
            return Err(self.invalid());
        }
        if !self.has_uses_left() {
            return Err(Rejection::DiscountExhausted { code: self.code.clone() });
        }
        Ok(())
    }

    fn invalid(&self) -> Rejection {
        Rejection::DiscountInvalid { code: self.code.clone() }
    }

    /// Whether both were created by the same request.
    pub fn is_same_request(&self, other: &Self) -> bool {
        let request = |code: &Self| (code.reduction, code.min_subtotal, code.from, code.to, code.max_uses);
        let of_lines = |code: &Self| (code.category.clone(), code.combinable);
        request(self) == request(other) && of_lines(self) == of_lines(other)
    }

    /// The code as it was when it was created.
    #[must_use]
    pub fn as_created(&self) -> Self {
        Self { uses: 0, held_by_guests: 0, revoked: false, version: 1, ..self.clone() }
    }
}
