//! Discount codes.

use serde::{Deserialize, Serialize};

use crate::value::{DiscountCode, Percent, Timestamp};

/// A discount code.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Discount {
    /// The code, as customers enter it.
    pub code: DiscountCode,
    /// Per cent off the lines' sum.
    pub percent: Percent,
    /// Good from this moment on; absent: at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<Timestamp>,
    /// Good until before this moment; absent: for ever.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<Timestamp>,
    /// How many orders may use it; absent: any number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_uses: Option<u32>,
    /// How many orders use it, if that is limited. The uses of any other code are not counted, except that releases
    /// before November 2026 did.
    pub uses: u32,
    /// When it was made.
    pub created_at: Timestamp,
}

impl Discount {
    /// Whether the code may be used at this moment, as far as its window goes.
    pub fn is_in_window(&self, now: Timestamp) -> bool {
        self.from.is_none_or(|from| from <= now) && self.to.is_none_or(|to| now < to)
    }

    /// Whether only so many orders may use it.
    pub fn is_limited(&self) -> bool {
        self.max_uses.is_some()
    }

    /// Whether a use is left.
    pub fn has_uses_left(&self) -> bool {
        self.max_uses.is_none_or(|most| self.uses < most)
    }

    /// Whether `other` was made by the same request.
    pub fn is_same_request(&self, other: &Self) -> bool {
        let asked = |code: &Self| (code.percent, code.from, code.to, code.max_uses);
        asked(self) == asked(other)
    }

    /// The code as it was when it was made.
    #[must_use]
    pub fn as_created(&self) -> Self {
        Self { uses: 0, ..self.clone() }
    }
}
