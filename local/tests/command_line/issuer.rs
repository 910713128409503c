//! `--issuer` and `--audience`.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Command;
use std::time::UNIX_EPOCH;

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use reqwest::Client;
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair as _};
use serde_json::{Value, json};

use crate::{LOCAL, Running, refused};

/// An OpenID Connect issuer on this machine, with one key.
struct Issuer {
    url: String,
    key: EcdsaKeyPair,
}

impl Issuer {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let random = SystemRandom::new();
        let key = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &random).unwrap();
        let key = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, key.as_ref(), &random).unwrap();
        let (x, y) = key.public_key().as_ref()[1..].split_at(32);
        let public = json!({ "kty": "EC", "crv": "P-256", "kid": "one", "x": encoded(x), "y": encoded(y) });
        let keys = json!({ "keys": [public] });
        let configuration = json!({ "issuer": url, "jwks_uri": format!("{url}/keys") });
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                answer(&stream.unwrap(), &configuration, &keys);
            }
        });
        Self { url, key }
    }

    /// A token for the customer `ada`, valid for a minute.
    fn token(&self, audience: &str) -> String {
        let now = UNIX_EPOCH.elapsed().unwrap().as_secs();
        let claims = json!({
            "sub": "ada", "scope": "till/shop", "iss": self.url, "aud": audience, "iat": now, "exp": now + 60,
        });
        let parts = [json!({ "alg": "ES256", "kid": "one" }), claims].map(|part| encoded(part.to_string().as_bytes()));
        let message = parts.join(".");
        let signature = self.key.sign(&SystemRandom::new(), message.as_bytes()).unwrap();
        format!("{message}.{}", encoded(signature.as_ref()))
    }
}

fn encoded(bytes: &[u8]) -> String {
    BASE64_URL_SAFE_NO_PAD.encode(bytes)
}

fn answer(mut stream: &TcpStream, configuration: &Value, keys: &Value) {
    let mut lines = BufReader::new(stream).lines().map_while(Result::ok);
    let request = lines.next().unwrap_or_default();
    lines.find(String::is_empty);
    let body = if request.starts_with("GET /keys ") { keys } else { configuration }.to_string();
    let length = body.len();
    write!(stream, "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n{body}").unwrap();
}

#[tokio::test]
async fn tokens_of_the_chosen_issuer_and_audience_are_accepted() {
    let issuer = Issuer::start();
    let mut running = Running::start(&["--port", "0", "--empty", "--issuer", &issuer.url, "--audience", "notes"]);
    assert_eq!(running.line("Tokens of "), format!("{} are accepted.", issuer.url));

    let client = Client::builder().no_proxy().build().unwrap();
    for (audience, status) in [("notes", 200), ("letters", 401)] {
        let request = client.get(format!("{}/customers/ada/orders", running.url));
        let answer = request.bearer_auth(issuer.token(audience)).send().await.unwrap();
        assert_eq!(answer.status(), status, "{audience}");
    }
    let token = client.post(format!("{}/_local/token", running.url)).body(r#"{"sub":"ada","scope":"shop"}"#);
    assert_eq!(token.send().await.unwrap().status(), 404, "the stack issues no tokens of its own");
}

#[test]
fn an_issuer_needs_its_audience() {
    let output = Command::new(LOCAL).args(["--issuer", "http://127.0.0.1:1"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8(output.stderr).unwrap().contains("--audience <AUDIENCE>"));
}

#[test]
fn an_issuer_that_cannot_be_read_is_named() {
    // No server can listen on this port.
    let error = refused(&["--port", "0", "--issuer", "http://127.0.0.1:1", "--audience", "notes"]);
    let expected = "error: cannot read http://127.0.0.1:1/.well-known/openid-configuration: name an OpenID Connect issuer \
                    with --issuer: ";
    assert!(error.starts_with(expected), "{error}");
}
