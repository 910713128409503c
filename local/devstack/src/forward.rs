//! Passing an HTTP request on to another server.

use axum::body::Bytes;
use axum::http::header::{CONNECTION, CONTENT_LENGTH, HOST, TRANSFER_ENCODING};
use axum::http::{HeaderMap, Method, Response};

/// Sends this request, without the headers of its connection, and returns the answer, without those of its own.
pub async fn forward(
    client: &reqwest::Client,
    method: Method,
    url: String,
    headers: &HeaderMap,
    body: impl Into<reqwest::Body>,
) -> reqwest::Result<Response<Bytes>> {
    let sending = client.request(method, url).headers(without_connection(headers)).body(body);
    let answered = sending.send().await?;
    let (status, headers) = (answered.status(), without_connection(answered.headers()));
    let mut response = Response::new(answered.bytes().await?);
    (*response.status_mut(), *response.headers_mut()) = (status, headers);
    Ok(response)
}

fn without_connection(headers: &HeaderMap) -> HeaderMap {
    let mut headers = headers.clone();
    for name in [CONNECTION, CONTENT_LENGTH, HOST, TRANSFER_ENCODING] {
        headers.remove(name);
    }
    headers
}
