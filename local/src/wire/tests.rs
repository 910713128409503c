use std::time::Instant;

use serde_json::json;

use super::*;
use crate::aws_json::local_client;
use crate::endpoint::Endpoint;
use crate::engine::Engine;
use crate::template::Template;

const TEMPLATE: &str = r"
Resources:
  Table:
    Type: AWS::DynamoDB::Table
    Properties:
      TableName: till-wire-tests
      KeySchema: [{ AttributeName: PK, KeyType: HASH }]
      AttributeDefinitions: [{ AttributeName: PK, AttributeType: S }, { AttributeName: G, AttributeType: S }]
      GlobalSecondaryIndexes:
        - { IndexName: GSI1, KeySchema: [{ AttributeName: G, KeyType: HASH }], Projection: { ProjectionType: ALL } }
      TimeToLiveSpecification: { AttributeName: expiresAt, Enabled: true }
";

const TABLE: &str = "till-wire-tests";

struct Bench {
    _engine: Engine,
    wire: Wire,
    client: reqwest::Client,
}

impl Bench {
    async fn start() -> Self {
        let engine = Engine::start(0, None).await.unwrap();
        let template = Template::parse(TEMPLATE).unwrap();
        Endpoint::new(engine.url()).unwrap().ensure_table(&template).await.unwrap();
        let wire = Wire::start(engine.url()).await.unwrap();
        Self { _engine: engine, wire, client: local_client().unwrap() }
    }

    async fn call(&self, action: &str, request: Value) -> reqwest::Result<(u16, Value)> {
        let request = self
            .client
            .post(self.wire.url())
            .header("content-type", "application/x-amz-json-1.0")
            .header("x-amz-target", format!("DynamoDB_20120810.{action}"))
            .header("x-amz-date", "20260101T000000Z")
            .header("authorization", "AWS4-HMAC-SHA256 Credential=a, SignedHeaders=b, Signature=c")
            .body(request.to_string());
        let response = request.send().await?;
        Ok((response.status().as_u16(), response.json().await?))
    }

    async fn exists(&self, key: &str) -> bool {
        let (_, answer) =
            self.call("GetItem", json!({ "TableName": TABLE, "Key": { "PK": { "S": key } } })).await.unwrap();
        answer.get("Item").is_some()
    }
}

fn put(key: &str) -> Value {
    json!({ "TableName": TABLE, "Item": { "PK": { "S": key }, "G": { "S": "g" } } })
}

fn transaction(keys: &[&str]) -> Value {
    let items: Vec<Value> = keys.iter().map(|key| json!({ "Put": put(key) })).collect();
    json!({ "TransactItems": items })
}

fn batch(keys: &[&str]) -> Value {
    let keys: Vec<Value> = keys.iter().map(|key| json!({ "PK": { "S": key } })).collect();
    json!({ "RequestItems": { TABLE: { "Keys": keys, "ConsistentRead": true } } })
}

fn consumed(access: Access, table_units: f64, indexes: &[(&str, f64)]) -> Consumed {
    let index_units = indexes.iter().map(|&(name, units)| (name.to_owned(), units)).collect();
    Consumed { table: TABLE.to_owned(), access, table_units, index_units }
}

#[tokio::test]
async fn a_call_is_recorded_with_the_capacity_of_table_and_indexes() {
    let bench = Bench::start().await;
    let (status, answer) = bench.call("PutItem", put("one")).await.unwrap();
    assert_eq!((status, answer), (200, json!({})), "the figures are the wire's, not the client's");

    let calls = bench.wire.take_calls();
    assert_eq!((calls.len(), calls[0].action.as_str(), calls[0].status), (1, "PutItem", Some(200)));
    assert_eq!(calls[0].request, put("one"));
    assert_eq!(calls[0].consumed, [consumed(Access::Write, 1.0, &[("GSI1", 1.0)])]);
    assert!(bench.wire.calls().is_empty());
}

#[tokio::test]
async fn a_client_that_asks_for_figures_gets_them() {
    let bench = Bench::start().await;
    let mut request = put("one");
    request["ReturnConsumedCapacity"] = json!("INDEXES");
    let (_, answer) = bench.call("PutItem", request).await.unwrap();
    assert_eq!(answer["ConsumedCapacity"]["CapacityUnits"], 2.0);
}

#[tokio::test]
async fn a_transaction_costs_the_table_twice_and_the_index_once() {
    let bench = Bench::start().await;
    bench.call("TransactWriteItems", transaction(&["one", "two"])).await.unwrap();
    assert_eq!(bench.wire.calls()[0].consumed, [consumed(Access::Write, 4.0, &[("GSI1", 2.0)])]);
}

#[tokio::test]
async fn a_replayed_transaction_reads() {
    let bench = Bench::start().await;
    let mut request = transaction(&["one"]);
    request["ClientRequestToken"] = json!("the-same");
    bench.call("TransactWriteItems", request.clone()).await.unwrap();
    bench.call("TransactWriteItems", request).await.unwrap();
    assert_eq!(bench.wire.calls()[1].consumed, [consumed(Access::Read, 2.0, &[])]);
}

#[tokio::test]
async fn a_throttled_call_says_why_and_does_nothing() {
    let bench = Bench::start().await;
    let throttle = Fault::Throttle { reason: "TableWriteProvisionedThroughputExceeded", resource: "arn:x".to_owned() };
    bench.wire.inject(Match::action("PutItem"), throttle.clone(), 1);
    assert_eq!(bench.wire.pending(), 1);

    let (status, answer) = bench.call("PutItem", put("one")).await.unwrap();
    assert_eq!(status, 400);
    assert!(answer["__type"].as_str().unwrap().ends_with("#ProvisionedThroughputExceededException"));
    assert_eq!(answer["ThrottlingReasons"][0]["reason"], "TableWriteProvisionedThroughputExceeded");
    assert_eq!(bench.wire.pending(), 0);
    assert!(!bench.exists("one").await);
    assert_eq!(bench.wire.calls()[0].fault, Some(throttle));
}

#[tokio::test]
async fn a_conflict_names_the_item_at_fault() {
    let bench = Bench::start().await;
    bench.wire.inject(Match::action("TransactWriteItems"), Fault::conflict(1), 1);
    let (status, answer) = bench.call("TransactWriteItems", transaction(&["one", "two", "three"])).await.unwrap();
    assert_eq!(status, 400);
    let codes: Vec<_> = answer["CancellationReasons"].as_array().unwrap().iter().map(|r| &r["Code"]).collect();
    assert_eq!(codes, ["None", "TransactionConflict", "None"]);
    assert!(!bench.exists("one").await);
}

#[tokio::test]
async fn a_fault_applies_as_often_as_told_and_only_to_what_matches() {
    let bench = Bench::start().await;
    let second = Match::action("PutItem").when(|request| request["Item"]["PK"]["S"] == "two");
    bench.wire.inject(second, Fault::InternalError, 2);
    assert_eq!(bench.call("PutItem", put("one")).await.unwrap().0, 200);
    assert_eq!(bench.call("PutItem", put("two")).await.unwrap().0, 500);
    assert_eq!(bench.call("PutItem", put("two")).await.unwrap().0, 500);
    assert_eq!(bench.call("PutItem", put("two")).await.unwrap().0, 200);
}

#[tokio::test]
async fn keys_left_unprocessed_are_not_read_and_can_be_asked_again() {
    let bench = Bench::start().await;
    bench.call("TransactWriteItems", transaction(&["one", "two", "three"])).await.unwrap();
    bench.wire.take_calls();
    bench.wire.inject(Match::any(), Fault::Unprocessed(2), 1);

    let (_, answer) = bench.call("BatchGetItem", batch(&["one", "two", "three"])).await.unwrap();
    assert_eq!(answer["Responses"][TABLE].as_array().unwrap().len(), 1);
    assert_eq!(bench.wire.calls()[0].consumed, [consumed(Access::Read, 1.0, &[])]);

    let rest = json!({ "RequestItems": answer["UnprocessedKeys"] });
    assert_eq!(rest, batch(&["two", "three"]));
    let (_, answer) = bench.call("BatchGetItem", rest).await.unwrap();
    assert_eq!(answer["Responses"][TABLE].as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn a_connection_cut_before_the_call_leaves_nothing_behind() {
    let bench = Bench::start().await;
    bench.wire.inject(Match::action("PutItem"), Fault::CutBefore, 1);
    bench.call("PutItem", put("one")).await.unwrap_err();
    assert!(!bench.exists("one").await);
    assert_eq!(bench.wire.calls()[0].status, None);
}

#[tokio::test]
async fn a_connection_cut_after_the_call_leaves_its_write_behind() {
    let bench = Bench::start().await;
    bench.wire.inject(Match::action("PutItem"), Fault::CutAfter, 1);
    bench.call("PutItem", put("one")).await.unwrap_err();
    assert!(bench.exists("one").await);
    assert_eq!(bench.wire.calls()[0].status, Some(200));
}

#[tokio::test]
async fn a_delayed_call_is_done_although_its_client_has_gone() {
    let bench = Bench::start().await;
    let delay = std::time::Duration::from_millis(100);
    bench.wire.inject(Match::action("PutItem"), Fault::Delay(delay), 1);
    tokio::time::timeout(delay / 4, bench.call("PutItem", put("one"))).await.unwrap_err();

    let began = Instant::now();
    while !bench.exists("one").await {
        assert!(began.elapsed() < delay * 20, "the write never came");
        tokio::time::sleep(delay / 4).await;
    }
}

#[tokio::test]
async fn the_same_table_is_taken_as_it_is_and_another_is_refused() {
    let engine = Engine::start(0, None).await.unwrap();
    let endpoint = Endpoint::new(engine.url()).unwrap();
    endpoint.ensure_table(&Template::parse(TEMPLATE).unwrap()).await.unwrap();
    endpoint.ensure_table(&Template::parse(TEMPLATE).unwrap()).await.unwrap();

    let other = Template::parse(&TEMPLATE.replace("AttributeName: G,", "AttributeName: H,")).unwrap();
    let error = endpoint.ensure_table(&other).await.unwrap_err().to_string();
    assert!(error.contains("has other keys or indexes than template.yaml says"), "{error}");
}
