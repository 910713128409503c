//! Shops with rates of shipping and tax.

use key_schema::entity::{
    Address, BandsBy, CountryTaxes, CustomerAddresses, SavedAddress, ShippingBand, ShippingMethod, ShippingRates,
    ShippingZone, TaxRate, Taxes,
};
use key_schema::value::{AddressId, Country};

use super::{eur, now};
use crate::{ItemsRead, NewOrder, SavedId, ShipTo};

pub(super) fn germany() -> Country {
    Country::try_from("DE".to_owned()).expect("a country")
}

/// One rate for all that is sold in Germany.
pub(super) fn taxes(rate: i64) -> Taxes {
    let standard = TaxRate::try_from(rate).expect("a rate");
    let countries = vec![CountryTaxes { country: germany(), standard, categories: Vec::new() }];
    Taxes { countries, updated_at: now(), version: 1 }
}

/// Adds an address to the request, and rates with one price.
pub(super) fn ship(
    order: &mut NewOrder,
    items: &mut ItemsRead,
    by_weight: bool,
    rate: i64,
    free_from: Option<i64>,
    grams: i64,
    saved: bool,
) {
    let address = Address {
        name: "Ada".to_owned(),
        line1: "Way 1".to_owned(),
        line2: None,
        city: "Berlin".to_owned(),
        postal_code: Some("10115".to_owned()),
        region: None,
        country: "DE".parse().expect("a country"),
    };
    for product in items.products.values_mut() {
        product.weight_grams = Some(grams.try_into().expect("a weight"));
    }
    let by = if by_weight { BandsBy::Weight } else { BandsBy::Price };
    let bands = vec![ShippingBand { up_to: None, price: rate }];
    let (method_id, name) = ("standard".parse().expect("an id"), "Standard".to_owned().try_into().expect("a name"));
    let methods = vec![ShippingMethod { method_id, name, by, bands, free_from }];
    let zone = ShippingZone { countries: vec![address.country.clone()], currency: eur(0).currency(), methods };
    items.rates = Some(ShippingRates { zones: vec![zone], updated_at: now(), version: 1 });
    if !saved {
        order.ship_to = Some(ShipTo::Address(address));
        return;
    }
    let address_id: AddressId = "home".parse().expect("an id");
    items.addresses = Some(CustomerAddresses {
        customer_id: "ada".parse().expect("an id"),
        addresses: vec![SavedAddress { address_id: address_id.clone(), address }],
        default: None,
        updated_at: now(),
        version: 1,
    });
    order.ship_to = Some(ShipTo::Saved(SavedId { address_id }));
}
