//! The throughput of partitions. Each partition key has a partition of its own, as after all splits for heat.

use std::collections::HashMap;

use tokio::time::Instant;

const WRITE_UNITS: f64 = 1_000.0;
const READ_UNITS: f64 = 3_000.0;

/// What is used of each partition.
#[derive(Debug, Default)]
pub(super) struct Partitions {
    writes: HashMap<String, Bucket>,
    reads: HashMap<String, Bucket>,
}

/// The units that are left for now: at most those of one second.
#[derive(Debug)]
struct Bucket {
    left: f64,
    at: Instant,
}

impl Partitions {
    /// Takes read units of this partition, unless none are left.
    pub(super) fn read(&mut self, partition: &str, units: f64) -> bool {
        take(&mut self.reads, READ_UNITS, partition, units)
    }

    /// Takes write units of this partition, unless none are left.
    pub(super) fn write(&mut self, partition: &str, units: f64) -> bool {
        take(&mut self.writes, WRITE_UNITS, partition, units)
    }
}

fn take(buckets: &mut HashMap<String, Bucket>, rate: f64, partition: &str, units: f64) -> bool {
    let now = Instant::now();
    let bucket = buckets.entry(partition.to_owned()).or_insert(Bucket { left: rate, at: now });
    bucket.left = (bucket.left + rate * (now - bucket.at).as_secs_f64()).min(rate);
    bucket.at = now;
    if bucket.left <= 0.0 {
        return false;
    }
    bucket.left -= units;
    true
}
