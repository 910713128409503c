//! The sample events: each matches its function's route, and the functions answer them one after the other.

use devstack::gateway::Invoke;
use http_api::{ADMIN_SCOPE, SHOP_SCOPE, Verb};
use local::functions::{self, routes};
use reqwest::Url;
use shop::events::{event, functions_by_event_time};
use shop::payments::Payments;
use shop::stream::{Tail, is_wanted};

use crate::completeness::{declared, names, texts};
use crate::generated::answers::Answers;
use crate::prelude::*;

/// The functions in the order of their events, without functions that no client calls.
pub fn routes_by_event_time() -> Vec<String> {
    let routes = names();
    functions_by_event_time().into_iter().filter(|name| routes.contains(name)).collect()
}

pub fn is_expected(name: &str, status: u64) -> bool {
    match name {
        // The only cancelled order was never paid, so no refund is due; and the customer has unfinished orders.
        "confirm-refund" | "erase-customer" => status == 409,
        // Nobody uploads an image to the address in the answer.
        "confirm-image" => status == 404,
        // A genuine signature is at most five minutes old.
        "receive-payment-event" => status == 400,
        _ => (200..300).contains(&status),
    }
}

#[test]
fn an_event_fits_its_route() {
    for (name, (method, path, scopes)) in declared() {
        let event = event(&name);
        let (context, key) = (&event["requestContext"], format!("{method} {path}"));
        assert_eq!((&event["version"], &event["routeKey"]), (&json!("2.0"), &json!(key)), "{name}");
        assert_eq!((&context["routeKey"], &context["stage"]), (&json!(key), &json!("$default")), "{name}");
        assert_eq!(context["http"]["method"], method, "{name}");
        assert_eq!(context["http"]["path"], event["rawPath"], "{name}");
        assert_eq!(event["isBase64Encoded"], false, "{name}");

        let mut filled = path.clone();
        for (parameter, value) in event["pathParameters"].as_object().into_iter().flatten() {
            filled = filled.replace(&format!("{{{parameter}}}"), value.as_str().expect("a text"));
        }
        assert_eq!(event["rawPath"], filled, "{name}");
        assert_eq!(event.get("pathParameters").is_some(), path.contains('{'), "{name}");

        let url = format!("https://till.example/?{}", event["rawQueryString"].as_str().expect("a text"));
        let query: Value =
            Url::parse(&url).expect("a URL").query_pairs().map(|(k, v)| (k.into_owned(), json!(v))).collect();
        assert_eq!(event.get("queryStringParameters").unwrap_or(&json!({})), &query, "{name}");
        let length = event["body"].as_str().map(|body| body.len().to_string());
        assert_eq!(event["headers"]["content-length"].as_str(), length.as_deref(), "{name}");
        let has_body = ![
            "claim-guest",
            "confirm-image",
            "deliver-shipment",
            "record-view",
            "start-guest-payment",
            "start-payment",
        ]
        .contains(&name.as_str())
            && ["POST", "PUT", "PATCH"].contains(&method.as_str());
        assert_eq!(event.get("body").is_some(), has_body, "{name}");

        // A public route has no authorizer, so its event has no claims.
        let jwt = &context["authorizer"]["jwt"];
        assert_eq!(texts(&jwt["scopes"]), scopes, "{name}");
        assert_eq!(context.get("authorizer").is_some(), !scopes.is_empty(), "{name}");
        assert_eq!(event["headers"].get("authorization").is_some(), !scopes.is_empty(), "{name}");
        if let Some(scope) = scopes.first() {
            assert_eq!(&jwt["claims"]["scope"], scope, "{name}: its claims");
        }
    }
}

fn start(shop: &Shop) -> BTreeMap<String, Invoke> {
    functions::start_all(&shop.endpoints(), shop.template())
        .expect("the functions start")
        .handlers
        .into_iter()
        .collect()
}

/// Asserts that the response is valid for payload 2.0, and returns its status and body.
fn well_formed(name: &str, response: &Value) -> (u64, Value) {
    let headers = response["headers"].as_object().expect("headers");
    assert!(headers.values().all(Value::is_string), "{name}: {response}");
    assert_eq!(response["isBase64Encoded"], false, "{name}: {response}");
    let status = response["statusCode"].as_u64().expect("a status");
    if status == 204 {
        assert!(response["body"] == "" && headers.get("content-type").is_none(), "{name}: {response}");
        return (status, Value::Null);
    }
    let text = response["body"].as_str().expect("a text");
    let media_type = match status {
        400.. => "application/problem+json",
        _ if ["get-invoice-page", "get-guest-invoice-page"].contains(&name) => "text/html; charset=utf-8",
        _ => "application/json",
    };
    assert_eq!(headers["content-type"], media_type, "{name}: {response}");
    let is_page = media_type.starts_with("text/html");
    (status, if is_page { json!(text) } else { serde_json::from_str(text).expect("JSON") })
}

/// The number of routes that create something which their description says can be read at `Location`.
fn declared_locations(open_api: &Value) -> usize {
    let operations = open_api["paths"].as_object().expect("paths").values().filter_map(Value::as_object);
    let operations = operations.flat_map(|path| path.values());
    operations.filter(|one| one["responses"]["201"]["headers"]["Location"].is_object()).count()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_events_succeed_in_the_order_of_their_times() {
    let shop = Shop::open_silently_paying(Payments::start().await, |_| {}).await;
    let functions = start(&shop);
    let mut located = BTreeSet::new();
    let mut answers = Answers::default();
    for name in functions_by_event_time() {
        let Some(invoke) = functions.get(&name) else {
            let answer = shop.consumer(&name, &shop.endpoints())(event(&name)).await.expect("a response");
            assert!(answer["batchItemFailures"] == json!([]) || answer["done"] == true, "{name}: {answer}");
            continue;
        };
        shop.prepare_for(&name).await;
        let response = invoke(event(&name)).await.expect("a response");
        let (status, body) = well_formed(&name, &response);
        assert!(is_expected(&name, status), "{name}: {status} {body}");
        answers.add(&name, status, &body);
        // Whoever made something can read it where `Location` says.
        if let Some(location) = response["headers"]["location"].as_str() {
            let own = event(&name);
            let secret = own["headers"]["guest-secret"].as_str().map(|secret| ("guest-secret", secret));
            let client = match own["requestContext"]["authorizer"]["jwt"]["claims"]["scope"].as_str() {
                None => shop.nobody(),
                Some(ADMIN_SCOPE) => shop.admin(),
                Some(_) => shop.customer("ada"),
            };
            client.send(Method::GET, location, secret.as_slice(), None).await.expect(200);
            located.insert(name.clone());
        }
        // No report among the events is genuine, so no payment is ever due.
        if let Some(items) = body["items"].as_array().filter(|_| name != "list-payments-due") {
            assert!(!items.is_empty(), "{name}: nothing is listed");
        }
    }
    let described = declared_locations(&shop.nobody().open_api().await);
    assert_eq!(located.len(), described, "a route whose description has a Location gives none: {located:?}");
    let ada = shop.customer("ada");
    let mut statuses: Vec<_> =
        ada.walk("/customers/ada/orders", 10).await.iter().map(|o| o["status"].clone()).collect();
    statuses.sort_by_key(Value::to_string);
    assert_eq!(json!(statuses), json!(["CANCELLED", "DELIVERED"]), "the final statuses");
    add_answers_of_no_event(&shop, &mut answers).await;
    answers.check();
}

/// The successes that no event has.
async fn add_answers_of_no_event(shop: &Shop, answers: &mut Answers) {
    let (ada, admin) = (shop.customer("ada"), shop.admin());
    let order = ada.order("story-2", basket("espresso-cup", 1)).await.expect(201);
    admin.capture(&order, "bank-20261121-0008").await.expect(200);
    ada.cancel(&order, json!({})).await.expect(200);
    let refunded = admin.confirm_refund(&order, "back-20261121-0008").await;
    answers.add("confirm-refund", refunded.status.into(), &refunded.body);
    let image = shop.uploaded("espresso-cup").await;
    let confirmed = shop.confirm_image("espresso-cup", &image).await;
    answers.add("confirm-image", confirmed.status.into(), &confirmed.body);
    let later = [("idempotency-key", "story-3"), ("prefer", "respond-async")];
    let queued = ada.send(Method::POST, "/orders", &later, Some(basket("espresso-cup", 1).to_string())).await;
    answers.add("place-order", queued.status.into(), &queued.body);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_queued_order_of_the_events_is_placed() {
    let shop = Shop::open().await;
    let functions = start(&shop);
    for name in ["create-product", "create-customer"] {
        functions[name](event(name)).await.expect("a response");
    }
    let sample = event("drain-writes");
    // An order that waited for 14 days is not placed. The sample's was queued in a time to come, so it stays a sample.
    assert!(sample["Records"][0]["body"].as_str().is_some_and(|body| body.contains(r#""queuedAt":"2099-"#)));
    let answer = shop.drainer()(sample).await.expect("a response");
    assert_eq!(answer, json!({ "batchItemFailures": [] }));
    let orders = shop.customer("ada").get("/customers/ada/orders").await.expect(200);
    assert_eq!(orders["items"].as_array().map(Vec::len), Some(1));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_order_of_the_events_is_counted() {
    let shop = Shop::open().await;
    let functions = start(&shop);
    let before = routes_by_event_time().into_iter().take_while(|name| name != "get-order");
    for name in before {
        functions[&name](event(&name)).await.expect("a response");
    }
    let sample = event("count-orders");
    // The sample equals the stream's records of the order, except for the times.
    let mut records = Tail::default().new_records(&shop).await;
    records.retain(is_wanted);
    let kept = |records: &[Value]| -> Vec<Value> {
        let image = |record: &Value| record["dynamodb"]["NewImage"].as_object().expect("an image").clone();
        let is_dated = |name: &str| ["placedAt", "changedAt", "GSI1SK", "GSI2SK"].contains(&name);
        let images = records.iter().map(image);
        images.map(|image| image.into_iter().filter(|(name, _)| !is_dated(name)).collect()).collect()
    };
    assert_eq!(kept(sample["Records"].as_array().expect("records")), kept(&records));

    let answer = shop.counter()(sample).await.expect("a response");
    assert_eq!(answer["batchItemFailures"], json!([]));
    let (_, totals) =
        well_formed("list-totals", &functions["list-totals"](event("list-totals")).await.expect("a response"));
    let expected = json!({
        "date": "2026-11-21", "orders": 1, "units": 4, "revenue": [eur(7196)],
        "statuses": [{ "status": "PENDING", "orders": 1 }],
    });
    assert_eq!(totals["items"][20], expected);

    // The sample asks for a day of the events, whatever day it is today.
    let report = shop.reconciler()(event("reconcile-counts")).await.expect("a response");
    assert_eq!(report["done"], true, "{report}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_event_without_the_earlier_ones_is_answered() {
    let shop = Shop::open().await;
    let functions = start(&shop);
    for (name, route) in routes().map(|route| (route.function.name(), route.route)) {
        let expected = match route.method {
            _ if name.starts_with("create-")
                || ["put-shipping", "put-taxes", "write-products"].contains(&name.as_str()) =>
            {
                continue;
            }
            // Without rates there are no zones, and without a cart it is empty.
            _ if ["get-cart", "get-shipping", "get-taxes"].contains(&name.as_str()) => 200,
            // Its signature is too old.
            _ if name == "receive-payment-event" => 400,
            // Views of unknown products are left out.
            _ if name == "record-views" => 204,
            // The index is not built.
            _ if name == "search-products" => 503,
            _ if route.refuses.concat().contains(&Kind::NotFound) => 404,
            Verb::Delete => 204,
            Verb::Get if name.starts_with("list-") => 200,
            _ => 404,
        };
        let response = functions[&name](event(&name)).await.expect("a response");
        assert_eq!(well_formed(&name, &response).0, expected, "{name}");
    }
    assert_eq!(shop.dump().await, Vec::<Value>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_function_checks_the_scope_although_the_gateway_does() {
    let shop = Shop::open().await;
    for (name, invoke) in start(&shop) {
        let (_, _, scopes) = &declared()[&name];
        if scopes.is_empty() {
            continue;
        }
        let refused = async |event: Value| {
            let (status, body) = well_formed(&name, &invoke(event).await.expect("a response"));
            (status, body["type"].clone())
        };
        let claims = |claims: Value| {
            let mut event = event(&name);
            event["requestContext"]["authorizer"]["jwt"]["claims"] = claims;
            event
        };
        let mut open = event(&name);
        open["requestContext"].as_object_mut().expect("a context").remove("authorizer");
        let unauthorized = (401, json!("/problems/unauthorized"));
        assert_eq!(refused(open).await, unauthorized, "{name}");
        assert_eq!(refused(claims(json!({ "scope": "till/shop till/admin" }))).await, unauthorized, "{name}");
        assert_eq!(refused(claims(json!({ "scope": ADMIN_SCOPE, "sub": "a#b" }))).await, unauthorized, "{name}");
        let forbidden = (403, json!("/problems/forbidden"));
        assert_eq!(refused(claims(json!({ "sub": "ada" }))).await, forbidden, "{name}");
        assert_eq!(
            refused(claims(json!({ "sub": "ada", "scope": "shop admin other/admin till/administrator" }))).await,
            forbidden,
            "{name}"
        );
        if !scopes.contains(&SHOP_SCOPE.to_owned()) {
            assert_eq!(refused(claims(json!({ "sub": "ada", "scope": SHOP_SCOPE }))).await, forbidden, "{name}");
        }
    }
    assert_eq!(shop.dump().await, Vec::<Value>::new());
}
