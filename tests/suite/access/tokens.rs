//! A valid token grants the routes of its scopes, and any other token grants nothing.

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use devstack::token::Tokens;
use http_api::{ADMIN_SCOPE, SHOP_SCOPE};

use super::Sample;
use crate::completeness::names;
use crate::laptop::claims;
use crate::prelude::*;

/// A time claim, this many seconds from now.
fn in_seconds(seconds: i64) -> Value {
    let now = std::time::UNIX_EPOCH.elapsed().expect("a time").as_secs();
    json!(now.saturating_add_signed(seconds))
}

/// The token with one part replaced: 0 is the header, 1 the claims, 2 the signature.
fn with_part(token: &str, part: usize, text: &str) -> String {
    let mut parts: Vec<_> = token.split('.').collect();
    parts[part] = text;
    parts.join(".")
}

fn encoded(value: &Value) -> String {
    BASE64_URL_SAFE_NO_PAD.encode(value.to_string())
}

/// Invalid tokens, each with its defect.
fn invalid(shop: &Shop) -> Vec<(&'static str, String)> {
    let admin = |change: Value| {
        let mut all = json!({ "scope": ADMIN_SCOPE });
        all.as_object_mut().expect("claims").extend(change.as_object().expect("claims").clone());
        claims(&all)
    };
    let valid = shop.sign(&admin(json!({})));
    let header = |algorithm: &str| encoded(&json!({ "alg": algorithm, "typ": "JWT" }));
    let unsigned = with_part(&with_part(&valid, 0, &header("none")), 2, "");
    let mut tokens = vec![
        ("empty", String::new()),
        ("garbage", "garbage".to_owned()),
        ("three parts of garbage", "a.b.c".to_owned()),
        ("without a signature, and says so", unsigned),
        ("without a signature, and does not say so", with_part(&valid, 2, "")),
        ("with another's signature", with_part(&valid, 2, valid.split('.').next().expect("a part"))),
        ("changed after it was signed", with_part(&valid, 1, &encoded(&admin(json!({ "sub": "eve" }))))),
        (
            "signed by another issuer with the same name",
            Tokens::ephemeral("till-local", "till").sign(&admin(json!({}))).expect("claims"),
        ),
    ];
    for algorithm in ["None", "HS384", "HS512", "RS256", "ES256", "unheard-of"] {
        tokens.push(("of another algorithm", with_part(&valid, 0, &header(algorithm))));
    }
    for (what, change) in [
        ("expired", json!({ "exp": in_seconds(-1) })),
        ("without an end", json!({ "exp": null })),
        ("not valid yet", json!({ "nbf": in_seconds(600) })),
        ("issued in the future", json!({ "iat": in_seconds(600) })),
        ("of another issuer", json!({ "iss": "https://evil.example" })),
        ("of no issuer", json!({ "iss": null })),
        ("for another audience", json!({ "aud": "bank" })),
        ("for other audiences", json!({ "aud": ["bank", "tills"] })),
        ("for another audience by a client that is known", json!({ "aud": "bank", "client_id": "till" })),
        ("for no audience", json!({ "aud": null })),
        ("of another client", json!({ "aud": null, "client_id": "bank" })),
        ("of nobody", json!({ "sub": null })),
        ("of a name that is no id", json!({ "sub": "a#b" })),
    ] {
        tokens.push((what, shop.sign(&admin(change))));
    }
    tokens
}

/// Valid tokens without the scope, and tokens that are not access tokens.
fn without_scope(shop: &Shop) -> Vec<(&'static str, String)> {
    [
        ("no scope", json!({ "scope": null })),
        ("an empty scope", json!({ "scope": "" })),
        ("other scopes", json!({ "scope": "openid profile email" })),
        (
            "nearly the scope",
            json!({ "scope": "shop admin till/shopper till/administrator TILL/ADMIN till/shop,till/admin" }),
        ),
        (
            "the scope under another name",
            json!({ "scope": null, "scopes": ADMIN_SCOPE, "cognito:groups": [ADMIN_SCOPE] }),
        ),
        ("an ID token", json!({ "scope": null, "token_use": "id", "email": "ada@example.com", "nonce": "n" })),
    ]
    .map(|(what, change)| (what, shop.sign(&claims(&change))))
    .into()
}

#[tokio::test(flavor = "multi_thread")]
async fn invalid_tokens_and_tokens_without_the_scope_are_refused() {
    let shop = Shop::open().await;
    let (invalid, without_scope) = (invalid(&shop), without_scope(&shop));
    let shopper = ("a customer's scope", shop.sign(&claims(&json!({ "scope": format!("openid {SHOP_SCOPE}") }))));
    for name in names() {
        let sample = Sample::of(&name);
        if sample.scopes.is_empty() {
            continue;
        }
        let reply = sample.send(&shop.nobody()).await;
        assert_eq!((reply.header("www-authenticate"), reply.header("retry-after")), (Some("Bearer"), None), "{name}");
        reply.of_gateway(401);
        for (what, token) in &invalid {
            let reply = sample.send(&shop.nobody().with_token(token)).await;
            assert_eq!(reply.status, 401, "{name} with a token {what}: {}", reply.body);
        }
        let takes_shoppers = sample.scopes.iter().any(|scope| scope == SHOP_SCOPE);
        for (what, token) in without_scope.iter().chain((!takes_shoppers).then_some(&shopper)) {
            let reply = sample.send(&shop.nobody().with_token(token)).await;
            assert_eq!(reply.header("www-authenticate"), None, "{name} with {what}");
            reply.of_gateway(403);
        }
    }
    assert_eq!(shop.dump().await, Vec::<Value>::new(), "nothing was changed");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_valid_token_is_accepted_in_every_format_of_its_claims() {
    let shop = Shop::open().await;
    let valid = [
        ("as the laptop's", json!({})),
        ("as Cognito's access tokens", json!({ "aud": null, "client_id": "till" })),
        ("for several audiences", json!({ "aud": ["bank", "till"] })),
        ("valid from now on", json!({ "nbf": in_seconds(0), "iat": null })),
    ];
    for (what, mut change) in valid {
        change["scope"] = json!(format!("openid {ADMIN_SCOPE}"));
        let client = shop.nobody().with_token(&shop.sign(&claims(&change)));
        for name in names() {
            let reply = Sample::of(&name).send(&client).await;
            assert!(![401, 403].contains(&reply.status), "{name} with a token {what}: {}", reply.body);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_public_route_ignores_tokens() {
    let shop = Shop::open().await;
    let public: Vec<_> = names().into_iter().filter(|name| Sample::of(name).scopes.is_empty()).collect();
    assert!(!public.is_empty());
    for name in public {
        let bare = Sample::of(&name).send(&shop.nobody()).await;
        for (what, token) in invalid(&shop) {
            let reply = Sample::of(&name).send(&shop.nobody().with_token(&token)).await;
            assert_eq!((reply.status, &reply.body), (bare.status, &bare.body), "{name} with a token {what}");
        }
    }
}
