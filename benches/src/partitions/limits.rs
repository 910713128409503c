//! What DynamoDB gives, and what a write takes. The only figures here that are not the shop's own.

/// Write units a second that one partition takes, of the table or of an index.
/// <https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/bp-partition-key-design.html>
pub(super) const WRITE_UNITS: f64 = 1_000.0;

/// Read units a second that one partition gives. Reads and writes are throttled apart.
/// <https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/throttling-key-range-limit-exceeded-mitigation.html>
pub(super) const READ_UNITS: f64 = 3_000.0;

/// The partitions that a new on-demand table, and each of its indexes, begins with: 4,000 write units and 12,000 read units.
/// <https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/warm-throughput-scenarios.html>
pub(super) const FIRST_PARTITIONS: u32 = 4;

/// A partition is split that was this near to one of its limits for a whole [`TICK`]. AWS says "near", and no number.
/// <https://aws.amazon.com/blogs/database/part-3-scaling-dynamodb-how-partitions-hot-keys-and-split-for-heat-impact-performance/>
pub(super) const HEAT: f64 = 0.9;

/// For so many seconds a partition must be hot to be split. AWS says "sustained", and no number: its own measurements show
/// splits after minutes.
pub(super) const TICK: f64 = 60.0;

/// Writing an item of up to 1 KB in a transaction. `tests/suite/capacity.rs` holds these three against what is consumed.
/// <https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/CapacityUnitCalculations.html>
pub(super) const TRANSACTIONAL: f64 = 2.0;

/// Writing an item of up to 1 KB by itself, or an index's entry of one.
pub(super) const PLAIN: f64 = 1.0;

/// Reading up to 4 KB, eventually consistent.
pub(super) const EVENTUAL: f64 = 0.5;
