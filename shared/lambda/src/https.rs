//! A client for an HTTP service, without an SDK. It uses the connector of the AWS clients.

use std::time::Duration;

use aws_smithy_runtime_api::client::http::{HttpConnector as _, SharedHttpConnector};
use aws_smithy_runtime_api::client::orchestrator::HttpRequest;
use aws_smithy_types::body::SdkBody;
use aws_smithy_types::byte_stream::ByteStream;

/// A client for one HTTP service.
#[derive(Clone, Debug)]
pub struct Https {
    connector: SharedHttpConnector,
    base: String,
    /// The longest wait for a complete answer.
    timeout: Duration,
}

/// A request did not get an answer. The service may have carried it out.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct NoAnswer(String);

/// An answer: the status and the whole body.
#[derive(Clone, Debug)]
pub struct Answered {
    pub status: u16,
    pub body: Vec<u8>,
}

impl Https {
    pub(crate) fn new(connector: SharedHttpConnector, base: &str, timeout: Duration) -> Self {
        Self { connector, base: base.trim_end_matches('/').to_owned(), timeout }
    }

    /// Sends a request to this path of the service, once.
    ///
    /// # Errors
    /// [`NoAnswer`] if the connection failed, or no complete answer came within the client's timeout.
    pub async fn send(
        &self,
        method: &str,
        path: &str,
        headers: &[(&'static str, String)],
        body: String,
    ) -> Result<Answered, NoAnswer> {
        let headers = headers.iter().map(|(name, value)| ((*name).to_owned(), value.clone()));
        self.exchange(method, path, headers, body.into_bytes()).await
    }

    /// The same with any headers and any body.
    ///
    /// # Errors
    /// As those of [`send`](Self::send).
    pub async fn exchange(
        &self,
        method: &str,
        path: &str,
        headers: impl IntoIterator<Item = (String, String)>,
        body: Vec<u8>,
    ) -> Result<Answered, NoAnswer> {
        let invalid = |why: &dyn std::fmt::Display| NoAnswer(format!("the request is invalid: {why}"));
        let mut request = HttpRequest::new(SdkBody::from(body));
        request.set_method(method).map_err(|error| invalid(&error))?;
        request.set_uri(format!("{}{path}", self.base)).map_err(|error| invalid(&error))?;
        for (name, value) in headers {
            request.headers_mut().try_insert(name, value).map_err(|error| invalid(&error))?;
        }
        let answer = async {
            let response = self.connector.call(request).await.map_err(|error| NoAnswer(crate::chain(&error)))?;
            let status = response.status().as_u16();
            let body = ByteStream::new(response.into_body()).collect().await;
            let body = body.map_err(|error| NoAnswer(crate::chain(&error)))?.to_vec();
            Ok(Answered { status, body })
        };
        let late = |_| NoAnswer(format!("no answer within {} s", self.timeout.as_secs_f64()));
        tokio::time::timeout(self.timeout, answer).await.map_err(late)?
    }
}
