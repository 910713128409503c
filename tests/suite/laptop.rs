//! The laptop's ports: programs on this machine are answered, web pages are refused, and incomplete requests have no
//! effect.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpStream};

use http_api::ADMIN_SCOPE;
use shop::PATIENCE;

use crate::prelude::*;

/// The host and port of the gateway.
fn gateway(shop: &Shop) -> String {
    shop.url().trim_start_matches("http://").to_owned()
}

/// The host and port of each service of a stack.
fn ports(shop: &Shop) -> [(&'static str, String); 5] {
    [
        ("gateway", shop.url()),
        ("DynamoDB", shop.dynamodb_url()),
        ("SQS", shop.sqs_url()),
        ("EventBridge", shop.bus().url()),
        ("fault proxy", shop.fault_proxy().url()),
    ]
    .map(|(name, url)| (name, url.trim_start_matches("http://").to_owned()))
}

/// Sends these bytes, and returns the status and the whole answer. The status is 0 if the connection was closed without
/// an answer.
fn send(address: &str, request: &str) -> (u16, String) {
    exchange(address, request, false)
}

/// Like `send`, for a client that hangs up after these bytes.
fn send_and_go(address: &str, request: &str) -> (u16, String) {
    exchange(address, request, true)
}

fn exchange(address: &str, request: &str, goes: bool) -> (u16, String) {
    let mut stream = TcpStream::connect(address).expect("it listens");
    stream.set_read_timeout(Some(PATIENCE)).expect("a timeout");
    stream.write_all(request.as_bytes()).expect("it reads");
    if goes {
        stream.shutdown(Shutdown::Write).expect("it is open");
    }
    let mut answer = Vec::new();
    // The connection may be reset instead of closed.
    _ = stream.read_to_end(&mut answer);
    let answer = String::from_utf8_lossy(&answer).into_owned();
    let status = answer.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or_default();
    (status, answer)
}

/// A request with these headers, each line of which ends with a line break.
fn request(line: &str, headers: &str, body: &str) -> String {
    let length = body.len();
    format!("{line} HTTP/1.1\r\n{headers}connection: close\r\ncontent-length: {length}\r\n\r\n{body}")
}

fn call_of(port: &str) -> (&'static str, &'static str, &'static str) {
    let signed = "content-type: application/x-amz-json-1.0\r\nx-amz-date: 20260101T000000Z\r\n\
                  authorization: AWS4-HMAC-SHA256 Credential=a/20260101/us-east-1/s/aws4_request, SignedHeaders=host, Signature=0\r\n";
    let target = match port {
        "gateway" => return ("POST /_local/token", "", r#"{"sub":"ada","scope":"admin"}"#),
        "DynamoDB" | "fault proxy" => "x-amz-target: DynamoDB_20120810.ListTables\r\n",
        "SQS" => "x-amz-target: AmazonSQS.ListQueues\r\n",
        _ => {
            let headers = format!("{signed}x-amz-target: AWSEvents.PutEvents\r\n");
            let body = r#"{"Entries":[{"EventBusName":"b","Source":"s","DetailType":"d","Detail":"{}"}]}"#;
            return ("POST /", headers.leak(), body);
        }
    };
    ("POST /", format!("{signed}{target}").leak(), "{}")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_that_rebinds_its_name_is_refused() {
    let shop = Shop::open().await;
    for (port, address) in ports(&shop) {
        let (line, headers, body) = call_of(port);
        let sent = |host: &str| send(&address, &request(line, &format!("host: {host}\r\n{headers}"), body));
        let number = address.rsplit(':').next().expect("a port");
        for host in [address.clone(), format!("localhost:{number}"), "localhost:1".to_owned()] {
            assert_eq!(sent(&host).0, 200, "{port}: {}", sent(&host).1);
        }
        for host in
            [format!("evil.example:{number}"), "evil.example".to_owned(), format!("localhost.evil.example:{number}")]
        {
            let (status, answer) = sent(&host);
            assert_eq!(status, 421, "{port} as {host}: {answer}");
            assert!(!answer.contains("token\""), "{port}: {answer}");
        }
        let (status, answer) = send(&address, &request(line, headers, body));
        assert!(status == 400 || status == 421, "{port} without a host: {answer}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_blind_request_from_another_origin_is_refused() {
    let shop = Shop::open().await;
    for (port, address) in ports(&shop) {
        let (line, headers, body) = call_of(port);
        let with = |line: &str, more: &str| {
            send(&address, &request(line, &format!("host: {address}\r\n{headers}{more}\r\n"), body))
        };
        assert_eq!(with(line, &format!("origin: http://{address}")).0, 200, "{port}");
        let foreign = [
            "origin: https://evil.example",
            "origin: null",
            "origin: http://localhost:1",
            "sec-fetch-site: cross-site",
        ];
        for more in foreign {
            let (status, answer) = with(line, more);
            assert_eq!(status, 403, "{port} with {more}: {answer}");
            assert!(!answer.to_lowercase().contains("access-control-allow"), "{port}: {answer}");
        }
        let (_, answer) = with("OPTIONS /", "origin: https://evil.example\r\naccess-control-request-method: POST");
        assert!(!answer.to_lowercase().contains("access-control-allow"), "{port}, asked beforehand: {answer}");
    }
    for path in ["/_local/redrive", "/_local/scheduled/reconcile-counts"] {
        let gateway = &gateway(&shop);
        let headers = format!("host: {gateway}\r\norigin: https://evil.example\r\n");
        assert_eq!(send(gateway, &request(&format!("POST {path}"), &headers, "{}")).0, 403, "{path}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_truncated_request_has_no_effect() {
    let shop = Shop::open().await;
    shop.product("cup", 100, 1).await;
    let before = shop.dump().await;
    let gateway = &gateway(&shop);
    let token = shop.sign(&claims(&json!({ "scope": ADMIN_SCOPE })));
    let head = format!("host: {gateway}\r\nauthorization: Bearer {token}\r\ncontent-type: application/json\r\n");

    // The part that arrives is a valid body by itself.
    let body = r#"{"code":"CUT","percent":1}"#;
    let (size, more) = (body.len(), body.len() + 1);
    for (line, rest) in [
        ("POST /discounts", format!("content-length: {more}\r\n\r\n{body}")),
        ("POST /discounts", format!("transfer-encoding: chunked\r\n\r\n{size:x}\r\n{body}\r\n")),
        ("POST /discounts", format!("transfer-encoding: chunked\r\n\r\n{size:x}\r\n{body}\r\nnonsense\r\n")),
        ("POST /products/cup/views", "content-length: 2\r\n\r\n".to_owned()),
    ] {
        let (status, answer) = send_and_go(gateway, &format!("{line} HTTP/1.1\r\n{head}{rest}"));
        assert!(status == 0 || status == 400, "{line}, {rest:?}: {answer}");
        assert_eq!(shop.dump().await, before, "{line}, {rest:?}");
    }
    assert_eq!(send(gateway, &request("POST /discounts", &head, body)).0, 201, "the same as a whole");
}

#[tokio::test(flavor = "multi_thread")]
async fn headers_longer_than_an_http_api_accepts_are_refused() {
    let shop = Shop::open().await;
    let gateway = &gateway(&shop);
    for (length, expected) in [(9_000, 200), (10_300, 431), (500_000, 431)] {
        let headers = format!("host: {gateway}\r\nx-long: {}\r\n", "x".repeat(length));
        assert_eq!(send(gateway, &request("GET /products?category=things", &headers, "")).0, expected, "{length}");
    }
}

/// The claims of a valid token of ada's, with these changes. A claim that is null is removed.
pub fn claims(change: &Value) -> Value {
    let now = std::time::UNIX_EPOCH.elapsed().expect("a time").as_secs();
    let mut claims = json!({
        "sub": "ada", "scope": "till/shop", "iss": "till-local", "aud": "till", "iat": now, "exp": now + 600,
        "token_use": "access",
    });
    for (name, value) in change.as_object().expect("claims") {
        claims[name] = value.clone();
    }
    claims.as_object_mut().expect("claims").retain(|_, value| !value.is_null());
    claims
}

#[tokio::test(flavor = "multi_thread")]
async fn actions_that_describe_an_account_are_answered_like_in_an_empty_account() {
    let shop = Shop::open().await;
    let table = json!({ "TableName": shop.table() });
    let described = &shop.dynamodb("DescribeContinuousBackups", &table).await["ContinuousBackupsDescription"];
    assert_eq!(described["ContinuousBackupsStatus"], "ENABLED");
    assert_eq!(described["PointInTimeRecoveryDescription"]["PointInTimeRecoveryStatus"], "DISABLED");
    let limits = shop.dynamodb("DescribeLimits", &json!({})).await;
    assert_eq!(limits["TableMaxWriteCapacityUnits"], 40_000);
    let endpoints = shop.dynamodb("DescribeEndpoints", &json!({})).await;
    let address = shop.dynamodb_url().trim_start_matches("http://");
    assert_eq!(endpoints["Endpoints"], json!([{ "Address": address, "CachePeriodInMinutes": 1440 }]));
    for (action, list) in [
        ("ListBackups", "BackupSummaries"),
        ("ListGlobalTables", "GlobalTables"),
        ("ListExports", "ExportSummaries"),
        ("ListImports", "ImportSummaryList"),
    ] {
        assert_eq!(shop.dynamodb(action, &json!({})).await, json!({ list: [] }), "{action}");
    }
    let missing = json!({ "TableName": "till-unheard-of" });
    let target = "DynamoDB_20120810.DescribeContinuousBackups";
    let (status, refused) = shop.call_as("local", shop.dynamodb_url(), target, &missing).await;
    assert_eq!(status, 400);
    assert!(refused["__type"].as_str().is_some_and(|kind| kind.ends_with("TableNotFoundException")), "{refused}");
}
