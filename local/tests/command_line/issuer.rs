//! `--issuer` and `--audience`.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Command;

use reqwest::Client;
use serde_json::{Value, json};

use crate::{LOCAL, Running, refused};

/// An OpenID Connect issuer on this machine, without keys. Returns its URL.
fn issuer() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    // Both documents in one.
    let answers = json!({ "issuer": url, "jwks_uri": format!("{url}/keys"), "keys": [] });
    std::thread::spawn(move || listener.incoming().for_each(|stream| answer(&stream.unwrap(), &answers)));
    url
}

fn answer(mut stream: &TcpStream, body: &Value) {
    BufReader::new(stream).lines().map_while(Result::ok).find(String::is_empty);
    let (body, length) = (body.to_string(), body.to_string().len());
    write!(stream, "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n{body}").unwrap();
}

#[tokio::test]
async fn the_stack_leaves_tokens_to_the_issuer() {
    let issuer = issuer();
    let mut running = Running::start(&["--port", "0", "--empty", "--issuer", &issuer, "--audience", "notes"]);
    assert_eq!(running.line("Tokens of "), format!("{issuer} are accepted."));
    let client = Client::builder().no_proxy().build().unwrap();
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
