//! The shop's settings on which its orders depend: environment variables.

use std::num::NonZeroU32;

use key_schema::entity::{CustomerStats, Prices, Rejection};
use key_schema::value::{Country, InvoiceSeries, OrderId, Zone};
use lambda::{Environment, FromEnvironment, Misconfigured};
use table::{ProductShards, StatusShards};

/// The settings that placing an order depends on.
#[derive(Clone, Debug)]
pub struct PlacingSettings {
    pub status_shards: StatusShards,
    pub product_shards: ProductShards,
    pub max_open_units: MaxOpenUnits,
    pub guest_share: GuestShare,
    pub tax_rules: TaxRules,
    pub numbering: Numbering,
}

impl PlacingSettings {
    /// The settings of a function that places orders of customers. It lets guests hold nothing.
    pub(crate) fn of_customers(environment: &Environment) -> Result<Self, Misconfigured> {
        Self::of(environment, MaxOpenUnits::from_environment(environment)?, GuestShare { percent: 0 })
    }

    /// The settings of a function that places orders of guests: the variable `MAX_GUEST_UNITS` is their `MAX_OPEN_UNITS`.
    pub(crate) fn of_guests(environment: &Environment) -> Result<Self, Misconfigured> {
        let max_open_units = MaxOpenUnits::new(environment.number("MAX_GUEST_UNITS", 0..=1_000_000)?);
        Self::of(environment, max_open_units, GuestShare { percent: environment.number("GUEST_SHARE", 1..=100)? })
    }

    fn of(
        environment: &Environment,
        max_open_units: MaxOpenUnits,
        guest_share: GuestShare,
    ) -> Result<Self, Misconfigured> {
        Ok(Self {
            status_shards: StatusShards::from_environment(environment)?,
            product_shards: ProductShards::from_environment(environment)?,
            max_open_units,
            guest_share,
            tax_rules: TaxRules::from_environment(environment)?,
            numbering: Numbering::from_environment(environment)?,
        })
    }
}

/// The most open units that a customer may have: units in orders that reserve stock and wait for payment. The variable
/// `MAX_OPEN_UNITS`; 0 is no cap.
///
/// The number of open units is counted from the table's stream, so it lags behind by a fraction of a second: orders that
/// a customer places within that time do not count against each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MaxOpenUnits(Option<NonZeroU32>);

impl MaxOpenUnits {
    /// A cap, or none if `units` is 0.
    pub const fn new(units: u32) -> Self {
        Self(NonZeroU32::new(units))
    }

    /// Whether there is a cap.
    pub(crate) const fn is_on(self) -> bool {
        self.0.is_some()
    }

    /// Whether a customer with these stats may place an order of so many units that waits for payment.
    pub(crate) fn admits(self, units: u32, stats: Option<&CustomerStats>) -> Result<(), Rejection> {
        let Some(allowed) = self.0 else { return Ok(()) };
        // A counter is negative for a moment if a payment is counted before its order.
        let open = stats.and_then(|stats| u64::try_from(stats.open_units).ok()).unwrap_or_default();
        let allowed = u64::from(allowed.get());
        if open.saturating_add(units.into()) > allowed { Err(Rejection::OpenUnits { open, allowed }) } else { Ok(()) }
    }
}

impl FromEnvironment for MaxOpenUnits {
    fn from_environment(environment: &Environment) -> Result<Self, Misconfigured> {
        environment.number("MAX_OPEN_UNITS", 0..=1_000_000).map(Self::new)
    }
}

/// The share of a product's units, and of a code's uses, that the unpaid orders of all guests may hold: the variable
/// `GUEST_SHARE`, in percent. An identity of a guest costs nothing, so the share bounds them all together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GuestShare {
    pub percent: u8,
}

impl GuestShare {
    /// What guests may hold in all, if they hold `held` and `free` is left: rounded up, so that one of one is theirs.
    pub(crate) fn of(self, free: i64, held: i64) -> i64 {
        let all = i128::from(free.max(0)) + i128::from(held.max(0));
        let share = (all * i128::from(self.percent) + 99) / 100;
        i64::try_from(share).unwrap_or(i64::MAX)
    }
}

/// Whether the shop takes orders of guests: the variable `GUESTS`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Guests(pub bool);

impl FromEnvironment for Guests {
    fn from_environment(environment: &Environment) -> Result<Self, Misconfigured> {
        environment.boolean("GUESTS").map(Self)
    }
}

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
    pub(crate) by: TaxedBy,
}

/// Who computes the taxes of an order.
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
        let prices = if environment.boolean("PRICES_INCLUDE_TAX")? { Prices::IncludeTax } else { Prices::ExcludeTax };
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

/// The series that gives invoices their numbers: the variable `INVOICE_SERIES`. Without one, invoices get no numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Numbering(Option<InvoiceSeries>);

impl Numbering {
    /// Numbers of this series.
    pub const fn of(series: InvoiceSeries) -> Self {
        Self(Some(series))
    }

    /// The series.
    pub const fn series(&self) -> Option<&InvoiceSeries> {
        self.0.as_ref()
    }

    /// The shard in which the invoice of a new order waits for its number. `None` if it gets none.
    pub(crate) fn shard_of(&self, order: &OrderId, shards: StatusShards) -> Option<u8> {
        self.0.as_ref().map(|_| order.spread(shards.0))
    }
}

impl FromEnvironment for Numbering {
    fn from_environment(environment: &Environment) -> Result<Self, Misconfigured> {
        let Some(series) = environment.declared("INVOICE_SERIES")? else { return Ok(Self::default()) };
        let series = series.parse();
        Ok(Self(Some(series.map_err(|invalid| Misconfigured::Invalid(format!("INVOICE_SERIES: {invalid}")))?)))
    }
}

/// The days for which an order that is paid later may stay unpaid and reserve its stock. The variable `PAY_LATER_DAYS`;
/// with 0 the shop takes no such orders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PayLater {
    pub days: u32,
}

impl PayLater {
    /// Whether the shop takes orders that are paid later.
    pub const fn is_offered(self) -> bool {
        self.days > 0
    }

    /// The days for which an order keeps its stock after its payment lapsed. The customer is no longer in the shop, and
    /// needs days to read the news. So if the shop takes no orders that are paid later, the time is still three days.
    pub const fn days_after_lapse(self) -> u32 {
        if self.is_offered() { self.days } else { 3 }
    }
}

impl FromEnvironment for PayLater {
    fn from_environment(environment: &Environment) -> Result<Self, Misconfigured> {
        Ok(Self { days: environment.number("PAY_LATER_DAYS", 0..=365)? })
    }
}

/// The time at which an authorized payment is captured: the variable `CAPTURE_WHEN`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CaptureWhen {
    /// When the order is shipped (`SHIPPED`).
    Shipped,
    /// When staff ask for it (`DEMAND`).
    Demanded,
}

impl FromEnvironment for CaptureWhen {
    fn from_environment(environment: &Environment) -> Result<Self, Misconfigured> {
        match environment.required("CAPTURE_WHEN")? {
            "SHIPPED" => Ok(Self::Shipped),
            "DEMAND" => Ok(Self::Demanded),
            other => Err(Misconfigured::Invalid(format!("CAPTURE_WHEN must be SHIPPED or DEMAND, not {other:?}"))),
        }
    }
}

/// The period in which a customer may request a return.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Withdrawal {
    /// The number of days after delivery: the variable `WITHDRAWAL_DAYS`.
    pub days: u16,
    /// The zone in which days end: the variable `TIME_ZONE`.
    pub zone: Zone,
}

impl FromEnvironment for Withdrawal {
    fn from_environment(environment: &Environment) -> Result<Self, Misconfigured> {
        Ok(Self { days: environment.number("WITHDRAWAL_DAYS", 0..=3_650)?, zone: environment.parsed("TIME_ZONE")? })
    }
}

/// Whether a customer who returns the whole order has the price of shipping back: the variable `RETURN_SHIPPING`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReturnShipping(pub bool);

impl FromEnvironment for ReturnShipping {
    fn from_environment(environment: &Environment) -> Result<Self, Misconfigured> {
        environment.boolean("RETURN_SHIPPING").map(Self)
    }
}
