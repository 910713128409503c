//! API Gateway's event, of which `lambda_http` makes the request.

use std::collections::HashMap;

use aws_lambda_events::event::apigw::ApiGatewayV2httpRequest;
use base64::prelude::{BASE64_STANDARD, Engine as _};
use form_urlencoded::Serializer;
use http::header::HOST;
use http::uri::PathAndQuery;
use lambda_http::request::RequestContext;
use lambda_http::{Request, RequestExt as _};

/// An event in payload format version 2.0:
/// <https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-develop-integrations-lambda.html>.
pub(crate) type Event = ApiGatewayV2httpRequest;

/// The claims of a valid token. The gateway passes each as a text.
pub(crate) type Claims = HashMap<String, String>;

/// The event in a form that `lambda_http` can read: it panics if host, path and query are no URL, or if the body is not
/// base64 as announced.
///
/// Host and path are left out: the gateway has already chosen the function by them, and no route reads them.
pub(crate) fn readable(mut event: Event) -> Event {
    event.headers.remove(HOST);
    event.request_context.domain_name = None;
    event.raw_path = None;
    let is_no_query = |query: &str| !query.is_empty() && PathAndQuery::try_from(format!("/?{query}")).is_err();
    if let Some(query) = event.raw_query_string.take_if(|query| is_no_query(query)) {
        let pairs = form_urlencoded::parse(query.as_bytes());
        let encoded = Serializer::new(String::new()).extend_pairs(pairs).finish();
        // Longer than a URL can be, and than the gateway lets through.
        event.raw_query_string = Some(encoded).filter(|query| !is_no_query(query));
    }
    if event.is_base64_encoded && event.body.as_ref().is_some_and(|body| BASE64_STANDARD.decode(body).is_err()) {
        event.is_base64_encoded = false;
    }
    event
}

/// The gateway's id of the request. The client gets it as `apigw-requestid`, and the gateway's own log contains it.
pub(crate) fn id(request: &Request) -> &str {
    match request.request_context_ref() {
        Some(RequestContext::ApiGatewayV2(context)) => context.request_id.as_deref().unwrap_or_default(),
        _ => "",
    }
}

/// The claims of the token, if the request has one.
pub(crate) fn claims(request: &Request) -> Option<&Claims> {
    Some(&request.request_context_ref()?.authorizer()?.jwt.as_ref()?.claims)
}

/// The names and the values of the path's parameters, as they were sent.
pub(crate) fn path_parameters(request: &Request) -> impl Iterator<Item = (&str, &str)> {
    request.path_parameters_ref().into_iter().flat_map(|parameters| parameters.iter())
}

#[cfg(test)]
mod tests;
