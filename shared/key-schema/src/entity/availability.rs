//! Whether a product can be bought, as lists show it.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

#[cfg(doc)]
use super::Stock;
use super::{Product, WholeStock};

/// Whether a product can be bought, as lists show it.
///
/// A product has a copy of what its [`Stock`] says, which is written only when the units cross a mark. So lists need no
/// stock, and a sale rarely writes the product. Orders never read it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub enum Availability {
    #[default]
    InStock,
    /// At most so many units are left as the shop's mark says.
    FewLeft,
    /// No unit is left, or the product is recalled.
    SoldOut,
}

impl Availability {
    /// The availability of a product that has so many units and is `recalled` or not, in a shop that says from so many
    /// units on that few are left.
    pub const fn of(units: u64, recalled: bool, few_left: u64) -> Self {
        match units {
            0 => Self::SoldOut,
            _ if recalled => Self::SoldOut,
            _ if units <= few_left => Self::FewLeft,
            _ => Self::InStock,
        }
    }
}

impl WholeStock {
    /// What a product with this stock is to have as [`Product::availability`].
    pub fn availability(&self, few_left: u64) -> Availability {
        Availability::of(self.available(), self.recalled, few_left)
    }
}

impl Product {
    /// Whether two products are the same but for their availability, which sales change.
    pub fn is_like(&self, other: &Self) -> bool {
        let Self { availability, availability_changes, .. } = *other;
        Self { availability, availability_changes, ..self.clone() } == *other
    }
}
