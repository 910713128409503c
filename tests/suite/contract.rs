//! The contract's restrictions: strict bodies, no guessing of codes, and fields for staff only.

use key_schema::entity::Discount;
use key_schema::value::{Charge, Description, EmailAddress, MOST_CHARGED, Money, Name, ProductId, Username};
use proptest::prelude::*;
use serde::de::DeserializeOwned;
use shop::openapi::{self, sample};

use crate::prelude::*;

/// A part of a body: its path, as problems spell it, and the whole body with another value in its place.
struct Swapped {
    at: String,
    body: Value,
    detail: &'static str,
}

/// Replaces each object by the array of its values, and each enum value by an object.
fn swaps(part: &Value, at: &str, whole: &dyn Fn(Value) -> Value, all: &mut Vec<Swapped>) {
    let mut swap = |value: Value, detail| {
        let at = if at.is_empty() { "body".to_owned() } else { at.to_owned() };
        all.push(Swapped { at, body: whole(value), detail });
    };
    match part {
        Value::Object(fields) => {
            swap(fields.values().cloned().collect(), "must be an object");
            for (name, value) in fields {
                let whole = |part: Value| {
                    let mut fields = fields.clone();
                    fields[name] = part;
                    whole(fields.into())
                };
                let at = if at.is_empty() { name.clone() } else { format!("{at}.{name}") };
                swaps(value, &at, &whole, all);
            }
        }
        Value::Array(items) => swaps(&items[0], &format!("{at}[0]"), &|part| whole(json!([part])), all),
        Value::String(name) => swap(json!({ name: null }), "must be a string"),
        Value::Bool(_) => swap(json!("true"), "must be true or false"),
        _ => {}
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_is_an_object_at_every_depth_and_a_name_a_string() {
    let shop = Shop::open().await;
    let admin = shop.admin();
    let before = shop.dump().await;
    let mut tried = 0;
    for (path, operations) in openapi::document()["paths"].as_object().expect("paths") {
        for (method, operation) in operations.as_object().expect("operations") {
            let schema = &operation["requestBody"]["content"]["application/json"]["schema"];
            // The payment provider says what its reports are. They are signed.
            if schema.is_null() || path == "/payment-events" {
                continue;
            }
            let method = Method::from_bytes(method.to_uppercase().as_bytes()).expect("a method");
            let path: String = path
                .split('/')
                .map(|part| if part.starts_with('{') { "a" } else { part })
                .collect::<Vec<_>>()
                .join("/");
            let body = sample(schema);
            let mut all = Vec::new();
            swaps(&body, "", &|body| body, &mut all);
            for Swapped { at, body, detail } in all {
                let headers = [("guest-secret", crate::guests::SECRET), ("if-match", "*"), ("idempotency-key", "k")];
                let reply = admin.send(method.clone(), &path, &headers, Some(body.to_string())).await;
                let problem = reply.problem(Kind::Validation);
                assert_eq!(problem["detail"], format!("{at}: {detail}"), "{method} {path} {body}");
                tried += 1;
            }
        }
    }
    assert!(tried > 50, "only {tried} bodies were tried");
    assert_eq!(shop.dump().await, before, "what was refused has changed something");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_gift_card_shows_the_amounts_spent_but_not_the_orders() {
    let shop = Shop::selling("cup", 350, 5).await;
    shop.gift_card("GIFT-FOR-ADA", 1000).await;
    let body = json!({ "lines": [{ "productId": "cup", "quantity": 1 }], "giftCards": ["GIFT-FOR-ADA"] });
    let order = shop.customer("ada").order("k", body).await.expect(201);
    let seen_by_eve = shop.customer("eve").get("/gift-cards/GIFT-FOR-ADA").await.expect(200);
    let entry = json!({ "amount": eur(350), "at": order["placedAt"], "status": "captured" });
    assert_eq!((&seen_by_eve["balance"], &seen_by_eve["entries"]), (&eur(650), &json!([entry])));
    let seen_by_staff = shop.admin().get("/gift-cards/GIFT-FOR-ADA").await.expect(200);
    assert_eq!(seen_by_staff["entries"][0]["orderId"], order["orderId"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_imported_gift_card_is_valid_with_any_code() {
    let shop = Shop::selling("cup", 350, 5).await;
    shop.admin().post("/gift-cards", json!({ "code": "G", "balance": eur(1000) })).await.problem(Kind::Validation);
    shop.gift_card("G", 1000).await;
    let body = json!({ "lines": [{ "productId": "cup", "quantity": 1 }], "giftCards": ["G"] });
    let order = shop.customer("ada").order("k", body).await.expect(201);
    assert_eq!(order["invoice"]["payments"][0]["code"], "G");
    assert_eq!(shop.customer("ada").get("/gift-cards/G").await.expect(200)["balance"], eur(650));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_discount_code_is_shown_to_customers_while_it_is_valid() {
    let shop = Shop::with_ada().await;
    let (ada, admin) = (shop.customer("ada"), shop.admin());
    let past = json!({ "code": "PAST", "percent": 10, "to": "2026-01-01" });
    let problem = admin.post("/discounts", past).await.problem(Kind::Validation);
    assert_eq!(problem["detail"], "to: must be in the future");
    // The failed request did not reserve the code.
    admin.post("/discounts", json!({ "code": "PAST", "percent": 10 })).await.expect(201);
    assert_eq!(ada.get("/discounts/PAST").await.expect(200)["percent"], 10);

    admin.post("/discounts", json!({ "code": "EARLY", "percent": 10, "from": "2999-01-01" })).await.expect(201);
    ada.get("/discounts/EARLY").await.problem(Kind::NotFound);
    admin.get("/discounts/EARLY").await.expect(200);

    let mut over = admin.get("/discounts/PAST").await.expect(200);
    for (field, value) in
        [("code", json!("OVER")), ("to", json!("2026-01-01T00:00:00.000Z")), ("uses", json!(0)), ("version", json!(1))]
    {
        over[field] = value;
    }
    shop.put(&serde_json::from_value::<Discount>(over).expect("a discount")).await;
    ada.get("/discounts/OVER").await.problem(Kind::NotFound);
    admin.get("/discounts/OVER").await.expect(200);
    // The code cannot be reused: orders that used it still refer to it.
    admin.post("/discounts", json!({ "code": "OVER", "percent": 20 })).await.problem(Kind::AlreadyExists);
}

/// Each schema of a text that clients send, with its path.
fn sent_texts(schema: &Value, at: &str, all: &mut Vec<(String, Value)>) {
    let schema = openapi::resolve(schema);
    let is_text =
        schema["type"] == "string" || schema["type"].as_array().is_some_and(|all| all.contains(&json!("string")));
    if is_text {
        all.push((at.to_owned(), schema.clone()));
    }
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        sent_texts(property, &format!("{at}.{name}"), all);
    }
    for choices in ["oneOf", "anyOf", "allOf"] {
        schema[choices].as_array().into_iter().flatten().for_each(|choice| sent_texts(choice, at, all));
    }
    if schema["items"].is_object() {
        sent_texts(&schema["items"], &format!("{at}[]"), all);
    }
}

#[test]
fn the_description_has_a_format_for_each_text_and_the_gateway_s_responses() {
    for (path, operations) in openapi::document()["paths"].as_object().expect("paths") {
        for (method, operation) in operations.as_object().expect("operations") {
            let at = format!("{method} {path}");
            let mut texts = Vec::new();
            for parameter in operation["parameters"].as_array().into_iter().flatten() {
                sent_texts(&parameter["schema"], &format!("{at} {}", parameter["name"]), &mut texts);
            }
            sent_texts(&operation["requestBody"]["content"]["application/json"]["schema"], &at, &mut texts);
            for (at, schema) in texts {
                let says = ["pattern", "format", "enum", "maxLength"].iter().any(|keyword| !schema[*keyword].is_null());
                assert!(says, "{at}: {schema}");
            }
            let gateway = &operation["responses"]["429"]["content"]["application/json"]["schema"];
            assert_eq!(gateway["$ref"], "#/components/schemas/GatewayMessage", "{at}");
        }
    }
}

/// The properties that generators of clients need: without one of them, openapi-generator's clients do not compile, or
/// Redocly's linter complains.
#[test]
fn generators_of_clients_can_read_the_description() {
    let document = openapi::document();
    let mut ids = BTreeSet::new();
    for part in ["paths", "webhooks"] {
        for (at, operations) in document[part].as_object().expect("operations by path") {
            for (method, operation) in operations.as_object().expect("operations by method") {
                let id =
                    operation["operationId"].as_str().unwrap_or_else(|| panic!("{method} {at} has no operationId"));
                assert!(ids.insert(id), "two operations are called {id}");
                assert!(operation["tags"][0].is_string(), "{id} has no tag");
                assert!(operation["security"].is_array(), "{id}: a public operation has an empty list");
                for parameter in operation["parameters"].as_array().into_iter().flatten() {
                    let schema = &parameter["schema"];
                    assert!(schema["oneOf"].is_null() && schema["anyOf"].is_null(), "{id}: {parameter} is a union");
                }
            }
        }
    }
    assert_eq!(document["servers"][0]["url"], "/");
    no_union_confuses_generators(document, "");
}

/// The operations of the description, or its webhooks, each with its id.
fn operations(section: &str) -> impl Iterator<Item = (&'static str, &'static Value)> {
    let operations = openapi::document()[section].as_object().expect("operations by path").values();
    let operations = operations.flat_map(|path| path.as_object().expect("operations by method").values());
    operations.map(|operation| (operation["operationId"].as_str().expect("an id"), operation))
}

/// The keywords of the part and of all that it refers to.
fn keywords(part: &'static Value, seen: &mut BTreeSet<String>, all: &mut BTreeSet<String>) {
    match part {
        Value::Object(members) => {
            if let Some(name) = members.get("$ref").and_then(Value::as_str)
                && seen.insert(name.to_owned())
            {
                keywords(openapi::resolve(part), seen, all);
            }
            let choices = ["oneOf", "anyOf"].iter().find_map(|union| members.get(*union)?.as_array());
            let is_union = choices.is_some_and(|all| all.iter().filter(|one| one["type"] != "null").count() > 1);
            all.extend(is_union.then(|| "a union".to_owned()));
            for (name, member) in members.iter().filter(|(name, _)| !["example", "links"].contains(&name.as_str())) {
                all.insert(name.clone());
                keywords(member, seen, all);
            }
        }
        Value::Array(elements) => elements.iter().for_each(|element| keywords(element, seen, all)),
        _ => {}
    }
}

/// A client that was generated yesterday must understand a status that is new today. Of a union, generators disagree.
#[test]
fn enums_are_open_in_answers_and_closed_in_requests() {
    let (mut sent, mut shown) = (BTreeSet::new(), BTreeSet::new());
    let (mut seen_sent, mut seen_shown) = (BTreeSet::new(), BTreeSet::new());
    for (_, operation) in operations("paths") {
        keywords(&operation["parameters"], &mut seen_sent, &mut sent);
        keywords(&operation["requestBody"], &mut seen_sent, &mut sent);
        keywords(&operation["responses"], &mut seen_shown, &mut shown);
    }
    operations("webhooks").for_each(|(_, event)| keywords(&event["requestBody"], &mut seen_shown, &mut shown));
    for closed in ["enum", "const", "a union"] {
        assert!(!shown.contains(closed), "an answer has {closed}");
    }
    assert!(!sent.contains("x-extensible-enum"), "a request has an open enum");
    assert!(sent.contains("enum") && shown.contains("x-extensible-enum"));
}

#[test]
fn every_answer_has_an_example_that_fits_its_schema() {
    for (id, operation) in operations("paths") {
        let responses = operation["responses"].as_object().expect("responses");
        for (status, response) in responses.iter().filter(|(status, _)| status.starts_with('2')) {
            for (media_type, content) in response["content"].as_object().into_iter().flatten() {
                let example =
                    content.get("example").unwrap_or_else(|| panic!("{id}: {status} {media_type} has no example"));
                let fits = openapi::conforms(&openapi::closed(content["schema"].clone(), false), example);
                fits.unwrap_or_else(|why| panic!("{id}: {status} {example}: {why}"));
            }
        }
    }
}

/// Checks that each choice of a union is a reference alone or a schema of its own, and that no keyword of OpenAPI 3.0
/// allows null.
fn no_union_confuses_generators(part: &Value, at: &str) {
    match part {
        Value::Object(members) => {
            assert!(!members.contains_key("nullable"), "{at}: OpenAPI 3.1 has a list of types instead");
            for choices in ["oneOf", "anyOf", "allOf"].iter().filter_map(|keyword| members.get(*keyword)?.as_array()) {
                for choice in choices.iter().filter_map(Value::as_object).filter(|choice| choice.contains_key("$ref")) {
                    assert_eq!(choice.len(), 1, "{at}: {choice:?}");
                }
            }
            members.iter().for_each(|(name, member)| no_union_confuses_generators(member, &format!("{at}/{name}")));
        }
        Value::Array(elements) => elements.iter().for_each(|element| no_union_confuses_generators(element, at)),
        _ => {}
    }
}

/// Whether the type accepts the text, and whether the type's schema does.
fn taken_and_described<T: DeserializeOwned>(schema: &str, text: &str) -> (bool, bool) {
    let text = json!(text);
    // Addresses are checked by the pattern alone, because the library's `format` is stricter.
    let mut schema = openapi::document()["components"]["schemas"][schema].clone();
    schema.as_object_mut().expect("a schema").remove("format");
    (serde_json::from_value::<T>(text.clone()).is_ok(), openapi::conforms(&schema, &text).is_ok())
}

fn any_text() -> impl Strategy<Value = String> {
    // Make rare but relevant characters frequent.
    let special = prop::sample::select(
        "\0\t\n\r \u{7f}\u{85}\u{a0}\u{ad}\u{34f}\u{115f}\u{2000}\u{200b}\u{200d}\u{2028}\u{202e}\u{2060}\u{2066}\u{206a}\
         \u{2800}\u{3000}\u{fe0f}\u{feff}\u{fff0}\u{1d173}\u{e0001}.@#\"-_aZ0\u{e4}\u{1f600}"
            .chars()
            .collect::<Vec<_>>(),
    );
    let character = prop_oneof![4 => special, 1 => any::<char>()];
    prop_oneof![
        prop::collection::vec(character, 0..5).prop_map(String::from_iter),
        "[a-z0-9A-Z._+#@-]{0,12}@[a-z0-9A-Z.-]{0,12}",
        "[a-z]{60,70}@[a-z]{1,3}\\.[a-z]{58,66}(\\.[a-z]{60})?(\\.[a-z]{60})?",
        "[a-zA-Z0-9_.-]{60,70}",
        "a{198,203}",
    ]
}

/// Amounts near each bound, and any others.
fn any_amount() -> impl Strategy<Value = i64> {
    let bounds = prop::sample::select(vec![0, 1, MOST_CHARGED, (1 << 53) - 1, i64::MAX]);
    prop_oneof![(bounds, -2..=2_i64).prop_map(|(bound, off)| bound.saturating_add(off)), any::<i64>()]
}

proptest! {
    #[test]
    fn an_amount_is_accepted_exactly_if_the_description_allows_it(amount in any_amount()) {
        let price = json!({ "amount": amount, "currency": "EUR" });
        let product = json!({ "name": "n", "description": "", "category": "c", "price": price });
        let changes = json!({ "price": price });
        let card = json!({ "code": "GIFT-FOR-ADA", "balance": price });
        let conforms = |schema: &str, value| {
            openapi::conforms(&openapi::document()["components"]["schemas"][schema], value).is_ok()
        };
        for (schema, described, taken) in [
            ("Money", conforms("Money", &price), serde_json::from_value::<Money>(price.clone()).is_ok()),
            ("NewProduct", conforms("NewProduct", &product), (0..=MOST_CHARGED).contains(&amount)),
            ("ProductChanges", conforms("ProductChanges", &changes), (0..=MOST_CHARGED).contains(&amount)),
            ("NewGiftCard", conforms("NewGiftCard", &card), (1..=MOST_CHARGED).contains(&amount)),
        ] {
            prop_assert_eq!(taken, described, "{}: {}", schema, amount);
        }
        prop_assert_eq!(serde_json::from_value::<Charge>(price).is_ok(), (0..=MOST_CHARGED).contains(&amount));
    }

    #[test]
    fn a_text_is_accepted_exactly_if_the_description_allows_it(text in any_text()) {
        for (schema, (taken, described)) in [
            ("Name", taken_and_described::<Name>("Name", &text)),
            ("Description", taken_and_described::<Description>("Description", &text)),
            ("EmailAddress", taken_and_described::<EmailAddress>("EmailAddress", &text)),
            ("Username", taken_and_described::<Username>("Username", &text)),
            ("ProductId", taken_and_described::<ProductId>("ProductId", &text)),
        ] {
            prop_assert_eq!(taken, described, "{}: {:?}", schema, text);
        }
    }
}
