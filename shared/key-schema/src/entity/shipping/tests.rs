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
    let bands = bands.iter().map(|(up_to, price)| ShippingBand { up_to: *up_to, price: *price }).collect();
    ShippingZone { countries: countries.iter().copied().map(country).collect(), currency: euro(), by, bands, free_from }
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
    let price = |to: &str, goods, weight| rates.price(&country(to), eur(goods), weight);
    assert_eq!(price("DE", 100, 1000), Ok(Some(eur(390))));
    assert_eq!(price("AT", 100, 1001), Ok(Some(eur(690))));
    assert_eq!(price("DE", 100, 30_001), Err(NotShipped), "too heavy, and the rest of the world is not Germany's");
    assert_eq!(price("DE", 5000, 30_001), Ok(Some(eur(0))), "free, whatever it weighs");
    assert_eq!(price("JP", 100, 1_000_000), Ok(Some(eur(2000))));
    let pounds = Money::nearest(1, Currency::try_from("GBP".to_owned()).expect("a currency"));
    assert_eq!(rates.price(&country("DE"), pounds, 0), Err(NotShipped));
}

#[test]
fn a_shop_without_zones_charges_nothing() {
    assert_eq!(rates(Vec::new()).price(&country("DE"), eur(100), 5), Ok(None));
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
        let expected = if free.is_some_and(|from| goods >= from) {
            Ok(Some(eur(0)))
        } else {
            let band = bands.iter().find(|(up_to, _)| up_to.is_some_and(|most| measured <= most));
            band.map(|(_, price)| Some(eur(*price))).ok_or(NotShipped)
        };
        prop_assert_eq!(rates.price(&country("DE"), eur(goods), weight), expected);
    }
}
