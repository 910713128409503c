//! The shop's rules of tax.

use key_schema::entity::Prices;
use key_schema::value::Country;
use lambda::{Environment, FromEnvironment, Misconfigured};

/// Whether the shop reckons tax, and how.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TaxRules(Option<Taxed>);

/// The rules of a shop that reckons tax.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Taxed {
    /// The country whose rates orders without an address have: the variable `TAX_COUNTRY`.
    pub(crate) country: Country,
    /// Whether prices include tax: the variable `PRICES_INCLUDE_TAX`.
    pub(crate) prices: Prices,
    /// Who says the taxes.
    pub(crate) by: TaxedBy,
}

/// Who says the taxes of an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TaxedBy {
    /// Till, from the rates that staff write.
    Rates,
    /// An outside engine: the variable `TAX_ENGINE`.
    Engine,
}

impl TaxRules {
    /// The rules of a shop in this country.
    pub const fn new(country: Country, prices: Prices) -> Self {
        Self(Some(Taxed { country, prices, by: TaxedBy::Rates }))
    }

    pub(crate) const fn taxed(&self) -> Option<&Taxed> {
        self.0.as_ref()
    }

    /// Whether orders depend on the rates that staff write.
    pub(crate) fn reads_rates(&self) -> bool {
        self.taxed().is_some_and(|taxed| taxed.by == TaxedBy::Rates)
    }
}

impl FromEnvironment for TaxRules {
    fn from_environment(environment: &Environment) -> Result<Self, Misconfigured> {
        let prices = match environment.required("PRICES_INCLUDE_TAX")? {
            "true" => Prices::IncludeTax,
            "false" => Prices::ExcludeTax,
            other => {
                return Err(Misconfigured::Invalid(format!("PRICES_INCLUDE_TAX must be true or false, not {other:?}")));
            }
        };
        let engine = environment.declared("TAX_ENGINE")?;
        let Some(country) = environment.declared("TAX_COUNTRY")? else {
            return match engine {
                None => Ok(Self::default()),
                Some(_) => {
                    Err(Misconfigured::Invalid("TAX_ENGINE needs TAX_COUNTRY, the country of the shop".to_owned()))
                }
            };
        };
        let country = Country::try_from(country.to_owned());
        let country = country.map_err(|invalid| Misconfigured::Invalid(format!("TAX_COUNTRY: {invalid}")))?;
        let by = if engine.is_some() { TaxedBy::Engine } else { TaxedBy::Rates };
        Ok(Self(Some(Taxed { country, prices, by })))
    }
}
