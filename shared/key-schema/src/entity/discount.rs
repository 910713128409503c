//! Discount codes.

use serde::{Deserialize, Serialize};

use super::Rejection;
use crate::value::{DiscountCode, Invalid, Money, Percent, Timestamp};

mod item;

/// A discount code.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "item::DiscountItem", into = "item::DiscountItem")]
pub struct Discount {
    pub code: DiscountCode,
    /// What the code takes off the sum of the lines.
    pub reduction: Reduction,
    /// The least sum of the lines, before the discount. Without it, any sum will do.
    pub min_subtotal: Option<Money>,
    /// The first moment at which the code is valid. Without it, the code is valid at once.
    pub from: Option<Timestamp>,
    /// The first moment at which the code is no longer valid. Without it, the code is valid forever.
    pub to: Option<Timestamp>,
    /// The most orders that may use the code. Without it, any number may.
    pub max_uses: Option<u32>,
    /// The number of orders that use the code, if `max_uses` limits it. Otherwise uses are not counted; releases before
    /// November 2026 counted them.
    pub uses: u32,
    /// Whether staff have revoked the code. No new order may use it; orders that have it keep it.
    pub revoked: bool,
    /// The number of times that staff have changed the code. Uses do not count.
    pub version: u64,
    pub created_at: Timestamp,
}

/// What a discount code takes off the sum of the lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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

    /// The amount that the code takes off the lines of an order that is placed now. It is at most their sum.
    ///
    /// # Errors
    /// The code is not valid now or for this sum, or has no uses left.
    pub fn off(&self, subtotal: Money, now: Timestamp) -> Result<Money, Rejection> {
        let invalid = || Rejection::DiscountInvalid { code: self.code.clone() };
        let is_reached = |least: Money| subtotal.checked_min(least) == Some(least);
        if !self.is_valid(now) || !self.min_subtotal.is_none_or(is_reached) {
            return Err(invalid());
        }
        if !self.has_uses_left() {
            return Err(Rejection::DiscountExhausted { code: self.code.clone() });
        }
        match self.reduction {
            Reduction::Percent(percent) => Ok(subtotal.percent(percent)),
            Reduction::Amount(amount) => amount.checked_min(subtotal).ok_or_else(invalid),
        }
    }

    /// Whether both were created by the same request.
    pub fn is_same_request(&self, other: &Self) -> bool {
        let request = |code: &Self| (code.reduction, code.min_subtotal, code.from, code.to, code.max_uses);
        request(self) == request(other)
    }

    /// The code as it was when it was created.
    #[must_use]
    pub fn as_created(&self) -> Self {
        Self { uses: 0, revoked: false, version: 0, ..self.clone() }
    }
}
