//! Metrics of shops with problems, and of healthy shops.

use super::evaluation::METRIC;

/// A situation that lasts for some periods in an otherwise healthy shop.
pub struct Trouble {
    pub alarm: &'static str,
    pub situation: &'static str,
    /// The values of the alarm's metrics meanwhile, by id. `None` if there is no data.
    pub metrics: &'static [(&'static str, Option<f64>)],
    pub periods: usize,
    pub goes_off: bool,
}

type Metrics = &'static [(&'static str, Option<f64>)];

const fn alarms(alarm: &'static str, situation: &'static str, periods: usize, metrics: Metrics) -> Trouble {
    Trouble { alarm, situation, metrics, periods, goes_off: true }
}

const fn is_quiet(alarm: &'static str, situation: &'static str, periods: usize, metrics: Metrics) -> Trouble {
    Trouble { alarm, situation, metrics, periods, goes_off: false }
}

/// Healthy shops: the value of a metric in each period, if there is data.
pub const CALM: &[(&str, Shop)] =
    &[("an ordinary day", ordinary), ("a quiet night", quiet), ("no requests for days", deserted)];

/// The value of a metric in a period, by the alarm and the metric's name.
pub type Shop = fn(&str, &str) -> Option<f64>;

pub fn ordinary(_: &str, metric: &str) -> Option<f64> {
    match metric {
        "Count" => Some(4000.0),
        "Invocations" => Some(300.0),
        "Latency" => Some(400.0),
        "UnreservedConcurrentExecutions" | "ClaimedAccountConcurrency" | "4xx" => Some(60.0),
        "NumberOfMessagesReceived" => Some(20.0),
        "LongestWait" | "OldestRepair" | "OldestParkedCounts" => Some(40.0),
        "ComparedUpToAge" => Some(90_000.0),
        "IteratorAge" => Some(900.0),
        // A failed request in 4,000, and a run a day.
        "5xx" | "ExecutionsSucceeded" => Some(1.0),
        "ApproximateNumberOfMessagesVisible"
        | "Errors"
        | "Throttles"
        | "DrainDenied"
        | "CountersDrifted"
        | "ExpiriesFailed"
        | "PaymentsFailed"
        | "RepairsFailed"
        | "ExecutionsFailed"
        | "ApproximateAgeOfOldestMessage" => Some(0.0),
        "PaymentMismatches" | "RequestsThrottled" => None,
        jobs if jobs.starts_with("NumberOfBackupJobs") => None,
        throttles if throttles.ends_with("ThrottleEvents") => None,
        other => panic!("how much is {other} on an ordinary day?"),
    }
}

/// A few requests without orders. Queues are empty and report that.
fn quiet(alarm: &str, metric: &str) -> Option<f64> {
    match metric {
        "Count" => Some(3.0),
        // One request begins with a cold start, and two are refused.
        "Latency" => Some(3500.0),
        "4xx" => Some(2.0),
        "UnreservedConcurrentExecutions" | "ClaimedAccountConcurrency" => Some(1.0),
        "5xx" | "Throttles" | "ApproximateNumberOfMessagesVisible" | "NumberOfMessagesReceived" => Some(0.0),
        _ => deserted(alarm, metric),
    }
}

/// An unused queue reports no metrics after six hours. Only the comparison of counts, the expiry of orders, the settlement
/// of payments, repairs, exports and the deletion of images have a schedule.
fn deserted(alarm: &str, metric: &str) -> Option<f64> {
    if alarm == "ExportsStandStill" || (alarm, metric) == ("TidyingFails", "Invocations") {
        return Some(1.0);
    }
    if metric == "ComparedUpToAge" {
        return ordinary(alarm, metric);
    }
    ([
        "ComparisonFails",
        "CountsStayParked",
        "ExpiriesFail",
        "NumberingFails",
        "PaymentsFail",
        "RepairsFail",
        "RepairsAreLate",
        "TidyingFails",
    ]
    .contains(&alarm)
        && ["Errors", "ExpiriesFailed", "PaymentsFailed", "RepairsFailed", "OldestRepair", "OldestParkedCounts"]
            .contains(&metric))
    .then_some(0.0)
}

pub const TROUBLES: &[Trouble] = &[
    alarms("RequestsFail", "2 % of many requests fail", 2, &[("requests", Some(5000.0)), ("failures", Some(100.0))]),
    alarms("RequestsFail", "few requests, most of which fail", 2, &[("requests", Some(8.0)), ("failures", Some(5.0))]),
    is_quiet("RequestsFail", "one request of three fails", 3, &[("requests", Some(3.0)), ("failures", Some(1.0))]),
    is_quiet("RequestsFail", "all fail for five minutes", 1, &[("failures", Some(4000.0))]),
    alarms("RequestsAreSlow", "a table that is throttled", 3, &[("requests", Some(900.0)), ("latency", Some(6000.0))]),
    is_quiet(
        "RequestsAreSlow",
        "two cold starts of three requests",
        9,
        &[("requests", Some(3.0)), ("latency", Some(6000.0))],
    ),
    is_quiet("RequestsAreSlow", "new environments for a rush", 2, &[("latency", Some(4000.0))]),
    alarms("RequestsAreThrottled", "a rush", 2, &[("requests", Some(9000.0)), ("throttled", Some(500.0))]),
    is_quiet("RequestsAreThrottled", "a page that loads too much at once", 9, &[("throttled", Some(20.0))]),
    is_quiet(
        "RequestsAreThrottled",
        "few requests, half of which are throttled",
        9,
        &[("requests", Some(8.0)), ("throttled", Some(4.0))],
    ),
    alarms(
        "RequestsAreRefused",
        "the issuer's keys have changed",
        3,
        &[("requests", Some(900.0)), ("refused", Some(700.0))],
    ),
    is_quiet("RequestsAreRefused", "a robot guesses addresses for some minutes", 2, &[("refused", Some(3000.0))]),
    is_quiet(
        "RequestsAreRefused",
        "a third of the requests is about products that are gone",
        9,
        &[("refused", Some(1300.0))],
    ),
    alarms("FunctionsAreThrottled", "the account has no concurrency left", 3, &[(METRIC, Some(40.0))]),
    is_quiet("FunctionsAreThrottled", "a rush is faster than Lambda", 2, &[(METRIC, Some(400.0))]),
    alarms(
        "ConcurrencyIsNearItsLimit",
        "900 of 1,000 are in use",
        3,
        &[("shared", Some(900.0)), ("claimed", Some(900.0))],
    ),
    alarms(
        "ConcurrencyIsNearItsLimit",
        "700 are reserved, and 270 of the other 300 are in use",
        3,
        &[("shared", Some(270.0)), ("claimed", Some(970.0))],
    ),
    is_quiet(
        "ConcurrencyIsNearItsLimit",
        "850 are reserved, and 30 of the other 150 are in use",
        9,
        &[("shared", Some(30.0)), ("claimed", Some(880.0))],
    ),
    is_quiet(
        "ConcurrencyIsNearItsLimit",
        "a rush of ten minutes",
        2,
        &[("shared", Some(990.0)), ("claimed", Some(990.0))],
    ),
    alarms("BackupsFail", "a job fails", 1, &[("m1", Some(1.0))]),
    alarms("BackupsFail", "a job is aborted", 1, &[("m2", Some(1.0))]),
    alarms("BackupsFail", "a job does not end in its time", 1, &[("m3", Some(1.0))]),
    is_quiet("BackupsFail", "a week without a backup", 9, &[("m1", None), ("m2", None), ("m3", None)]),
    alarms("OrdersAreDead", "an order is dead", 1, &[(METRIC, Some(1.0))]),
    is_quiet("OrdersAreDead", "the queue tells nothing", 5, &[(METRIC, None)]),
    alarms("OrdersWaitLong", "an order waits for more than an hour", 1, &[(METRIC, Some(3700.0))]),
    is_quiet("OrdersWaitLong", "an order waits for half an hour", 5, &[(METRIC, Some(1800.0))]),
    alarms(
        "OrdersAreNotTaken",
        "the drain's source is disabled",
        3,
        &[("waiting", Some(50.0)), ("received", Some(0.0))],
    ),
    alarms(
        "OrdersAreNotTaken",
        "the queue does not report that no function receives",
        3,
        &[("waiting", Some(1.0)), ("received", None)],
    ),
    is_quiet(
        "OrdersAreNotTaken",
        "orders wait for hours, and the drain looks at them",
        9,
        &[("waiting", Some(500.0)), ("received", Some(40.0))],
    ),
    alarms("DrainFails", "every batch fails", 3, &[(METRIC, Some(4.0))]),
    is_quiet("DrainFails", "a batch fails, and is done ten minutes later", 2, &[(METRIC, Some(1.0))]),
    alarms("DrainIsDenied", "the role lacks a permission", 3, &[(METRIC, Some(9.0))]),
    is_quiet("DrainIsDenied", "a permission lacks while it is deployed", 2, &[(METRIC, Some(9.0))]),
    alarms("CountsAreLate", "the counts are half an hour behind", 3, &[(METRIC, Some(1_800_000.0))]),
    is_quiet("CountsAreLate", "the counts are five minutes behind", 9, &[(METRIC, Some(300_000.0))]),
    alarms("OrderEventsAreLate", "events are half an hour behind", 3, &[(METRIC, Some(1_800_000.0))]),
    is_quiet("OrderEventsAreLate", "events are five minutes behind", 9, &[(METRIC, Some(300_000.0))]),
    alarms("OrdersAreNotCounted", "the source is disabled", 1, &[("asked", Some(5.0)), ("invoked", None)]),
    is_quiet("OrdersAreNotCounted", "one batch of many orders", 1, &[("asked", Some(90.0)), ("invoked", Some(1.0))]),
    is_quiet("OrdersAreNotCounted", "four orders are refused", 3, &[("asked", Some(4.0)), ("invoked", None)]),
    alarms("OrdersAreNotPublished", "the source is disabled", 1, &[("asked", Some(5.0)), ("invoked", None)]),
    is_quiet("OrdersAreNotPublished", "one batch of many orders", 1, &[("asked", Some(90.0)), ("invoked", Some(1.0))]),
    is_quiet("OrdersAreNotPublished", "four orders are refused", 3, &[("asked", Some(4.0)), ("invoked", None)]),
    alarms("CountsAreLost", "a record is given up", 1, &[(METRIC, Some(1.0))]),
    is_quiet("CountsAreLost", "the queue tells nothing", 5, &[(METRIC, None)]),
    alarms("CountsStayParked", "what another release has parked is left alone", 1, &[(METRIC, Some(3600.0))]),
    is_quiet("CountsStayParked", "counts are parked while many shards are counted", 9, &[(METRIC, Some(30.0))]),
    alarms("OrderEventsAreLost", "a record is given up", 1, &[(METRIC, Some(1.0))]),
    is_quiet("OrderEventsAreLost", "the queue tells nothing", 5, &[(METRIC, None)]),
    alarms("CountsDrifted", "a counter drifted", 1, &[(METRIC, Some(1.0))]),
    is_quiet("CountsDrifted", "no comparison ended", 5, &[(METRIC, None)]),
    alarms("ComparisonFails", "the comparison fails for an hour", 4, &[(METRIC, Some(1.0))]),
    alarms("ComparisonFails", "nothing invokes the comparison", 6, &[(METRIC, None)]),
    is_quiet("ComparisonFails", "it fails once, and is invoked again", 1, &[(METRIC, Some(1.0))]),
    is_quiet("ComparisonFails", "it is invoked late", 2, &[(METRIC, None)]),
    alarms("ComparisonIsLate", "a comparison takes two days and a half", 4, &[(METRIC, Some(300_000.0))]),
    alarms("ComparisonIsLate", "nothing invokes the comparison", 6, &[(METRIC, None)]),
    is_quiet("ComparisonIsLate", "a comparison takes a whole day", 9, &[(METRIC, Some(172_800.0))]),
    is_quiet("ComparisonIsLate", "it is invoked late", 2, &[(METRIC, None)]),
    alarms("ExpiriesFail", "each run fails for an hour", 4, &[("errors", Some(3.0)), ("failed", None)]),
    alarms("ExpiriesFail", "an order cannot be cancelled", 4, &[("failed", Some(3.0))]),
    alarms("ExpiriesFail", "nothing invokes it", 4, &[("errors", None), ("failed", None)]),
    alarms("NumberingFails", "each run fails for an hour", 4, &[("errors", Some(3.0))]),
    alarms("NumberingFails", "nothing invokes it", 4, &[("errors", None)]),
    is_quiet("NumberingFails", "a run fails for a quarter of an hour", 1, &[("errors", Some(1.0))]),
    is_quiet("ExpiriesFail", "an order cannot be cancelled for a quarter of an hour", 1, &[("failed", Some(1.0))]),
    alarms("TidyingFails", "each run fails for three days", 3, &[("errors", Some(3.0))]),
    alarms("TidyingFails", "nothing invokes it", 3, &[("errors", None), ("runs", None), ("others", Some(288.0))]),
    is_quiet("TidyingFails", "S3 fails for two days", 2, &[("errors", Some(3.0))]),
    is_quiet("TidyingFails", "the stack is new", 1, &[("errors", None), ("runs", None)]),
    is_quiet("TidyingFails", "the shop is closed for days", 9, &[("errors", None), ("runs", None), ("others", None)]),
    alarms("PaymentsFail", "each run fails for an hour", 4, &[("errors", Some(2.0)), ("failed", None)]),
    alarms("PaymentsFail", "the provider refuses a payment for an hour", 4, &[("failed", Some(1.0))]),
    alarms("PaymentsFail", "nothing invokes it", 4, &[("errors", None), ("failed", None)]),
    is_quiet("PaymentsFail", "the provider fails for a quarter of an hour", 1, &[("failed", Some(40.0))]),
    alarms("PaymentsAreLost", "a payment was refused five times", 1, &[(METRIC, Some(1.0))]),
    is_quiet("PaymentsAreLost", "the queue tells nothing", 5, &[(METRIC, None)]),
    alarms("PaymentsWaitLong", "the queue is not received", 1, &[(METRIC, Some(3700.0))]),
    is_quiet("PaymentsWaitLong", "the provider fails for half an hour", 2, &[(METRIC, Some(1800.0))]),
    alarms("ProductsAreNotIndexed", "a product was refused twenty times", 1, &[(METRIC, Some(1.0))]),
    is_quiet("ProductsAreNotIndexed", "the queue tells nothing", 5, &[(METRIC, None)]),
    alarms("SearchIsStale", "the cluster does not answer", 1, &[(METRIC, Some(1900.0))]),
    is_quiet("SearchIsStale", "the cluster is replaced within a quarter of an hour", 3, &[(METRIC, Some(900.0))]),
    alarms("PaymentsDiffer", "a report has another amount", 1, &[(METRIC, Some(1.0))]),
    is_quiet("PaymentsDiffer", "no report has another amount", 5, &[(METRIC, None)]),
    alarms("ExportsFail", "a run fails", 1, &[(METRIC, Some(1.0))]),
    is_quiet("ExportsFail", "no run ended", 5, &[(METRIC, None)]),
    // CloudWatch looks at values of two more periods before it takes missing ones as breaching.
    alarms("ExportsStandStill", "the schedule is disabled", 4, &[(METRIC, None)]),
    alarms("ExportsStandStill", "each run fails", 2, &[(METRIC, Some(0.0))]),
    is_quiet("ExportsStandStill", "a run ends a day later", 1, &[(METRIC, None)]),
    alarms("CopyingFails", "a segment failed five times", 1, &[(METRIC, Some(1.0))]),
    is_quiet("CopyingFails", "the queue tells nothing", 5, &[(METRIC, None)]),
    alarms("CopyingWaits", "the queue is not received", 1, &[(METRIC, Some(3700.0))]),
    is_quiet("CopyingWaits", "a segment comes back after a crash", 2, &[(METRIC, Some(740.0))]),
    alarms("RepairsAreLate", "a repair has been due for ten minutes", 1, &[(METRIC, Some(600.0))]),
    is_quiet("RepairsAreLate", "a rush leaves repairs for some minutes", 2, &[(METRIC, Some(200.0))]),
    alarms("RepairsFail", "each run fails", 3, &[("errors", Some(5.0)), ("failed", None)]),
    alarms("RepairsFail", "a repair fails each time", 3, &[("failed", Some(5.0))]),
    alarms("RepairsFail", "nothing invokes it", 3, &[("errors", None), ("failed", None)]),
    is_quiet("RepairsFail", "a repair fails for some minutes", 2, &[("failed", Some(3.0))]),
    hot("TableHasAHotKey", &[("m1", Some(101.0))]),
    hot("TableHasAHotKey", &[("m2", Some(101.0))]),
    warm("TableHasAHotKey", &[("m1", Some(50.0)), ("m2", Some(50.0))]),
    hot("Gsi1HasAHotKey", &[("m1", Some(101.0))]),
    hot("Gsi1HasAHotKey", &[("m2", Some(101.0))]),
    warm("Gsi1HasAHotKey", &[("m1", Some(50.0)), ("m2", Some(50.0))]),
    hot("Gsi2HasAHotKey", &[("m1", Some(101.0))]),
    hot("Gsi2HasAHotKey", &[("m2", Some(101.0))]),
    warm("Gsi2HasAHotKey", &[("m1", Some(50.0)), ("m2", Some(50.0))]),
    full("TableIsAtCapacity", &[("m1", Some(1.0))]),
    full("TableIsAtCapacity", &[("m2", Some(1.0))]),
    full("TableIsAtCapacity", &[("m3", Some(1.0))]),
    full("TableIsAtCapacity", &[("m4", Some(1.0))]),
    burst("TableIsAtCapacity"),
    full("Gsi1IsAtCapacity", &[("m1", Some(1.0))]),
    full("Gsi1IsAtCapacity", &[("m2", Some(1.0))]),
    full("Gsi1IsAtCapacity", &[("m3", Some(1.0))]),
    full("Gsi1IsAtCapacity", &[("m4", Some(1.0))]),
    burst("Gsi1IsAtCapacity"),
    full("Gsi2IsAtCapacity", &[("m1", Some(1.0))]),
    full("Gsi2IsAtCapacity", &[("m2", Some(1.0))]),
    full("Gsi2IsAtCapacity", &[("m3", Some(1.0))]),
    full("Gsi2IsAtCapacity", &[("m4", Some(1.0))]),
    burst("Gsi2IsAtCapacity"),
    at_limit(&[("m1", Some(1.0))]),
    at_limit(&[("m2", Some(1.0))]),
    at_limit(&[("m3", Some(1.0))]),
    at_limit(&[("m4", Some(1.0))]),
    at_limit(&[("m5", Some(1.0))]),
    at_limit(&[("m6", Some(1.0))]),
    is_quiet("AccountIsAtItsLimit", "the metrics say that there was none", 5, &[("m1", Some(0.0))]),
];

const fn hot(alarm: &'static str, metrics: Metrics) -> Trouble {
    alarms(alarm, "more than 100 throttles of one key", 3, metrics)
}

const fn warm(alarm: &'static str, metrics: Metrics) -> Trouble {
    is_quiet(alarm, "a key is throttled now and then", 9, metrics)
}

const fn full(alarm: &'static str, metrics: Metrics) -> Trouble {
    alarms(alarm, "requests are throttled for 15 minutes", 3, metrics)
}

/// A burst over two periods, because it may cross the border between them.
const fn burst(alarm: &'static str) -> Trouble {
    is_quiet(alarm, "a short burst is throttled", 2, &[("m1", Some(400.0)), ("m2", Some(400.0))])
}

const fn at_limit(metrics: Metrics) -> Trouble {
    alarms("AccountIsAtItsLimit", "a request is throttled", 1, metrics)
}
