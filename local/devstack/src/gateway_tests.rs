use lambda_http::RequestExt;
use reqwest::RequestBuilder;

use super::*;
use crate::problem::ProblemType;
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
        let options = Options {
            openapi: r#"{"openapi":"3.1.0"}"#.to_owned(),
            problem_type: |error| ProblemType {
                uri: format!("/problems/{}", slug(error)),
                title: "A problem of this API".to_owned(),
            },
            ..Options::new(Template::parse(template).unwrap())
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

fn slug(error: GatewayError) -> &'static str {
    match error {
        GatewayError::BadRequest => "validation",
        GatewayError::Unauthorized => "unauthorized",
        GatewayError::Forbidden => "forbidden",
        GatewayError::NotFound => "not-found",
        GatewayError::TooLarge => "too-large",
        GatewayError::Internal => "internal",
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
    for scope in ["", "read", "notes/reading", "openid profile"] {
        let token = bench.stack.token("ada", scope).unwrap();
        problem_of(bench.get("/mine").bearer_auth(token), 403, "forbidden", "Forbidden").await;
    }
    for scope in ["notes/read", "notes/admin", "openid notes/read"] {
        let token = bench.stack.token("ada", scope).unwrap();
        json_of(bench.get("/mine").bearer_auth(token)).await;
    }
}

#[tokio::test]
async fn a_request_that_matches_no_route_is_not_found() {
    let bench = Bench::start().await;
    for path in ["/other", "/things", "/things/1", "/things/1/2", "/mine/"] {
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
    let event = json_of(bench.get("/mine").bearer_auth(bench.stack.token("ada", "notes/read").unwrap())).await;
    let jwt = &event["requestContext"]["authorizer"]["jwt"];
    assert_eq!(jwt["scopes"], json!(["notes/read", "notes/admin"]));
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
    for scope in ["read", "admin", "notes/read", "notes/admin"] {
        let answer = json_of(bench.post("/_local/token").json(&json!({ "sub": "ada", "scope": scope }))).await;
        json_of(bench.get("/mine").bearer_auth(answer["token"].as_str().unwrap())).await;
    }
}

#[tokio::test]
async fn the_local_route_refuses_unknown_fields_and_scopes() {
    let bench = Bench::start().await;
    for body in ["", r#"{"sub":"ada"}"#, r#"{"sub":"ada","scope":"root"}"#, r#"{"sub":"a","scope":"read","x":1}"#] {
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
    let directory = std::env::temp_dir().join(format!("devstack-{}", uuid::Uuid::new_v4()));
    let options = Options { data: Some(directory.clone()), ..Options::new(Template::parse(TEMPLATE).unwrap()) };
    let first = Stack::start(options.clone(), |_, _| Ok(Functions { handlers: functions(), ..Functions::default() }))
        .await
        .unwrap();
    let token = first.token("ada", "notes/read").unwrap();
    first.shutdown().await.unwrap();
    assert_private(&directory);

    let second =
        Stack::start(options, |_, _| Ok(Functions { handlers: functions(), ..Functions::default() })).await.unwrap();
    let client = crate::aws_json::local_client().unwrap();
    json_of(client.get(format!("{}/mine", second.url())).bearer_auth(token)).await;
    second.shutdown().await.unwrap();
    std::fs::remove_dir_all(&directory).unwrap();
}

const CORS: &str = r"
  Api:
    Type: AWS::Serverless::HttpApi
    Properties:
      CorsConfiguration:
        AllowOrigins: ['http://localhost:*', 'https://notes.example']
        AllowMethods: [GET, POST]
        AllowHeaders: [authorization]
        ExposeHeaders: [apigw-requestid]
        MaxAge: 600
";

fn header<'a>(answer: &'a reqwest::Response, name: &str) -> &'a str {
    answer.headers().get(name).map_or("", |value| value.to_str().unwrap())
}

#[tokio::test]
async fn a_page_of_an_allowed_origin_may_call_the_api() {
    let bench = Bench::start_with(&format!("{TEMPLATE}{CORS}")).await;
    for origin in ["http://localhost:5173", "https://notes.example"] {
        let asked = bench.client.request(Method::OPTIONS, format!("{}/mine", bench.stack.url()));
        let asked = asked.header("origin", origin).header("access-control-request-method", "GET").send().await.unwrap();
        assert_eq!(asked.status(), 204);
        assert_eq!(header(&asked, "access-control-allow-origin"), origin);
        assert_eq!(header(&asked, "access-control-allow-methods"), "GET,POST");
        assert_eq!(header(&asked, "access-control-allow-headers"), "authorization");
        assert_eq!(header(&asked, "access-control-max-age"), "600");

        // An error, too: otherwise a page could not read why.
        let answer = bench.get("/mine").header("origin", origin).send().await.unwrap();
        assert_eq!(answer.status(), 401);
        assert_eq!(header(&answer, "access-control-allow-origin"), origin);
        assert_eq!(header(&answer, "access-control-expose-headers"), "apigw-requestid");
        assert_eq!(header(&answer, "vary"), "origin");
    }
}

#[tokio::test]
async fn a_page_of_another_origin_is_allowed_nothing() {
    let bench = Bench::start_with(&format!("{TEMPLATE}{CORS}")).await;
    let url = bench.stack.url();
    for (method, path, origin, status) in [
        (Method::OPTIONS, "/mine", "https://evil.example", 204),
        (Method::GET, "/mine", "https://evil.example", 401),
        // The stack's own routes are closed to every other origin.
        (Method::OPTIONS, "/_local/token", "http://localhost:5173", 403),
        (Method::GET, "/_local/table", "http://localhost:5173", 403),
    ] {
        let request = bench.client.request(method.clone(), format!("{url}{path}")).header("origin", origin);
        let answer = request.header("access-control-request-method", "POST").send().await.unwrap();
        assert_eq!(answer.status(), status, "{method} {path}");
        assert_eq!(answer.headers().keys().find(|name| name.as_str().starts_with("access-control")), None);
    }
    let without = Bench::start().await;
    let answer = without.get("/mine").header("origin", "http://localhost:5173").send().await.unwrap();
    assert_eq!(header(&answer, "access-control-allow-origin"), "", "the template has no CORS rules");
}

#[tokio::test]
async fn every_answer_has_the_id_of_its_request() {
    let bench = Bench::start().await;
    let answer = bench.post("/things/1").send().await.unwrap();
    let id = header(&answer, "apigw-requestid").to_owned();
    let event: Value = answer.json().await.unwrap();
    assert_eq!(event["requestContext"]["requestId"], id);
    for path in ["/mine", "/no-such", "/openapi.json", "/_local/queues"] {
        assert_ne!(header(&bench.get(path).send().await.unwrap(), "apigw-requestid"), "", "{path}");
    }
}

#[tokio::test]
async fn a_problem_is_logged_by_the_last_part_of_its_type() {
    let document = |uri: &str| {
        let problem = json!({ "type": uri, "status": 409 }).to_string();
        problem_type(answer(StatusCode::CONFLICT, PROBLEM_JSON, problem))
    };
    assert_eq!(document("/problems/too-late").await.0, " too-late");
    assert_eq!(document("about:blank").await.0, "");
    let (name, passed) = document("/problems/too-late").await;
    assert_eq!((name.as_str(), passed.status()), (" too-late", StatusCode::CONFLICT));
    let body = axum::body::to_bytes(passed.into_body(), usize::MAX).await.unwrap();
    assert_eq!(serde_json::from_slice::<Value>(&body).unwrap()["status"], 409);
    let other = problem_type(answer(StatusCode::CONFLICT, "application/json", r#"{"type":"/x/y"}"#.to_owned()));
    assert_eq!(other.await.0, "");
}

async fn page_of(bench: &Bench, path: &str) -> String {
    let answer = bench.get(path).send().await.unwrap();
    assert_eq!(answer.status(), 200, "{path}");
    assert!(header(&answer, "content-security-policy").starts_with("default-src 'none'"));
    answer.text().await.unwrap()
}

#[tokio::test]
async fn the_page_at_the_root_links_pages_that_exist() {
    let bench = Bench::start().await;
    let page = page_of(&bench, "/").await;
    let links: Vec<_> = page.split("href=\"").skip(1).map(|rest| rest.split('"').next().unwrap()).collect();
    assert_eq!(links.len(), 5, "{page}");
    for link in links {
        assert_eq!(bench.get(link).send().await.unwrap().status(), 200, "{link}");
    }
}

#[tokio::test]
async fn a_route_of_the_template_replaces_the_page_at_the_root() {
    let bench = Bench::start_with(&TEMPLATE.replace("Path: /mine", "Path: /")).await;
    problem_of(bench.get("/"), 401, "unauthorized", "Unauthorized").await;
}

#[tokio::test]
async fn the_items_of_the_table_are_shown_page_by_page() {
    let bench = Bench::start().await;
    let dynamodb = crate::aws_json::Service::dynamodb(bench.stack.dynamodb_url()).unwrap();
    let table = bench.stack.template().table_name();
    for number in 0..60 {
        let item = json!({
            "PK": { "S": format!("note#{number:02}") }, "text": { "S": "<script>" }, "size": { "N": "7" },
        });
        dynamodb.succeed("PutItem", &json!({ "TableName": table, "Item": item })).await.unwrap();
    }
    let first = page_of(&bench, "/_local/table").await;
    assert!(first.contains("&lt;script&gt;") && !first.contains("<script>"), "{first}");
    assert!(first.contains("\"size\": 7") || first.contains("&quot;size&quot;: 7"), "{first}");
    let next = first.split("<p><a href=\"").last().unwrap().split('"').next().unwrap().replace("&amp;", "&");
    let second = page_of(&bench, &next).await;
    assert_eq!((first.matches("note#").count(), second.matches("note#").count()), (50, 10));

    let one = page_of(&bench, "/_local/table?partition=note%2307").await;
    assert_eq!(one.matches("<td><code>note#").count(), 1, "{one}");
    assert_eq!(bench.get("/_local/table?after=nonsense").send().await.unwrap().status(), 502);
}
