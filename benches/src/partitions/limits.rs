//! What DynamoDB gives, and what it does when that is not enough. What it charges is the business of [`capacity`].

/// Write units a second that one partition takes, of the table or of an index.
/// <https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/bp-partition-key-design.html>
pub(super) const WRITE_UNITS: f64 = 1_000.0;

/// Read units a second that one partition gives. Reads and writes are throttled apart.
/// <https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/throttling-key-range-limit-exceeded-mitigation.html>
pub(super) const READ_UNITS: f64 = 3_000.0;

/// The partitions that a new on-demand table, and each of its indexes, begins with: 4,000 write units and 12,000 read
/// units.
/// <https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/warm-throughput-scenarios.html>
pub(super) const FIRST_PARTITIONS: u32 = 4;

/// A partition is split that was this near to one of its limits for a whole [`TICK`]. AWS says "near", and no number.
/// <https://aws.amazon.com/blogs/database/part-3-scaling-dynamodb-how-partitions-hot-keys-and-split-for-heat-impact-performance/>
pub(super) const HEAT: f64 = 0.9;

/// For so many seconds a partition must be hot to be split. AWS says "sustained", and no number: its own measurements
/// show splits after minutes.
pub(super) const TICK: f64 = 60.0;
