//! Tests of the gateway, over HTTP.

mod answers;
mod cors;
mod events;
mod pages;
mod starting;
mod tokens;

use std::sync::Arc;

use reqwest::RequestBuilder;
use serde_json::{Value, json};

use super::Invoke;
use crate::{Functions, Options, Stack, Template};

const TEMPLATE: &str = r"
Resources:
  Role: { Type: AWS::IAM::Role, Properties: {} }
  Table:
    Type: AWS::DynamoDB::Table
    Properties:
      KeySchema: [{ AttributeName: PK, KeyType: HASH }]
      AttributeDefinitions: [{ AttributeName: PK, AttributeType: S }]
  Echo:
    Type: AWS::Serverless::Function
    Properties:
      Handler: echo
      Role: !GetAtt Role.Arn
      Events:
        One: { Type: HttpApi, Properties: { Path: '/things/{id}', Method: POST, Auth: { Authorizer: NONE } } }
        Mine: { Type: HttpApi, Properties: { Path: /mine, Method: GET, Auth: { AuthorizationScopes: [notes/read, notes/admin] } } }
  Special:
    Type: AWS::Serverless::Function
    Properties:
      Handler: special
      Role: !GetAtt Role.Arn
      Events:
        One: { Type: HttpApi, Properties: { Path: /things/special, Method: POST, Auth: { Authorizer: NONE } } }
  Broken:
    Type: AWS::Serverless::Function
    Properties:
      Handler: broken
      Role: !GetAtt Role.Arn
      Timeout: 1
      Events:
        One: { Type: HttpApi, Properties: { Path: '/broken/{how}', Method: GET, Auth: { Authorizer: NONE } } }
";

struct Bench {
    stack: Stack,
    client: reqwest::Client,
}

impl Bench {
    async fn start() -> Self {
        Self::start_with(TEMPLATE).await
    }

    async fn start_with(template: &str) -> Self {
        let options = Options { openapi: r#"{"openapi":"3.1.0"}"#, ..Options::new(Template::parse(template).unwrap()) };
        let stack = Stack::start(options, |_, _| Ok(Functions { handlers: functions(), ..Functions::default() }))
            .await
            .unwrap();
        Self { stack, client: crate::aws_json::local_client().unwrap() }
    }

    fn get(&self, path: &str) -> RequestBuilder {
        self.client.get(format!("{}{path}", self.stack.url()))
    }

    fn post(&self, path: &str) -> RequestBuilder {
        self.client.post(format!("{}{path}", self.stack.url()))
    }
}

fn functions() -> Vec<(String, Invoke)> {
    vec![
        (
            "echo".to_owned(),
            function(|event| async move { Ok(json!({ "statusCode": 200, "body": event.to_string() })) }),
        ),
        (
            "special".to_owned(),
            function(|_| async {
                Ok(json!({
                    "statusCode": 201,
                    "headers": { "location": "/things/1", "content-type": "image/png" },
                    "cookies": ["a=1", "b=2"],
                    "body": "iVBORw==",
                    "isBase64Encoded": true,
                }))
            }),
        ),
        (
            "broken".to_owned(),
            function(|event| async move {
                match event["pathParameters"]["how"].as_str() {
                    Some("error") => Err("the database's name is secret".to_owned()),
                    Some("slow") => std::future::pending().await,
                    Some("silent") => Ok(json!({ "body": "no status code" })),
                    _ => panic!("this function panics"),
                }
            }),
        ),
    ]
}

fn function<F>(body: impl Fn(Value) -> F + Send + Sync + 'static) -> Invoke
where
    F: Future<Output = Result<Value, String>> + Send + 'static,
{
    Arc::new(move |event| Box::pin(body(event)))
}

/// Sends the request, and asserts that the gateway refuses it as API Gateway does. Returns the challenge, if there is one.
async fn refusal_of(request: RequestBuilder, status: u16, message: &str) -> Option<String> {
    let response = request.send().await.unwrap();
    assert_eq!(response.status().as_u16(), status);
    assert_eq!(header(&response, "content-type"), "application/json");
    let challenge = response.headers().get("www-authenticate").map(|value| value.to_str().unwrap().to_owned());
    assert_eq!(response.text().await.unwrap(), json!({ "message": message }).to_string());
    challenge
}

/// Sends the request, and asserts that a route of the stack itself refuses it, with a reason.
async fn problem_of(request: RequestBuilder, status: u16) -> String {
    let response = request.send().await.unwrap();
    assert_eq!(header(&response, "content-type"), "application/problem+json");
    let problem: Value = response.json().await.unwrap();
    assert_eq!((&problem["type"], &problem["status"]), (&json!("about:blank"), &json!(status)));
    problem["detail"].as_str().unwrap().to_owned()
}

async fn json_of(request: RequestBuilder) -> Value {
    let response = request.send().await.unwrap();
    assert_eq!(response.status(), 200);
    response.json().await.unwrap()
}

fn header<'a>(answer: &'a reqwest::Response, name: &str) -> &'a str {
    answer.headers().get(name).map_or("", |value| value.to_str().unwrap())
}

#[tokio::test]
async fn a_request_that_matches_no_route_is_not_found() {
    let bench = Bench::start().await;
    for path in ["/other", "/things", "/things/1", "/things/1/2", "/mine/"] {
        refusal_of(bench.get(path), 404, "Not Found").await;
    }
    refusal_of(bench.post("/things/"), 404, "Not Found").await;
}
