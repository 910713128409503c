//! Discount codes.
//!
//! | pattern | index | partition | sort |
//! |---|---|---|---|
//! | 20 [`DiscountByCode`] | table | `d#{code}` | `d#{code}` |

use crate::entity::{Discount, Entity as _};
use crate::value::DiscountCode;

use super::{
    AccessPattern, Bound, Consistency, Declaration, Direction, Key, Place, PlaceText, SortRange, Stored, Template,
};

const CODE: Template<(DiscountCode,)> = Template::new("d#{code}");

const DISCOUNT: Place<(DiscountCode,), (DiscountCode,)> = Place::table(CODE, CODE);

impl Stored for Discount {
    const PLACES: &'static [PlaceText] = &[DISCOUNT.text()];

    fn key(&self) -> Key {
        Self::key_of(&self.code)
    }
}

impl Discount {
    /// The key of a discount code.
    pub fn key_of(code: &DiscountCode) -> Key {
        DISCOUNT.key((code,), (code,))
    }
}

/// A discount code.
pub struct DiscountByCode<'a> {
    pub code: &'a DiscountCode,
}

impl AccessPattern for DiscountByCode<'_> {
    type Item = Discount;

    const DECLARED: Declaration = Declaration {
        number: 20,
        question: "a discount code",
        place: DISCOUNT.text(),
        entities: &[Discount::TYPE],
        consistency: Consistency::Eventual,
        direction: Direction::Ascending,
        bound: Bound::One,
    };

    fn partition(&self) -> String {
        DISCOUNT.partition.fill((self.code,))
    }

    fn range(&self) -> SortRange {
        SortRange::Exactly(DISCOUNT.sort.fill((self.code,)))
    }
}
