//! What a customer asks for.

use std::collections::HashSet;
use std::hash::Hash;

use key_schema::layout::Index;
use key_schema::value::{DiscountCode, GiftCardCode, Money, ProductId, Quantity, RequestHash};
use serde::{Deserialize, Serialize};
use table::WriteUnits;
use utoipa::ToSchema;

use crate::canonical;

/// The most lines of an order. With four gift cards it makes 91 of the 100 actions that one transaction may hold.
pub const MOST_LINES: usize = 40;
/// The most gift cards of an order.
pub const MOST_GIFT_CARDS: usize = 4;

/// An order as a customer sends it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct OrderRequest {
    /// What to buy: 1 to 40 lines, each of another product.
    #[schema(min_items = 1, max_items = 40)]
    pub lines: Vec<RequestedLine>,
    /// A discount code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub discount_code: Option<DiscountCode>,
    /// Gift cards to pay with, in this order; the rest is charged to the card. At most 4.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(max_items = 4)]
    pub gift_cards: Vec<GiftCardCode>,
    /// What the customer was shown. An order that comes to another total is refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected_total: Option<Money>,
    /// The most that may be charged to the bank card. If the gift cards leave more than that to pay, the order is
    /// refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_card_amount: Option<Money>,
}

/// One line of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RequestedLine {
    /// The product.
    pub product_id: ProductId,
    /// How many.
    pub quantity: Quantity,
}

/// A request that one transaction can hold: 1 to 40 lines of different products, at most 4 different gift cards.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Basket {
    request: OrderRequest,
    hash: RequestHash,
}

/// Why a request is no basket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BasketError {
    /// More lines or gift cards than one transaction holds.
    TooLarge(String),
    /// Nothing is asked for, or something twice.
    Invalid(String),
}

impl Basket {
    /// The same basket under the hash that it was accepted with, whatever this release would make of it.
    pub(crate) fn accepted_as(self, hash: RequestHash) -> Self {
        Self { hash, ..self }
    }

    /// What is asked for.
    pub fn request(&self) -> &OrderRequest {
        &self.request
    }

    /// What placing it is expected to consume, if no item is over a kilobyte: two units for each write of its
    /// transaction, and one for each entry of header, lines and invoice in both indexes.
    pub fn write_units(&self) -> WriteUnits {
        let OrderRequest { lines, discount_code, gift_cards, .. } = &self.request;
        let writes = 2 + 2 * lines.len() + usize::from(discount_code.is_some()) + 2 * gift_cards.len();
        // A basket has at most 40 lines and 4 gift cards.
        let units = |count: usize| f64::from(u8::try_from(count).unwrap_or(u8::MAX));
        let entries = units(2 + lines.len());
        let indexes = [Index::Gsi1, Index::Gsi2].into_iter().filter_map(Index::name);
        WriteUnits { table: 2.0 * units(writes), indexes: indexes.map(|name| (name.to_owned(), entries)).collect() }
    }

    /// Tells this basket from every other.
    pub fn hash(&self) -> &RequestHash {
        &self.hash
    }
}

impl TryFrom<OrderRequest> for Basket {
    type Error = BasketError;

    fn try_from(request: OrderRequest) -> Result<Self, BasketError> {
        if request.lines.is_empty() {
            return Err(BasketError::Invalid("lines must not be empty".to_owned()));
        }
        if request.lines.len() > MOST_LINES {
            return Err(BasketError::TooLarge(format!("An order holds at most {MOST_LINES} lines. Split it.")));
        }
        if request.gift_cards.len() > MOST_GIFT_CARDS {
            return Err(BasketError::TooLarge(format!("An order takes at most {MOST_GIFT_CARDS} gift cards.")));
        }
        if let Some(at) = repeated(request.lines.iter().map(|line| &line.product_id)) {
            return Err(BasketError::Invalid(format!(
                "lines[{at}].productId stands in an earlier line too: add up the quantities"
            )));
        }
        if let Some(at) = repeated(&request.gift_cards) {
            return Err(BasketError::Invalid(format!("giftCards[{at}] stands there twice")));
        }
        Ok(Self { hash: canonical::hash(&request), request })
    }
}

/// The index of the first value that stood there before.
fn repeated<T: Hash + Eq>(values: impl IntoIterator<Item = T>) -> Option<usize> {
    let mut seen = HashSet::new();
    values.into_iter().position(|value| !seen.insert(value))
}
