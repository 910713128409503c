//! The capacity that writes and reads consume, as DynamoDB reports it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use aws_sdk_dynamodb::types::{Capacity, ConsumedCapacity};

/// Write units, separately for the table and each index.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WriteUnits {
    /// The units of the table.
    pub table: f64,
    /// The units of each index, by its name.
    pub indexes: BTreeMap<String, f64>,
}

/// Adds up the write units that a [`Writer`](crate::Writer) consumes. Clones share one sum.
#[derive(Clone, Debug, Default)]
pub struct Meter(Arc<Mutex<WriteUnits>>);

impl WriteUnits {
    /// The greater of the two, separately for the table and each index.
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
    /// The units consumed since the last call.
    pub fn take(&self) -> WriteUnits {
        std::mem::take(&mut self.sum())
    }

    /// Adds the write units that DynamoDB reports. (If a transaction that is done is sent again with the same token,
    /// DynamoDB reports read units.)
    pub(crate) fn add(&self, consumed: &ConsumedCapacity) {
        // For a single write, DynamoDB reports only a total. All of it is write units.
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

    /// Adds the least that a cancelled transaction of `writes` writes can have consumed: DynamoDB bills a cancelled
    /// transaction like a successful one, but does not report its units.
    pub(crate) fn add_cancelled(&self, writes: usize) {
        // A transaction has at most 100 writes.
        self.sum().table += 2.0 * f64::from(u8::try_from(writes).unwrap_or(u8::MAX));
    }

    fn sum(&self) -> MutexGuard<'_, WriteUnits> {
        // No code panics while it changes the sum, so a poisoned lock holds a valid sum.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Adds up the read units that a [`Reader`](crate::Reader) consumes, for the table and its indexes together. Clones
/// share one sum.
#[derive(Clone, Debug, Default)]
pub struct ReadMeter(Arc<Mutex<f64>>);

impl ReadMeter {
    /// The units consumed since the last call.
    pub fn take(&self) -> f64 {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(crate) fn add(&self, consumed: &[ConsumedCapacity]) {
        let units: f64 = consumed.iter().filter_map(ConsumedCapacity::capacity_units).sum();
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) += units;
    }
}
