//! Units of the table and of each index.

use std::ops::{Add, AddAssign, Mul, Sub};

use anyhow::{Context, Result};
use rust_decimal::Decimal;

/// Units of the table or of one index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Units {
    pub read: Decimal,
    pub write: Decimal,
}

/// Units of the table and of each index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct UnitsByIndex(pub [Units; 3]);

impl UnitsByIndex {
    pub(super) fn of(charge: &capacity::Charge) -> Result<Self> {
        let units = |read, write| Ok::<_, anyhow::Error>(Units { read: exact(read)?, write: exact(write)? });
        Ok(Self([
            units(charge.read.table, charge.write.table)?,
            units(charge.read.gsi1, charge.write.gsi1)?,
            units(charge.read.gsi2, charge.write.gsi2)?,
        ]))
    }

    /// Read units of the table and each index.
    pub(super) fn reading(read: [Decimal; 3]) -> Self {
        Self(read.map(|read| Units { read, write: Decimal::ZERO }))
    }

    pub fn read(&self) -> Decimal {
        self.0.iter().map(|units| units.read).sum()
    }

    pub fn write(&self) -> Decimal {
        self.0.iter().map(|units| units.write).sum()
    }

    pub(super) fn is_read_only(&self) -> bool {
        self.write().is_zero()
    }

    pub(super) fn reads(self) -> Self {
        Self::reading(self.0.map(|units| units.read))
    }
}

/// Converts a number of units. The ledger counts in halves, which are exact as floats and as decimals.
pub(super) fn exact(number: f64) -> Result<Decimal> {
    Decimal::try_from(number).with_context(|| format!("{number} is no number of units"))
}

impl Mul<Decimal> for UnitsByIndex {
    type Output = Self;

    fn mul(self, times: Decimal) -> Self {
        Self(self.0.map(|units| Units { read: units.read * times, write: units.write * times }))
    }
}

impl Add for UnitsByIndex {
    type Output = Self;

    fn add(mut self, other: Self) -> Self {
        self += other;
        self
    }
}

impl Sub for UnitsByIndex {
    type Output = Self;

    fn sub(mut self, other: Self) -> Self {
        self += other * -Decimal::ONE;
        self
    }
}

impl AddAssign for UnitsByIndex {
    fn add_assign(&mut self, other: Self) {
        for (units, more) in self.0.iter_mut().zip(other.0) {
            units.read += more.read;
            units.write += more.write;
        }
    }
}
