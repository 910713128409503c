//! What capacity costs: by request, or by the hour.

use rust_decimal::Decimal;

use super::prices::TableClassPrices;

/// Units of a month, in one place: the table or one of its indexes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
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

/// How capacity is provisioned.
#[derive(Debug, Clone, Copy)]
pub struct Provisioning {
    /// How much of the capacity is in use on average: above 0 and at most 1.
    pub utilization: Decimal,
    /// At least so many units a second in each place.
    pub least: Units,
    /// How many hours a month has.
    pub hours: Decimal,
}

const SECONDS_PER_HOUR: Decimal = Decimal::from_parts(3600, 0, 0, false, 0);

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

/// By the hour. Each place has a capacity of its own, in whole units a second.
pub fn provisioned(places: &[Units], prices: &TableClassPrices, how: Provisioning) -> Provisioned {
    let unit_hours = |units: Decimal, least: Decimal| {
        let a_second = units / (how.hours * SECONDS_PER_HOUR) / how.utilization;
        a_second.ceil().max(least) * how.hours
    };
    let unit_hours = Units {
        read: places.iter().map(|units| unit_hours(units.read, how.least.read)).sum(),
        write: places.iter().map(|units| unit_hours(units.write, how.least.write)).sum(),
    };
    let reads = prices.read_unit_hour.of(unit_hours.read);
    Provisioned { unit_hours, cost: Cost { reads, writes: prices.write_unit_hour.of(unit_hours.write) } }
}

/// The utilization at which both modes cost the same, `besides` being what only the provisioned one costs whatever is in
/// use. Above it, capacity by the hour is the cheaper one. `None` if no utilization reaches it: what is paid besides is
/// more than all requests cost.
///
/// Whole units and least capacities are left out. They matter where there is little to pay.
pub fn break_even(places: &[Units], prices: &TableClassPrices, besides: Decimal) -> Option<Decimal> {
    let total = |which: fn(&Units) -> Decimal| -> Decimal { places.iter().map(which).sum() };
    let (read, write) = (total(|units| units.read), total(|units| units.write));
    let in_full_use =
        prices.read_unit_hour.of(read / SECONDS_PER_HOUR) + prices.write_unit_hour.of(write / SECONDS_PER_HOUR);
    let left = on_demand(places, prices).sum() - besides;
    (left > Decimal::ZERO).then(|| in_full_use / left).filter(|utilization| *utilization <= Decimal::ONE)
}
