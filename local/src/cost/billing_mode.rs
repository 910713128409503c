//! What capacity costs: by request, or by the hour.

use rust_decimal::Decimal;
use serde::Serialize;

use super::month::SECONDS_PER_HOUR;
use super::prices::TableClassPrices;

/// Units of a month, in one place: the table or one of its indexes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Units {
    /// To read.
    pub read: Decimal,
    /// To write.
    pub write: Decimal,
}

/// What reads and writes cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cost {
    /// In dollars.
    pub reads: Decimal,
    /// In dollars.
    pub writes: Decimal,
}

/// What is provisioned, and what it costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Provisioned {
    /// Units a second, times the hours for which they are there.
    pub unit_hours: Units,
    /// What they cost.
    pub cost: Cost,
}

impl Cost {
    /// Both.
    pub fn sum(self) -> Decimal {
        self.reads + self.writes
    }
}

/// By request.
pub fn on_demand(places: &[Units], prices: &TableClassPrices) -> Cost {
    Cost {
        reads: prices.read_request.of(places.iter().map(|units| units.read).sum()),
        writes: prices.write_request.of(places.iter().map(|units| units.write).sum()),
    }
}

/// By the hour: so many units a second in each place, but at least so many, and whole ones.
pub fn provisioned(a_second: &[Units], least: Units, hours: Decimal, prices: &TableClassPrices) -> Provisioned {
    let unit_hours = |of: fn(&Units) -> Decimal| -> Decimal {
        a_second.iter().map(|units| of(units).ceil().max(of(&least)) * hours).sum()
    };
    let unit_hours = Units { read: unit_hours(|units| units.read), write: unit_hours(|units| units.write) };
    let reads = prices.read_unit_hour.of(unit_hours.read);
    Provisioned { unit_hours, cost: Cost { reads, writes: prices.write_unit_hour.of(unit_hours.write) } }
}

/// What a month's units would cost by the hour if no provisioned unit were ever idle.
pub fn never_idle(places: &[Units], prices: &TableClassPrices) -> Decimal {
    let hours = |of: fn(&Units) -> Decimal| -> Decimal { places.iter().map(of).sum::<Decimal>() / SECONDS_PER_HOUR };
    prices.read_unit_hour.of(hours(|units| units.read)) + prices.write_unit_hour.of(hours(|units| units.write))
}

/// The utilization at which both modes cost the same, `besides` being what only the provisioned one costs whatever is
/// in use. Above it, capacity by the hour is the cheaper one. `None` if no utilization reaches it: what is paid besides
/// is more than requests leave to be saved.
///
/// Whole units and least capacities are left out. They matter where there is little to pay.
pub fn break_even(places: &[Units], prices: &TableClassPrices, besides: Decimal) -> Option<Decimal> {
    let left = on_demand(places, prices).sum() - besides;
    let utilization = (left > Decimal::ZERO).then(|| never_idle(places, prices) / left);
    utilization.filter(|utilization| *utilization <= Decimal::ONE)
}
