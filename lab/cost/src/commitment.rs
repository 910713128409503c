//! What a commitment of one year saves.
//!
//! A commitment is paid for in each hour, used or not. So it is for the load of the quietest hours, which the profile
//! states, and for the work that goes on all the time. What is beyond that is paid for as before.

use rust_decimal::{Decimal, dec};
use serde::Serialize;

use super::bill::{Class, Mode, Payer, to_the_cent};
use super::billing_mode::on_demand;
use super::prices::Reserved;
use super::share;

/// Reserved capacity is sold in blocks of this many units.
const BLOCK: Decimal = dec!(100);

/// The months of the term.
const MONTHS: Decimal = dec!(12);

/// A billing mode with commitments for a year. The table has the standard class: reserved capacity is for no other.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Commitment {
    /// The billing mode.
    pub mode: Mode,
    /// What the commitment for the table saves in a month: a Database Savings Plan on demand, reserved capacity if the
    /// capacity is provisioned.
    pub saved_on_table: Decimal,
    /// What a Compute Savings Plan saves on the duration of functions.
    pub saved_on_functions: Decimal,
    /// The total of the bill with both.
    pub total: Decimal,
}

impl Payer<'_> {
    /// The commitments with this billing mode. `total` is the bill without them.
    pub(super) fn committed(&self, mode: Mode, total: Decimal) -> Commitment {
        let saved_on_table = to_the_cent(self.saved_on_table(mode));
        let saved_on_functions = to_the_cent(self.saved_on_functions());
        Commitment { mode, saved_on_table, saved_on_functions, total: total - saved_on_table - saved_on_functions }
    }

    fn saved_on_table(&self, mode: Mode) -> Decimal {
        let prices = self.class(Class::Standard);
        let [all, steady] = [self.usage.places(), self.usage.steady()].map(|units| on_demand(&units.0, prices));
        let commitments = &self.prices.commitments;
        let is_always_there = |of_all: Decimal, of_steady: Decimal| {
            let steady = share(of_steady, of_all).unwrap_or_default();
            steady + (Decimal::ONE - steady) * self.profile.quietest_to_mean
        };
        let (reads, writes) = (is_always_there(all.reads, steady.reads), is_always_there(all.writes, steady.writes));
        let hours = self.prices.month.hours();
        let provisioned = self.provisioned(mode, prices).unit_hours;
        let (read_units, write_units) = (provisioned.read / hours, provisioned.write / hours);
        let list = (prices.read_unit_hour.of(hours), prices.write_unit_hour.of(hours));
        match mode {
            Mode::OnDemand => commitments.database_plan_on_demand.off() * (all.reads * reads + all.writes * writes),
            // Autoscaling provisions less in quiet hours.
            Mode::Autoscaled => {
                commitments.reserved_reads.saves(read_units * reads, list.0, hours)
                    + commitments.reserved_writes.saves(write_units * writes, list.1, hours)
            }
            Mode::ForThePeak => {
                commitments.reserved_reads.saves(read_units, list.0, hours)
                    + commitments.reserved_writes.saves(write_units, list.1, hours)
            }
        }
    }

    fn saved_on_functions(&self) -> Decimal {
        let lambda = &self.prices.lambda;
        let price = if self.deployment.is_arm { &lambda.arm64_gb_second } else { &lambda.x86_64_gb_second };
        let (all, steady) = (self.usage.gb_seconds(), self.usage.steady_gb_seconds());
        let always_there = steady + (all - steady) * self.profile.quietest_to_mean;
        self.prices.commitments.compute_plan_duration.off() * price.of(always_there)
    }
}

impl Reserved {
    /// What reserving saves in a month: whole blocks, of the units that are provisioned in each hour. `list` is the price
    /// of one unit in a month without reservation.
    fn saves(&self, units: Decimal, list: Decimal, hours: Decimal) -> Decimal {
        let blocks = (units / BLOCK).floor();
        let block = self.upfront.of(BLOCK) / MONTHS + self.hour.of(BLOCK) * hours;
        (blocks * (BLOCK * list - block)).max(Decimal::ZERO)
    }
}
