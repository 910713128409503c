//! Metrics of shops with problems, and of healthy shops.

/// A situation that lasts for some periods in an otherwise healthy shop.
pub struct Trouble {
    pub alarm: String,
    pub situation: &'static str,
    /// The values of the alarm's metrics meanwhile, by id. `None` if there is no data.
    pub metrics: Vec<(&'static str, Option<f64>)>,
    pub periods: usize,
    pub goes_off: bool,
}

/// Healthy shops: the value of a metric in each period, if there is data.
pub const CALM: &[(&str, Shop)] =
    &[("an ordinary day", ordinary), ("a quiet night", quiet), ("no requests for days", deserted)];

/// The value of a metric in a period, by the alarm and the metric's name.
pub type Shop = fn(&str, &str) -> Option<f64>;

pub fn ordinary(_: &str, metric: &str) -> Option<f64> {
    match metric {
        "Count" | "Requests" => Some(4000.0),
        "5xxErrorRate" => Some(0.2),
        "OrdersPlaced" => Some(12.0),
        "Invocations" => Some(300.0),
        "Latency" | "DaysToExpiry" => Some(400.0),
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
        "CopiesDiffer"
        | "PaymentMismatches"
        | "PaymentReportsNotGenuine"
        | "PaymentsForStaff"
        | "RequestsThrottled" => None,
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
/// of payments, repairs, exports and the deletion of images have a schedule. A shop that is used so little has no alarm of
/// silence, and ACM counts a certificate's days.
fn deserted(alarm: &str, metric: &str) -> Option<f64> {
    if alarm.starts_with("Nothing") || metric == "DaysToExpiry" {
        return ordinary(alarm, metric);
    }
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

pub fn troubles() -> Vec<Trouble> {
    let rows = TROUBLES.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let of = |row: &'static str| {
        let (what, situation) = row.split_once(": ").expect("a situation");
        let mut words = what.split(' ');
        let [verdict, periods, alarm] = [(); 3].map(|()| words.next().expect("a word"));
        let metrics: Vec<_> = words
            .map(|metric| {
                let (id, value) = metric.split_once('=').expect("a metric");
                (id, value.parse().ok())
            })
            .collect();
        let tables = if alarm.starts_with('*') { &["Table", "Gsi1", "Gsi2"][..] } else { &[""] };
        tables.iter().map(move |table| Trouble {
            alarm: alarm.replace('*', table),
            situation,
            metrics: metrics.clone(),
            periods: periods.parse().expect("a number"),
            goes_off: verdict == "alarm",
        })
    };
    rows.flat_map(of).collect()
}

/// Whether an alarm goes off, after how many periods, at which values, and why. `*` stands for the table and its indexes.
const TROUBLES: &str = "
alarm 2 RequestsFail requests=5000 failures=100: 2 % of many requests fail
alarm 2 RequestsFail requests=8 failures=5: few requests, most of which fail
quiet 3 RequestsFail requests=3 failures=1: one request of three fails
quiet 1 RequestsFail failures=4000: all fail for five minutes
alarm 3 RequestsAreSlow requests=900 latency=6000: a table that is throttled
quiet 9 RequestsAreSlow requests=3 latency=6000: two cold starts of three requests
quiet 2 RequestsAreSlow latency=4000: new environments for a rush
alarm 2 RequestsAreThrottled requests=9000 throttled=500: a rush
quiet 9 RequestsAreThrottled throttled=20: a page that loads too much at once
quiet 9 RequestsAreThrottled requests=8 throttled=4: few requests, half of which are throttled
alarm 3 RequestsAreRefused requests=900 refused=700: the issuer's keys have changed
quiet 2 RequestsAreRefused refused=3000: a robot guesses addresses for some minutes
quiet 9 RequestsAreRefused refused=1300: a third of the requests is about products that are gone
alarm 3 FunctionsAreThrottled metric=40: the account has no concurrency left
quiet 2 FunctionsAreThrottled metric=400: a rush is faster than Lambda
alarm 3 ConcurrencyIsNearItsLimit shared=900 claimed=900: 900 of 1,000 are in use
alarm 3 ConcurrencyIsNearItsLimit shared=270 claimed=970: 700 are reserved, and 270 of the other 300 are in use
quiet 9 ConcurrencyIsNearItsLimit shared=30 claimed=880: 850 are reserved, and 30 of the other 150 are in use
quiet 2 ConcurrencyIsNearItsLimit shared=990 claimed=990: a rush of ten minutes
alarm 2 EdgeFails requests=5000 rate=4: the API's domain does not answer CloudFront
alarm 2 EdgeFails requests=37 rate=13.51: five of few requests fail
quiet 9 EdgeFails requests=40 rate=10: four of few requests fail
quiet 1 EdgeFails rate=90: nearly all fail for five minutes
alarm 2 EdgeCertificateEnds metric=44: the certificate ends in six weeks
alarm 4 EdgeCertificateEnds metric=none: the certificate has ended, or is gone
quiet 9 EdgeCertificateEnds metric=46: the certificate ends in seven weeks
alarm 26 NothingIsAsked metric=none: the domain leads nowhere
quiet 23 NothingIsAsked metric=none: a night and a holiday
alarm 74 NothingIsOrdered metric=none: the shop front cannot order
alarm 74 NothingIsOrdered metric=0: events come, and none is of an order
quiet 48 NothingIsOrdered metric=none: a weekend
alarm 74 NothingIsPublished metric=none: the stream does not invoke the function
quiet 48 NothingIsPublished metric=none: a weekend
alarm 1 BackupsFail m1=1: a job fails
alarm 1 BackupsFail m2=1: a job is aborted
alarm 1 BackupsFail m3=1: a job does not end in its time
quiet 9 BackupsFail m1=none m2=none m3=none: a week without a backup
alarm 1 OrdersAreDead metric=1: an order is dead
quiet 5 OrdersAreDead metric=none: the queue tells nothing
alarm 1 OrdersWaitLong metric=3700: an order waits for more than an hour
quiet 5 OrdersWaitLong metric=1800: an order waits for half an hour
alarm 3 OrdersAreNotTaken waiting=50 received=0: the drain's source is disabled
alarm 3 OrdersAreNotTaken waiting=1 received=none: the queue does not report that no function receives
quiet 9 OrdersAreNotTaken waiting=500 received=40: orders wait for hours, and the drain looks at them
alarm 3 DrainFails metric=4: every batch fails
quiet 2 DrainFails metric=1: a batch fails, and is done ten minutes later
alarm 3 DrainIsDenied metric=9: the role lacks a permission
quiet 2 DrainIsDenied metric=9: a permission lacks while it is deployed
alarm 3 CountsAreLate metric=1800000: the counts are half an hour behind
quiet 9 CountsAreLate metric=300000: the counts are five minutes behind
alarm 3 OrderEventsAreLate metric=1800000: events are half an hour behind
quiet 9 OrderEventsAreLate metric=300000: events are five minutes behind
alarm 1 OrdersAreNotCounted customers=5 guests=none invoked=none: the source is disabled
alarm 1 OrdersAreNotCounted customers=none guests=5 invoked=none: the source is disabled, and guests order
quiet 1 OrdersAreNotCounted customers=90 invoked=1: one batch of many orders
quiet 3 OrdersAreNotCounted customers=2 guests=2 invoked=none: four orders are refused
alarm 1 OrdersAreNotPublished customers=5 guests=none invoked=none: the source is disabled
alarm 1 OrdersAreNotPublished customers=2 guests=3 invoked=none: the source is disabled, and few order
quiet 1 OrdersAreNotPublished customers=90 invoked=1: one batch of many orders
quiet 3 OrdersAreNotPublished customers=2 guests=2 invoked=none: four orders are refused
alarm 1 CountsAreLost metric=1: a record is given up
quiet 5 CountsAreLost metric=none: the queue tells nothing
alarm 1 CountsStayParked metric=3600: what another release has parked is left alone
quiet 9 CountsStayParked metric=30: counts are parked while many shards are counted
alarm 1 OrderEventsAreLost metric=1: a record is given up
quiet 5 OrderEventsAreLost metric=none: the queue tells nothing
alarm 1 CountsDrifted metric=1: a counter drifted
quiet 5 CountsDrifted metric=none: no comparison ended
alarm 4 ComparisonFails metric=1: the comparison fails for an hour
alarm 6 ComparisonFails metric=none: nothing invokes the comparison
quiet 1 ComparisonFails metric=1: it fails once, and is invoked again
quiet 2 ComparisonFails metric=none: it is invoked late
alarm 4 ComparisonIsLate metric=300000: a comparison takes two days and a half
alarm 6 ComparisonIsLate metric=none: nothing invokes the comparison
quiet 9 ComparisonIsLate metric=172800: a comparison takes a whole day
quiet 2 ComparisonIsLate metric=none: it is invoked late
alarm 4 ExpiriesFail errors=3 failed=none: each run fails for an hour
alarm 4 ExpiriesFail failed=3: an order cannot be cancelled
alarm 4 ExpiriesFail errors=none failed=none: nothing invokes it
alarm 4 NumberingFails errors=3: each run fails for an hour
alarm 4 NumberingFails errors=none: nothing invokes it
quiet 1 NumberingFails errors=1: a run fails for a quarter of an hour
quiet 1 ExpiriesFail failed=1: an order cannot be cancelled for a quarter of an hour
alarm 3 TidyingFails errors=3: each run fails for three days
alarm 3 TidyingFails errors=none runs=none others=288: nothing invokes it
quiet 2 TidyingFails errors=3: S3 fails for two days
quiet 1 TidyingFails errors=none runs=none: the stack is new
quiet 9 TidyingFails errors=none runs=none others=none: the shop is closed for days
alarm 4 PaymentsFail errors=2 failed=none: each run fails for an hour
alarm 4 PaymentsFail failed=1: the provider refuses a payment for an hour
alarm 4 PaymentsFail errors=none failed=none: nothing invokes it
quiet 1 PaymentsFail failed=40: the provider fails for a quarter of an hour
alarm 1 PaymentsAreLost metric=1: a payment was refused five times
quiet 5 PaymentsAreLost metric=none: the queue tells nothing
alarm 1 PaymentsWaitLong metric=3700: the queue is not received
quiet 2 PaymentsWaitLong metric=1800: the provider fails for half an hour
alarm 1 AvailabilitiesAreStale metric=1900: the writes fail, or nothing receives the queue
quiet 3 AvailabilitiesAreStale metric=900: the table is busy for a quarter of an hour
alarm 1 AvailabilitiesAreLost metric=1: a product was refused twenty times
quiet 5 AvailabilitiesAreLost metric=none: the queue tells nothing
alarm 1 ProductsAreNotIndexed metric=1: a product was refused twenty times
quiet 5 ProductsAreNotIndexed metric=none: the queue tells nothing
alarm 1 SearchIsStale metric=1900: the cluster does not answer
quiet 3 SearchIsStale metric=900: the cluster is replaced within a quarter of an hour
alarm 1 PaymentsDiffer metric=1: a payment has another amount
quiet 5 PaymentsDiffer metric=none: no payment has another amount
alarm 1 PaymentsNeedStaff metric=1: a bank disputes a payment, a refund fails or is refused for good
quiet 5 PaymentsNeedStaff metric=none: nothing of that happens
alarm 1 PaymentReportsAreNotGenuine metric=4: the webhook's secret is wrong
quiet 5 PaymentReportsAreNotGenuine metric=none: every message is genuine
alarm 1 ExportsFail metric=1: a run fails
quiet 5 ExportsFail metric=none: no run ended
# CloudWatch looks at values of two more periods before it takes missing ones as breaching.
alarm 4 ExportsStandStill metric=none: the schedule is disabled
alarm 2 ExportsStandStill metric=0: each run fails
quiet 1 ExportsStandStill metric=none: a run ends a day later
alarm 1 CopyingFails metric=1: a segment failed five times
quiet 5 CopyingFails metric=none: the queue tells nothing
alarm 1 CopyingWaits metric=3700: the queue is not received
quiet 2 CopyingWaits metric=740: a segment comes back after a crash
alarm 1 RepairsAreLate metric=600: a repair has been due for ten minutes
quiet 2 RepairsAreLate metric=200: a rush leaves repairs for some minutes
alarm 1 CopiesDiffer metric=1: a read finds a difference twice
quiet 5 CopiesDiffer metric=none: no read finds a difference
alarm 3 RepairsFail errors=5 failed=none: each run fails
alarm 3 RepairsFail failed=5: a repair fails each time
alarm 3 RepairsFail errors=none failed=none: nothing invokes it
quiet 2 RepairsFail failed=3: a repair fails for some minutes
alarm 3 *HasAHotKey m1=101: more than 100 throttles of one key
alarm 3 *HasAHotKey m2=101: more than 100 throttles of one key
quiet 9 *HasAHotKey m1=50 m2=50: a key is throttled now and then
alarm 3 *IsAtCapacity m1=1: requests are throttled for 15 minutes
alarm 3 *IsAtCapacity m2=1: requests are throttled for 15 minutes
alarm 3 *IsAtCapacity m3=1: requests are throttled for 15 minutes
alarm 3 *IsAtCapacity m4=1: requests are throttled for 15 minutes
# Over two periods, because it may cross the border between them.
quiet 2 *IsAtCapacity m1=400 m2=400: a short burst is throttled
alarm 1 AccountIsAtItsLimit m1=1: a request is throttled
alarm 1 AccountIsAtItsLimit m2=1: a request is throttled
alarm 1 AccountIsAtItsLimit m3=1: a request is throttled
alarm 1 AccountIsAtItsLimit m4=1: a request is throttled
alarm 1 AccountIsAtItsLimit m5=1: a request is throttled
alarm 1 AccountIsAtItsLimit m6=1: a request is throttled
quiet 5 AccountIsAtItsLimit m1=0: the metrics say that there was none
";
