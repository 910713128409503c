#![allow(clippy::expect_used, reason = "tests")]

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;
use crate::value::eur;

fn euro() -> Currency {
    Currency::try_from("EUR".to_owned()).expect("a currency")
}

fn country(code: &str) -> Country {
    code.parse().expect("a country")
}

fn zone(countries: &[&str], by: BandsBy, bands: &[(Option<i64>, i64)], free_from: Option<i64>) -> ShippingZone {
    let methods = vec![method("standard", by, bands, free_from)];
    ShippingZone { countries: countries.iter().copied().map(country).collect(), currency: euro(), methods }
}

fn method(id: &str, by: BandsBy, bands: &[(Option<i64>, i64)], free_from: Option<i64>) -> ShippingMethod {
    let bands = bands.iter().map(|(up_to, price)| ShippingBand { up_to: *up_to, price: *price }).collect();
    let name = Line::try_from(id.to_uppercase()).expect("a name");
    ShippingMethod { method_id: id.parse().expect("an id"), name, by, bands, free_from }
}

/// The price of the first method.
fn price(rates: &ShippingRates, to: &str, goods: Money, weight: u64) -> Option<Money> {
    rates.offers(&country(to), goods, weight).first().map(|offer| offer.price)
}

fn rates(zones: Vec<ShippingZone>) -> ShippingRates {
    let updated_at = "2026-11-21T09:30:00.000Z".parse().expect("a time");
    ShippingRates { zones, updated_at, version: 1 }
}

#[test]
fn a_zone_that_names_the_country_comes_before_the_rest_of_the_world() {
    let rates = rates(vec![
        zone(&[], BandsBy::Weight, &[(None, 2000)], None),
        zone(&["DE", "AT"], BandsBy::Weight, &[(Some(1000), 390), (Some(30_000), 690)], Some(5000)),
    ]);
    let of = |to: &str, goods, weight| price(&rates, to, eur(goods), weight);
    assert_eq!(of("DE", 100, 1000), Some(eur(390)));
    assert_eq!(of("AT", 100, 1001), Some(eur(690)));
    assert_eq!(of("DE", 100, 30_001), None, "too heavy, and the rest of the world is not Germany's");
    assert_eq!(of("DE", 5000, 30_000), Some(eur(0)));
    assert_eq!(of("DE", 5000, 30_001), None, "too heavy also where it would be free");
    assert_eq!(of("JP", 100, 1_000_000), Some(eur(2000)));
    let pounds = Money::nearest(1, Currency::try_from("GBP".to_owned()).expect("a currency"));
    assert_eq!(price(&rates, "DE", pounds, 0), None);
}

#[test]
fn the_offers_are_the_methods_that_fit_in_the_order_of_the_zone() {
    let mut zone = zone(&["DE"], BandsBy::Weight, &[(Some(1000), 390)], None);
    zone.methods.push(method("express", BandsBy::Price, &[(None, 1900)], Some(9000)));
    zone.methods.push(method("post", BandsBy::Weight, &[(Some(20), 95)], None));
    let rates = rates(vec![zone]);
    for (goods, weight, expected) in [
        (100, 20, &[("STANDARD", 390), ("EXPRESS", 1900), ("POST", 95)][..]),
        (9000, 21, &[("STANDARD", 390), ("EXPRESS", 0)]),
        (100, 1001, &[("EXPRESS", 1900)]),
    ] {
        let offers = rates.offers(&country("DE"), eur(goods), weight);
        let offers: Vec<_> = offers.into_iter().map(|offer| (String::from(offer.name), offer.price.amount())).collect();
        assert!(offers.iter().map(|(name, price)| (name.as_str(), *price)).eq(expected.iter().copied()), "{offers:?}");
    }
}

proptest! {
    /// Bands go by what they measure alone, and every order that fits in a band has the price of a band or none.
    #[test]
    fn the_price_is_that_of_the_first_band_that_fits(
        mut bounds in vec(0i64..50_000, 1..6), prices in vec(0i64..5_000, 6), by_price: bool, free in proptest::option::of(0i64..60_000),
        goods in 0i64..60_000, weight in 0u64..60_000,
    ) {
        bounds.sort_unstable();
        bounds.dedup();
        let bands: Vec<_> = bounds.iter().zip(&prices).map(|(up_to, price)| (Some(*up_to), *price)).collect();
        let by = if by_price { BandsBy::Price } else { BandsBy::Weight };
        let rates = rates(vec![zone(&["DE"], by, &bands, free)]);
        let measured = if by_price { goods } else { i64::try_from(weight).expect("small") };
        let band = bands.iter().find(|(up_to, _)| up_to.is_some_and(|most| measured <= most));
        let is_free = free.is_some_and(|from| goods >= from);
        let expected = band.map(|(_, price)| eur(if is_free { 0 } else { *price }));
        prop_assert_eq!(price(&rates, "DE", eur(goods), weight), expected);
    }
}
