//! `stacks/edge.yaml`: the distribution keeps the answers of the shared routes, and finds a copy by everything that an answer
//! depends on.

use http_api::Verb;
use local::functions::{self, routes};
use serde_json::{Value as Json, json};
use shop::Shop;
use shop::events::event;
use yaml_serde::Value as Yaml;

use crate::deployment::stack;

pub fn matches(pattern: &str, path: &str) -> bool {
    let Some((prefix, rest)) = pattern.split_once('*') else { return pattern == path };
    let Some(path) = path.strip_prefix(prefix) else { return false };
    (0..=path.len()).any(|at| path.is_char_boundary(at) && matches(rest, &path[at..]))
}

#[test]
fn a_star_matches_slashes_too() {
    for (pattern, path) in [("/a", "/a"), ("/a/*", "/a/b/c"), ("/a/*/c", "/a/b/b/c"), ("/a*", "/a"), ("*", "")] {
        assert!(matches(pattern, path), "{pattern} {path}");
    }
    for (pattern, path) in [("/a", "/a/"), ("/a/*", "/a"), ("/a/*/c", "/a/c"), ("/a/*/c", "/a/b/cd")] {
        assert!(!matches(pattern, path), "{pattern} {path}");
    }
}

fn distribution() -> Yaml {
    stack("stacks/edge.yaml")["Resources"]["Distribution"]["Properties"]["DistributionConfig"].clone()
}

/// Whether the distribution may keep the answer to a GET of this path.
fn is_kept(distribution: &Yaml, path: &str) -> bool {
    let behaviors = distribution["CacheBehaviors"].as_sequence().into_iter().flatten();
    let mut behaviors = behaviors.chain([&distribution["DefaultCacheBehavior"]]);
    let is_for = |behavior: &&Yaml| behavior["PathPattern"].as_str().is_none_or(|pattern| matches(pattern, path));
    let policy = &behaviors.find(is_for).expect("the default is for every path")["CachePolicyId"];
    matches!(policy, Yaml::Tagged(reference) if reference.value == "SharedPages")
}

#[test]
fn the_edge_keeps_the_answers_of_the_shared_routes_and_of_no_other() {
    let distribution = distribution();
    let mut kept = 0;
    for function in routes() {
        let route = function.route;
        for id in ["x", "stats", "orders", "products", "A_b-9", &"z".repeat(64)] {
            let names: Vec<_> = route.path_parameters().collect();
            let path = names.iter().fold(route.path.to_owned(), |path, name| path.replace(&format!("{{{name}}}"), id));
            if route.method == Verb::Get {
                assert_eq!(is_kept(&distribution, &path), route.shared.is_some(), "{path}");
                kept += usize::from(route.shared.is_some());
            }
        }
    }
    assert!(kept > 0);
    for path in ["/", "/customers/ada/orders", "/products2", "/orders/products/x"] {
        assert!(!is_kept(&distribution, path), "{path}");
    }
}

#[test]
fn every_behavior_passes_on_what_the_api_reads_and_speaks_tls() {
    let distribution = distribution();
    let behaviors = distribution["CacheBehaviors"].as_sequence().into_iter().flatten();
    let of_api = |behavior: &&Yaml| behavior["TargetOriginId"] == "api";
    for behavior in behaviors.chain([&distribution["DefaultCacheBehavior"]]).filter(of_api) {
        assert_eq!(behavior["OriginRequestPolicyId"], "b689b0a8-53d0-40ab-baf2-68738e2966ac");
        assert_eq!(behavior["ViewerProtocolPolicy"], "https-only");
        assert_eq!(behavior["AllowedMethods"].as_sequence().map(Vec::len), Some(7));
    }
    // CloudFront keeps these for ten seconds by default.
    let errors = distribution["CustomErrorResponses"].as_sequence().into_iter().flatten();
    let never: Vec<_> =
        errors.filter(|one| one["ErrorCachingMinTTL"] == 0).map(|one| one["ErrorCode"].as_u64()).collect();
    assert_eq!(never, [400, 403, 404, 405, 414, 416, 500, 501, 502, 503, 504].map(Some));
}

/// Images are read from their bucket, with CloudFront's signature, and the bucket's policy allows that and no more.
#[test]
fn the_edge_reads_images_from_their_bucket_and_no_route_is_below_their_path() {
    let distribution = distribution();
    let behaviors = distribution["CacheBehaviors"].as_sequence().into_iter().flatten();
    let of_bucket: Vec<_> = behaviors.filter(|behavior| behavior["TargetOriginId"] != "api").collect();
    let [images] = of_bucket.as_slice() else { panic!("one behavior: {of_bucket:?}") };
    let pattern = images["PathPattern"].as_str().expect("a pattern");
    assert!(matches(pattern, "/images/cup/019aa5a7-2c4f-7d3e-8b1a-5f0c9e7d2b64"));
    assert_eq!(
        (&images["ViewerProtocolPolicy"], images["AllowedMethods"].as_sequence().map(Vec::len)),
        (&"https-only".into(), Some(2))
    );
    for function in routes() {
        assert!(!matches(pattern, function.route.path), "{}", function.route.path);
    }
    let origins = distribution["Origins"].as_sequence().into_iter().flatten();
    let signed = origins.filter(|origin| origin["Id"] == images["TargetOriginId"]);
    assert_eq!(signed.filter(|origin| !origin["OriginAccessControlId"].is_null()).count(), 1);

    let policy = &stack("template.yaml")["Resources"]["ImagesBucketPolicy"]["Properties"]["PolicyDocument"];
    let statements = policy["Statement"].as_sequence().into_iter().flatten();
    let conditional = statements.filter_map(|statement| match statement {
        Yaml::Tagged(condition) if condition.value[0] == "HasEdge" => Some(&condition.value[1]),
        _ => None,
    });
    let conditional: Vec<_> = conditional.collect();
    let [edge] = conditional.as_slice() else { panic!("one statement: {conditional:?}") };
    assert_eq!(edge["Principal"]["Service"], "cloudfront.amazonaws.com");
    assert_eq!(edge["Action"], "s3:GetObject");
    let Yaml::Tagged(source) = &edge["Condition"]["ArnEquals"]["aws:SourceArn"] else { panic!("an ARN: {edge:?}") };
    assert!(
        source.value.as_str().is_some_and(|arn| arn.ends_with(":distribution/${Distribution.Outputs.DistributionId}"))
    );
}

/// `Vary` of a shared answer names the origin alone, and the key of a copy has it if the gateway answers by origin.
#[test]
fn a_copy_belongs_to_an_origin_if_the_api_has_cors() {
    let policy = &stack("stacks/edge.yaml")["Resources"]["SharedPages"]["Properties"]["CachePolicyConfig"].clone();
    let key = &policy["ParametersInCacheKeyAndForwardedToOrigin"];
    let Yaml::Tagged(headers) = &key["HeadersConfig"] else { panic!("a condition") };
    assert_eq!(headers.value[0], "HasCors");
    assert_eq!(headers.value[1]["Headers"][0], "Origin");
    assert_eq!(key["CookiesConfig"]["CookieBehavior"], "none");
    // The headers of an answer decide, and an answer without them is not kept.
    assert_eq!((policy["MinTTL"].as_u64(), policy["DefaultTTL"].as_u64()), (Some(0), Some(0)));
}

/// Headers are no part of the key, so they must not matter.
#[tokio::test(flavor = "multi_thread")]
async fn no_header_changes_a_shared_answer() {
    let shop = Shop::open().await;
    let functions = functions::start_all(&shop.endpoints(), shop.template()).expect("the functions start").handlers;
    let call = async |name: &str, event: Json| {
        let (_, invoke) = functions.iter().find(|(known, _)| known == name).expect("a function");
        invoke(event).await.expect("an answer")
    };
    call("create-product", event("create-product")).await;
    shop.reindex().await;
    for function in routes().filter(|function| function.route.shared.is_some()) {
        let name = function.function.name();
        let plain = call(&name, event(&name)).await;
        assert_eq!(plain["statusCode"], 200, "{name}: {plain}");
        let headers = [
            ("authorization", "Bearer header.claims.signature"),
            ("cookie", "session=1"),
            ("prefer", "respond-async"),
            ("idempotency-key", "k"),
            ("if-match", "\"7\""),
            ("accept", "text/html"),
            ("accept-language", "de"),
            ("user-agent", "another"),
            ("x-forwarded-host", "evil.example"),
        ];
        for (header, value) in headers {
            let mut event = event(&name);
            event["headers"][header] = json!(value);
            assert_eq!(call(&name, event).await, plain, "{name}: {header}");
        }
    }
}
