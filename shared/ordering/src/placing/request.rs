//! The request to place an order, and the limits that one transaction sets for it.

use key_schema::entity::{Address, Destination, NewAddress};
use key_schema::layout::Index;
use key_schema::value::{
    AddressId, CartVersion, Country, CustomerId, DiscountCode, GiftCardCode, IdempotencyKey, Invalid, Line, Money,
    ProductId, Quantity, RequestHash, ShippingMethodId, repeated,
};
use serde::{Deserialize, Serialize};
use table::WriteUnits;
use utoipa::ToSchema;

mod canonical;

/// The most lines of an order. With four gift cards, three discount codes, an address and a cart, its
/// transaction has 96 of the 100 actions that DynamoDB allows, and one more if the order comes from the queue.
pub const MOST_LINES: usize = 40;
/// The most lines of a guest's order. They bound what a request of a stranger costs.
pub const MOST_GUEST_LINES: usize = 10;
/// The most gift cards of an order.
pub const MOST_GIFT_CARDS: usize = 4;
/// The most discount codes of an order.
pub const MOST_CODES: usize = 3;

/// A request to place an order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OrderRequest {
    /// The customer or guest who orders.
    pub customer: CustomerId,
    /// The idempotency key. Customer and key together determine the order's id.
    pub key: IdempotencyKey,
    /// The order, within the limits.
    pub basket: Basket,
}

/// An order as a customer sends it.
#[serde_with::skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewOrder {
    /// The products to buy: 1 to 40 lines, each with a different product.
    #[schema(min_items = 1, max_items = 40)]
    pub lines: Vec<RequestedLine>,
    /// A discount code. An order with several has `discountCodes` instead.
    pub discount_code: Option<DiscountCode>,
    /// The gift cards to pay with, in this order. The bank card pays the rest. At most 4.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(max_items = 4)]
    pub gift_cards: Vec<GiftCardCode>,
    /// The total that the customer was shown. If the order comes to another total, it is refused.
    pub expected_total: Option<Money>,
    /// The most that may be charged to the bank card. If the gift cards leave more than that to pay, the order is
    /// refused.
    pub max_card_amount: Option<Money>,
    /// Whether the order is paid later, such as by bank transfer. It then waits for its payment, and reserves its stock,
    /// for days instead of minutes. Refused by shops that do not offer this.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub pay_later: bool,
    /// The address to which the order is shipped. If the shop has shipping rates, an order with an address pays for its
    /// shipping.
    #[schema(value_type = Option<ShipToForms>)]
    pub ship_to: Option<ShipTo>,
    /// The version of the customer's cart that becomes this order. The lines are those of the cart, in any order. Placing
    /// the order empties the cart, so a cart becomes one order at most. If the cart has changed, the order is refused.
    pub cart: Option<CartVersion>,
    /// The discount codes, at most 3, instead of `discountCode`. They apply in this order, each to what the ones before
    /// have left. More than one are allowed only if all of them are `combinable`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(max_items = 3)]
    pub discount_codes: Vec<DiscountCode>,
    /// The method of shipping, of those that a quote lists. Without one, the order has the first of them.
    pub shipping_method: Option<ShippingMethodId>,
}

impl NewOrder {
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
    order: NewOrder,
    hash: RequestHash,
}

/// The reason why a request is not a valid basket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BasketError {
    /// The request has more lines, gift cards or discount codes than one transaction can hold.
    TooLarge(String),
    /// The request has no lines, the same product, gift card or discount code twice, discount codes in both fields, or
    /// a method of shipping without an address.
    Invalid(String),
}

impl Basket {
    /// The same basket with the hash under which it was accepted, in place of this release's own hash.
    pub(crate) fn with_accepted_hash(self, hash: RequestHash) -> Self {
        Self { hash, ..self }
    }

    /// The order as the customer sent it.
    pub fn order(&self) -> &NewOrder {
        &self.order
    }

    /// The write units that placing the order is expected to consume, if no item exceeds a kilobyte: two for each write
    /// of the transaction, and one for each entry of header, lines and invoice in each of the two indexes. An
    /// order with an address writes the address, and checks the profile. An order of a cart empties the cart.
    pub fn write_units(&self) -> WriteUnits {
        let NewOrder { lines, gift_cards, ship_to, cart, .. } = &self.order;
        let of_address = 2 * usize::from(ship_to.is_some());
        let of_codes = self.order.codes().count() + 2 * gift_cards.len();
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

impl TryFrom<NewOrder> for Basket {
    type Error = BasketError;

    fn try_from(order: NewOrder) -> Result<Self, BasketError> {
        if order.lines.is_empty() {
            return Err(BasketError::Invalid("lines must not be empty".to_owned()));
        }
        if order.lines.len() > MOST_LINES {
            return Err(BasketError::TooLarge(format!("An order holds at most {MOST_LINES} lines. Split it.")));
        }
        if order.gift_cards.len() > MOST_GIFT_CARDS {
            return Err(BasketError::TooLarge(format!("An order takes at most {MOST_GIFT_CARDS} gift cards.")));
        }
        if let Some(at) = repeated(order.lines.iter().map(|line| &line.product_id)) {
            return Err(BasketError::Invalid(format!(
                "lines[{at}].productId is also in an earlier line: add up the quantities"
            )));
        }
        if let Some(at) = repeated(&order.gift_cards) {
            return Err(BasketError::Invalid(format!("giftCards[{at}] is listed twice")));
        }
        if order.discount_codes.len() > MOST_CODES {
            return Err(BasketError::TooLarge(format!("An order takes at most {MOST_CODES} discount codes.")));
        }
        if order.discount_code.is_some() && !order.discount_codes.is_empty() {
            return Err(BasketError::Invalid(
                "discountCodes: name all codes here, and none in discountCode".to_owned(),
            ));
        }
        if let Some(at) = repeated(&order.discount_codes) {
            return Err(BasketError::Invalid(format!("discountCodes[{at}] is listed twice")));
        }
        if order.shipping_method.is_some() && order.ship_to.is_none() {
            return Err(BasketError::Invalid("shippingMethod: only an order with shipTo has one".to_owned()));
        }
        Ok(Self { hash: canonical::hash(&order), order })
    }
}

/// The address to which an order is shipped: a whole address, or the id of one in the customer's address book. The book
/// is read when the order is placed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Fields", untagged)]
pub enum ShipTo {
    /// An address of the customer's address book.
    Saved(SavedId),
    /// A whole address.
    Address(Address),
    /// A destination, which only a quote has: no order is read with one.
    Destination(Destination),
}

/// [`ShipTo`] in the OpenAPI document.
#[derive(Deserialize, ToSchema)]
#[serde(untagged)]
#[schema(as = ShipTo)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) enum ShipToForms {
    /// An address of the customer's address book.
    Saved(SavedId),
    /// A whole address.
    Address(NewAddress),
}

/// The id of an address in the customer's address book.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SavedId {
    pub address_id: AddressId,
}

/// The fields of both forms. So a mistake in one of them gets a detail that names the field, which serde's untagged enums
/// do not give.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Fields {
    address_id: Option<AddressId>,
    name: Option<Line>,
    line1: Option<Line>,
    line2: Option<Line>,
    city: Option<Line>,
    postal_code: Option<String>,
    region: Option<Line>,
    country: Option<Country>,
}

impl TryFrom<Fields> for ShipTo {
    type Error = Invalid;

    fn try_from(fields: Fields) -> Result<Self, Invalid> {
        let Fields { address_id, name, line1, line2, city, postal_code, region, country } = fields;
        let has_more = [&name, &line1, &line2, &city, &region].into_iter().any(Option::is_some);
        match address_id {
            Some(_) if has_more || postal_code.is_some() || country.is_some() => {
                Err(Invalid("must be either an addressId or a whole address".to_owned()))
            }
            Some(address_id) => Ok(Self::Saved(SavedId { address_id })),
            None => {
                let missing = |field: &str| Invalid(format!("missing field `{field}`"));
                let new = NewAddress {
                    name: name.ok_or_else(|| missing("name"))?,
                    line1: line1.ok_or_else(|| missing("line1"))?,
                    line2,
                    city: city.ok_or_else(|| missing("city"))?,
                    postal_code,
                    region,
                    country: country.ok_or_else(|| missing("country"))?,
                };
                Address::try_from(new).map(Self::Address)
            }
        }
    }
}
