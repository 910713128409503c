//! Tests of the recorded calls.

use std::time::Instant;

use serde_json::json;

use super::{Bench, consumed, put};
use crate::fault_proxy::{Access, Fault, Match};

#[tokio::test]
async fn a_call_is_recorded_with_the_capacity_of_table_and_indexes() {
    let bench = Bench::start().await;
    let (status, answer) = bench.call("PutItem", put("one")).await.unwrap();
    assert_eq!((status, answer), (200, json!({})), "the figures are the fault proxy's, not the client's");

    let calls = bench.proxy.take_calls();
    assert_eq!((calls.len(), calls[0].action.as_str(), calls[0].status), (1, "PutItem", Some(200)));
    assert_eq!(calls[0].request, put("one"));
    assert_eq!(calls[0].consumed, [consumed(Access::Write, 1.0, &[("GSI1", 1.0)])]);
    assert!(bench.proxy.calls().is_empty());
}

#[tokio::test]
async fn a_client_that_requests_capacity_figures_receives_them() {
    let bench = Bench::start().await;
    let mut request = put("one");
    request["ReturnConsumedCapacity"] = json!("INDEXES");
    let (_, answer) = bench.call("PutItem", request).await.unwrap();
    assert_eq!(answer["ConsumedCapacity"]["CapacityUnits"], 2.0);
}

#[tokio::test]
async fn a_recorded_call_has_the_time_of_its_answer() {
    let bench = Bench::start().await;
    bench.proxy.inject(Match::any(), Fault::CutBefore, 1);
    bench.proxy.inject(Match::any(), Fault::InternalError, 1);
    for _ in 0..3 {
        let sent = Instant::now();
        _ = bench.call("PutItem", put("one")).await;
        let call = bench.proxy.take_calls().remove(0);
        assert!(sent <= call.at && call.at <= Instant::now(), "{:?}", call.fault);
    }
}
