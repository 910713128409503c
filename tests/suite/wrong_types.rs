//! The details of validation problems are for authors of clients: they name types of JSON, not of Rust.

use serde_json::Map;
use shop::openapi::{self, sample};

use crate::prelude::*;

/// Words of serde's own messages.
const OF_SERDE: &str = "struct enum variant newtype tuple unit map sequence borrowed deserialize untagged str char bytes i8 \
    i32 i64 u8 u32 u64 f64 integer";

/// The word of the detail that only makes sense to somebody who knows the server's code.
fn internal_word(detail: &str) -> Option<&str> {
    let is_internal = |word: &&str| {
        // The name of a Rust type, such as `OrderRequest`. Fields begin with a small letter.
        let mut letters = word.chars();
        let is_type = letters.next().is_some_and(char::is_uppercase)
            && word.chars().any(char::is_lowercase)
            && letters.any(char::is_uppercase);
        OF_SERDE.split(' ').any(|of_serde| of_serde == *word) || is_type || word.trim_matches('_').contains('_')
    };
    detail.split(|letter: char| !letter.is_alphanumeric() && letter != '_').find(is_internal)
}

#[test]
fn a_rust_type_and_serde_s_words_are_internal() {
    for detail in ["invalid type: map, expected a string", "expected struct Unchecked", "an OrderRequest", "bad u8"] {
        assert!(internal_word(detail).is_some(), "{detail}");
    }
    assert_eq!(internal_word("lines[0].productId: unknown field `Price`, expected one of `expectedTotal`"), None);
}

/// The value with each of its parts replaced by a value of each type, each member removed, and a member added to each
/// object.
fn wrong(value: &Value) -> Vec<Value> {
    let mut all: Vec<_> =
        [json!(null), json!(true), json!(7), json!(-1), json!(1.5), json!(1e300), json!("text")].into();
    all.extend([json!([]), json!({}), json!([null]), json!({ "surprise": 1 })]);
    match value {
        Value::Object(members) => {
            let with = |name: &str, member: Value| {
                let mut members = members.clone();
                members.insert(name.to_owned(), member);
                Value::Object(members)
            };
            all.push(with("surprise", json!(1)));
            for (name, member) in members {
                all.extend(wrong(member).into_iter().map(|member| with(name, member)));
                let others = members.iter().filter(|(other, _)| *other != name);
                all.push(Value::Object(
                    others.map(|(name, member)| (name.clone(), member.clone())).collect::<Map<_, _>>(),
                ));
            }
        }
        Value::Array(elements) => all.extend(wrong(&elements[0]).into_iter().map(|element| json!([element]))),
        _ => {}
    }
    all
}

/// Sends the request, and collects the detail if it is refused as invalid.
async fn send(client: &Client, method: &Method, path: &str, body: Option<String>, details: &mut BTreeSet<String>) {
    let headers = [("guest-secret", crate::guests::SECRET), ("if-match", "*"), ("idempotency-key", "k")];
    let reply = client.send(method.clone(), path, &headers, body).await;
    assert!(reply.status < 500, "{method} {path}: {} {}", reply.status, reply.body);
    if reply.status == Kind::Validation.status().as_u16() {
        let detail = reply.problem(Kind::Validation)["detail"].as_str().expect("a detail").to_owned();
        if let Some(word) = internal_word(&detail) {
            panic!("{method} {path}: the detail says {word}: {detail}");
        }
        details.insert(detail);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn no_detail_names_a_type_of_rust() {
    let shop = Shop::with_ada().await;
    shop.reindex().await;
    let admin = shop.admin();
    let mut details = BTreeSet::new();
    for (path, operations) in openapi::document()["paths"].as_object().expect("paths") {
        let parts = path.split('/').map(|part| if part.starts_with('{') { "none" } else { part });
        let path = parts.collect::<Vec<_>>().join("/");
        for (method, operation) in operations.as_object().expect("operations") {
            let method = Method::from_bytes(method.to_uppercase().as_bytes()).expect("a method");
            let schema = &operation["requestBody"]["content"]["application/json"]["schema"];
            if !schema.is_null() {
                for body in wrong(&sample(schema)) {
                    send(&admin, &method, &path, Some(body.to_string()), &mut details).await;
                }
                for text in ["{", "[1,", "nul", "{\"a\":1,\"a\":2}", "\u{0}"] {
                    send(&admin, &method, &path, Some(text.to_owned()), &mut details).await;
                }
            }
            for parameter in operation["parameters"].as_array().into_iter().flatten() {
                if parameter["in"] == "query" {
                    let name = parameter["name"].as_str().expect("a name");
                    for value in ["", "-1", "1.5", "99999999999999999999", "a%23b", "%00", "%FF", "[]"] {
                        for query in [format!("{name}={value}"), format!("{name}={value}&{name}={value}")] {
                            send(&admin, &method, &format!("{path}?{query}"), None, &mut details).await;
                        }
                    }
                    send(&admin, &method, &format!("{path}?surprise=1"), None, &mut details).await;
                }
            }
        }
    }
    assert!(details.len() > 100, "{details:#?}");
}

/// **Law: a body with several faults is told all of them**, by their places and with codes: each required field that is
/// missing, each field of another type, and the unknown one.
#[tokio::test(flavor = "multi_thread")]
async fn all_faults_of_a_body_are_told_at_once() {
    let shop = Shop::with_ada().await;
    let admin = shop.admin();
    let mut told = 0;
    for (path, operations) in openapi::document()["paths"].as_object().expect("paths") {
        let path = path.replace(['{', '}'], "");
        for (method, operation) in operations.as_object().expect("operations") {
            let schema = &operation["requestBody"]["content"]["application/json"]["schema"];
            let schema = openapi::resolve(schema);
            let Some(properties) = schema["properties"].as_object() else { continue };
            let headers = [("guest-secret", crate::guests::SECRET), ("if-match", "*"), ("idempotency-key", "k")];
            let method = Method::from_bytes(method.to_uppercase().as_bytes()).expect("a method");
            let errors = async |body: Value| -> BTreeSet<(String, String)> {
                let reply = admin.send(method.clone(), &path, &headers, Some(body.to_string())).await;
                let problem = reply.problem(Kind::Validation);
                let text = |error: &Value, name| error[name].as_str().expect("a text").to_owned();
                let errors = problem["errors"].as_array().unwrap_or_else(|| panic!("{method} {path}: {problem}"));
                errors.iter().map(|error| (text(error, "pointer"), text(error, "code"))).collect()
            };
            let error = |name: &str, code: &str| (format!("#/{name}"), code.to_owned());
            let required = schema["required"].as_array().map(Vec::as_slice).unwrap_or_default();
            let missing: BTreeSet<_> =
                required.iter().map(|name| error(name.as_str().expect("a name"), "missing")).collect();
            if !missing.is_empty() {
                assert_eq!(errors(json!({})).await, missing, "{method} {path}");
            }
            let mut wrong = sample(schema);
            properties.keys().for_each(|name| wrong[name] = json!([[{ "surprise": 1 }]]));
            wrong["surprise"] = json!(1);
            let all = errors(wrong).await;
            let at = |name: &str| all.iter().filter(|(pointer, _)| pointer.split('/').nth(1) == Some(name)).count();
            assert!(properties.keys().all(|name| at(name) > 0), "{method} {path}: {all:?}");
            assert!(all.contains(&error("surprise", "unknown")), "{method} {path}: {all:?}");
            told += all.len();
        }
    }
    assert!(told > 60, "{told} faults");
}
