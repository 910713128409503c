//! Tests of the access key of forwarded calls.

use axum::Router;
use axum::http::HeaderMap;
use serde_json::json;

use crate::aws_json::Service;
use crate::fault_proxy::FaultProxy;
use crate::listen::{free_port, url_of};

#[tokio::test]
async fn every_call_is_forwarded_with_one_access_key() {
    let listener = free_port().await.unwrap();
    let upstream = url_of(&listener).unwrap();
    let router = Router::new().fallback(async |headers: HeaderMap| {
        let signatures: Vec<_> = headers.get_all("authorization").iter().map(|line| line.to_str().unwrap()).collect();
        json!({ "signatures": signatures }).to_string()
    });
    tokio::spawn(axum::serve(listener, router).into_future());

    for (proxy, expected) in [
        (FaultProxy::start(&upstream).await.unwrap(), "AWS4-HMAC-SHA256 Credential=local/"),
        (FaultProxy::start_as(&upstream, "notes17").await.unwrap(), "AWS4-HMAC-SHA256 Credential=notes17/"),
    ] {
        let service = Service::dynamodb(proxy.url()).unwrap();
        let answer = service.succeed("ListTables", &json!({})).await.unwrap();
        let signatures = answer["signatures"].as_array().unwrap();
        assert_eq!(signatures.len(), 1);
        assert!(signatures[0].as_str().unwrap().starts_with(expected), "{answer}");
    }
}
