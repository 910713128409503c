//! The tax rates: one item for the whole shop.
//!
//! | pattern | index | partition | sort |
//! |---|---|---|---|
//! | 30 [`TaxesOfShop`] | table | `taxes` | `taxes` |

use crate::entity::{Entity as _, Taxes};

use super::{
    AccessPattern, Bound, Consistency, Declaration, Direction, Key, Place, PlaceText, SortRange, Stored, Template,
};

const TAXES: Template<()> = Template::new("taxes");
const ONLY: Place<(), ()> = Place::table(TAXES, TAXES);

impl Stored for Taxes {
    const PLACES: &'static [PlaceText] = &[ONLY.text()];

    fn key(&self) -> Key {
        Self::only_key()
    }
}

impl Taxes {
    /// The key of the only item.
    pub fn only_key() -> Key {
        ONLY.key((), ())
    }
}

/// The tax rates of the shop.
pub struct TaxesOfShop;

impl AccessPattern for TaxesOfShop {
    type Item = Taxes;

    const DECLARED: Declaration = Declaration {
        number: 30,
        question: "the tax rates of the shop",
        place: ONLY.text(),
        entities: &[Taxes::TYPE],
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
