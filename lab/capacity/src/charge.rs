//! Charges and their sums.

use std::iter::Sum;
use std::ops::{Add, AddAssign, Mul};

use key_schema::layout::Index;

/// Capacity units, or bytes, of the table and of each index.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Units {
    pub table: f64,
    pub gsi1: f64,
    pub gsi2: f64,
}

/// The charge of an operation.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Charge {
    /// Requests to DynamoDB. They are not billed, but each adds latency.
    pub requests: f64,
    pub read: Units,
    pub write: Units,
}

impl Units {
    /// Units of the table or of one index alone.
    pub fn of(index: Index, units: f64) -> Self {
        let mut all = Self::default();
        *match index {
            Index::Table => &mut all.table,
            Index::Gsi1 => &mut all.gsi1,
            Index::Gsi2 => &mut all.gsi2,
        } = units;
        all
    }

    /// The sum over the table and its indexes.
    pub fn total(&self) -> f64 {
        self.table + self.gsi1 + self.gsi2
    }
}

impl Add for Units {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self { table: self.table + other.table, gsi1: self.gsi1 + other.gsi1, gsi2: self.gsi2 + other.gsi2 }
    }
}

impl Mul<f64> for Units {
    type Output = Self;

    fn mul(self, times: f64) -> Self {
        Self { table: self.table * times, gsi1: self.gsi1 * times, gsi2: self.gsi2 * times }
    }
}

impl Add for Charge {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self { requests: self.requests + other.requests, read: self.read + other.read, write: self.write + other.write }
    }
}

impl Mul<f64> for Charge {
    type Output = Self;

    fn mul(self, times: f64) -> Self {
        Self { requests: self.requests * times, read: self.read * times, write: self.write * times }
    }
}

macro_rules! sums {
    ($($sum:ident)+) => {$(
        impl AddAssign for $sum {
            fn add_assign(&mut self, other: Self) {
                *self = *self + other;
            }
        }

        impl Sum for $sum {
            fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
                all.fold(Self::default(), Add::add)
            }
        }
    )+};
}

sums!(Units Charge);
