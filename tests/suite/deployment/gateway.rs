//! Checks that the gateway fits the routes: their limits and their headers.

use std::collections::BTreeSet;

use serde_json::Value as Json;
use shop::openapi;
use yaml_serde::Value as Yaml;

use super::{keys, stack};
use crate::completeness::{declared, texts};

#[test]
fn every_route_with_a_limit_exists() {
    let outer = stack("template.yaml");
    let api = &outer["Resources"]["Api"]["Properties"];
    let routes: BTreeSet<_> = declared().into_values().map(|(method, path, _)| format!("{method} {path}")).collect();
    let limited = keys(&api["RouteSettings"]);
    assert!(!limited.is_empty());
    for route in limited {
        assert!(routes.contains(route), "{route}");
    }
}

/// Whoever may send many requests finds a code that exists.
#[test]
fn every_route_whose_path_has_a_code_has_a_throttle_of_its_own() {
    let outer = stack("template.yaml");
    let limited = keys(&outer["Resources"]["Api"]["Properties"]["RouteSettings"]);
    let guessable: Vec<_> = declared().into_values().filter(|(_, path, _)| path.contains("{code}")).collect();
    assert!(!guessable.is_empty());
    for (method, path, _) in guessable {
        assert!(limited.contains(format!("{method} {path}").as_str()), "{method} {path} has no `limit`");
    }
}

/// CORS allows every header that the API's description has a browser send or read.
#[test]
fn a_page_may_send_and_read_every_header_of_the_api() {
    let outer = stack("template.yaml");
    let Yaml::Tagged(cors) = &outer["Resources"]["Api"]["Properties"]["CorsConfiguration"] else {
        panic!("a condition")
    };
    let cors: Json = serde_json::to_value(&cors.value[1]).expect("JSON");
    let listed = |name: &str| texts(&cors[name]).into_iter().collect::<BTreeSet<_>>();

    let (mut sent, mut shown, mut methods) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    for operations in openapi::document()["paths"].as_object().expect("paths").values() {
        for (method, operation) in operations.as_object().expect("operations") {
            methods.insert(method.to_uppercase());
            let parameters = operation["parameters"].as_array().into_iter().flatten();
            let headers = parameters.filter(|parameter| parameter["in"] == "header");
            sent.extend(headers.map(|header| header["name"].as_str().expect("a name").to_lowercase()));
            for response in operation["responses"].as_object().expect("responses").values() {
                let headers = response["headers"].as_object().into_iter().flat_map(|headers| headers.keys());
                shown.extend(headers.map(|name| name.to_lowercase()));
            }
        }
    }
    // Headers that the description does not list: the token, the content type, and the gateway's request id.
    sent.extend(["authorization".to_owned(), "content-type".to_owned()]);
    shown.insert("apigw-requestid".to_owned());
    // The payment provider is no page of a browser.
    assert!(sent.remove("stripe-signature"));
    assert_eq!(listed("allowHeaders"), sent);
    assert_eq!(listed("exposeHeaders"), shown);
    assert_eq!(listed("allowMethods"), methods);
}
