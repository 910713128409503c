use lambda_http::RequestExt;
use reqwest::RequestBuilder;

use super::*;
use crate::{Functions, Options, Stack};

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
        Mine: { Type: HttpApi, Properties: { Path: /mine, Method: GET, Auth: { AuthorizationScopes: [till/shop, till/admin] } } }
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
        let options = Options {
            openapi: r#"{"openapi":"3.1.0"}"#.to_owned(),
            ..Options::new(Template::parse(TEMPLATE).unwrap())
        };
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

/// Sends the request, and asserts that it is refused with this problem.
async fn problem_of(request: RequestBuilder, status: u16, slug: &str, message: &str) -> Value {
    let response = request.send().await.unwrap();
    assert_eq!(response.headers()["content-type"], "application/problem+json");
    assert_eq!(response.status().as_u16(), status);
    let problem: Value = response.json().await.unwrap();
    assert_eq!(problem["type"], format!("/problems/{slug}"));
    assert_eq!(problem["status"], status);
    assert_eq!(problem["message"], message);
    problem
}

async fn json_of(request: RequestBuilder) -> Value {
    let response = request.send().await.unwrap();
    assert_eq!(response.status(), 200);
    response.json().await.unwrap()
}

#[tokio::test]
async fn a_scoped_route_requires_a_valid_token_with_one_of_its_scopes() {
    let bench = Bench::start().await;
    problem_of(bench.get("/mine"), 401, "unauthorized", "Unauthorized").await;
    problem_of(bench.get("/mine").bearer_auth("nonsense"), 401, "unauthorized", "Unauthorized").await;
    for scope in ["", "shop", "till/shopping", "openid profile"] {
        let token = bench.stack.token("ada", scope).unwrap();
        problem_of(bench.get("/mine").bearer_auth(token), 403, "forbidden", "Forbidden").await;
    }
    for scope in ["till/shop", "till/admin", "openid till/shop"] {
        let token = bench.stack.token("ada", scope).unwrap();
        json_of(bench.get("/mine").bearer_auth(token)).await;
    }
}

#[tokio::test]
async fn a_request_that_matches_no_route_is_not_found() {
    let bench = Bench::start().await;
    for path in ["/", "/things", "/things/1", "/things/1/2", "/mine/"] {
        problem_of(bench.get(path), 404, "not-found", "Not Found").await;
    }
    problem_of(bench.post("/things/"), 404, "not-found", "Not Found").await;
}

#[tokio::test]
async fn the_event_is_complete() {
    let bench = Bench::start().await;
    let request = bench
        .post("/things/a%20b%2Fc?tag=one&tag=t%20wo&q=")
        .header("Cookie", "a=1; b=2")
        .header("X-Twice", "one")
        .header("X-Twice", "two")
        .header("User-Agent", "tests")
        .header("Content-Type", "application/json")
        .body(r#"{"ok":true}"#);
    let event = json_of(request).await;

    assert_eq!(event["version"], "2.0");
    assert_eq!(event["routeKey"], "POST /things/{id}");
    assert_eq!(event["rawPath"], "/things/a b/c");
    assert_eq!(event["rawQueryString"], "tag=one&tag=t%20wo&q=");
    assert_eq!(event["queryStringParameters"], json!({ "tag": "one,t wo", "q": "" }));
    assert_eq!(event["pathParameters"], json!({ "id": "a b/c" }));
    assert_eq!(event["cookies"], json!(["a=1", "b=2"]));
    assert_eq!(event["headers"]["x-twice"], "one,two");
    assert_eq!(event["headers"]["x-forwarded-for"], "127.0.0.1");
    assert_eq!(event["headers"].get("cookie"), None);
    assert_eq!((&event["body"], &event["isBase64Encoded"]), (&json!(r#"{"ok":true}"#), &json!(false)));

    let context = &event["requestContext"];
    assert_eq!(context["routeKey"], event["routeKey"]);
    assert_eq!(context["stage"], "$default");
    assert_eq!(context["domainName"], "127.0.0.1");
    assert_eq!(context["http"]["method"], "POST");
    assert_eq!(context["http"]["protocol"], "HTTP/1.1");
    assert_eq!(context["http"]["userAgent"], "tests");
    assert_eq!(context.get("authorizer"), None);
    assert!(context["time"].as_str().unwrap().ends_with(" +0000"));
    assert!(context["timeEpoch"].as_i64().unwrap() > 1_700_000_000_000);
}

#[tokio::test]
async fn the_runtime_can_parse_the_event() {
    let bench = Bench::start().await;
    let event = json_of(bench.post("/things/1?a=b").header("content-type", "application/json").body("{}")).await;
    let request = lambda_http::request::from_str(&event.to_string()).unwrap();
    assert_eq!(request.method(), "POST");
    assert_eq!(request.uri().path(), "/things/1");
    assert_eq!(request.path_parameters().first("id"), Some("1"));
    assert_eq!(request.query_string_parameters().first("a"), Some("b"));
    assert_eq!(request.body(), &lambda_http::Body::Text("{}".to_owned()));
}

#[tokio::test]
async fn claims_reach_the_function_as_strings() {
    let bench = Bench::start().await;
    let event = json_of(bench.get("/mine").bearer_auth(bench.stack.token("ada", "till/shop").unwrap())).await;
    let jwt = &event["requestContext"]["authorizer"]["jwt"];
    assert_eq!(jwt["scopes"], json!(["till/shop", "till/admin"]));
    assert_eq!(jwt["claims"]["sub"], "ada");
    assert!(jwt["claims"]["exp"].is_string());
    assert_eq!(event.get("body"), None);
    assert_eq!(event.get("queryStringParameters"), None);
}

#[tokio::test]
async fn a_binary_body_is_sent_in_base64() {
    let bench = Bench::start().await;
    let event = json_of(bench.post("/things/1").body(vec![0xff, 0x00])).await;
    assert_eq!((&event["body"], &event["isBase64Encoded"]), (&json!("/wA="), &json!(true)));
}

#[tokio::test]
async fn a_function_s_answer_becomes_the_response() {
    let bench = Bench::start().await;
    let response = bench.post("/things/special").send().await.unwrap();
    assert_eq!(response.status(), 201);
    assert_eq!(response.headers()["location"], "/things/1");
    assert_eq!(response.headers()["content-type"], "image/png");
    let cookies: Vec<_> = response.headers().get_all("set-cookie").iter().collect();
    assert_eq!(cookies, ["a=1", "b=2"]);
    assert_eq!(response.bytes().await.unwrap().as_ref(), b"\x89PNG");
}

#[tokio::test]
async fn the_cause_of_a_function_s_failure_is_not_sent_to_the_client() {
    let bench = Bench::start().await;
    for path in ["/broken/error", "/broken/panic", "/broken/slow", "/broken/silent"] {
        let problem = problem_of(bench.get(path), 500, "internal", "Internal Server Error").await;
        assert!(!problem.to_string().contains("secret"));
    }
}

#[tokio::test]
async fn a_route_without_its_function_does_not_start() {
    let options = Options::new(Template::parse(TEMPLATE).unwrap());
    let error = Stack::start(options, |_, _| Ok(Functions::default())).await.err().unwrap().to_string();
    assert_eq!(error, "nothing answers POST /things/{id}: this build has no Echo");
}

#[tokio::test]
async fn a_body_beyond_six_megabytes_is_too_large() {
    let bench = Bench::start().await;
    let request = bench.post("/things/1").body(vec![b' '; MAX_BODY_BYTES + 1]);
    problem_of(request, 413, "too-large", "Request Entity Too Large").await;
}

#[tokio::test]
async fn a_token_from_the_local_route_is_accepted_by_a_scoped_route() {
    let bench = Bench::start().await;
    for scope in ["shop", "admin", "till/shop", "till/admin"] {
        let answer = json_of(bench.post("/_local/token").json(&json!({ "sub": "ada", "scope": scope }))).await;
        json_of(bench.get("/mine").bearer_auth(answer["token"].as_str().unwrap())).await;
    }
}

#[tokio::test]
async fn the_local_route_refuses_unknown_fields_and_scopes() {
    let bench = Bench::start().await;
    for body in ["", r#"{"sub":"ada"}"#, r#"{"sub":"ada","scope":"root"}"#, r#"{"sub":"a","scope":"shop","x":1}"#] {
        problem_of(bench.post("/_local/token").body(body), 400, "validation", "Bad Request").await;
    }
}

#[tokio::test]
async fn the_description_of_the_api_is_served() {
    let bench = Bench::start().await;
    assert_eq!(json_of(bench.get("/openapi.json")).await["openapi"], "3.1.0");
}

#[tokio::test]
async fn a_port_in_use_is_reported() {
    let bench = Bench::start().await;
    let port = bench.stack.url().rsplit(':').next().unwrap().parse().unwrap();
    let options = Options { port, ..Options::new(Template::parse(TEMPLATE).unwrap()) };
    let error = Stack::start(options, |_, _| Ok(Functions::default())).await.err().unwrap().to_string();
    assert_eq!(error, format!("port {port} is in use: stop what listens there or choose another with --port"));
}

#[tokio::test]
async fn a_stopped_stack_does_not_answer() {
    let Bench { stack, client } = Bench::start().await;
    let url = stack.url().to_owned();
    client.get(&url).send().await.unwrap();
    stack.shutdown().await.unwrap();
    client.get(&url).send().await.unwrap_err();
}

/// Asserts that only the owner may read the directory and the files in it.
#[cfg(unix)]
fn assert_private(directory: &std::path::Path) {
    use std::os::unix::fs::PermissionsExt;

    let mode = |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(directory), 0o700, "{}", directory.display());
    let files: Vec<_> = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(files.len() >= 3, "the table, the messages and the secret: {files:?}");
    for file in files {
        assert_eq!(mode(&file), 0o600, "{}", file.display());
    }
}

#[cfg(not(unix))]
fn assert_private(_: &std::path::Path) {}

#[tokio::test]
async fn a_stack_starts_with_the_data_of_an_earlier_one() {
    let directory = std::env::temp_dir().join(format!("till-stack-{}", uuid::Uuid::new_v4()));
    let options = Options { data: Some(directory.clone()), ..Options::new(Template::parse(TEMPLATE).unwrap()) };
    let first = Stack::start(options.clone(), |_, _| Ok(Functions { handlers: functions(), ..Functions::default() }))
        .await
        .unwrap();
    let token = first.token("ada", "till/shop").unwrap();
    first.shutdown().await.unwrap();
    assert_private(&directory);

    let second =
        Stack::start(options, |_, _| Ok(Functions { handlers: functions(), ..Functions::default() })).await.unwrap();
    let client = crate::aws_json::local_client().unwrap();
    json_of(client.get(format!("{}/mine", second.url())).bearer_auth(token)).await;
    second.shutdown().await.unwrap();
    std::fs::remove_dir_all(&directory).unwrap();
}
