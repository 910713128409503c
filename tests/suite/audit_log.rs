//! The audit log: every request by which staff change something has one line, and nobody else's has any.

use devstack::gateway::Invoke;
use http_api::{ADMIN_SCOPE, AUDIT_MARK, SECRET_COLLECTIONS, SHOP_SCOPE, Scope, Verb};
use local::functions::{self, routes};
use shop::events::{event, functions_by_event_time};
use shop::log::Log;
use shop::payments::Payments;

use crate::prelude::*;
use crate::sample_events::is_expected;

fn scopes() -> BTreeMap<String, (Verb, Scope)> {
    routes().map(|function| (function.function.name(), (function.route.method, function.route.scope))).collect()
}

/// The functions of a shop, and its log.
struct Audited {
    shop: Shop,
    functions: BTreeMap<String, Invoke>,
    log: Log,
}

impl Audited {
    async fn open(log: Log) -> Self {
        let shop = Shop::open_silently_paying(Payments::start().await, |_| {}).await;
        let functions = functions::start_all(&shop.endpoints(), shop.template()).expect("the functions start");
        Self { shop, functions: functions.handlers.into_iter().collect(), log }
    }

    /// The status of a request, and the lines of the audit log that it writes.
    async fn send(&self, name: &str, event: Value) -> (u64, Vec<Value>) {
        self.log.take();
        let answer = self.functions[name](event).await.expect("an answer");
        let log = self.log.take();
        let lines = log.lines().filter_map(|line| line.split_once("audit=")).map(|(_, line)| line);
        let lines = lines.map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("{line}"))).collect();
        (answer["statusCode"].as_u64().expect("a status"), lines)
    }

    async fn only_line(&self, name: &str, event: Value) -> Value {
        let (status, lines) = self.send(name, event.clone()).await;
        let [line] = &lines[..] else { panic!("{name}: {lines:?}") };
        assert_eq!((&line["audit"], &line["status"]), (&json!(AUDIT_MARK), &json!(status)), "{name}");
        assert_eq!(line["request_id"], event["requestContext"]["requestId"], "{name}");
        assert!(line["level"].is_null(), "a level of Lambda, which keeps the line, is none of a laptop: {line}");
        assert_eq!(json!(format!("{} {}", text(&line["method"]), text(&line["path"]))), event["routeKey"], "{name}");
        line.clone()
    }
}

fn text(value: &Value) -> &str {
    value.as_str().expect("a text")
}

/// The texts of a body: names, addresses, codes, reasons and all else.
fn texts(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::String(text) => drop(found.insert(text.clone())),
        Value::Array(all) => all.iter().for_each(|value| texts(value, found)),
        Value::Object(all) => {
            let is_an_id = |name: &str| ["productId", "variantOf"].contains(&name);
            all.iter().filter(|(name, _)| !is_an_id(name)).for_each(|(_, v)| texts(v, found));
        }
        _ => {}
    }
}

/// Asserts that a line repeats nothing of the request's body but ids of products.
fn has_nothing_of_the_body(name: &str, line: &Value, event: &Value) {
    let mut secrets = BTreeSet::new();
    if let Some(body) = event["body"].as_str() {
        texts(&serde_json::from_str(body).expect("JSON"), &mut secrets);
    }
    let line = line.to_string();
    // Shorter ones are the codes of countries and currencies, which other words contain.
    for secret in secrets.into_iter().filter(|secret| secret.len() > 3) {
        assert!(!line.contains(&secret), "{name}: {secret} is in {line}");
    }
    assert!(!line.contains('@'), "{name}: {line}");
}

fn with_scope(mut event: Value, scope: &str) -> Value {
    event["requestContext"]["authorizer"]["jwt"]["claims"]["scope"] = json!(scope);
    event
}

#[tokio::test]
async fn every_change_by_staff_has_one_line_and_no_other_request_has_any() {
    let (log, _logging) = Log::begin();
    let audited = Audited::open(log).await;
    let scopes = scopes();
    let mut seen = BTreeSet::new();
    for name in functions_by_event_time() {
        let Some((method, scope)) = scopes.get(&name).copied() else {
            audited.shop.consumer(&name, &audited.shop.endpoints())(event(&name)).await.expect("an answer");
            continue;
        };
        audited.shop.prepare_for(&name).await;
        let event = event(&name);
        let claims = &event["requestContext"]["authorizer"]["jwt"]["claims"];
        let is_staff = scope != Scope::Public && text(&claims["scope"]).contains(ADMIN_SCOPE);
        if method == Verb::Get || !is_staff {
            let (_, lines) = audited.send(&name, event).await;
            assert!(lines.is_empty(), "{name}: {lines:?}");
            continue;
        }
        let line = audited.only_line(&name, event.clone()).await;
        assert_eq!(line["by"], claims["sub"], "{name}");
        assert!(is_expected(&name, line["status"].as_u64().expect("a status")), "{name}: {line}");
        let is_code = |ids: &&Value| ids.get("code").is_some();
        assert_eq!(line.get("ids"), event.get("pathParameters").filter(|ids| !is_code(ids)), "{name}: {line}");
        has_nothing_of_the_body(&name, &line, &event);
        seen.insert(name);
    }
    let staffs = scopes.iter().filter(|(_, (method, scope))| *method != Verb::Get && *scope == Scope::Admin);
    for (name, _) in staffs {
        assert!(seen.contains(name), "{name}");
    }

    let update = audited.only_line("update-product", event("update-product")).await;
    assert_eq!((&update["status"], &update["problem"]), (&json!(412), &json!("version-conflict")), "{update}");
}

#[tokio::test]
async fn a_line_names_what_was_created_its_version_and_the_products_of_a_batch() {
    let (log, _logging) = Log::begin();
    let audited = Audited::open(log).await;
    let created = audited.only_line("create-product", event("create-product")).await;
    let product = serde_json::from_str::<Value>(text(&event("create-product")["body"])).expect("JSON");
    assert_eq!(created["created"], format!("/products/{}", text(&product["productId"])), "{created}");
    assert_eq!((&created["version"], &created["status"]), (&json!(1), &json!(201)), "{created}");

    let batch = audited.only_line("write-products", event("write-products")).await;
    let results = batch["products"].as_array().expect("products");
    assert_eq!(results[0], json!({ "productId": "espresso-cup-red", "status": 201, "version": 1 }), "{batch}");

    // Whoever knows a code can use it.
    for name in ["create-gift-card", "create-discount"] {
        let line = audited.only_line(name, event(name)).await;
        assert_eq!((&line["status"], line.get("created")), (&json!(201), None), "{line}");
        has_nothing_of_the_body(name, &line, &event(name));
    }
    let blocked = audited.only_line("update-gift-card", event("update-gift-card")).await;
    assert_eq!((&blocked["version"], blocked.get("ids")), (&json!(2), None), "{blocked}");
    let code = text(&event("update-gift-card")["pathParameters"]["code"]).to_owned();
    assert!(!blocked.to_string().contains(&code), "{blocked}");
}

#[tokio::test]
async fn refused_attempts_are_in_the_log_with_the_caller() {
    let (log, _logging) = Log::begin();
    let audited = Audited::open(log).await;
    for (name, (method, scope)) in scopes() {
        if method == Verb::Get || scope == Scope::Public {
            continue;
        }
        let sent = event(&name);
        if scope == Scope::Shop {
            // A customer's request has no line, whatever its result. The same request of staff has one.
            let (_, lines) = audited.send(&name, with_scope(sent.clone(), SHOP_SCOPE)).await;
            assert!(lines.is_empty(), "{name}: {lines:?}");
            audited.only_line(&name, with_scope(sent.clone(), ADMIN_SCOPE)).await;
            continue;
        }
        let line = audited.only_line(&name, with_scope(sent.clone(), SHOP_SCOPE)).await;
        assert_eq!((&line["status"], &line["problem"]), (&json!(403), &json!("forbidden")), "{name}");
        assert_eq!(line["by"], sent["requestContext"]["authorizer"]["jwt"]["claims"]["sub"], "{name}");

        let mut without = sent;
        without["requestContext"]["authorizer"] = Value::Null;
        let line = audited.only_line(&name, without).await;
        assert_eq!((&line["status"], line.get("by")), (&json!(401), None), "{name}");
    }

    // A value that cannot be an id may be anything.
    for value in ["ada@example.com", "4242-4242-4242-4242", "Ada Lovelace"] {
        let mut sent = event("update-product");
        sent["pathParameters"]["productId"] = json!(value);
        let line = audited.only_line("update-product", sent).await;
        assert!(["validation", "card-number"].contains(&text(&line["problem"])), "{line}");
        assert_eq!(line.get("ids"), None, "{line}");
    }
}

/// A resource that is named by a code is in one of the collections that the audit log does not name.
#[test]
fn the_audit_log_knows_the_collections_whose_resources_are_named_by_codes() {
    let with_code = |function: &&http_api::RouteFunction| function.route.path.contains("{code}");
    let known: BTreeSet<_> = SECRET_COLLECTIONS.into_iter().collect();
    let found: BTreeSet<_> = routes().filter(|function| with_code(function)).map(|f| f.route.collection()).collect();
    assert_eq!(found, known);
}
