//! The generated parts of `stacks/edge.yaml`: the paths whose answers the edge may keep.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use http_api::{Route, Verb};
use local::functions::routes;
use shop::openapi;

use crate::caching::distribution::matches;

/// AWS's own policy that keeps nothing.
const CACHING_DISABLED: &str = "4135ea2d-6df8-44a3-9df3-4b5a84be39ad";

/// AWS's own policy for what depends on its path alone, and never changes.
const CACHING_OPTIMIZED: &str = "658327ea-f89d-4fab-a63d-7e88639e58f6";

/// AWS's own policy that passes everything on except `Host`.
const ALL_EXCEPT_HOST: &str = "b689b0a8-53d0-40ab-baf2-68738e2966ac";

/// The parameters of the query on which shared answers depend.
pub(super) fn parameters() -> String {
    let mut names = BTreeSet::new();
    for function in routes().filter(|function| function.route.shared.is_some()) {
        let operation = &openapi::document()["paths"][function.route.path]["get"];
        let parameters = operation["parameters"].as_array().into_iter().flatten();
        let of_query = parameters.filter(|parameter| parameter["in"] == "query");
        names.extend(of_query.filter_map(|parameter| parameter["name"].as_str()));
    }
    let names = names.into_iter().collect::<Vec<_>>().join(", ");
    format!(
        "          QueryStringsConfig:\n            QueryStringBehavior: whitelist\n            QueryStrings: [{names}]\n          "
    )
}

/// The behavior for images, and one for each shared route, after those for the other reads that its pattern matches.
pub(super) fn behaviors() -> String {
    let reads = || routes().map(|function| function.route).filter(|route| route.method == Verb::Get);
    let (shared, others): (Vec<_>, Vec<_>) = reads().partition(|route| route.shared.is_some());
    let shared: BTreeSet<_> = shared.into_iter().map(pattern).collect();
    let is_taken = |route: &&Route| shared.iter().any(|pattern| matches(pattern, &sample(route)));
    let exceptions: BTreeSet<_> = others.into_iter().filter(is_taken).map(pattern).collect();

    let mut text = format!(
        "        CacheBehaviors:\n          - PathPattern: /images/*\n            TargetOriginId: images\n            \
         ViewerProtocolPolicy: https-only\n            AllowedMethods: [GET, HEAD]\n            CachePolicyId: \
         {CACHING_OPTIMIZED}\n            ResponseHeadersPolicyId: !Ref SecurityHeaders\n"
    );
    let policies = [CACHING_DISABLED, "!Ref SharedPages"];
    for (patterns, policy) in [exceptions, shared].into_iter().zip(policies) {
        for pattern in patterns {
            _ = write!(
                text,
                "          - PathPattern: {pattern}\n            TargetOriginId: api\n            ViewerProtocolPolicy: \
                 https-only\n            AllowedMethods: [GET, HEAD, OPTIONS, PUT, POST, PATCH, DELETE]\n            \
                 CachePolicyId: {policy}\n            OriginRequestPolicyId: {ALL_EXCEPT_HOST}\n            \
                 ResponseHeadersPolicyId: !Ref SecurityHeaders\n            Compress: true\n"
            );
        }
    }
    text + "        "
}

fn pattern(route: &Route) -> String {
    with_parameters(route, "*")
}

fn sample(route: &Route) -> String {
    with_parameters(route, "x")
}

fn with_parameters(route: &Route, value: &str) -> String {
    route.path_parameters().fold(route.path.to_owned(), |path, name| path.replace(&format!("{{{name}}}"), value))
}
