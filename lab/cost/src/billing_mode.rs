//! The cost of on-demand and provisioned capacity.

use rust_decimal::Decimal;
use serde::Serialize;

use super::month::SECONDS_PER_HOUR;
use super::prices::TableClassPrices;

/// A month's units of the table or of one index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Units {
    /// Read units.
    pub read: Decimal,
    /// Write units.
    pub write: Decimal,
}

/// The cost of reads and writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cost {
    /// In dollars.
    pub reads: Decimal,
    /// In dollars.
    pub writes: Decimal,
}

/// Provisioned capacity and its cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Provisioned {
    /// Units a second, multiplied by hours.
    pub unit_hours: Units,
    /// The cost.
    pub cost: Cost,
}

impl Cost {
    /// The sum of both.
    pub fn sum(self) -> Decimal {
        self.reads + self.writes
    }
}

/// The cost on demand.
pub fn on_demand(places: &[Units], prices: &TableClassPrices) -> Cost {
    Cost {
        reads: prices.read_request.of(places.iter().map(|units| units.read).sum()),
        writes: prices.write_request.of(places.iter().map(|units| units.write).sum()),
    }
}

/// The cost of provisioned capacity: these units a second for the table and each index, rounded up, and at least the
/// minimum.
pub fn provisioned(a_second: &[Units], least: Units, hours: Decimal, prices: &TableClassPrices) -> Provisioned {
    let unit_hours = |of: fn(&Units) -> Decimal| -> Decimal {
        a_second.iter().map(|units| of(units).ceil().max(of(&least)) * hours).sum()
    };
    let unit_hours = Units { read: unit_hours(|units| units.read), write: unit_hours(|units| units.write) };
    let reads = prices.read_unit_hour.of(unit_hours.read);
    Provisioned { unit_hours, cost: Cost { reads, writes: prices.write_unit_hour.of(unit_hours.write) } }
}

/// The cost of a month's units if provisioned capacity were always fully used.
pub fn never_idle(places: &[Units], prices: &TableClassPrices) -> Decimal {
    let hours = |of: fn(&Units) -> Decimal| -> Decimal { places.iter().map(of).sum::<Decimal>() / SECONDS_PER_HOUR };
    prices.read_unit_hour.of(hours(|units| units.read)) + prices.write_unit_hour.of(hours(|units| units.write))
}

/// The utilization at which both modes cost the same. Above it, provisioned capacity is cheaper. `besides` is the fixed
/// cost of provisioned mode. `None` if that is more than provisioned capacity can save.
///
/// Rounding to whole units and minimum capacities are ignored. They only matter for small bills.
pub fn break_even(places: &[Units], prices: &TableClassPrices, besides: Decimal) -> Option<Decimal> {
    let left = on_demand(places, prices).sum() - besides;
    let utilization = (left > Decimal::ZERO).then(|| never_idle(places, prices) / left);
    utilization.filter(|utilization| *utilization <= Decimal::ONE)
}
