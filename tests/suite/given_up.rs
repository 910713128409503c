//! Stream records that were given up are counted again, each once.

use devstack::Template;
use devstack::template::Destination;
use fastrand::Rng;
use lambda::Environment;
use local::history::Options;
use local::replay::{self, Lost, Taken, take_from_bucket, take_from_queue};
use objects::Bucket;
use shop::queue::url;
use shop::reconcile::{FAST, reconciled};
use shop::seed::seeds;
use shop::stream::{Tail, batch, is_wanted, number};
use yaml_serde::Value as Yaml;

use crate::counts::book::Book;
use crate::history::{credited, imported};
use crate::prelude::*;

const LOST_COUNTS: &str = "till-local-lost-counts";
const LOST_EVENTS: &str = "till-local-lost-events";
const LOST_COUNTS_BUCKET: &str = "till-local-lost-counts-bucket";

/// The least time between the age from which `count-orders` expects that records were given up, and the age at which Lambda
/// gives them up.
const MARGIN_SECONDS: u64 = 15 * 60;

/// A shop whose counter expects at any time that Lambda has given something up.
async fn suspicious_shop() -> Shop {
    Shop::open_with(|template| {
        reconciled(template, 0, FAST);
        let counter = template.functions.iter_mut().find(|function| function.handler == "count-orders");
        let variables = &mut counter.expect("the counter").environment;
        variables.insert("GIVEN_UP_AFTER_SECONDS".to_owned(), "0".to_owned());
    })
    .await
}

fn operator(shop: &Shop) -> Environment {
    let bus = shop.template().functions.iter().find_map(|function| function.environment.get("EVENT_BUS"));
    let variables = [
        ("TABLE_NAME", shop.table()),
        ("EVENT_BUS", bus.expect("a bus")),
        ("FEW_LEFT", "5"),
        ("AWS_ENDPOINT_URL_EVENTBRIDGE", shop.bus().url()),
        ("AWS_ENDPOINT_URL_SQS", shop.sqs_url()),
        ("AWS_ENDPOINT_URL_S3", shop.s3_url().expect("buckets")),
        ("AWS_SECRET_ACCESS_KEY", "local"),
    ];
    let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned()));
    shop.operator().with(variables).with(shop.operator_through_the_proxy())
}

/// The object that Lambda makes of a batch that it gave up.
fn object(shard: &str, records: &[Value]) -> String {
    let event = batch(shard, records, &json!({})).to_string();
    json!({ "requestContext": {}, "DDBStreamBatchInfo": { "shardId": shard }, "payload": event }).to_string()
}

async fn count(shop: &Shop, text: &str) -> consumers::count_orders::Recounted {
    let batches = replay::read(text).expect("records").batches;
    replay::count(&operator(shop), batches).await.expect("an answer")
}

/// Takes everything from the queue of lost counts.
async fn take(shop: &Shop) -> Taken {
    let environment = operator(shop);
    let process = async |batches: Vec<Lost>| {
        let counted = replay::count(&environment, batches).await?;
        anyhow::ensure!(counted.left.is_empty(), "{:?}", counted.left);
        Ok(())
    };
    take_from_queue(&environment, &url(LOST_COUNTS), process).await.expect("an answer")
}

/// Writes something that counts, and returns its records.
async fn written(shop: &Shop, book: &mut Book, tail: &mut Tail, rng: &mut Rng) -> Vec<Value> {
    loop {
        book.write(shop, rng).await;
        let mut records = tail.new_records(shop).await;
        records.retain(is_wanted);
        if !records.is_empty() {
            return records;
        }
    }
}

/// Some batches are lost, some of these after a part of them was counted; some records are given up by the function. They
/// are counted again in any order, several times, and while other batches are counted.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_given_up_is_counted_once_whenever_and_however_often_it_is_replayed() {
    let shop = suspicious_shop().await;
    let (mut book, mut tail) = (Book::open(&shop).await, Tail::default());
    let (mut lost, mut counted) = (Vec::new(), 0);
    let seeds = seeds(16);
    let rounds = seeds.clone().count();
    for (round, seed) in seeds.enumerate() {
        let mut rng = Rng::with_seed(seed);
        // A shard ends after some batches, before its list of what may be missing is full.
        let shard = format!("shardId-{}", round / 4);
        let records = written(&shop, &mut book, &mut tail, &mut rng).await;
        match round % 4 {
            0 => lost.push(object(&shard, &records)),
            1 => {
                // A part of the batch is counted before it is given up.
                let part = rng.usize(..=records.len());
                shop.count(&shard, &records[..part]).await;
                lost.push(object(&shard, &records));
            }
            2 => {
                let at = rng.usize(..=records.len());
                let mut spoilt = records.clone();
                if let Some(record) = spoilt.get_mut(at) {
                    record["dynamodb"]["NewImage"]["orderId"] = json!({ "N": "1" });
                }
                shop.count(&shard, &spoilt).await;
                // A later release can read the record.
                lost.extend(readable(&shop, &records).await);
            }
            _ => _ = shop.count(&shard, &records).await,
        }
        if rng.bool() && !lost.is_empty() {
            let text = rng.choice(&lost).expect("one").clone();
            let fault = rng.choice([Fault::CutAfter, Fault::CutBefore, Fault::conflict(0)]).expect("one");
            shop.fault_proxy().inject(commit(), fault, rng.usize(..2));
            // Twice at the same time, and beside the consumer, which counts the next batch.
            let next = written(&shop, &mut book, &mut tail, &mut rng).await;
            let (first, second, _) = tokio::join!(count(&shop, &text), count(&shop, &text), shop.count(&shard, &next));
            assert!(first.left.is_empty() && second.left.is_empty(), "{seed}: {first:?} {second:?}");
            counted += first.counted + second.counted;
        }
    }
    for _ in 0..2 {
        for text in &lost {
            counted += count(&shop, text).await.counted;
        }
        book.check(&shop).await;
    }
    assert!(counted >= rounds / 4, "only {counted} records were counted again");
    let breaches = crate::invariants::breaches(&shop, "2100-01-01").await;
    assert!(breaches.is_empty(), "{breaches:?}");
}

/// No transaction has room for all counters of an order with so many credits.
#[tokio::test(flavor = "multi_thread")]
async fn an_imported_order_with_many_credits_is_counted_again_with_the_records_beside_it() {
    let shop = suspicious_shop().await;
    let (mut book, mut tail) = (Book::open(&shop).await, Tail::default());
    let mut rng = Rng::with_seed(6);
    let mut records = written(&shop, &mut book, &mut tail, &mut rng).await;
    imported(&shop, &credited(150), &Options::default()).await;
    records.extend(written(&shop, &mut book, &mut tail, &mut rng).await);
    let text = object("shardId-0", &records);
    shop.fault_proxy().inject(commit(), Fault::CutAfter, 2);
    let (first, again) = (count(&shop, &text).await, count(&shop, &text).await);
    assert!(first.counted > 0 && first.left.is_empty(), "{first:?}");
    assert!(again.counted == 0 && again.left.is_empty(), "{again:?}");
    assert!(shop.dump().await.iter().all(|item| item["EntityType"]["S"] != "parkedCounts"));
    assert_eq!(crate::invariants::breaches(&shop, "2100-01-01").await, Vec::<String>::new());
}

/// The messages about records that the function gave up, with the records as they were written.
async fn readable(shop: &Shop, records: &[Value]) -> Vec<String> {
    let messages = shop.take_from(LOST_COUNTS).await;
    let readable = messages.iter().map(|message| {
        let mut body: Value = serde_json::from_str(message["body"].as_str().expect("a text")).expect("JSON");
        assert_eq!(body["listed"], true, "{body}");
        let lost = records.iter().find(|record| *number(record) == body["sequenceNumber"]);
        body["Records"] = json!([lost.expect("the record")]);
        body.to_string()
    });
    readable.collect()
}

/// With the laptop's event sources, as on AWS: what Lambda gives up is in the bucket, the queue's alarm sees a message, and the
/// command empties both.
#[tokio::test(flavor = "multi_thread")]
async fn a_batch_that_lambda_gives_up_is_kept_reported_and_counted_later() {
    let shop = Shop::open_with(|template| {
        for source in &mut template.stream_sources {
            source.enabled = true;
            source.maximum_retry_attempts = Some(1);
        }
        for function in template.functions.iter_mut().filter(|function| function.handler == "count-orders") {
            function.environment.insert("GIVEN_UP_AFTER_SECONDS".to_owned(), "0".to_owned());
        }
    })
    .await;
    let mut book = Book::open(&shop).await;
    let mut rng = Rng::with_seed(3);
    shop.settle().await;
    let counting = commit().when(|request| request.to_string().contains("shard#"));
    let defect = Fault::Cancel { item: 0, code: "ValidationError", message: "an operand is of another type" };
    for round in 0..3 {
        book.write(&shop, &mut rng).await;
        shop.settle().await;
        shop.fault_proxy().inject(counting.clone(), defect.clone(), usize::MAX);
        book.place_this(&shop, &format!("lost {round}"), basket("cup", 1)).await;
        shop.settle().await;
        shop.fault_proxy().heal();
        book.write(&shop, &mut rng).await;
        shop.settle().await;
    }
    let environment = operator(&shop);
    let bucket = Bucket::open(&environment, LOST_COUNTS_BUCKET).expect("a client");
    let keys = bucket.list("").await.expect("a list");
    assert!(keys.len() >= 3, "{keys:?}");
    assert!(keys.iter().all(|key| key.starts_with("aws/lambda/")), "{keys:?}");
    let told = shop.messages_in(LOST_COUNTS).await;
    assert_eq!(told, keys.len() as u64, "each object is a message, at which CountsAreLost looks");
    let kept = bucket.get(&keys[0]).await.expect("an answer").expect("an object");
    let kept = String::from_utf8(kept).expect("a text");

    let taken = take(&shop).await;
    assert_eq!((taken.done as u64, taken.left.len()), (told, 0), "{taken:?}");
    book.check(&shop).await;
    assert_eq!((shop.messages_in(LOST_COUNTS).await, bucket.list("").await.expect("a list")), (0, Vec::new()));
    let again = count(&shop, &kept).await;
    assert!(again.counted == 0 && again.known > 0 && again.left.is_empty(), "{again:?}");
    book.check(&shop).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_repair_has_counted_is_not_counted_again_and_the_other_way_round() {
    let shop = suspicious_shop().await;
    let (mut book, mut tail) = (Book::open(&shop).await, Tail::default());
    let mut rng = Rng::with_seed(5);
    let mut lose = async |book: &mut Book, tail: &mut Tail| {
        let records = written(&shop, book, tail, &mut rng).await;
        // Lambda delivers what comes after it.
        let later = written(&shop, book, tail, &mut rng).await;
        shop.count("shardId-0", &later).await;
        object("shardId-0", &records)
    };
    let text = lose(&mut book, &mut tail).await;
    let first = count(&shop, &text).await;
    assert!(first.counted > 0 && first.left.is_empty(), "{first:?}");
    assert_eq!(shop.reconcile(true).await["repaired"], 0, "the replay counted everything");
    book.check(&shop).await;

    let text = lose(&mut book, &mut tail).await;
    let report = shop.reconcile(true).await;
    assert_ne!(report["repaired"], 0, "{report} {text}");
    book.check(&shop).await;
    let refused = count(&shop, &text).await;
    assert!(refused.counted == 0 && !refused.left.is_empty(), "{refused:?}");
    assert!(refused.left.iter().all(|(_, why)| why.contains("repair")), "{refused:?}");
    book.check(&shop).await;
}

/// A record that its shard's consumer may still count, one of an unknown shard, and a text that is none.
#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_decided_is_named_and_left_where_it_is() {
    let shop = suspicious_shop().await;
    let (mut book, mut tail) = (Book::open(&shop).await, Tail::default());
    let records = written(&shop, &mut book, &mut tail, &mut Rng::with_seed(1)).await;
    let message = |listed: bool| json!({ "reason": "r", "shardId": "shardId-0", "listed": listed, "sequenceNumber": "1", "Records": [records[0]] });
    let bucket = Bucket::open(&operator(&shop), LOST_COUNTS_BUCKET).expect("a client");
    bucket.put("aws/lambda/x/bad", "application/json", b"no JSON").await.expect("it is written");
    for body in [message(true).to_string(), message(false).to_string(), "nonsense".to_owned()] {
        shop.sqs("SendMessage", LOST_COUNTS, json!({ "MessageBody": body })).await;
    }
    // Three, and the one about the object.
    for _ in 0..2 {
        let taken = take(&shop).await;
        let why: Vec<_> = taken.left.iter().map(|left| left.why.as_str()).collect();
        for expected in ["has not passed it yet", "nobody can tell", "no JSON"] {
            assert!(why.iter().any(|why| why.contains(expected)), "{expected}: {why:?}");
        }
        assert_eq!((taken.done, why.len()), (0, 4), "{why:?}");
        assert_eq!(shop.messages_in(LOST_COUNTS).await, 4);
    }
    let environment = operator(&shop);
    let taken = take_from_bucket(&environment, LOST_COUNTS_BUCKET, async |_| Ok(())).await.expect("an answer");
    assert!(taken.done == 0 && taken.left[0].what.ends_with("aws/lambda/x/bad"), "{taken:?}");
    assert_eq!(bucket.list("").await.expect("a list").len(), 1);

    // The consumer counts it after all, and the replay counts it no more.
    shop.count("shardId-0", &records).await;
    let known = count(&shop, &message(true).to_string()).await;
    assert_eq!((known.counted, known.known, known.left.len()), (0, 1, 0));
    book.check(&shop).await;
}

/// The events of a batch that Lambda gave up are published from its object, under their own ids.
#[tokio::test(flavor = "multi_thread")]
async fn events_are_published_again_from_the_objects_of_a_bucket() {
    let shop = suspicious_shop().await;
    let (mut book, mut tail) = (Book::open(&shop).await, Tail::default());
    let records = written(&shop, &mut book, &mut tail, &mut Rng::with_seed(2)).await;
    let publish = shop.consumer("publish-order-events", &shop.endpoints());
    publish(json!({ "Records": records })).await.expect("an answer");
    let ids = |events: &[Value]| events.iter().map(|event| event["detail"]["id"].clone()).collect::<Vec<_>>();
    let published = ids(&shop.bus().events());
    assert!(!published.is_empty());

    let environment = operator(&shop);
    let bucket = Bucket::open(&environment, "till-local-lost-events-bucket").expect("a client");
    let text = object("shardId-0", &records);
    bucket.put("aws/lambda/x/batch", "application/json", text.as_bytes()).await.expect("it is written");
    assert_eq!(shop.messages_in(LOST_EVENTS).await, 1);
    let process = async |batches: Vec<Lost>| {
        let replayed = replay::replay(&environment, batches).await?;
        anyhow::ensure!(replayed.waiting == 0 && replayed.unreadable.is_empty(), "{replayed:?}");
        Ok(())
    };
    let taken = take_from_queue(&environment, &url(LOST_EVENTS), process).await.expect("an answer");
    assert_eq!((taken.done, taken.left.len()), (1, 0), "{taken:?}");
    assert_eq!(ids(&shop.bus().events()), [published.clone(), published].concat());
    assert_eq!((bucket.list("").await.expect("a list").len(), shop.messages_in(LOST_EVENTS).await), (0, 0));
}

/// The checkpoint lists what may be lost only if the age that the function is told is below the age at which Lambda gives
/// up, and if nothing but the age ends a batch.
#[test]
fn the_counter_expects_losses_before_lambda_gives_up() {
    let text = shop::template_text();
    let template: Yaml = yaml_serde::from_str(&text).expect("YAML");
    let resources = &template["Resources"];
    let expected = &resources["CountOrders"]["Properties"]["Environment"]["Variables"]["GIVEN_UP_AFTER_SECONDS"];
    let expected: u64 = expected.as_str().and_then(|seconds| seconds.parse().ok()).expect("a number");
    for source in ["CountOrdersStream", "CountOrdersStreamV2"] {
        let properties = &resources[source]["Properties"];
        let age = properties["MaximumRecordAgeInSeconds"].as_u64().expect("an age");
        assert!(expected + MARGIN_SECONDS <= age, "{source}");
        assert_eq!(properties["MaximumRetryAttempts"].as_i64(), Some(-1), "{source}");
    }
    let parsed = Template::parse_for(&text, &local::deployment()).expect("a template");
    assert!(!parsed.stream_sources.is_empty());
    for source in &parsed.stream_sources {
        assert!(matches!(source.on_failure, Some(Destination::Bucket(_))), "{source:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_batch_whose_events_lambda_gives_up_is_kept_and_reported() {
    let shop = Shop::open_with(|template| {
        for source in &mut template.stream_sources {
            (source.enabled, source.maximum_retry_attempts) = (true, Some(0));
        }
        for function in &mut template.functions {
            function.timeout_seconds = function.timeout_seconds.min(5);
        }
    })
    .await;
    shop.sign_up("ada").await;
    shop.product("cup", 350, 10).await;
    shop.settle().await;
    shop.bus().fail(|_| Some("InternalFailure"));
    shop.customer("ada").order("k", basket("cup", 1)).await.expect(201);
    shop.settle().await;
    let bucket = Bucket::open(&operator(&shop), "till-local-lost-events-bucket").expect("a client");
    assert_eq!(bucket.list("").await.expect("a list").len(), 1, "{:?}", shop.denials());
    assert_eq!(shop.messages_in(LOST_EVENTS).await, 1);
}
