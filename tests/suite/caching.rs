//! Every answer says who may keep it and for how long, and a client that has the current answer gets a 304.

pub mod distribution;
mod edge;

use http_api::{Scope, Verb};
use local::functions::{self, routes};
use shop::events::{event, functions_by_event_time};
use shop::openapi;
use shop::payments::Payments;

use crate::prelude::*;
use crate::sample_events::is_expected;

/// `Cache-Control` of a product's page and of a list of the catalogue.
const PAGE: &str = "public, max-age=1, must-revalidate, stale-if-error=0";
const LIST: &str = "public, max-age=30, must-revalidate, stale-if-error=0";

#[test]
fn caches_may_keep_the_answers_of_every_public_read_and_of_no_other_route() {
    for function in routes() {
        let route = function.route;
        // A guest's order is only for the guest, who has a secret and no token.
        let is_a_guests = route.path_parameters().any(|name| name == "guestId");
        let is_public_read = (route.scope, route.method) == (Scope::Public, Verb::Get) && !is_a_guests;
        assert_eq!(route.shared.is_some(), is_public_read, "{}", function.function.name());
    }
}

#[test]
fn the_description_of_each_read_has_conditions() {
    for (path, operations) in openapi::document()["paths"].as_object().expect("paths") {
        for (method, operation) in operations.as_object().expect("operations") {
            let parameters = operation["parameters"].as_array().map(Vec::as_slice).unwrap_or_default();
            let is_read = method == "get";
            assert_eq!(parameters.iter().any(|one| one["name"] == "If-None-Match"), is_read, "{method} {path}");
            assert_eq!(operation["responses"]["304"].is_object(), is_read, "{method} {path}");
            for status in ["200", "304"].into_iter().filter(|_| is_read) {
                let headers = &operation["responses"][status]["headers"];
                assert!(headers["ETag"].is_object() && headers["Cache-Control"].is_object(), "{path} {status}");
            }
        }
    }
}

fn header<'a>(answer: &'a Value, name: &str) -> Option<&'a str> {
    answer["headers"][name].as_str()
}

#[tokio::test(flavor = "multi_thread")]
async fn every_answer_says_who_may_keep_it_and_a_copy_that_is_current_is_not_sent_again() {
    let shop = Shop::open_silently_paying(Payments::start().await, |_| {}).await;
    let functions = functions::start_all(&shop.endpoints(), shop.template()).expect("the functions start").handlers;
    let call = async |name: &str, event: Value| {
        let (_, invoke) = functions.iter().find(|(known, _)| known == name).expect("a function");
        invoke(event).await.expect("an answer")
    };
    for name in functions_by_event_time() {
        let Some(function) = routes().find(|function| function.function.name() == name) else {
            shop.consumer(&name, &shop.endpoints())(event(&name)).await.expect("a response");
            continue;
        };
        shop.prepare_for(&name).await;
        let answer = call(&name, event(&name)).await;
        let status = answer["statusCode"].as_u64().expect("a status");
        assert!(is_expected(&name, status), "{name}: {answer}");
        let expected = match name.as_str() {
            "get-product" => PAGE,
            "get-shipping" | "get-taxes" | "list-categories" | "list-products" | "list-variants"
            | "search-products" => LIST,
            _ => "no-store",
        };
        assert_eq!(header(&answer, "cache-control"), Some(expected), "{name}");
        assert_eq!(header(&answer, "vary"), (expected != "no-store").then_some("Origin"), "{name}");
        if function.route.method != Verb::Get {
            continue;
        }
        let tag = header(&answer, "etag").unwrap_or_else(|| panic!("{name} has no tag"));
        for (condition, status) in [(tag, 304), (&*format!("W/{tag}"), 304), ("*", 304), ("\"1\"", 200), ("what?", 200)]
        {
            let mut event = event(&name);
            event["headers"]["if-none-match"] = json!(condition);
            let again = call(&name, event).await;
            assert_eq!(again["statusCode"], status, "{name} {condition}: {again}");
            for kept in ["cache-control", "etag", "vary"] {
                assert_eq!(header(&again, kept), header(&answer, kept), "{name} {condition}: {kept}");
            }
            let (body, media_type) = if status == 304 {
                ("", None)
            } else {
                (answer["body"].as_str().unwrap(), header(&answer, "content-type"))
            };
            assert_eq!((again["body"].as_str(), header(&again, "content-type")), (Some(body), media_type), "{name}");
        }
    }
}

/// Stock and sales change without a new version of the product.
#[tokio::test(flavor = "multi_thread")]
async fn two_answers_with_the_same_tag_are_the_same() {
    let shop = Shop::selling("thing", 1000, 1000).await;
    let (admin, nobody) = (shop.admin(), shop.nobody());
    let mut known = std::collections::BTreeMap::<String, Value>::new();
    let mut random = fastrand::Rng::with_seed(17);
    for step in 0..40 {
        match random.u8(0..4) {
            0 => drop(admin.patch("/products/thing", "*", json!({ "price": eur(1000 + step) })).await),
            1 => {
                let order = basket("thing", 1);
                shop.customer("ada").order(&format!("order-{step}"), order).await.expect(201);
            }
            // The stock of an earlier step may return, and then the same tag may.
            choice => {
                let delta = if choice == 2 { 1 } else { -1 };
                admin.post_if("/products/thing/stock", "*", json!({ "delta": delta })).await.expect(200);
            }
        }
        let reply = nobody.get("/products/thing").await;
        let tag = reply.header("etag").expect("a tag").to_owned();
        let body = reply.expect(200);
        assert_eq!(known.entry(tag).or_insert_with(|| body.clone()), &body);
    }
    assert!(known.len() > 10, "{}", known.len());
}

#[tokio::test(flavor = "multi_thread")]
async fn the_tag_that_was_read_names_the_version_for_a_change() {
    let shop = Shop::selling("thing", 1000, 10).await;
    let admin = shop.admin();
    let patch = async |tag: &str, name: &str| {
        let body = json!({ "name": name });
        admin.patch("/products/thing", tag, body).await
    };
    let tag = async || shop.nobody().get("/products/thing").await.header("etag").expect("a tag").to_owned();
    let read = tag().await;
    // An order changes the stock and the tag, but not the version that the client wants to change.
    let order = basket("thing", 1);
    shop.customer("ada").order("first", order).await.expect(201);
    assert_ne!(tag().await, read);
    patch(&read, "New").await.expect(200);
    patch(&read, "Newer").await.problem(Kind::VersionConflict);
    // A cache that compresses weakens the tag.
    patch(&format!("W/{}", tag().await), "Newest").await.expect(200);
}

#[tokio::test(flavor = "multi_thread")]
async fn of_problems_only_the_absence_of_a_product_may_be_kept() {
    let shop = Shop::open().await;
    let nobody = shop.nobody();
    let cache_control = async |path: &str, kind: Kind| {
        let reply = nobody.get(path).await;
        let control = reply.header("cache-control").map(str::to_owned);
        reply.problem(kind);
        control
    };
    assert_eq!(cache_control("/products/none", Kind::NotFound).await.as_deref(), Some(PAGE));
    for path in ["/products?category=things&limit=x", "/products?category=things&other=1"] {
        assert_eq!(cache_control(path, Kind::Validation).await.as_deref(), Some("no-store"), "{path}");
    }
    shop.fault_proxy().inject(Match::action("Query"), Fault::CutBefore, 3);
    assert_eq!(cache_control("/products/thing", Kind::Throttled).await.as_deref(), Some("no-store"));
    assert_eq!(shop.fault_proxy().pending(), 0);
    // The gateway's own refusals come from no function.
    assert_eq!(nobody.get("/customers/ada").await.status, 401);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_lifetimes_are_parameters() {
    let shop = Shop::open_with(|template| {
        for function in &mut template.functions {
            for (name, seconds) in [("CACHE_SECONDS", "0"), ("LIST_CACHE_SECONDS", "600")] {
                if let Some(value) = function.environment.get_mut(name) {
                    seconds.clone_into(value);
                }
            }
        }
    })
    .await;
    shop.product("thing", 1000, 10).await;
    for (path, seconds) in [("/products/thing", 0), ("/products?category=things", 600)] {
        let control = format!("public, max-age={seconds}, must-revalidate, stale-if-error=0");
        assert_eq!(shop.nobody().get(path).await.header("cache-control"), Some(&*control), "{path}");
    }
}
