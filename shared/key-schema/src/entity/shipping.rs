//! Shipping rates: the price of shipping an order, by destination and by weight or by the price of the goods.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::value::{Country, Currency, Grams, Line, Money, ShippingMethodId, Timestamp};

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
    /// The methods from which a customer chooses. Without a choice, an order has the first one that it fits.
    #[schema(min_items = 1, max_items = 10)]
    pub methods: Vec<ShippingMethod>,
}

/// A method of shipping, with its price.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ShippingMethod {
    pub method_id: ShippingMethodId,
    /// The name that customers read.
    pub name: Line,
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

/// What the bands of a method measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub enum BandsBy {
    /// The weight of the order in grams. Products without a weight weigh nothing.
    Weight,
    /// The price of the goods after the discount, in minor units.
    Price,
}

/// A band of a method.
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

/// The method by which an order is shipped, as it was when the order was placed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ChosenMethod {
    pub method_id: ShippingMethodId,
    pub name: Line,
}

/// A method by which a basket can be shipped.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct OfferedMethod {
    pub method_id: ShippingMethodId,
    pub name: Line,
    /// The price of shipping, before a tax on top.
    pub price: Money,
}

impl ShippingRates {
    /// The most zones.
    pub const MOST_ZONES: usize = 50;
    /// The most methods of a zone.
    pub const MOST_METHODS: usize = 10;
    /// The most bands of a method.
    pub const MOST_BANDS: usize = 20;
    /// The most bytes of the zones as JSON. The item is no larger, so a read takes one unit, and two for an order with a code.
    pub const MOST_BYTES: usize = 8_000;

    /// The methods by which goods of this price, after the discount, and this weight are shipped to the country, in the order
    /// of the zone. Without any, they are not shipped.
    pub fn offers(&self, country: &Country, goods: Money, weight: u64) -> Vec<OfferedMethod> {
        let methods = self.zone(country, goods.currency()).into_iter().flat_map(|zone| &zone.methods);
        let offer = |method: &ShippingMethod| {
            let price = method.price(goods, weight)?;
            Some(OfferedMethod { method_id: method.method_id.clone(), name: method.name.clone(), price })
        };
        methods.filter_map(offer).collect()
    }

    /// The zone of a country: the one that names the country, or else the rest of the world.
    fn zone(&self, country: &Country, currency: Currency) -> Option<&ShippingZone> {
        let mut zones = self.zones.iter().filter(|zone| zone.currency == currency);
        let named = zones.clone().find(|zone| zone.countries.contains(country));
        named.or_else(|| zones.find(|zone| zone.countries.is_empty()))
    }
}

impl ShippingMethod {
    /// The price of shipping. `None` if no band fits, also from the sum on from which it is free.
    fn price(&self, goods: Money, weight: u64) -> Option<Money> {
        let measured = match self.by {
            BandsBy::Weight => i64::try_from(weight).ok()?,
            BandsBy::Price => goods.amount(),
        };
        let band = self.bands.iter().find(|band| band.up_to.is_none_or(|most| measured <= most))?;
        let is_free = self.free_from.is_some_and(|free_from| goods.amount() >= free_from);
        Money::new(if is_free { 0 } else { band.price }, goods.currency())
    }
}

impl From<OfferedMethod> for ChosenMethod {
    fn from(OfferedMethod { method_id, name, price: _ }: OfferedMethod) -> Self {
        Self { method_id, name }
    }
}

/// The weight of some units: nothing, if the product has no weight.
pub fn weight_of(units: u32, each: Option<Grams>) -> u64 {
    u64::from(units) * u64::from(each.map_or(0, Grams::get))
}
