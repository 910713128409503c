//! DynamoDB's limits of partitions and its rules of splitting. Its charges are in [`capacity`].

/// The write units a second of one partition, of the table or of an index.
/// <https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/bp-partition-key-design.html>
pub(super) const WRITE_UNITS: f64 = 1_000.0;

/// The read units a second of one partition. Reads and writes are throttled separately.
/// <https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/throttling-key-range-limit-exceeded-mitigation.html>
pub(super) const READ_UNITS: f64 = 3_000.0;

/// The initial partitions of a new on-demand table and of each index: 4,000 write units and 12,000 read units.
/// <https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/warm-throughput-scenarios.html>
pub(super) const FIRST_PARTITIONS: u32 = 4;

/// A partition is split if it was this near to one of its limits for a whole [`TICK`]. AWS only says "near".
/// <https://aws.amazon.com/blogs/database/part-3-scaling-dynamodb-how-partitions-hot-keys-and-split-for-heat-impact-performance/>
pub(super) const HEAT: f64 = 0.9;

/// The seconds for which a partition must be hot to be split. AWS only says "sustained"; its own measurements show
/// splits after minutes.
pub(super) const TICK: f64 = 60.0;
