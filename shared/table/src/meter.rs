//! What writing and reading consume, as DynamoDB reports it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use aws_sdk_dynamodb::types::{Capacity, ConsumedCapacity};

/// Write units, of the table and of each index apart.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WriteUnits {
    /// Of the table.
    pub table: f64,
    /// Of each index, by its name.
    pub indexes: BTreeMap<String, f64>,
}

/// Adds up the write units that a [`Writer`](crate::Writer) consumes. Copies share one sum.
#[derive(Clone, Debug, Default)]
pub struct Meter(Arc<Mutex<WriteUnits>>);

impl WriteUnits {
    /// Of the table and of each index, the greater of the two.
    #[must_use]
    pub fn max(mut self, other: &Self) -> Self {
        self.table = self.table.max(other.table);
        for (index, units) in &other.indexes {
            let own = self.indexes.entry(index.clone()).or_default();
            *own = own.max(*units);
        }
        self
    }
}

impl Meter {
    /// What was consumed since the last time of asking.
    pub fn take(&self) -> WriteUnits {
        std::mem::take(&mut self.sum())
    }

    /// Adds what was consumed, as far as it is write units. A transaction that is sent again with its token reads.
    pub(crate) fn add(&self, consumed: &ConsumedCapacity) {
        // Of a single write, all units are write units, and DynamoDB does not say so.
        let of = |capacity: &Capacity| match (capacity.write_capacity_units, capacity.read_capacity_units) {
            (None, None) => capacity.capacity_units.unwrap_or_default(),
            (written, _) => written.unwrap_or_default(),
        };
        let mut sum = self.sum();
        sum.table += consumed.table().map(of).unwrap_or_default();
        for (index, capacity) in consumed.global_secondary_indexes().into_iter().flatten() {
            *sum.indexes.entry(index.clone()).or_default() += of(capacity);
        }
    }

    /// Adds what a cancelled transaction of so many writes consumed at the least. DynamoDB does not report it, and
    /// bills it like one that succeeded.
    pub(crate) fn add_cancelled(&self, writes: usize) {
        // At most 100.
        self.sum().table += 2.0 * f64::from(u8::try_from(writes).unwrap_or(u8::MAX));
    }

    fn sum(&self) -> MutexGuard<'_, WriteUnits> {
        // A sum is never half written.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Adds up the read units that a [`Reader`](crate::Reader) consumes, of the table and its indexes together. Copies
/// share one sum.
#[derive(Clone, Debug, Default)]
pub struct ReadMeter(Arc<Mutex<f64>>);

impl ReadMeter {
    /// What was consumed since the last time of asking.
    pub fn take(&self) -> f64 {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(crate) fn add(&self, consumed: &[ConsumedCapacity]) {
        let units: f64 = consumed.iter().filter_map(ConsumedCapacity::capacity_units).sum();
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) += units;
    }
}
