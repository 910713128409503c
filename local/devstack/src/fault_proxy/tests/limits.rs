//! Tests of the write limit.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::{Bench, TABLE, put, transaction};
use crate::fault_proxy::limit::Meter;
use crate::fault_proxy::{Access, Call, Consumed, Fault, Match, WriteLimit};

const ARN: &str = "arn:aws:dynamodb:dynoxide:000000000000:table/fault-proxy-tests";

fn table_refuses() -> Fault {
    Fault::Throttle { reason: "TableWriteProvisionedThroughputExceeded", resource: ARN.to_owned() }
}

fn index_refuses() -> Fault {
    Fault::Throttle { reason: "IndexWriteProvisionedThroughputExceeded", resource: format!("{ARN}/index/GSI1") }
}

/// The consumption of a call, of a table and its index.
fn units(table: &str, access: Access, table_units: f64, index_units: f64) -> Vec<Consumed> {
    let index_units = BTreeMap::from([("GSI1".to_owned(), index_units)]);
    vec![Consumed { table: table.to_owned(), access, table_units, index_units }]
}

#[test]
fn a_bucket_starts_full_is_debited_and_refills_with_time() {
    let start = Instant::now();
    let mut meter = Meter::new(WriteLimit::per_second(10.0));
    let refused =
        |after: u64, meter: &mut Meter| meter.refusal("PutItem", &put("one"), start + Duration::from_millis(after));
    assert_eq!(refused(0, &mut meter), None);
    meter.debit(&units(TABLE, Access::Write, 15.0, 0.0), start);
    assert_eq!(refused(0, &mut meter), Some(table_refuses()));
    assert_eq!(refused(490, &mut meter), Some(table_refuses()));
    assert_eq!(refused(510, &mut meter), None);

    // A bucket never holds more than one second's units.
    let later = start + Duration::from_mins(1);
    meter.debit(&units(TABLE, Access::Write, 10.0, 0.0), later);
    assert_eq!(refused(60_000, &mut meter), Some(table_refuses()));
}

#[test]
fn an_index_has_its_own_bucket_and_reads_and_other_tables_do_not_debit_it() {
    let now = Instant::now();
    let mut meter = Meter::new(WriteLimit::per_second(10.0));
    meter.debit(&units(TABLE, Access::Read, 50.0, 0.0), now);
    meter.debit(&units("another", Access::Write, 50.0, 0.0), now);
    assert_eq!(meter.refusal("PutItem", &put("one"), now), None);
    meter.debit(&units(TABLE, Access::Write, 0.0, 10.0), now);
    assert_eq!(meter.refusal("PutItem", &put("one"), now), Some(index_refuses()));
    meter.debit(&units(TABLE, Access::Write, 10.0, 0.0), now);
    assert_eq!(meter.refusal("PutItem", &put("one"), now), Some(table_refuses()), "the table is named first");
}

#[test]
fn a_cancelled_transaction_blames_its_first_item_in_the_exhausted_table() {
    let now = Instant::now();
    let mut meter = Meter::new(WriteLimit::per_second(10.0).cancelling());
    meter.debit(&units(TABLE, Access::Write, 10.0, 0.0), now);
    let mut request = transaction(&["one", "two"]);
    request["TransactItems"][0]["Put"]["TableName"] = json!("another");
    let refusal = meter.refusal("TransactWriteItems", &request, now);
    assert!(
        matches!(refusal, Some(Fault::Cancel { item: 1, code: "ProvisionedThroughputExceeded", .. })),
        "{refusal:?}"
    );
    assert_eq!(meter.refusal("PutItem", &put("one"), now), Some(table_refuses()), "a single write has no reasons");
}

#[tokio::test]
async fn every_write_beyond_the_limit_is_refused_and_no_read_is() {
    let bench = Bench::start().await;
    let key = json!({ "TableName": TABLE, "Key": { "PK": { "S": "one" } } });
    let writes = [
        ("PutItem", put("one")),
        ("UpdateItem", key.clone()),
        ("DeleteItem", key),
        ("BatchWriteItem", json!({ "RequestItems": { TABLE: [{ "PutRequest": { "Item": put("one")["Item"] } }] } })),
        ("TransactWriteItems", transaction(&["one"])),
    ];
    bench.proxy.limit_writes(Some(WriteLimit::per_second(0.0))).await;
    for (action, request) in writes.clone() {
        let (status, answer) = bench.call(action, request).await.unwrap();
        assert_eq!(status, 400, "{action}");
        assert_eq!(
            answer["ThrottlingReasons"],
            json!([{
                "reason": "TableWriteProvisionedThroughputExceeded", "resource": ARN,
            }])
        );
        let call = bench.proxy.take_calls().remove(0);
        assert_eq!((call.fault, call.consumed, call.response), (Some(table_refuses()), Vec::new(), answer));
    }
    assert!(!bench.exists("one").await);

    bench.proxy.limit_writes(None).await;
    for (action, request) in writes {
        assert_eq!(bench.call(action, request).await.unwrap().0, 200, "{action}");
    }
}

#[tokio::test]
async fn delayed_and_cut_writes_count_against_the_limit() {
    let bench = Bench::start().await;
    bench.proxy.limit_writes(Some(WriteLimit::per_second(0.0))).await;
    bench.proxy.inject(Match::any(), Fault::Delay(Duration::from_millis(1)), 1);
    bench.proxy.inject(Match::any(), Fault::CutAfter, 1);
    assert_eq!(bench.call("PutItem", put("one")).await.unwrap().0, 400);
    bench.call("PutItem", put("one")).await.unwrap_err();
    for call in bench.proxy.take_calls() {
        assert_eq!((call.status, call.fault), (Some(400), Some(table_refuses())));
    }
    assert!(!bench.exists("one").await);
}

/// Checks the bound of [`WriteLimit`] for every interval from one call to another.
#[tokio::test]
async fn concurrent_writes_exceed_the_limit_by_one_transaction_at_most() {
    const RATE: f64 = 40.0;
    let bench = Arc::new(Bench::start().await);
    bench.proxy.limit_writes(Some(WriteLimit::per_second(RATE))).await;
    let began = Instant::now();
    let mut clients = JoinSet::new();
    for client in 0..8 {
        let bench = Arc::clone(&bench);
        clients.spawn(async move {
            while began.elapsed() < Duration::from_millis(1500) {
                let keys = ["a", "b", "c"].map(|key| format!("{client}{key}"));
                let request: Value = transaction(&keys.each_ref().map(String::as_str));
                bench.call("TransactWriteItems", request).await.unwrap();
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        });
    }
    clients.join_all().await;

    let calls = bench.proxy.take_calls();
    let (done, refused): (Vec<_>, Vec<_>) = calls.into_iter().partition(|call| call.status == Some(200));
    assert!(refused.len() > done.len(), "{} were done and only {} refused", done.len(), refused.len());
    assert!(refused.iter().all(|call| call.fault == Some(table_refuses())));

    let cost = |call: &Call| call.consumed[0].table_units;
    for first in 0..done.len() {
        for last in first..done.len() {
            let sum: f64 = done[first..=last].iter().map(cost).sum();
            let stretch = (done[last].at - done[first].at).as_secs_f64();
            let limit = RATE * (1.0 + stretch) + cost(&done[last]);
            assert!(sum < limit + 1e-6, "{sum} units in {stretch} seconds, and {limit} are allowed");
        }
    }
    let all: f64 = done.iter().map(cost).sum();
    assert!(all >= RATE * 2.0, "the units are there to be used: {all}");
}
