//! Addresses, and the rates of shipping and tax.

use key_schema::entity::{
    Address, BandsBy, CategoryTax, CountryTaxes, CustomerAddresses, OrderAddress, SavedAddress, ShippingBand,
    ShippingMethod, ShippingRates, ShippingZone, TaxRate, Taxes,
};
use key_schema::value::{AddressId, Country};
use serde_dynamo::Item;

use super::{Images, Kind, NoSample, Parts, Revision, item, number};

impl Parts<'_> {
    pub(super) fn taxes(&self, revision: Revision) -> Result<Item, NoSample> {
        let category = "k".repeat(self.sizes.id).parse()?;
        let reduced = CategoryTax { category, rate: TaxRate::try_from(700)? };
        let country = Country::try_from("DE".to_owned())?;
        let taxes = CountryTaxes { country, standard: TaxRate::try_from(1900)?, categories: vec![reduced] };
        item(&Taxes { countries: vec![taxes], updated_at: self.at, version: number(revision).into() })
    }

    pub(super) fn shipping(&self) -> Result<Images, NoSample> {
        let text = || "a".repeat(self.sizes.id.min(30));
        let address = Address {
            name: text(),
            line1: text(),
            line2: Some(text()),
            city: text(),
            postal_code: Some("10115".to_owned()),
            region: Some(text()),
            country: "DE".parse()?,
        };
        let address_id: AddressId = "home".parse()?;
        let book = CustomerAddresses {
            customer_id: self.customer.clone(),
            addresses: vec![SavedAddress { address_id: address_id.clone(), address: address.clone() }],
            default: Some(address_id),
            updated_at: self.at,
            version: 8_007_199_254_740_991,
        };
        let rates = ShippingRates {
            zones: vec![ShippingZone {
                countries: vec!["DE".parse()?, "AT".parse()?],
                currency: self.price.currency(),
                methods: vec![ShippingMethod {
                    method_id: "standard".parse()?,
                    name: "Standard".to_owned().try_into()?,
                    by: BandsBy::Weight,
                    bands: vec![
                        ShippingBand { up_to: Some(2000), price: 490 },
                        ShippingBand { up_to: None, price: 890 },
                    ],
                    free_from: Some(5000),
                }],
            }],
            updated_at: self.at,
            version: 1,
        };
        Ok(vec![
            (Kind::CustomerAddresses, item(&book)?),
            (Kind::OrderAddress, item(&OrderAddress { order_id: self.order.clone(), address })?),
            (Kind::ShippingRates, item(&rates)?),
        ])
    }
}
