//! The gateway's event, payload version 2.0: what the routes need of it, and no more.
//! <https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-develop-integrations-lambda.html>
//!
//! `lambda_http` itself reads every field of it twice, and keeps each for handlers that may want it. What that costs is
//! in `docs/performance.md`.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use lambda_http::Body;
use lambda_http::http::{self, HeaderMap, HeaderName, HeaderValue, header};
use serde::Deserialize;

/// A request as the gateway passes it on.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Event {
    raw_query_string: Option<String>,
    #[serde(default)]
    headers: Headers,
    path_parameters: Option<Parameters>,
    request_context: Context,
    body: Option<String>,
    #[serde(default)]
    is_base64_encoded: bool,
}

/// The headers that some route reads: those of [`Headers`].
pub(crate) const READ: [&str; 3] = ["idempotency-key", "if-match", "prefer"];

/// The headers that some route reads. The gateway has joined those that were sent twice, and spells all names in lower
/// case.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Headers {
    idempotency_key: Option<String>,
    if_match: Option<String>,
    prefer: Option<String>,
}

/// The parameters of the path, by name.
pub(crate) type Parameters = BTreeMap<String, String>;

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Context {
    request_id: Option<String>,
    authorizer: Option<Authorizer>,
}

#[derive(Debug, Deserialize)]
struct Authorizer {
    jwt: Option<Jwt>,
}

#[derive(Debug, Deserialize)]
struct Jwt {
    claims: Claims,
}

/// What a valid token says of its bearer.
#[derive(Debug, Deserialize)]
pub(crate) struct Claims {
    pub(crate) sub: Option<String>,
    pub(crate) scope: Option<String>,
}

impl Event {
    /// The gateway's id of the request, which the client was sent as `apigw-requestid` and the gateway's own log has,
    /// too.
    pub(crate) fn take_id(&mut self) -> String {
        self.request_context.request_id.take().unwrap_or_default()
    }

    /// The claims of the token, if there was one.
    pub(crate) fn claims(&self) -> Option<&Claims> {
        Some(&self.request_context.authorizer.as_ref()?.jwt.as_ref()?.claims)
    }

    /// The request itself, with the parameters of its path.
    ///
    /// # Errors
    /// It is none that HTTP allows.
    pub(crate) fn into_request(self) -> Result<(lambda_http::Request, Parameters), Malformed> {
        let body = match self.body {
            None => Body::Empty,
            Some(body) if self.is_base64_encoded => Body::Binary(BASE64_STANDARD.decode(body)?),
            Some(body) => Body::Text(body),
        };
        let mut request = lambda_http::Request::new(body);
        let query = self.raw_query_string.unwrap_or_default();
        // The path has told the gateway which function this is for, and its parameters are apart from it.
        *request.uri_mut() = http::Uri::try_from(format!("/?{query}"))?;
        self.headers.fill(request.headers_mut())?;
        Ok((request, self.path_parameters.unwrap_or_default()))
    }
}

impl Headers {
    fn fill(self, headers: &mut HeaderMap) -> Result<(), Malformed> {
        let read = [
            (HeaderName::from_static("idempotency-key"), self.idempotency_key),
            (header::IF_MATCH, self.if_match),
            (HeaderName::from_static("prefer"), self.prefer),
        ];
        for (name, value) in read {
            if let Some(value) = value {
                headers.insert(name, HeaderValue::try_from(value)?);
            }
        }
        Ok(())
    }
}

/// Why an event is no request.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Malformed {
    /// Its body.
    #[error("body: {0}")]
    Body(#[from] base64::DecodeError),
    /// Its query string.
    #[error("query string: {0}")]
    Query(#[from] http::uri::InvalidUri),
    /// One of its headers.
    #[error("headers: {0}")]
    Header(#[from] http::header::InvalidHeaderValue),
}

#[cfg(test)]
mod tests;
