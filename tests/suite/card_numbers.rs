//! No route takes a payment card number, wherever in the request it is: the request is refused, nothing is written, and
//! neither the answer nor the log repeats the number.

use std::io::{self, Write};
use std::sync::{Mutex, PoisonError};

use shop::openapi::{self, sample};

use crate::prelude::*;

/// The route that takes what the payment provider signed. Stripe's events have the last four digits of a card only.
const SIGNED: &str = "/payment-events";

/// The log of all functions in this process.
static LOG: Mutex<Vec<u8>> = Mutex::new(Vec::new());

struct ToLog;

impl Write for ToLog {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        LOG.lock().unwrap_or_else(PoisonError::into_inner).write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn log() -> String {
    String::from_utf8_lossy(&LOG.lock().unwrap_or_else(PoisonError::into_inner)).into_owned()
}

/// Whether the text has half of the card number, however it is divided.
fn repeats_the_number(text: &str) -> bool {
    text.replace([' ', '-'], "").contains("42424242")
}

/// The body with a card number in the place of each of its parts, as a field, and as the name of a field; each with the
/// path of the number.
fn with_card_numbers(part: &Value, path: &str) -> Vec<(Value, String)> {
    let here = || if path.is_empty() { "body".to_owned() } else { path.trim_start_matches('.').to_owned() };
    let numbers = [
        json!("4242 4242 4242 4242"),
        json!("my card is 4242-4242-4242-4242, 12/28"),
        json!(4_242_424_242_424_242_u64),
    ];
    let mut all: Vec<_> = numbers.into_iter().map(|number| (number, here())).collect();
    match part {
        Value::Object(members) => {
            let mut with = |name: &str, value: Value, at: String| {
                let mut members = members.clone();
                members.insert(name.to_owned(), value);
                all.push((Value::Object(members), at));
            };
            with("4242424242424242", json!(1), here());
            with("note", json!(["4242424242424242"]), format!("{path}.note[0]").trim_start_matches('.').to_owned());
            // Carriers and banks have numbers of their own.
            let is_ours = |name: &str| !["reference", "trackingNumber", "trackingUrl"].contains(&name);
            for (name, member) in members.iter().filter(|(name, _)| is_ours(name)) {
                for (value, at) in with_card_numbers(member, &format!("{path}.{name}")) {
                    with(name, value, at);
                }
            }
        }
        Value::Array(elements) => {
            let elements = with_card_numbers(&elements[0], &format!("{path}[0]")).into_iter();
            all.extend(elements.map(|(element, at)| (json!([element]), at)));
        }
        _ => {}
    }
    all
}

async fn is_refused(client: &Client, method: &Method, path: &str, key: &str, body: Option<String>) -> Value {
    let headers = [("guest-secret", crate::guests::SECRET), ("if-match", "*"), ("idempotency-key", key)];
    let problem = client.send(method.clone(), path, &headers, body).await.problem(Kind::CardNumber);
    assert!(!repeats_the_number(&problem.to_string()), "{method} {path}: {problem}");
    problem
}

#[tokio::test(flavor = "multi_thread")]
async fn a_card_number_is_refused_by_every_route_and_neither_stored_nor_repeated() {
    tracing_subscriber::fmt().with_max_level(tracing::Level::INFO).with_writer(|| ToLog).init();
    let shop = Shop::with_ada().await;
    let before = shop.dump().await;
    let admin = shop.admin();
    let mut refused = [0; 4];
    for (template, operations) in openapi::document()["paths"].as_object().expect("paths") {
        let parts = |value: &str| {
            let parts =
                template.split('/').map(|part| if part.starts_with('{') { value.to_owned() } else { part.to_owned() });
            parts.collect::<Vec<_>>().join("/")
        };
        let path = parts("none");
        for (method, operation) in operations.as_object().expect("operations") {
            let method = Method::from_bytes(method.to_uppercase().as_bytes()).expect("a method");
            let schema = &operation["requestBody"]["content"]["application/json"]["schema"];
            let takes_body = !schema.is_null() && template != SIGNED;
            if takes_body {
                for (body, field) in with_card_numbers(&sample(schema), "") {
                    let problem = is_refused(&admin, &method, &path, "k", Some(body.to_string())).await;
                    assert_eq!(problem["field"], field, "{method} {path}: {body}");
                    refused[0] += 1;
                }
            }
            if template.contains('{') {
                is_refused(&admin, &method, &parts("4242-4242-4242-4242"), "k", None).await;
                refused[1] += 1;
            }
            let parameters = || operation["parameters"].as_array().into_iter().flatten();
            for parameter in parameters().filter(|parameter| parameter["in"] == "query") {
                let name = parameter["name"].as_str().expect("a name");
                is_refused(&admin, &method, &format!("{path}?{name}=4242+4242+4242+4242"), "k", None).await;
                refused[2] += 1;
            }
            if parameters().any(|parameter| parameter["name"] == "Idempotency-Key") {
                let body = takes_body.then(|| sample(schema).to_string());
                let problem = is_refused(&admin, &method, &path, "order 4242 4242 4242 4242", body).await;
                assert_eq!(problem["field"], "Idempotency-Key", "{method} {path}");
                refused[3] += 1;
            }
        }
    }
    assert!(refused.into_iter().zip([100, 15, 10, 2]).all(|(count, least)| count >= least), "{refused:?}");
    assert_eq!(shop.dump().await, before, "a refused request wrote something");
    let log = log();
    assert!(log.contains(Kind::CardNumber.slug()), "the log is not captured");
    // The laptop's gateway logs the path, which API Gateway's log does not have (template.yaml).
    let of_functions = log.lines().filter(|line| !line.contains("devstack::gateway"));
    let lines: Vec<_> = of_functions.filter(|line| repeats_the_number(line)).collect();
    assert!(lines.is_empty(), "the log has a card number: {lines:#?}");
}

/// The version of a cart is a random number of up to 16 digits.
#[tokio::test(flavor = "multi_thread")]
async fn a_version_that_looks_like_a_card_number_is_a_version() {
    let shop = Shop::with_ada().await;
    let stale = [("if-match", "\"4242424242424242\"")];
    let cart = Some(json!({ "lines": [] }).to_string());
    let path = "/customers/ada/cart";
    shop.customer("ada").send(Method::PUT, path, &stale, cart).await.problem(Kind::VersionConflict);
}
