//! Tests of ownership: runs the sample events in order, and before each request another customer tries the same
//! request.

use http_api::{ADMIN_SCOPE, SHOP_SCOPE};
use shop::events::{event, functions_by_event_time};
use shop::openapi;
use shop::payments::Payments;

use super::Sample;
use crate::completeness::{declared, names};
use crate::prelude::*;
use crate::sample_events::is_expected;

/// The owner of what a parameter names.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Named {
    /// A customer. To everybody else it does not exist.
    OfACustomer,
    /// No owner: everybody may use it.
    OfEverybody,
    /// The bearer: everybody who knows the code may use it.
    OfTheBearer,
    /// Names nothing that could have an owner: a filter or a cursor.
    Nothing,
}

/// Every parameter of a path.
const IN_PATHS: [(&str, Named); 9] = [
    ("customerId", Named::OfACustomer),
    ("guestId", Named::OfACustomer),
    ("orderId", Named::OfACustomer),
    ("invoiceId", Named::OfACustomer),
    ("returnId", Named::OfACustomer),
    ("shipmentId", Named::OfACustomer),
    ("productId", Named::OfEverybody),
    ("imageId", Named::OfEverybody),
    ("code", Named::OfTheBearer),
];

/// Every parameter of a query string.
const IN_QUERIES: [(&str, Named); 13] = [
    ("ids", Named::OfEverybody),
    ("email", Named::OfACustomer),
    ("username", Named::OfACustomer),
    ("q", Named::Nothing),
    ("available", Named::Nothing),
    ("category", Named::Nothing),
    ("currency", Named::Nothing),
    ("sort", Named::Nothing),
    ("status", Named::Nothing),
    ("from", Named::Nothing),
    ("to", Named::Nothing),
    ("limit", Named::Nothing),
    ("cursor", Named::Nothing),
];

/// Every field of a body that is an id or a code, at any depth.
const IN_BODIES: [(&str, Named); 9] = [
    ("postalCode", Named::Nothing),
    // In a body, it names an address of the caller's own book.
    ("addressId", Named::OfTheBearer),
    ("customerId", Named::OfACustomer),
    ("productId", Named::OfEverybody),
    ("methodId", Named::Nothing),
    ("code", Named::OfTheBearer),
    ("discountCode", Named::OfTheBearer),
    ("discountCodes", Named::OfTheBearer),
    ("giftCards", Named::OfTheBearer),
];

#[track_caller]
fn whose(parameters: &[(&str, Named)], name: &str, route: &str) -> Named {
    let known = parameters.iter().find(|(known, _)| *known == name);
    known.unwrap_or_else(|| panic!("{route}: say in access/ownership.rs whose thing {name} names")).1
}

fn parameters_of_path(function: &str) -> Vec<(String, Named)> {
    let (_, path, _) = &declared()[function];
    let names = path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'));
    names.map(|name| (name.to_owned(), whose(&IN_PATHS, name, function))).collect()
}

fn is_of_a_customer(function: &str) -> bool {
    parameters_of_path(function).iter().any(|(_, named)| *named == Named::OfACustomer)
}

fn operation(function: &str) -> &'static Value {
    let (method, path, _) = &declared()[function];
    &openapi::document()["paths"][path][method.to_lowercase()]
}

/// The names of all fields of this schema, at any depth.
fn fields(schema: &Value, found: &mut Vec<String>) {
    if let Some(reference) = schema["$ref"].as_str() {
        let target = openapi::document().pointer(reference.trim_start_matches('#')).expect("a schema");
        return fields(target, found);
    }
    for choice in ["oneOf", "allOf", "anyOf"].iter().filter_map(|kind| schema[kind].as_array()).flatten() {
        fields(choice, found);
    }
    if schema["items"].is_object() {
        fields(&schema["items"], found);
    }
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        found.push(name.clone());
        fields(property, found);
    }
}

/// The fields of the body that are ids or codes.
fn names_in_body(function: &str) -> Vec<(String, Named)> {
    let mut found = Vec::new();
    for media in
        operation(function)["requestBody"]["content"].as_object().into_iter().flat_map(|content| content.values())
    {
        fields(&media["schema"], &mut found);
    }
    let is_name =
        |name: &String| name == "code" || ["Id", "Ids", "Code", "Codes", "Cards"].iter().any(|end| name.ends_with(end));
    found.into_iter().filter(is_name).map(|name| (name.clone(), whose(&IN_BODIES, &name, function))).collect()
}

#[test]
fn every_parameter_has_a_declared_owner() {
    for name in names() {
        let admins_only = Sample::of(&name).scopes == [ADMIN_SCOPE];
        parameters_of_path(&name);
        for parameter in operation(&name)["parameters"].as_array().into_iter().flatten() {
            if parameter["in"] == "query" {
                let named = whose(&IN_QUERIES, parameter["name"].as_str().expect("a name"), &name);
                assert!(named != Named::OfACustomer || admins_only, "{name}: a customer may ask for somebody else");
            }
        }
        let owned = names_in_body(&name).into_iter().any(|(_, named)| named == Named::OfACustomer);
        assert!(!owned || admins_only || TRIED_IN_BODY.contains(&name.as_str()), "{name}: try its body below");
    }
}

/// The functions that customers may call with another customer's id in the body.
const TRIED_IN_BODY: [&str; 1] = ["create-customer"];

/// Runs a consumer's sample event.
pub async fn consume(shop: &Shop, name: &str) {
    let consumer = shop.consumer(name, &shop.endpoints());
    for _ in 0..20 {
        let answer = consumer(event(name)).await.expect("a response");
        // The drain postpones messages beyond its rate.
        if answer["batchItemFailures"].as_array().is_none_or(Vec::is_empty) {
            return;
        }
    }
    panic!("{name} does not do its step");
}

/// The client that owns the request.
pub fn rightful(shop: &Shop, sample: &Sample) -> Client {
    match sample.scopes.as_slice() {
        [] => shop.nobody(),
        [scope, ..] if scope == SHOP_SCOPE => match &sample.verified_email {
            Some(email) => shop.customer_at(&sample.caller, email),
            None => shop.customer(&sample.caller),
        },
        _ => shop.admin(),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn no_caller_can_read_or_change_another_customer_s_data() {
    let shop = Shop::open_silently_paying(Payments::start().await, |_| {}).await;
    shop.sign_up("eve").await;
    let (nobody, eve) = (shop.nobody(), shop.customer("eve"));
    for name in functions_by_event_time() {
        if !names().contains(&name) {
            consume(&shop, &name).await;
            continue;
        }
        shop.prepare_for(&name).await;
        let sample = Sample::of(&name);
        let before = shop.dump().await;
        if !sample.scopes.is_empty() {
            sample.send(&nobody).await.of_gateway(401);
        }
        let is_public = sample.scopes.is_empty();
        if sample.scopes == [ADMIN_SCOPE] {
            for customer in ["eve", "ada"] {
                sample.send(&shop.customer(customer)).await.of_gateway(403);
            }
        } else if !is_public && is_of_a_customer(&name) {
            // Another customer's resource and a missing one get the same answer.
            let refused = sample.send(&eve).await.problem(Kind::NotFound);
            let unheard_of = unheard_of(&name, sample).send(&eve).await.problem(Kind::NotFound);
            assert_eq!(refused, unheard_of, "{name}");
        }
        let is_of_a_guest = parameters_of_path(&name).iter().any(|(parameter, _)| parameter == "guestId");
        if is_of_a_guest && is_public {
            // Another guest's order and a missing one get the same answer.
            let stranger = Sample::of(&name).with_secret("c2VjcmV0LW9mLWEtZ3Vlc3Qtb2YtdGhlLXNob3AuLi4");
            let refused = stranger.send(&nobody).await.problem(Kind::NotFound);
            assert_eq!(refused, unheard_of(&name, stranger).send(&nobody).await.problem(Kind::NotFound), "{name}");
        }
        assert_eq!(shop.dump().await, before, "{name} was refused, and changed something");

        // The refusals above were about the caller: the same request from its owner succeeds.
        let sample = Sample::of(&name);
        let reply = sample.send(&rightful(&shop, &sample)).await;
        assert!(is_expected(&name, reply.status.into()), "{name}: {} {}", reply.status, reply.body);
    }
}

/// The request with unknown ids in place of the customer's.
fn unheard_of(function: &str, sample: Sample) -> Sample {
    let event = event(function);
    let mut path = sample.path.clone();
    for (parameter, named) in parameters_of_path(function) {
        if named == Named::OfACustomer {
            let id = event["pathParameters"][&parameter].as_str().expect("an id");
            path = path.replace(&format!("/{id}"), "/unheard-of");
        }
    }
    Sample { path, ..sample }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_admin_may_do_what_each_customer_may() {
    let shop = Shop::open_silently_paying(Payments::start().await, |_| {}).await;
    let admin = shop.admin();
    for name in functions_by_event_time() {
        if !names().contains(&name) {
            consume(&shop, &name).await;
            continue;
        }
        shop.prepare_for(&name).await;
        let sample = Sample::of(&name);
        // Without a parameter that names the owner, the resource is the caller's own.
        let client = if is_of_a_customer(&name) { admin.clone() } else { rightful(&shop, &sample) };
        let reply = sample.send(&client).await;
        assert!(is_expected(&name, reply.status.into()), "{name}: {} {}", reply.status, reply.body);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn no_customer_can_sign_up_another_one() {
    let shop = Shop::open().await;
    let mut body: Value = serde_json::from_str(&Sample::of("create-customer").body.expect("a body")).expect("JSON");
    body["customerId"] = json!("ada");
    shop.customer("eve").post("/customers", body.clone()).await.problem(Kind::Forbidden);
    assert_eq!(shop.dump().await, Vec::<Value>::new());
    shop.admin().post("/customers", body).await.expect(201);
}
