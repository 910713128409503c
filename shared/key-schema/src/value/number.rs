//! Small whole numbers with bounds.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{Invalid, KeyPart};

macro_rules! numbers {
    ($($(#[$doc:meta])* $name:ident($number:ident): $least:tt to $most:tt, $label:literal;)+) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
        #[serde(try_from = "i64")]
        #[schema(value_type = $number, minimum = $least, maximum = $most)]
        pub struct $name($number);

        impl $name {
            pub fn get(self) -> $number {
                self.0
            }
        }

        impl TryFrom<i64> for $name {
            type Error = Invalid;

            fn try_from(number: i64) -> Result<Self, Invalid> {
                let number = Some(number).filter(|number| ($least..=$most).contains(number));
                let invalid = || Invalid::new(concat!($label, " must be ", $least, " to ", $most));
                number.and_then(|number| number.try_into().ok()).map(Self).ok_or_else(invalid)
            }
        }
    )+};
}

numbers! {
    /// A number of units of a product: 1 to 10,000.
    Quantity(u32): 1 to 10_000, "quantity";
    /// A percentage: 1 to 100.
    Percent(u32): 1 to 100, "percent";
    /// The number of cells of a product's stock: 1 to 32.
    Cells(u8): 1 to 32, "cells";
    /// The weight of one unit in grams: 0 to 1,000,000.
    Grams(u32): 0 to 1_000_000, "weightGrams";
    /// The place of an image among those of a product: 0 to 9.
    ImagePosition(u8): 0 to 9, "position";
    /// A width or a height in pixels: 1 to 65,535.
    Pixels(u16): 1 to 65_535, "pixels";
    /// The version of a cart: a random number of at most 12 digits. A longer number in a request could be taken for that of
    /// a payment card, and refused.
    CartVersion(u64): 1 to 999_999_999_999_i64, "cart";
}

/// The place of a line in its order: 0 is the first line of the request. In keys it has three digits, so it sorts as a
/// number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct LinePosition(u8);

impl From<usize> for LinePosition {
    /// An order has at most 200 lines.
    fn from(position: usize) -> Self {
        Self(u8::try_from(position).unwrap_or(u8::MAX))
    }
}

impl KeyPart for LinePosition {
    fn write_to(&self, key: &mut String) {
        // Writing to a String cannot fail.
        _ = write!(key, "{:03}", self.0);
    }
}

impl CartVersion {
    /// The version for a random number. Two random versions are equal once in 10^12 times, so a version names one content
    /// of a customer's cart.
    pub fn of_random(number: u64) -> Self {
        Self(1 + number % 999_999_999_999)
    }
}

impl Cells {
    /// One cell: the stock is a single item.
    pub const ONE: Self = Self(1);

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

impl Quantity {
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
