//! The sample event of a route, made from its example: the event that API Gateway sends, in payload format version 2.0.

use http_api::{ADMIN_SCOPE, Example, Route, SHOP_SCOPE, Scope};
use key_schema::value::Timestamp;
use reqwest::Url;
use serde_json::{Map, Value, json};

const HOST: &str = "a1b2c3d4e5.execute-api.eu-west-1.amazonaws.com";
const BROWSER: &str = "Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0";

pub(super) fn of(route: &Route) -> Value {
    let Example { at, path, query, headers: own, verified_email, body } = route.example;
    let body = body.map(|body| serde_json::from_str::<Value>(body).expect("JSON").to_string());
    let key = format!("{} {}", route.method.as_str(), route.path);
    let parameters: Map<String, Value> =
        route.path_parameters().zip(path.split('/')).map(|(name, value)| (name.to_owned(), json!(value))).collect();
    let filled = parameters.iter().fold(route.path.to_owned(), |filled, (name, value)| {
        filled.replace(&format!("{{{name}}}"), value.as_str().unwrap_or_default())
    });
    let address = if route.scope == Scope::Admin { "198.51.100.7" } else { "203.0.113.24" };
    let mut headers = json!({
        "accept": "application/json",
        "accept-encoding": "gzip",
        "host": HOST,
        "user-agent": BROWSER,
        "x-forwarded-for": address,
        "x-forwarded-port": "443",
        "x-forwarded-proto": "https",
    });
    for (name, value) in own.into_iter().flatten() {
        headers[name] = json!(value);
    }
    if let Some(body) = &body {
        headers["content-type"] = json!("application/json");
        headers["content-length"] = json!(body.len().to_string());
    }
    let time = format!("2026-11-21T{at}Z");
    let moment: Timestamp = time.parse().unwrap_or_else(|_| panic!("{key}: {at} is no time of day"));
    let mut context = json!({
        "accountId": "123456789012",
        "apiId": "a1b2c3d4e5",
        "domainName": HOST,
        "domainPrefix": "a1b2c3d4e5",
        "http": {
            "method": route.method.as_str(),
            "path": filled,
            "protocol": "HTTP/1.1",
            "sourceIp": address,
            "userAgent": BROWSER,
        },
        "requestId": "fxlFO9BGgSVEcqU=",
        "routeKey": key,
        "stage": "$default",
        "time": format!("21/Nov/2026:{at} +0000"),
        "timeEpoch": moment.as_second() * 1000,
    });
    if let Some(mut claims) = claims(route.scope) {
        if let Some(email) = verified_email {
            claims["email"] = json!(email);
            claims["email_verified"] = json!("true");
        }
        headers["authorization"] = json!("Bearer header.claims.signature");
        context["authorizer"] = json!({ "jwt": { "claims": claims, "scopes": route.scope.any_of() } });
    }
    let mut event = json!({
        "version": "2.0",
        "routeKey": key,
        "rawPath": filled,
        "rawQueryString": query,
        "headers": headers,
        "requestContext": context,
        "isBase64Encoded": false,
    });
    if route.scope == Scope::Public {
        event["cookies"] = json!(["consent=essential"]);
    }
    let url = Url::parse(&format!("https://till.example/?{query}")).expect("a URL");
    let of_query: Map<String, Value> = url.query_pairs().map(|(name, value)| (name.into(), json!(value))).collect();
    if !of_query.is_empty() {
        event["queryStringParameters"] = of_query.into();
    }
    if !parameters.is_empty() {
        event["pathParameters"] = parameters.into();
    }
    if let Some(body) = body {
        event["body"] = json!(body);
    }
    event
}

/// The claims of the token: a customer's or, for an admin route, those of a member of staff.
fn claims(scope: Scope) -> Option<Value> {
    let (client, scope, sub) = match scope {
        Scope::Public => return None,
        Scope::Shop => ("till-shop", SHOP_SCOPE, "ada"),
        Scope::Admin => ("till-back-office", ADMIN_SCOPE, "admin-1"),
    };
    Some(json!({
        "aud": "till",
        "client_id": client,
        "exp": "1795256400",
        "iat": "1795252800",
        "iss": "https://id.till.example",
        "scope": scope,
        "sub": sub,
        "token_use": "access",
    }))
}
