//! Discount codes.

use crate::entity::Discount;
use crate::value::DiscountCode;

use super::{Key, Pattern, Place, PlaceText, Stored, Template};

const CODE: Template<DiscountCode> = Template::new("d#{code}");

const DISCOUNT: Place<DiscountCode, DiscountCode> = Place::table(CODE, CODE);

/// A discount code.
pub const DISCOUNT_BY_CODE: Pattern<DiscountCode, Discount> = DISCOUNT.one(20, "a discount code").eventual();

impl Stored for Discount {
    const PLACES: &'static [PlaceText] = &[DISCOUNT.text()];

    fn key(&self) -> Key {
        Self::key_of(&self.code)
    }
}

impl Discount {
    /// The key of a discount code.
    pub fn key_of(code: &DiscountCode) -> Key {
        DISCOUNT.key(code, code)
    }
}
