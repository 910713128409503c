//! Discount codes.

use serde::{Deserialize, Serialize};

use crate::value::{DiscountCode, Percent, Timestamp};

/// A discount code.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Discount {
    pub code: DiscountCode,
    /// The percentage off the sum of the lines.
    pub percent: Percent,
    /// The first moment at which the code is valid. Without it, the code is valid at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<Timestamp>,
    /// The first moment at which the code is no longer valid. Without it, the code is valid forever.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<Timestamp>,
    /// The most orders that may use the code. Without it, any number may.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_uses: Option<u32>,
    /// The number of orders that use the code, if `max_uses` limits it. Otherwise uses are not counted; releases before
    /// November 2026 counted them.
    pub uses: u32,
    pub created_at: Timestamp,
}

impl Discount {
    /// Whether this moment is in the code's window.
    pub fn is_in_window(&self, now: Timestamp) -> bool {
        self.from.is_none_or(|from| from <= now) && self.to.is_none_or(|to| now < to)
    }

    /// Whether the number of uses is limited.
    pub fn is_limited(&self) -> bool {
        self.max_uses.is_some()
    }

    /// Whether a use is left.
    pub fn has_uses_left(&self) -> bool {
        self.max_uses.is_none_or(|most| self.uses < most)
    }

    /// Whether both were created by the same request.
    pub fn is_same_request(&self, other: &Self) -> bool {
        let request = |code: &Self| (code.percent, code.from, code.to, code.max_uses);
        request(self) == request(other)
    }

    /// The code as it was when it was created.
    #[must_use]
    pub fn as_created(&self) -> Self {
        Self { uses: 0, ..self.clone() }
    }
}
