//! An order is followed by the log alone: from the request, through the queue, the stream and the bus, to the event, and
//! back. No line has personal data, or a code that lets somebody do something.

use std::sync::atomic::{AtomicBool, Ordering};

use local::functions;
use shop::bus::records;
use shop::events::{event, functions_by_event_time};
use shop::log::Log;
use shop::payments::Payments;

use crate::prelude::*;

fn text<'a>(line: &'a Value, name: &str) -> &'a str {
    line[name].as_str().unwrap_or_default()
}

/// The lines about an order, each with its request.
fn about<'a>(lines: &'a [Value], order: &str) -> Vec<(&'a str, &'a str)> {
    let about = lines.iter().filter(|line| text(line, "order_id") == order);
    about.map(|line| (text(line, "message"), text(line, "request_id"))).collect()
}

#[tokio::test]
async fn an_order_is_followed_from_its_request_through_queue_and_stream_to_its_event() {
    let (log, _logging) = Log::begin_as_on_aws();
    let shop = Shop::open_undrained().await;
    shop.sign_up("ada").await;
    shop.product("thing", 1000, 10).await;
    let (ada, publish) = (shop.customer("ada"), shop.consumer("publish-order-events", &shop.endpoints()));
    log.take();

    let asked = order_later(&ada, "k", things(2)).await;
    let request = asked.header("apigw-requestid").expect("an id").to_owned();
    let order = order_id(&asked.body).to_owned();
    shop.drain(&shop.take_messages().await).await;
    let cancelled = ada.post(&format!("/orders/{order}/cancellation"), json!({})).await;
    let cancelling = cancelled.header("apigw-requestid").expect("an id").to_owned();
    let is_refused = AtomicBool::new(false);
    shop.bus().fail(move |entry| {
        let refuses = entry.detail_type == "OrderPlaced" && !is_refused.swap(true, Ordering::Relaxed);
        refuses.then_some("InternalFailure")
    });
    publish(json!({ "Records": records(&shop).await })).await.expect("an answer");

    let lines = log.take_lines();
    let wanted = [
        ("answered", request.as_str()),
        ("done", &request),
        ("answered", &cancelling),
        ("EventBridge did not accept an event", &request),
        ("published", &request),
        ("published", &cancelling),
    ];
    let found = about(&lines, &order);
    for line in wanted {
        assert!(found.contains(&line), "{line:?} is not in {found:#?}");
    }
    let about_events = lines.iter().filter(|line| line["event"].is_string());
    assert!(about_events.clone().count() >= 3 && about_events.clone().all(|line| line["event_id"].is_string()));
    let events = shop.bus().events();
    let of = |kind: &str| events.iter().find(|event| event["detail-type"] == kind).expect("an event")["detail"].clone();
    assert_eq!(
        (of("OrderPlaced")["requestId"].as_str(), of("OrderStatusChanged")["requestId"].as_str()),
        (Some(request.as_str()), Some(cancelling.as_str()))
    );
}

#[tokio::test]
async fn a_refusal_says_of_what_and_why() {
    let (log, _logging) = Log::begin_as_on_aws();
    let shop = Shop::with_ada().await;
    shop.product("thing", 1000, 1).await;
    let ada = shop.customer("ada");
    let with = |name: &str, value: Value| {
        let mut order = things(1);
        order[name] = value;
        order
    };
    for (body, kind, of) in [
        (things(2), Kind::OutOfStock, ("product_id", json!("thing"))),
        (basket("gone", 1), Kind::NotFound, ("product_id", json!("gone"))),
        (with("discountCode", json!("SPRING-OF-ADA")), Kind::DiscountInvalid, ("code_hash", Value::Null)),
        (with("giftCards", json!(["GIFT-OF-ADA-1"])), Kind::GiftCardInvalid, ("status", json!(409))),
    ] {
        log.take();
        let reply = ada.order(&format!("{kind:?}"), body).await;
        let id = reply.header("apigw-requestid").expect("an id").to_owned();
        reply.problem(kind);
        let lines = log.take_lines();
        let [line] = &lines[..] else { panic!("{lines:#?}") };
        assert_eq!((text(line, "request_id"), text(line, "problem")), (id.as_str(), kind.slug()), "{line}");
        assert!(line["order_id"].is_string(), "{line}");
        let (name, value) = of;
        let hash = line[name].as_str().is_some_and(|hash| hash.len() == 4);
        assert!(line[name] == value || value.is_null() && hash, "{line}");
        assert!(!line.to_string().contains("OF-ADA"), "{line}");
    }
}

/// Staff find the line of a problem that a customer shows them. The client of the tests compares the ids of all others.
#[tokio::test(flavor = "multi_thread")]
async fn a_problem_names_its_request() {
    let shop = Shop::open().await;
    let get = reqwest::get(format!("{}/products/gone", shop.url())).await.expect("an answer");
    let id = get.headers()["apigw-requestid"].to_str().expect("a text").to_owned();
    let problem: Value = get.json().await.expect("JSON");
    assert_eq!(problem["requestId"], id, "{problem}");
}

/// The fields of requests that say something about a person, or let somebody do something.
const PERSONAL: [&str; 17] = [
    "city",
    "code",
    "discountCode",
    "discountCodes",
    "email",
    "giftCards",
    "line1",
    "line2",
    "name",
    "postalCode",
    "reason",
    "reference",
    "region",
    "trackingNumber",
    "trackingUrl",
    "username",
    "wholeDescription",
];

/// The texts of these fields.
fn personal(value: &Value, is_personal: bool, found: &mut BTreeSet<String>) {
    match value {
        Value::String(text) if is_personal => drop(found.insert(text.clone())),
        Value::Array(all) => all.iter().for_each(|value| personal(value, is_personal, found)),
        Value::Object(all) => {
            all.iter().for_each(|(name, value)| personal(value, PERSONAL.contains(&name.as_str()), found));
        }
        _ => {}
    }
}

/// The sample events are requests and batches of every function, of a shop's day.
#[tokio::test]
async fn no_line_of_a_day_has_personal_data_and_each_names_its_request() {
    let (log, _logging) = Log::begin_as_on_aws();
    let shop = Shop::open_silently_paying(Payments::start().await, |_| {}).await;
    let started = functions::start_all(&shop.endpoints(), shop.template()).expect("the functions start");
    let handlers: BTreeMap<_, _> = started.handlers.into_iter().collect();
    log.take();
    let (mut secrets, mut lines) = (BTreeSet::new(), Vec::new());
    for name in functions_by_event_time() {
        shop.prepare_for(&name).await;
        let event = event(&name);
        personal(&event["queryStringParameters"], false, &mut secrets);
        personal(&event["pathParameters"], false, &mut secrets);
        for header in ["guest-secret", "authorization", "idempotency-key"] {
            secrets.extend(event["headers"][header].as_str().map(str::to_owned));
        }
        let bodies =
            event["Records"].as_array().into_iter().flatten().chain([&event]).filter_map(|it| it["body"].as_str());
        bodies.for_each(|body| personal(&serde_json::from_str(body).expect("JSON"), false, &mut secrets));
        log.take();
        match handlers.get(&name) {
            Some(handler) => handler(event).await.expect("an answer"),
            None => shop.consumer(&name, &shop.endpoints())(event).await.expect("an answer"),
        };
        let said = log.take_lines();
        assert!(!said.is_empty(), "{name} says nothing");
        lines.extend(said.into_iter().map(|line| (name.clone(), line)));
    }
    assert!(secrets.len() >= 30 && lines.len() > 100, "{} of {}", lines.len(), secrets.len());
    for (name, line) in lines {
        assert!(line["request_id"].is_string(), "{name}: {line}");
        let line = line.to_string();
        // Shorter ones are the codes of countries and currencies, which other words contain.
        for secret in secrets.iter().filter(|secret| secret.len() > 3) {
            assert!(!line.contains(secret.as_str()), "{name}: {secret} is in {line}");
        }
        assert!(!line.contains('@'), "{name}: {line}");
    }
}
