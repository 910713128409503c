//! A client of the running stack's `/_local` routes.

use anyhow::{Context, Result, ensure};
use serde_json::Value;

/// The stack that listens on a port of this machine.
pub(super) struct Stack {
    client: reqwest::Client,
    url: String,
}

impl Stack {
    pub(super) fn at(port: u16) -> Result<Self> {
        let client = reqwest::Client::builder().no_proxy().build().context("cannot make an HTTP client")?;
        Ok(Self { client, url: format!("http://127.0.0.1:{port}") })
    }

    pub(super) fn url(&self) -> &str {
        &self.url
    }

    /// Posts this body to a path, and returns the answer.
    pub(super) async fn ask(&self, path: &str, body: &Value) -> Result<Value> {
        self.answer(self.client.post(format!("{}{path}", self.url)).body(body.to_string())).await
    }

    pub(super) async fn look(&self, path: &str) -> Result<Value> {
        self.answer(self.client.get(format!("{}{path}", self.url))).await
    }

    async fn answer(&self, request: reqwest::RequestBuilder) -> Result<Value> {
        let url = &self.url;
        let answer = request.send().await;
        let answer = answer.map_err(reqwest::Error::without_url).with_context(|| {
            format!("no stack answers at {url}: start one with cargo local, or name its port with --port")
        })?;
        let status = answer.status();
        let answer: Value = answer
            .json()
            .await
            .with_context(|| format!("what answers at {url} is not cargo local: name its port with --port"))?;
        ensure!(status.is_success(), "{}", answer["detail"].as_str().unwrap_or("the stack's log says why"));
        Ok(answer)
    }
}
