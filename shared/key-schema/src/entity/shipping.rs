//! Shipping rates: the price of shipping an order, by destination and by weight or by the price of the goods.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::value::{Country, Currency, Grams, Money, Timestamp};

#[cfg(test)]
mod tests;

/// The shipping rates of the shop, in one item. Without zones, shipping costs nothing and goes everywhere.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ShippingRates {
    pub zones: Vec<ShippingZone>,
    pub updated_at: Timestamp,
    /// The number of times the rates were written, which is the `ETag`.
    pub version: u64,
}

/// The rates of some countries, in one currency.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ShippingZone {
    /// The countries of the zone. Without countries, the zone is the rest of the world.
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "Country::all_stored")]
    #[schema(max_items = 250)]
    pub countries: Vec<Country>,
    /// The currency of the orders that the zone is for.
    pub currency: Currency,
    /// What the bands measure.
    pub by: BandsBy,
    /// The bands, each with a higher bound than the one before. An order has the price of the first band that it fits in.
    #[schema(min_items = 1, max_items = 20)]
    pub bands: Vec<ShippingBand>,
    /// In minor units: from this price of the goods on, after the discount, shipping costs nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 0)]
    pub free_from: Option<i64>,
}

/// What the bands of a zone measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub enum BandsBy {
    /// The weight of the order in grams. Products without a weight weigh nothing.
    Weight,
    /// The price of the goods after the discount, in minor units.
    Price,
}

/// A band of a zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ShippingBand {
    /// The most that fits in, in grams or in minor units. If absent, everything fits in: then this is the last band.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 0)]
    pub up_to: Option<i64>,
    /// The price of shipping, in minor units.
    #[schema(minimum = 0)]
    pub price: i64,
}

/// An order is not shipped: its country is in no zone, or it is beyond every band.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotShipped;

impl ShippingRates {
    /// The most zones.
    pub const MOST_ZONES: usize = 50;
    /// The most bands of a zone.
    pub const MOST_BANDS: usize = 20;
    /// The most countries and bands of all zones together. So the item has at most 4 kB, which a read of half a unit
    /// covers.
    pub const MOST_PARTS: usize = 300;

    /// The price of shipping goods of this price, after the discount, and this weight to the country. `None` if the shop
    /// has no rates.
    ///
    /// # Errors
    /// The order is not shipped.
    pub fn price(&self, country: &Country, goods: Money, weight: u64) -> Result<Option<Money>, NotShipped> {
        if self.zones.is_empty() {
            return Ok(None);
        }
        let zone = self.zone(country, goods.currency()).ok_or(NotShipped)?;
        if zone.free_from.is_some_and(|free_from| goods.amount() >= free_from) {
            return Ok(Some(Money::zero(goods.currency())));
        }
        let measured = match zone.by {
            BandsBy::Weight => i64::try_from(weight).map_err(|_| NotShipped)?,
            BandsBy::Price => goods.amount(),
        };
        let band = zone.bands.iter().find(|band| band.up_to.is_none_or(|most| measured <= most)).ok_or(NotShipped)?;
        Money::new(band.price, goods.currency()).map(Some).ok_or(NotShipped)
    }

    /// The zone of a country: the one that names the country, or else the rest of the world.
    fn zone(&self, country: &Country, currency: Currency) -> Option<&ShippingZone> {
        let mut zones = self.zones.iter().filter(|zone| zone.currency == currency);
        let named = zones.clone().find(|zone| zone.countries.contains(country));
        named.or_else(|| zones.find(|zone| zone.countries.is_empty()))
    }
}

/// The weight of some units: nothing, if the product has no weight.
pub fn weight_of(units: u32, each: Option<Grams>) -> u64 {
    u64::from(units) * u64::from(each.map_or(0, Grams::get))
}
