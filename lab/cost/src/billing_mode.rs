//! The cost of on-demand and provisioned capacity.

use rust_decimal::Decimal;

use super::prices::TableClassPrices;

/// A month's units of the table or of one index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Units {
    pub read: Decimal,
    pub write: Decimal,
}

/// The cost of reads and writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cost {
    pub reads: Decimal,
    pub writes: Decimal,
}

/// Provisioned capacity and its cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Provisioned {
    /// Units a second, multiplied by hours.
    pub unit_hours: Units,
    pub cost: Cost,
}

impl Cost {
    pub fn sum(self) -> Decimal {
        self.reads + self.writes
    }
}

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
