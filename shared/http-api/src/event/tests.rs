//! The values read from an event are those that `lambda_http` reads from it.

use std::collections::BTreeSet;
use std::path::Path;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use http::HeaderMap;
use lambda_http::RequestExt as _;
use lambda_http::request::RequestContext;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{Claims, Event, READ};

fn agrees(event: &Value) {
    let theirs = lambda_http::request::from_str(&event.to_string()).expect("one of lambda_http's");
    let mut ours: Event = serde_json::from_value(event.clone()).expect("one of ours");

    let Some(RequestContext::ApiGatewayV2(context)) = theirs.request_context_ref() else { panic!("no context") };
    assert_eq!(Some(ours.take_id()), context.request_id);
    let jwt = context.authorizer.as_ref().and_then(|authorizer| authorizer.jwt.as_ref());
    let claim = |name: &str| jwt.and_then(|jwt| jwt.claims.get(name).cloned());
    let (sub, scope) = ours.claims().map(|Claims { sub, scope, .. }| (sub.clone(), scope.clone())).unwrap_or_default();
    assert_eq!((sub, scope), (claim("sub"), claim("scope")));

    let (ours, path) = ours.into_request().expect("a request");
    assert_eq!(ours.uri().query().unwrap_or_default(), theirs.uri().query().unwrap_or_default());
    let read = |headers: &HeaderMap| READ.map(|name| headers.get(name).cloned());
    assert_eq!(read(ours.headers()), read(theirs.headers()));
    assert_eq!(&**ours.body(), &**theirs.body());
    let parameters = theirs.path_parameters();
    // lambda_http keeps them in no order.
    let known: BTreeSet<_> = parameters.iter().collect();
    assert_eq!(path.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect::<BTreeSet<_>>(), known);
}

fn sample(name: &str) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../events").join(name);
    serde_json::from_str(&std::fs::read_to_string(path).expect("an event")).expect("JSON")
}

#[test]
fn every_sample_event_reads_as_lambda_http_reads_it() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../events");
    let mut compared = 0;
    for file in std::fs::read_dir(folder).expect("the events") {
        let event = sample(file.expect("a file").file_name().to_str().expect("a name"));
        if event.get("requestContext").is_some() {
            agrees(&event);
            compared += 1;
        }
    }
    assert!(compared > 30, "{compared}");
}

proptest! {
    #[test]
    fn every_event_reads_as_lambda_http_reads_it(
        query in "([a-z]{1,5}=[a-zA-Z0-9%:+_.-]{0,9}(&[a-z]{1,5}=[a-z0-9]{0,5}){0,2})?",
        headers in prop::collection::btree_map(
            prop::sample::select([&READ[..], &["accept", "x-other"]].concat()),
            "[ -~]{0,20}",
            0..5,
        ),
        text in prop::option::of(".{0,20}"),
        bytes in prop::option::of(prop::collection::vec(any::<u8>(), 0..20)),
        parameter in "[a-zA-Z0-9/ _.-]{0,20}",
    ) {
        let mut event = sample("get-product.json");
        event["rawQueryString"] = json!(query);
        event["headers"] = json!(headers);
        event["pathParameters"] = json!({ "productId": parameter });
        if let Some(text) = text {
            event["body"] = json!(text);
        }
        if let Some(bytes) = bytes {
            event["body"] = json!(BASE64_STANDARD.encode(bytes));
            event["isBase64Encoded"] = json!(true);
        }
        agrees(&event);
    }

    #[test]
    fn no_event_causes_a_panic(body in ".{0,20}", query in ".{0,20}", header in ".{0,20}", is_base64 in any::<bool>()) {
        let mut event = sample("get-product.json");
        event["rawQueryString"] = json!(query);
        event["headers"]["prefer"] = json!(header);
        event["body"] = json!(body);
        event["isBase64Encoded"] = json!(is_base64);
        let event: Event = serde_json::from_value(event).expect("an event");
        if let Ok((request, _)) = event.into_request() {
            prop_assert!(is_base64 || request.body() == body.as_bytes());
        }
    }
}

#[test]
fn only_a_verified_address_proves_anything() {
    let verified = |claims: serde_json::Value| {
        let claims: Claims = serde_json::from_value(claims).expect("claims");
        claims.verified_email().map(|email| email.to_string())
    };
    let ada = "ada@example.com";
    for proof in [json!("true"), json!(true)] {
        assert_eq!(verified(json!({ "email": ada, "email_verified": proof })).as_deref(), Some(ada));
    }
    for proof in [json!("false"), json!(false), json!("TRUE"), json!(1), json!(null), json!(["true"])] {
        assert_eq!(verified(json!({ "email": ada, "email_verified": proof })), None, "{proof}");
    }
    for email in [json!("ada"), json!(null), json!([ada]), json!(1)] {
        assert_eq!(verified(json!({ "email": email, "email_verified": true })), None, "{email}");
    }
    assert_eq!(verified(json!({ "email": ada })), None);
}
