//! Tests of the faults.

use std::time::Duration;

use serde_json::json;

use crate::wait::until;

use super::{Bench, TABLE, batch, consumed, put, transaction};
use crate::fault_proxy::{Access, Fault, Match};

#[tokio::test]
async fn a_throttled_call_names_the_reason_and_has_no_effect() {
    let bench = Bench::start().await;
    let throttle = Fault::Throttle { reason: "TableWriteProvisionedThroughputExceeded", resource: "arn:x".to_owned() };
    bench.proxy.inject(Match::action("PutItem"), throttle.clone(), 1);
    assert_eq!(bench.proxy.pending(), 1);

    let (status, answer) = bench.call("PutItem", put("one")).await.unwrap();
    assert_eq!(status, 400);
    assert!(answer["__type"].as_str().unwrap().ends_with("#ProvisionedThroughputExceededException"));
    assert_eq!(answer["ThrottlingReasons"][0]["reason"], "TableWriteProvisionedThroughputExceeded");
    assert_eq!(bench.proxy.pending(), 0);
    assert!(!bench.exists("one").await);
    assert_eq!(bench.proxy.calls()[0].fault, Some(throttle));
}

#[tokio::test]
async fn a_conflict_names_the_item_at_fault() {
    let bench = Bench::start().await;
    bench.proxy.inject(Match::action("TransactWriteItems"), Fault::conflict(1), 1);
    let (status, answer) = bench.call("TransactWriteItems", transaction(&["one", "two", "three"])).await.unwrap();
    assert_eq!(status, 400);
    let codes: Vec<_> = answer["CancellationReasons"].as_array().unwrap().iter().map(|r| &r["Code"]).collect();
    assert_eq!(codes, ["None", "TransactionConflict", "None"]);
    assert!(!bench.exists("one").await);
}

#[tokio::test]
async fn a_fault_applies_to_the_given_number_of_matching_calls() {
    let bench = Bench::start().await;
    let second = Match::action("PutItem").when(|request| request["Item"]["PK"]["S"] == "two");
    bench.proxy.inject(second, Fault::InternalError, 2);
    assert_eq!(bench.call("PutItem", put("one")).await.unwrap().0, 200);
    assert_eq!(bench.call("PutItem", put("two")).await.unwrap().0, 500);
    assert_eq!(bench.call("PutItem", put("two")).await.unwrap().0, 500);
    assert_eq!(bench.call("PutItem", put("two")).await.unwrap().0, 200);
}

#[tokio::test]
async fn unprocessed_keys_are_not_read_and_can_be_requested_again() {
    let bench = Bench::start().await;
    bench.call("TransactWriteItems", transaction(&["one", "two", "three"])).await.unwrap();
    bench.proxy.take_calls();
    bench.proxy.inject(Match::any(), Fault::Unprocessed(2), 1);

    let (_, answer) = bench.call("BatchGetItem", batch(&["one", "two", "three"])).await.unwrap();
    assert_eq!(answer["Responses"][TABLE].as_array().unwrap().len(), 1);
    assert_eq!(bench.proxy.calls()[0].consumed, [consumed(Access::Read, 1.0, &[])]);

    let rest = json!({ "RequestItems": answer["UnprocessedKeys"] });
    assert_eq!(rest, batch(&["two", "three"]));
    let (_, answer) = bench.call("BatchGetItem", rest).await.unwrap();
    assert_eq!(answer["Responses"][TABLE].as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn a_call_whose_connection_is_cut_before_has_no_effect() {
    let bench = Bench::start().await;
    bench.proxy.inject(Match::action("PutItem"), Fault::CutBefore, 1);
    bench.call("PutItem", put("one")).await.unwrap_err();
    assert!(!bench.exists("one").await);
    assert_eq!(bench.proxy.calls()[0].status, None);
}

#[tokio::test]
async fn a_call_whose_connection_is_cut_after_takes_effect() {
    let bench = Bench::start().await;
    bench.proxy.inject(Match::action("PutItem"), Fault::CutAfter, 1);
    bench.call("PutItem", put("one")).await.unwrap_err();
    assert!(bench.exists("one").await);
    assert_eq!(bench.proxy.calls()[0].status, Some(200));
}

#[tokio::test]
async fn a_delayed_call_takes_effect_although_its_client_has_hung_up() {
    let bench = Bench::start().await;
    let delay = Duration::from_millis(100);
    bench.proxy.inject(Match::action("PutItem"), Fault::Delay(delay), 1);
    tokio::time::timeout(delay / 4, bench.call("PutItem", put("one"))).await.unwrap_err();

    until("the write comes", async || bench.exists("one").await).await;
}

#[tokio::test]
async fn a_call_is_held_until_its_gate_opens() {
    let bench = Bench::start().await;
    let gate = bench.proxy.hold(Match::action("PutItem"), 1);
    let meanwhile = async {
        until("it is held", async || bench.proxy.pending() == 0).await;
        assert!(!bench.exists("one").await);
        gate.open();
    };
    let (put, ()) = tokio::join!(bench.call("PutItem", put("one")), meanwhile);
    assert_eq!(put.unwrap().0, 200);
    assert!(bench.exists("one").await);
}

#[tokio::test]
async fn a_fault_skips_the_first_matching_calls() {
    let bench = Bench::start().await;
    bench.proxy.inject_after(2, Match::recorded("PutItem".to_owned()), Fault::InternalError, 1);
    assert!(!bench.exists("one").await, "another action does not count");
    for status in [200, 200, 500, 200] {
        assert_eq!(bench.call("PutItem", put("one")).await.unwrap().0, status);
    }
}

#[tokio::test]
async fn a_late_call_takes_effect_after_its_connection_was_cut() {
    let bench = Bench::start().await;
    bench.proxy.inject(Match::action("PutItem"), Fault::Late(Duration::from_millis(200)), 1);
    assert!(bench.call("PutItem", put("one")).await.is_err());
    assert!(!bench.exists("one").await && !bench.proxy.is_idle());
    until("the call has ended", async || bench.proxy.is_idle()).await;
    assert!(bench.exists("one").await);
}

#[tokio::test]
async fn a_call_may_be_refused_by_any_exception_and_a_batch_by_each_entry() {
    let bench = Bench::start().await;
    let refused = Fault::Refused { status: 403, exception: "ThrottlingException" };
    bench.proxy.inject(Match::action("PutItem"), refused, 1);
    let (status, answer) = bench.call("PutItem", put("one")).await.unwrap();
    assert_eq!((status, &answer["__type"]), (403, &json!("ThrottlingException")));

    let entries = json!([{ "Id": "a" }, { "Id": "b" }]);
    for (request, failed) in
        [(json!({ "QueueUrl": "queue", "Entries": entries }), "Failed"), (json!({ "Entries": entries }), "Entries")]
    {
        bench.proxy.inject(Match::action("SendBatch"), Fault::FailedEntries, 1);
        let (status, answer) = bench.call("SendBatch", request).await.unwrap();
        assert_eq!((status, answer[failed].as_array().map(Vec::len)), (200, Some(2)), "{answer}");
    }
}
