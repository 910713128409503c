//! The event of API Gateway, in payload format version 2.0: only the fields that routes read.
//! <https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-develop-integrations-lambda.html>
//!
//! `lambda_http` would deserialize every field, twice (docs/decisions.md, "Our own type reads API Gateway's events").

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use http::{HeaderMap, HeaderName, HeaderValue, Request, Uri, header};
use key_schema::value::EmailAddress;
use serde::Deserialize;
use serde_json::Value;

/// A request in the form in which the gateway sends it to the function.
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

/// The names of the fields of [`Headers`].
pub(crate) const READ: [&str; 6] =
    ["guest-secret", "idempotency-key", "if-match", "if-none-match", "prefer", "stripe-signature"];

/// The headers that some route reads. The gateway joins the values of a repeated header, and spells all names in lower
/// case.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Headers {
    guest_secret: Option<String>,
    idempotency_key: Option<String>,
    if_match: Option<String>,
    if_none_match: Option<String>,
    prefer: Option<String>,
    stripe_signature: Option<String>,
}

/// The path parameters by name.
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

/// The claims of a valid token.
#[derive(Debug, Deserialize)]
pub(crate) struct Claims {
    pub(crate) sub: Option<String>,
    pub(crate) scope: Option<String>,
    email: Option<Value>,
    email_verified: Option<Value>,
}

impl Claims {
    /// The address, if the issuer has verified it. The gateway passes every claim as a string, other issuers' own servers
    /// pass the boolean of OpenID Connect. Whatever else these claims are, they prove nothing and harm nothing.
    pub(crate) fn verified_email(&self) -> Option<EmailAddress> {
        let is_verified = match self.email_verified.as_ref()? {
            Value::Bool(is_verified) => *is_verified,
            Value::String(text) => text == "true",
            _ => false,
        };
        self.email.as_ref().filter(|_| is_verified)?.as_str()?.parse().ok()
    }
}

impl Event {
    /// The gateway's id of the request. The client gets it as `apigw-requestid`, and the gateway's own log contains it.
    pub(crate) fn take_id(&mut self) -> String {
        self.request_context.request_id.take().unwrap_or_default()
    }

    /// The values of the path's parameters, as they were sent.
    pub(crate) fn path_parameters(&self) -> Option<&Parameters> {
        self.path_parameters.as_ref()
    }

    /// The claims of the token, if the request has one.
    pub(crate) fn claims(&self) -> Option<&Claims> {
        Some(&self.request_context.authorizer.as_ref()?.jwt.as_ref()?.claims)
    }

    /// The request and its path parameters.
    ///
    /// # Errors
    /// The body, the query string or a header is malformed.
    pub(crate) fn into_request(self) -> Result<(Request<Vec<u8>>, Parameters), Malformed> {
        let body = match self.body {
            None => Vec::new(),
            Some(body) if self.is_base64_encoded => BASE64_STANDARD.decode(body)?,
            Some(body) => body.into_bytes(),
        };
        let mut request = Request::new(body);
        let query = self.raw_query_string.unwrap_or_default();
        // The path is left out: the gateway has already chosen the function by it, and sends its parameters separately.
        *request.uri_mut() = Uri::try_from(format!("/?{query}"))?;
        self.headers.fill(request.headers_mut())?;
        Ok((request, self.path_parameters.unwrap_or_default()))
    }
}

impl Headers {
    fn fill(self, headers: &mut HeaderMap) -> Result<(), Malformed> {
        let read = [
            (HeaderName::from_static("guest-secret"), self.guest_secret),
            (HeaderName::from_static("idempotency-key"), self.idempotency_key),
            (header::IF_MATCH, self.if_match),
            (header::IF_NONE_MATCH, self.if_none_match),
            (HeaderName::from_static("prefer"), self.prefer),
            (HeaderName::from_static("stripe-signature"), self.stripe_signature),
        ];
        for (name, value) in read {
            if let Some(value) = value {
                headers.insert(name, HeaderValue::try_from(value)?);
            }
        }
        Ok(())
    }
}

/// The reason why an event cannot become a request.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Malformed {
    #[error("body: {0}")]
    Body(#[from] base64::DecodeError),
    #[error("query string: {0}")]
    Query(#[from] http::uri::InvalidUri),
    #[error("headers: {0}")]
    Header(#[from] http::header::InvalidHeaderValue),
}

#[cfg(test)]
mod tests;
