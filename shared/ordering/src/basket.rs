//! Order requests, and the limits that one transaction sets for them.

use std::collections::HashSet;
use std::hash::Hash;

use key_schema::entity::{
    Cart, Customer, CustomerAddresses, CustomerStats, Discount, GiftCard, Guest, Product, ShippingRates, Stock, Taxes,
};
use key_schema::layout::{Index, Key};
use key_schema::value::{CartVersion, CustomerId, DiscountCode, GiftCardCode, Money, ProductId, Quantity, RequestHash};
use serde::{Deserialize, Serialize};
use table::WriteUnits;
use utoipa::ToSchema;

use crate::ship_to::ShipToForms;
use crate::{MaxOpenUnits, ShipTo, TaxRules, canonical};

/// The most lines of an order. With four gift cards, three discount codes, an address and a cart, its
/// transaction has 96 of the 100 actions that DynamoDB allows, and one more if the order comes from the queue.
pub const MOST_LINES: usize = 40;
/// The most gift cards of an order.
pub const MOST_GIFT_CARDS: usize = 4;
/// The most discount codes of an order.
pub const MOST_CODES: usize = 3;

/// An order as a customer sends it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct OrderRequest {
    /// The products to buy: 1 to 40 lines, each with a different product.
    #[schema(min_items = 1, max_items = 40)]
    pub lines: Vec<RequestedLine>,
    /// A discount code. An order with several has `discountCodes` instead.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub discount_code: Option<DiscountCode>,
    /// The gift cards to pay with, in this order. The bank card pays the rest. At most 4.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(max_items = 4)]
    pub gift_cards: Vec<GiftCardCode>,
    /// The total that the customer was shown. If the order comes to another total, it is refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected_total: Option<Money>,
    /// The most that may be charged to the bank card. If the gift cards leave more than that to pay, the order is
    /// refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_card_amount: Option<Money>,
    /// Whether the order is paid later, such as by bank transfer. It then waits for its payment, and reserves its stock,
    /// for days instead of minutes. Refused by shops that do not offer this.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub pay_later: bool,
    /// The address to which the order is shipped. If the shop has shipping rates, an order with an address pays for its
    /// shipping.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<ShipToForms>)]
    pub ship_to: Option<ShipTo>,
    /// The version of the customer's cart that becomes this order. The lines are those of the cart, in any order. Placing
    /// the order empties the cart, so a cart becomes one order at most. If the cart has changed, the order is refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cart: Option<CartVersion>,
    /// The discount codes, at most 3, instead of `discountCode`. They apply in this order, each to what the ones before
    /// have left. More than one are allowed only if all of them are `combinable`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(max_items = 3)]
    pub discount_codes: Vec<DiscountCode>,
}

impl OrderRequest {
    /// The discount codes, in the order in which they apply.
    pub fn codes(&self) -> impl Iterator<Item = &DiscountCode> {
        self.discount_code.iter().chain(&self.discount_codes)
    }
}

/// One line of an order request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RequestedLine {
    /// The product.
    pub product_id: ProductId,
    /// The number of units.
    pub quantity: Quantity,
}

/// An order request that fits into one transaction: 1 to 40 lines of different products, at most 4 different gift
/// cards, and at most 3 different discount codes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Basket {
    request: OrderRequest,
    hash: RequestHash,
}

/// The reason why a request is not a valid basket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BasketError {
    /// The request has more lines, gift cards or discount codes than one transaction can hold.
    TooLarge(String),
    /// The request has no lines, the same product, gift card or discount code twice, or discount codes in both fields.
    Invalid(String),
}

impl Basket {
    /// The same basket with the hash under which it was accepted, in place of this release's own hash.
    pub(crate) fn with_accepted_hash(self, hash: RequestHash) -> Self {
        Self { hash, ..self }
    }

    pub fn request(&self) -> &OrderRequest {
        &self.request
    }

    /// The keys of everything that this customer's order of the basket depends on: at most 93, of the 100 of a BatchGetItem.
    pub(crate) fn keys_of(
        &self,
        customer: &CustomerId,
        max_open_units: MaxOpenUnits,
        tax_rules: &TaxRules,
    ) -> Vec<Key> {
        let request = &self.request;
        let profile = if customer.is_guest() { Guest::key_of(customer) } else { Customer::key_of(customer) };
        let mut keys = vec![profile];
        if max_open_units.is_on() {
            keys.push(CustomerStats::key_of(customer));
        }
        for line in &request.lines {
            keys.extend([Product::key_of(&line.product_id), Stock::key_of(&line.product_id)]);
        }
        keys.extend(request.codes().map(Discount::key_of));
        keys.extend(request.gift_cards.iter().map(GiftCard::key_of));
        if let Some(ship_to) = &request.ship_to {
            keys.push(ShippingRates::only_key());
            keys.extend(matches!(ship_to, ShipTo::Saved(_)).then(|| CustomerAddresses::key_of(customer)));
        }
        keys.extend(request.cart.map(|_| Cart::key_of(customer)));
        keys.extend(tax_rules.reads_rates().then(Taxes::only_key));
        keys
    }

    /// The write units that placing the order is expected to consume, if no item exceeds a kilobyte: two for each write
    /// of the transaction, and one for each entry of header, lines and invoice in each of the two indexes. An
    /// order with an address writes the address, and checks the profile. An order of a cart empties the cart.
    pub fn write_units(&self) -> WriteUnits {
        let OrderRequest { lines, gift_cards, ship_to, cart, .. } = &self.request;
        let of_address = 2 * usize::from(ship_to.is_some());
        let of_codes = self.request.codes().count() + 2 * gift_cards.len();
        let writes = 2 + 2 * lines.len() + of_codes + of_address + usize::from(cart.is_some());
        // A basket has at most 40 lines, 4 gift cards and 3 discount codes.
        let units = |count: usize| f64::from(u8::try_from(count).unwrap_or(u8::MAX));
        let entries = units(2 + lines.len());
        let indexes = [Index::Gsi1, Index::Gsi2].into_iter().filter_map(Index::name);
        WriteUnits { table: 2.0 * units(writes), indexes: indexes.map(|name| (name.to_owned(), entries)).collect() }
    }

    /// The hash of the request's canonical form. Equal requests have equal hashes.
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
                "lines[{at}].productId is also in an earlier line: add up the quantities"
            )));
        }
        if let Some(at) = repeated(&request.gift_cards) {
            return Err(BasketError::Invalid(format!("giftCards[{at}] is listed twice")));
        }
        if request.discount_codes.len() > MOST_CODES {
            return Err(BasketError::TooLarge(format!("An order takes at most {MOST_CODES} discount codes.")));
        }
        if request.discount_code.is_some() && !request.discount_codes.is_empty() {
            return Err(BasketError::Invalid(
                "discountCodes: name all codes here, and none in discountCode".to_owned(),
            ));
        }
        if let Some(at) = repeated(&request.discount_codes) {
            return Err(BasketError::Invalid(format!("discountCodes[{at}] is listed twice")));
        }
        Ok(Self { hash: canonical::hash(&request), request })
    }
}

/// The index of the first value that is equal to an earlier one.
fn repeated<T: Hash + Eq>(values: impl IntoIterator<Item = T>) -> Option<usize> {
    let mut seen = HashSet::new();
    values.into_iter().position(|value| !seen.insert(value))
}
