//! Small whole numbers with bounds.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::Invalid;

/// A number of units of a product: 1 to 10,000.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
#[serde(try_from = "i64")]
#[schema(value_type = u32, minimum = 1, maximum = 10_000)]
pub struct Quantity(u32);

/// A percentage: 1 to 100.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(try_from = "i64")]
#[schema(value_type = u32, minimum = 1, maximum = 100)]
pub struct Percent(u32);

/// The number of cells of a product's stock: 1 to 32.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
#[serde(try_from = "i64")]
#[schema(value_type = u8, minimum = 1, maximum = 32)]
pub struct Cells(u8);

/// The weight of one unit in grams: 0 to 1,000,000.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(try_from = "i64")]
#[schema(value_type = u32, minimum = 0, maximum = 1_000_000)]
pub struct Grams(u32);

/// The version of a cart: a random number of at most 12 digits. A longer number in a request could be taken for that of a
/// payment card, and refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(try_from = "i64")]
#[schema(value_type = u64, minimum = 1, maximum = 999_999_999_999_i64)]
pub struct CartVersion(u64);

/// The greatest version of a cart.
const MOST_VERSIONS: u64 = 999_999_999_999;

impl CartVersion {
    /// The version for a random number. Two random versions are equal once in 10^12 times, so a version names one content
    /// of a customer's cart.
    pub fn of_random(number: u64) -> Self {
        Self(1 + number % MOST_VERSIONS)
    }

    pub fn get(self) -> u64 {
        self.0
    }
}

impl TryFrom<i64> for CartVersion {
    type Error = Invalid;

    fn try_from(number: i64) -> Result<Self, Invalid> {
        let version = u64::try_from(number).ok().filter(|version| (1..=MOST_VERSIONS).contains(version));
        version.map(Self).ok_or_else(|| Invalid::new("cart must be 1 to 999999999999"))
    }
}

impl Grams {
    /// The weight in grams.
    pub fn get(self) -> u32 {
        self.0
    }
}

impl TryFrom<i64> for Grams {
    type Error = Invalid;

    fn try_from(number: i64) -> Result<Self, Invalid> {
        let grams = u32::try_from(number).ok().filter(|grams| *grams <= 1_000_000);
        grams.map(Self).ok_or_else(|| Invalid::new("weightGrams must be 0 to 1000000"))
    }
}

impl Cells {
    /// One cell: the stock is a single item.
    pub const ONE: Self = Self(1);

    /// The number of cells.
    pub fn get(self) -> u8 {
        self.0
    }

    /// Whether the stock is a single item.
    pub fn is_one(&self) -> bool {
        *self == Self::ONE
    }
}

impl Default for Cells {
    fn default() -> Self {
        Self::ONE
    }
}

impl TryFrom<i64> for Cells {
    type Error = Invalid;

    fn try_from(number: i64) -> Result<Self, Invalid> {
        let cells = bounded(number, 32).and_then(|cells| u8::try_from(cells).ok());
        cells.map(Self).ok_or_else(|| Invalid::new("cells must be 1 to 32"))
    }
}

impl Quantity {
    pub fn get(self) -> u32 {
        self.0
    }

    /// The sum, at most the greatest quantity.
    #[must_use]
    pub fn plus(self, more: Self) -> Self {
        Self((self.0 + more.0).min(10_000))
    }

    /// The quantity without `units`; `None` if nothing is left.
    pub fn less(self, units: u32) -> Option<Self> {
        self.0.checked_sub(units).filter(|left| *left > 0).map(Self)
    }
}

impl Percent {
    /// The percentage, 1 to 100.
    pub fn get(self) -> u32 {
        self.0
    }
}

impl TryFrom<i64> for Quantity {
    type Error = Invalid;

    fn try_from(number: i64) -> Result<Self, Invalid> {
        bounded(number, 10_000).map(Self).ok_or_else(|| Invalid::new("quantity must be 1 to 10000"))
    }
}

impl TryFrom<i64> for Percent {
    type Error = Invalid;

    fn try_from(number: i64) -> Result<Self, Invalid> {
        bounded(number, 100).map(Self).ok_or_else(|| Invalid::new("percent must be 1 to 100"))
    }
}

fn bounded(number: i64, most: u32) -> Option<u32> {
    u32::try_from(number).ok().filter(|number| (1..=most).contains(number))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::expect_used, reason = "tests")]

    use super::*;

    #[test]
    fn numbers_outside_their_bounds_are_refused() {
        let quantity = |number: i64| Quantity::try_from(number).ok().map(Quantity::get);
        let percent = |number: i64| Percent::try_from(number).ok().map(Percent::get);
        let cells = |number: i64| Cells::try_from(number).ok().map(Cells::get);
        let grams = |number: i64| Grams::try_from(number).ok().map(Grams::get);
        assert_eq!([-1, 0, 1_000_000, 1_000_001].map(grams), [None, Some(0), Some(1_000_000), None]);
        let version = |number: i64| CartVersion::try_from(number).ok().map(CartVersion::get);
        let most = 999_999_999_999;
        assert_eq!([-1, 0, 1, most, most + 1].map(version), [None, None, Some(1), Some(999_999_999_999), None]);
        let of_random = |number: u64| CartVersion::of_random(number).get();
        assert_eq!([0, 999_999_999_998, 999_999_999_999].map(of_random), [1, 999_999_999_999, 1]);
        assert_eq!([-1, 0, 1, 10_000, 10_001].map(quantity), [None, None, Some(1), Some(10_000), None]);
        assert_eq!([-1, 0, 1, 100, 101].map(percent), [None, None, Some(1), Some(100), None]);
        assert_eq!([-1, 0, 1, 32, 33].map(cells), [None, None, Some(1), Some(32), None]);
        assert_eq!([i64::MIN, i64::MAX, 1 << 32, (1 << 32) + 1].map(quantity), [None; 4]);
        assert_eq!([i64::MIN, i64::MAX, 256, 257].map(cells), [None; 4]);
    }

    #[test]
    fn a_stock_has_one_cell_by_default() {
        assert_eq!(Cells::default(), Cells::ONE);
        assert!(Cells::ONE.is_one() && !Cells::try_from(2).expect("a number").is_one());
    }
}
