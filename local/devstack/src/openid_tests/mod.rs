use std::sync::{Arc, Mutex};

use axum::routing::get;
use axum::{Json, Router};
use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use ring::rand::SystemRandom;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair as _, RSA_PKCS1_SHA256, RsaKeyPair, RsaPublicKeyComponents,
};
use serde_json::json;

use super::*;
use crate::gateway::Invoke;
use crate::{Functions, Issuer, Options, Stack, Template};

/// An RSA key of these tests alone, made by `openssl genpkey`: `ring` makes none.
const RSA_KEY: &[u8] = include_bytes!("issuer.der");

const TEMPLATE: &str = r"
Resources:
  Role: { Type: AWS::IAM::Role, Properties: {} }
  Table:
    Type: AWS::DynamoDB::Table
    Properties:
      KeySchema: [{ AttributeName: PK, KeyType: HASH }]
      AttributeDefinitions: [{ AttributeName: PK, AttributeType: S }]
  GetNote:
    Type: AWS::Serverless::Function
    Properties:
      Handler: get-note
      Role: !GetAtt Role.Arn
      Events:
        Get: { Type: HttpApi, Properties: { Path: /notes, Method: GET, Auth: { AuthorizationScopes: [notes/read] } } }
";

/// A key of the issuer, by its id.
enum Key {
    Rsa(&'static str),
    P256(&'static str, Box<EcdsaKeyPair>),
}

impl Key {
    fn p256(id: &'static str) -> Self {
        let random = SystemRandom::new();
        let key = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &random).unwrap();
        let pair = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, key.as_ref(), &random).unwrap();
        Self::P256(id, Box::new(pair))
    }

    fn public(&self) -> Value {
        match self {
            Self::Rsa(id) => {
                let key = RsaKeyPair::from_der(RSA_KEY).unwrap();
                let RsaPublicKeyComponents { n, e } = RsaPublicKeyComponents::<Vec<u8>>::from(key.public());
                json!({ "kty": "RSA", "kid": id, "alg": "RS256", "use": "sig", "n": encoded(&n), "e": encoded(&e) })
            }
            Self::P256(id, key) => {
                let (x, y) = key.public_key().as_ref()[1..].split_at(32);
                json!({ "kty": "EC", "crv": "P-256", "kid": id, "use": "sig", "x": encoded(x), "y": encoded(y) })
            }
        }
    }

    fn sign(&self, claims: &Value) -> String {
        let (algorithm, id) = match self {
            Self::Rsa(id) => ("RS256", id),
            Self::P256(id, _) => ("ES256", id),
        };
        let header = json!({ "alg": algorithm, "typ": "JWT", "kid": id });
        let message = format!("{}.{}", encoded(header.to_string().as_bytes()), encoded(claims.to_string().as_bytes()));
        let random = SystemRandom::new();
        let signature = match self {
            Self::Rsa(_) => {
                let key = RsaKeyPair::from_der(RSA_KEY).unwrap();
                let mut signature = vec![0; key.public().modulus_len()];
                key.sign(&RSA_PKCS1_SHA256, &random, message.as_bytes(), &mut signature).unwrap();
                signature
            }
            Self::P256(_, key) => key.sign(&random, message.as_bytes()).unwrap().as_ref().to_vec(),
        };
        format!("{message}.{}", encoded(&signature))
    }
}

fn encoded(bytes: &[u8]) -> String {
    BASE64_URL_SAFE_NO_PAD.encode(bytes)
}

/// An issuer on this machine, which publishes these keys.
struct Published {
    url: String,
    keys: Arc<Mutex<Vec<Value>>>,
}

impl Published {
    async fn start(keys: &[&Key]) -> Self {
        crate::clock::start();
        let listener = crate::listen::free_port().await.unwrap();
        let url = crate::listen::url_of(&listener).unwrap();
        let keys = Arc::new(Mutex::new(keys.iter().map(|key| key.public()).collect()));
        let configuration = json!({ "issuer": url, "jwks_uri": format!("{url}/keys") });
        let read = Arc::clone(&keys);
        let router = Router::new()
            .route("/.well-known/openid-configuration", get(|| async { Json(configuration) }))
            .route("/keys", get(move || async move { Json(json!({ "keys": *read.lock().unwrap() })) }));
        tokio::spawn(axum::serve(listener, router).into_future());
        Self { url, keys }
    }

    /// The claims of a valid token, with these changes.
    fn claims(&self, change: &Value) -> Value {
        let now = std::time::UNIX_EPOCH.elapsed().unwrap().as_secs();
        let mut claims = json!({
            "sub": "ada", "scope": "openid notes/read", "iss": self.url, "aud": ["notes"], "iat": now, "exp": now + 60,
        });
        for (name, value) in change.as_object().unwrap() {
            claims[name] = value.clone();
        }
        claims
    }

    async fn stack(&self) -> Stack {
        let issuer = Issuer::OpenId { url: self.url.clone(), audience: "notes".to_owned() };
        let options = Options { issuer, ..Options::new(Template::parse(TEMPLATE).unwrap()) };
        let get_note: Invoke = Arc::new(|event| {
            Box::pin(async move {
                let claims = &event["requestContext"]["authorizer"]["jwt"]["claims"];
                Ok(json!({ "statusCode": 200, "body": claims["sub"] }))
            })
        });
        let functions = Functions { handlers: vec![("get-note".to_owned(), get_note)], ..Functions::default() };
        Stack::start(options, |_, _| Ok(functions)).await.unwrap()
    }
}

async fn status(stack: &Stack, token: &str) -> u16 {
    let client = crate::aws_json::local_client().unwrap();
    client.get(format!("{}/notes", stack.url())).bearer_auth(token).send().await.unwrap().status().as_u16()
}

#[tokio::test]
async fn tokens_of_the_issuer_are_accepted() {
    let (rsa, p256) = (Key::Rsa("one"), Key::p256("two"));
    let issuer = Published::start(&[&rsa, &p256]).await;
    let stack = issuer.stack().await;
    for key in [&rsa, &p256] {
        assert_eq!(status(&stack, &key.sign(&issuer.claims(&json!({})))).await, 200);
        let mut without_audience = issuer.claims(&json!({ "client_id": "notes" }));
        without_audience.as_object_mut().unwrap().remove("aud");
        assert_eq!(status(&stack, &key.sign(&without_audience)).await, 200);
    }
}

#[tokio::test]
async fn other_tokens_are_refused() {
    let (rsa, p256) = (Key::Rsa("one"), Key::p256("two"));
    let issuer = Published::start(&[&rsa, &p256]).await;
    let stack = issuer.stack().await;
    for change in [
        json!({ "aud": "another" }),
        json!({ "iss": "https://another.example" }),
        json!({ "exp": 1 }),
        json!({ "nbf": 9_999_999_999_u64 }),
    ] {
        assert_eq!(status(&stack, &rsa.sign(&issuer.claims(&change))).await, 401, "{change}");
    }
    assert_eq!(status(&stack, &rsa.sign(&issuer.claims(&json!({ "scope": "openid" })))).await, 403);
    // A key of the issuer's id that the issuer does not have, and a key's id with another algorithm.
    assert_eq!(status(&stack, &Key::p256("two").sign(&issuer.claims(&json!({})))).await, 401);
    assert_eq!(status(&stack, &Key::p256("one").sign(&issuer.claims(&json!({})))).await, 401);
    assert_eq!(status(&stack, "nonsense").await, 401);
}

#[tokio::test]
async fn a_key_that_the_issuer_adds_is_read() {
    let (old, new) = (Key::p256("old"), Key::p256("new"));
    let issuer = Published::start(&[&old]).await;
    let stack = issuer.stack().await;
    let token = new.sign(&issuer.claims(&json!({})));
    assert_eq!(status(&stack, &token).await, 401);

    issuer.keys.lock().unwrap().push(new.public());
    tokio::time::sleep(BETWEEN_READS).await;
    assert_eq!(status(&stack, &token).await, 200);
}

#[tokio::test]
async fn the_stack_issues_no_tokens_over_http() {
    let issuer = Published::start(&[&Key::Rsa("one")]).await;
    let stack = issuer.stack().await;
    let client = crate::aws_json::local_client().unwrap();
    let request = client.post(format!("{}/_local/token", stack.url()));
    let answer = request.json(&json!({ "sub": "ada", "scope": "read" })).send().await.unwrap();
    assert_eq!(answer.status(), 404);
    assert!(answer.text().await.unwrap().contains(&issuer.url));
    assert_eq!(status(&stack, &stack.token("ada", "notes/read").unwrap()).await, 200, "its own program's tokens");
}

#[tokio::test]
async fn an_issuer_that_cannot_be_read_is_named() {
    let issuer = Published::start(&[]).await;
    let error =
        |url: String| async move { format!("{:#}", OpenIdIssuer::discover(&url, "notes").await.err().unwrap()) };
    let other_name = error(format!("{}/", issuer.url)).await;
    assert!(other_name.contains(&format!("is the configuration of the issuer {}: ", issuer.url)), "{other_name}");
    // No server can listen on this port.
    let unreachable = error("http://127.0.0.1:1".to_owned()).await;
    assert!(unreachable.starts_with("cannot read http://127.0.0.1:1/.well-known/"), "{unreachable}");
}
