use std::sync::Arc;

use axum::Router;
use axum::http::HeaderMap;

use super::*;
use crate::iam::{self, Guard};
use crate::stories::Stories;

const ROLE: &str = r"
  GetNote:
    Type: AWS::Serverless::Function
    Properties: { Handler: get-note, Role: !GetAtt GetNoteRole.Arn }
  GetNoteRole:
    Type: AWS::IAM::Role
    Properties:
      Policies:
        - PolicyDocument:
            Version: '2012-10-17'
            Statement: [{ Effect: Allow, Action: dynamodb:DescribeStream, Resource: '*' }]
        - PolicyDocument:
            Version: '2012-10-17'
            Statement: [{ Effect: Allow, Action: dynamodb:GetItem, Resource: !GetAtt Table.Arn }]
";

/// A fault proxy in front of a DynamoDB that answers with the caller's access key.
async fn guarded() -> FaultProxy {
    let listener = free_port().await.unwrap();
    let url = url_of(&listener).unwrap();
    let router = Router::new().fallback(|headers: HeaderMap| async move {
        json!({ "caller": iam::caller(&headers), "target": headers["x-amz-target"].to_str().unwrap() }).to_string()
    });
    tokio::spawn(axum::serve(listener, router).into_future());
    let guard = Arc::new(Guard::new(&Template::parse(&format!("{TEMPLATE}{ROLE}")).unwrap(), true));
    FaultProxy::guarded(&url, &guard, &Stories::off(), true).await.unwrap()
}

async fn call(proxy: &FaultProxy, caller: &str, target: &str, request: Value) -> (u16, Value) {
    let signature = format!("AWS4-HMAC-SHA256 Credential={caller}/20260101/us-east-1/dynamodb/aws4_request");
    let call = local_client().unwrap().post(proxy.url()).header("x-amz-target", target);
    let response = call.header("authorization", signature).body(request.to_string()).send().await.unwrap();
    (response.status().as_u16(), response.json().await.unwrap())
}

#[tokio::test]
async fn a_denied_call_neither_reaches_the_database_nor_uses_up_a_fault() {
    let proxy = guarded().await;
    proxy.inject(Match::any(), Fault::InternalError, 1);
    let (status, body) = call(&proxy, "GetNote", "DynamoDB_20120810.PutItem", put("a")).await;
    assert_eq!((status, &body["__type"]), (400, &json!("com.amazon.coral.service#AccessDeniedException")));
    assert_eq!(proxy.pending(), 1);
    let calls = proxy.take_calls();
    assert_eq!((calls[0].status, calls[0].response == body, calls[0].fault.is_none()), (Some(400), true, true));
    // A caller that is not a function has no role to check.
    assert_eq!(call(&proxy, "me", "DynamoDB_20120810.PutItem", put("a")).await.0, 500);
    assert_eq!(call(&proxy, "me", "DynamoDB_20120810.PutItem", put("a")).await.0, 200);
}

#[tokio::test]
async fn the_database_does_not_see_which_function_calls() {
    let proxy = guarded().await;
    let get = json!({ "TableName": TABLE, "Key": { "PK": { "S": "a" } } });
    assert_eq!(call(&proxy, "GetNote", "DynamoDB_20120810.GetItem", get).await.1["caller"], "local");
    let stream = json!({ "StreamArn": "arn:aws:dynamodb:any:1:table/fault-proxy-tests/stream/1" });
    proxy.take_calls();
    let (_, body) = call(&proxy, "GetNote", "DynamoDBStreams_20120810.DescribeStream", stream).await;
    assert_eq!(body, json!({ "caller": "local", "target": "DynamoDBStreams_20120810.DescribeStream" }));
    let iterator = json!({ "ShardIterator": "i" });
    assert_eq!(call(&proxy, "GetNote", "DynamoDBStreams_20120810.GetRecords", iterator).await.0, 400);
    assert!(proxy.take_calls().is_empty(), "what reads the stream is no function's call");
}
