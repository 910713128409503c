//! The canonical form of a request. Its hash distinguishes a repeated request from a different one with the same
//! idempotency key.
//!
//! Hashes outlive releases: they are stored in orders and in the queue, and clients repeat requests across deployments.
//! So the form is spelled out here and does not depend on how [`NewOrder`] is serialized. Spaces, the order of
//! fields and absent options do not matter.
//!
//! **Add a new field after the existing ones, and skip it where it is absent.** Then the hash of every request that
//! does not use it stays the same. The tests pin the hashes of two requests.

use key_schema::entity::{self, Address};
use key_schema::value::{
    CartVersion, Currency, DiscountCode, GiftCardCode, Money, ProductId, RequestHash, ShippingMethodId,
};
use serde::Serialize;

use super::{NewOrder, RequestedLine, SavedId, ShipTo};

#[serde_with::skip_serializing_none]
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Canonical<'a> {
    lines: Vec<Line<'a>>,
    discount_code: Option<&'a DiscountCode>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    gift_cards: &'a [GiftCardCode],
    expected_total: Option<Amount>,
    max_card_amount: Option<Amount>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pay_later: bool,
    ship_to: Option<Destination<'a>>,
    cart: Option<u64>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    discount_codes: &'a [DiscountCode],
    shipping_method: Option<&'a ShippingMethodId>,
}

/// An address, or its id in the customer's book.
#[serde_with::skip_serializing_none]
#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct Destination<'a> {
    address_id: Option<&'a str>,
    name: Option<&'a str>,
    line1: Option<&'a str>,
    line2: Option<&'a str>,
    city: Option<&'a str>,
    postal_code: Option<&'a str>,
    region: Option<&'a str>,
    country: Option<&'a str>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Line<'a> {
    product_id: &'a ProductId,
    quantity: u32,
}

#[derive(Serialize)]
struct Amount {
    amount: i64,
    currency: Currency,
}

pub(crate) fn hash(order: &NewOrder) -> RequestHash {
    // Without `..`: a field that is added to a request does not compile until it is handled here.
    let NewOrder {
        lines,
        discount_code,
        gift_cards,
        expected_total,
        max_card_amount,
        pay_later,
        ship_to,
        cart,
        discount_codes,
        shipping_method,
    } = order;
    let canonical = Canonical {
        lines: lines.iter().map(Line::from).collect(),
        discount_code: discount_code.as_ref(),
        gift_cards,
        expected_total: expected_total.map(Amount::from),
        max_card_amount: max_card_amount.map(Amount::from),
        pay_later: *pay_later,
        ship_to: ship_to.as_ref().map(Destination::from),
        cart: cart.map(CartVersion::get),
        discount_codes,
        shipping_method: shipping_method.as_ref(),
    };
    // Serializing plain structs as JSON cannot fail.
    RequestHash::of(&serde_json::to_vec(&canonical).unwrap_or_default())
}

impl<'a> From<&'a RequestedLine> for Line<'a> {
    fn from(line: &'a RequestedLine) -> Self {
        let RequestedLine { product_id, quantity } = line;
        Self { product_id, quantity: quantity.get() }
    }
}

impl<'a> From<&'a ShipTo> for Destination<'a> {
    fn from(ship_to: &'a ShipTo) -> Self {
        match ship_to {
            ShipTo::Saved(SavedId { address_id }) => Self { address_id: Some(address_id.as_str()), ..Self::default() },
            ShipTo::Address(Address { name, line1, line2, city, postal_code, region, country }) => Self {
                address_id: None,
                name: Some(name),
                line1: Some(line1),
                line2: line2.as_deref(),
                city: Some(city),
                postal_code: postal_code.as_deref(),
                region: region.as_deref(),
                country: Some(country.as_str()),
            },
            ShipTo::Destination(entity::Destination { city, postal_code, region, country }) => Self {
                city: city.as_deref(),
                postal_code: postal_code.as_deref(),
                region: region.as_deref(),
                country: Some(country.as_str()),
                ..Self::default()
            },
        }
    }
}

impl From<Money> for Amount {
    fn from(money: Money) -> Self {
        Self { amount: money.amount(), currency: money.currency() }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn hashed(order: Value) -> String {
        let order: NewOrder = serde_json::from_value(order).expect("an order");
        hash(&order).as_str().to_owned()
    }

    /// If this test fails, a deployment would refuse queued orders and repeated requests: mend the canonical form, not
    /// the test.
    #[test]
    fn the_hash_of_a_request_is_the_same_in_every_release() {
        assert_eq!(
            hashed(json!({ "lines": [{ "productId": "teapot", "quantity": 2 }] })),
            "1D3E8hei5FeDT7-nL-VK9PHDi1piRmegFV2Zw8-OP8E"
        );
        assert_eq!(
            hashed(json!({
                "expectedTotal": { "currency": "EUR", "amount": 1999 },
                "giftCards": ["GIFT-2", "GIFT-1"],
                "discountCode": "TEN",
                "lines": [{ "quantity": 2, "productId": "teapot" }, { "productId": "cup", "quantity": 10_000 }],
            })),
            "lA9nmGx_rEVP3ddC6iPC3Z3Lm7ZOokauRpgSTG6tyMU"
        );
    }

    #[test]
    fn the_hash_depends_on_every_field_that_is_present_and_on_no_absent_one() {
        let plain = json!({ "lines": [{ "productId": "teapot", "quantity": 2 }] });
        let with = |name: &str, value: Value| {
            let mut order = plain.clone();
            order[name] = value;
            order
        };
        assert_eq!(hashed(with("giftCards", json!([]))), hashed(plain.clone()));
        assert_eq!(hashed(with("discountCode", Value::Null)), hashed(plain.clone()));
        assert_eq!(hashed(with("payLater", json!(false))), hashed(plain.clone()));
        let home = json!({ "name": "Ada", "line1": "Way 1", "city": "Berlin", "postalCode": "10115", "country": "DE" });
        let mut street = home.clone();
        street["line2"] = json!("Left door");
        assert_ne!(hashed(with("shipTo", home.clone())), hashed(with("shipTo", street)));
        assert_eq!(hashed(with("shipTo", Value::Null)), hashed(plain.clone()));
        assert_eq!(hashed(with("cart", Value::Null)), hashed(plain.clone()));
        assert_eq!(hashed(with("discountCodes", json!([]))), hashed(plain.clone()));
        let codes = |codes: Value| hashed(with("discountCodes", codes));
        assert_ne!(codes(json!(["ONE", "TWO"])), codes(json!(["TWO", "ONE"])));
        assert_ne!(hashed(with("cart", json!(1))), hashed(with("cart", json!(2))));
        for other in [
            with("shipTo", home),
            with("shipTo", json!({ "addressId": "home" })),
            with("giftCards", json!(["GIFT-1"])),
            with("discountCode", json!("TEN")),
            with("expectedTotal", json!({ "amount": 1, "currency": "EUR" })),
            with("maxCardAmount", json!({ "amount": 1, "currency": "EUR" })),
            with("payLater", json!(true)),
            with("cart", json!(1)),
            with("cart", json!(2)),
            with("discountCodes", json!(["TEN"])),
            with("lines", json!([{ "productId": "teapot", "quantity": 3 }])),
        ] {
            assert_ne!(hashed(other), hashed(plain.clone()));
        }
    }
}
