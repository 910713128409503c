//! The shipping rates: one item for the whole shop.
//!
//! | pattern | index | partition | sort |
//! |---|---|---|---|
//! | 29 [`RatesOfShop`] | table | `shipping` | `shipping` |

use crate::entity::{Entity as _, ShippingRates};

use super::{
    AccessPattern, Bound, Consistency, Declaration, Direction, Key, Place, PlaceText, SortRange, Stored, Template,
};

const SHIPPING: Template<()> = Template::new("shipping");
const ONLY: Place<(), ()> = Place::table(SHIPPING, SHIPPING);

impl Stored for ShippingRates {
    const PLACES: &'static [PlaceText] = &[ONLY.text()];

    fn key(&self) -> Key {
        Self::only_key()
    }
}

impl ShippingRates {
    /// The key of the only item.
    pub fn only_key() -> Key {
        ONLY.key((), ())
    }
}

/// The shipping rates of the shop.
pub struct RatesOfShop;

impl AccessPattern for RatesOfShop {
    type Item = ShippingRates;

    const DECLARED: Declaration = Declaration {
        number: 29,
        question: "the shipping rates of the shop",
        place: ONLY.text(),
        entities: &[ShippingRates::TYPE],
        consistency: Consistency::Strong,
        direction: Direction::Ascending,
        bound: Bound::One,
    };

    fn partition(&self) -> String {
        ONLY.partition.fill(())
    }

    fn range(&self) -> SortRange {
        SortRange::Exactly(ONLY.sort.fill(()))
    }
}
