//! The gateway's response, payload version 2.0.
//! <https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-develop-integrations-lambda.html>

use lambda_http::Body;
use lambda_http::http::{HeaderMap, Response};
use serde::ser::{Error as _, SerializeMap as _};
use serde::{Serialize, Serializer};

/// A response as the gateway takes it.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Gateway {
    status_code: u16,
    #[serde(serialize_with = "headers")]
    headers: HeaderMap,
    #[serde(skip_serializing_if = "Option::is_none")]
    body: Option<Body>,
    is_base64_encoded: bool,
}

impl From<Response<Body>> for Gateway {
    fn from(response: Response<Body>) -> Self {
        let (parts, body) = response.into_parts();
        Self {
            status_code: parts.status.as_u16(),
            headers: parts.headers,
            is_base64_encoded: matches!(body, Body::Binary(_)),
            body: Some(body).filter(|body| !matches!(body, Body::Empty)),
        }
    }
}

/// No route answers with two headers of one name.
fn headers<S: Serializer>(headers: &HeaderMap, serializer: S) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(Some(headers.len()))?;
    for (name, value) in headers {
        map.serialize_entry(name.as_str(), value.to_str().map_err(S::Error::custom)?)?;
    }
    map.end()
}
