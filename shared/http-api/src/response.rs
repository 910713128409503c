//! The response for API Gateway, in payload format version 2.0.
//! <https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-develop-integrations-lambda.html>

use http::{HeaderMap, Response};
use serde::ser::{Error as _, SerializeMap as _};
use serde::{Serialize, Serializer};

/// A response as API Gateway expects it.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Gateway {
    status_code: u16,
    #[serde(serialize_with = "headers")]
    headers: HeaderMap,
    body: String,
    is_base64_encoded: bool,
}

impl From<Response<String>> for Gateway {
    fn from(response: Response<String>) -> Self {
        let (parts, body) = response.into_parts();
        Self { status_code: parts.status.as_u16(), headers: parts.headers, body, is_base64_encoded: false }
    }
}

/// Serializes each header with a single value: no route sends two headers of the same name.
fn headers<S: Serializer>(headers: &HeaderMap, serializer: S) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(Some(headers.len()))?;
    for (name, value) in headers {
        map.serialize_entry(name.as_str(), value.to_str().map_err(S::Error::custom)?)?;
    }
    map.end()
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use http::StatusCode;
    use lambda_http::request::LambdaRequest;
    use lambda_http::{Adapter, LambdaEvent, Service as _, service_fn};
    use serde_json::{Value, json};

    use super::*;

    fn response(status: StatusCode, body: &str) -> Response<String> {
        let builder = Response::builder().status(status).header("ETag", "\"7\"").header("Location", "/orders/1");
        builder.body(body.to_owned()).expect("a response")
    }

    /// The response that `lambda_http` makes.
    async fn theirs(status: StatusCode, body: &'static str) -> Value {
        let event = include_str!("../../../events/get-product.json");
        let event: LambdaRequest = serde_json::from_str(event).expect("an event");
        let answer = move |_| std::future::ready(Ok::<_, Infallible>(response(status, body)));
        let mut service = Adapter::from(service_fn(answer));
        let answer = service.call(LambdaEvent::new(event, lambda::Context::default())).await.expect("an answer");
        serde_json::to_value(answer).expect("JSON")
    }

    #[tokio::test]
    async fn a_response_is_the_one_that_lambda_http_makes() {
        for (status, body) in [(StatusCode::NO_CONTENT, ""), (StatusCode::CONFLICT, "{\"a\":\"\u{fc}\"}")] {
            let mut theirs = theirs(status, body).await;
            // No route sends repeated headers or cookies, so `Gateway` leaves these fields out.
            let mut left_out = |name| theirs.as_object_mut().and_then(|all| all.remove(name));
            assert_eq!([left_out("multiValueHeaders"), left_out("cookies")], [Some(json!({})), Some(json!([]))]);
            assert_eq!(serde_json::to_value(Gateway::from(response(status, body))).expect("JSON"), theirs);
        }
    }
}
