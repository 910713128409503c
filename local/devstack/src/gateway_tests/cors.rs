//! Tests of CORS.

use reqwest::Method;

use super::{Bench, TEMPLATE, header};

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
        (Method::GET, "/_local/queues", "http://localhost:5173", 403),
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
