//! The stack: database, perhaps the wire, functions and gateway, started together and stopped together.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::endpoint::Endpoint;
use crate::engine::Engine;
use crate::gateway::{self, Gateway, Invoke};
use crate::listen::{loopback, url_of};
use crate::template::Template;
use crate::token::Tokens;
use crate::wire::Wire;

/// How long running requests may take to finish after a stop.
const GRACE: Duration = Duration::from_millis(400);

/// How to start a stack.
#[derive(Debug, Clone)]
pub struct Options {
    /// Where routes, scopes and the table come from.
    pub template: Template,
    /// The gateway's port on 127.0.0.1; 0 takes a free one.
    pub port: u16,
    /// The embedded DynamoDB's port on 127.0.0.1; 0 takes a free one.
    pub dynamodb_port: u16,
    /// Keeps the table and the token secret in this directory. None: in memory.
    pub data: Option<PathBuf>,
    /// Uses the DynamoDB at this base URL, and starts none.
    pub dynamodb_endpoint: Option<String>,
    /// Puts a [`Wire`] between the functions and DynamoDB.
    pub wire: bool,
    /// What `GET /openapi.json` answers.
    pub openapi: String,
}

impl Options {
    /// In memory, on free ports, without a wire.
    pub fn new(template: Template) -> Self {
        Self {
            template,
            port: 0,
            dynamodb_port: 0,
            data: None,
            dynamodb_endpoint: None,
            wire: false,
            openapi: "{}".to_owned(),
        }
    }
}

/// A running stack. Whatever is dropped without [`Stack::shutdown`] ends with its runtime.
pub struct Stack {
    url: String,
    dynamodb_url: String,
    template: Template,
    gateway: Arc<Gateway>,
    stop: oneshot::Sender<()>,
    serving: JoinHandle<std::io::Result<()>>,
    wire: Option<Wire>,
    engine: Option<Engine>,
}

impl Stack {
    /// Starts everything; it answers when this returns. `functions` makes the functions, named by their binaries, for
    /// this template over the DynamoDB at this base URL.
    pub async fn start(
        options: Options,
        functions: impl FnOnce(&str, &Template) -> Result<Vec<(String, Invoke)>>,
    ) -> Result<Self> {
        let Options { template, port, dynamodb_port, data, dynamodb_endpoint, wire, openapi } = options;
        // First, so that a port in use is found before anything is written.
        let listener = loopback(port, "--port").await?;
        let url = url_of(&listener)?;

        let engine = match dynamodb_endpoint {
            Some(_) => None,
            None => Some(Engine::start(dynamodb_port, data.as_deref()).await?),
        };
        let embedded = engine.as_ref().map(|engine| engine.url().to_owned());
        let dynamodb_url = dynamodb_endpoint.or(embedded).context("there is no DynamoDB")?;
        Endpoint::new(&dynamodb_url)?.ensure_table(&template).await?;
        let tokens = data.as_deref().map_or_else(|| Ok(Tokens::ephemeral()), Tokens::kept_in)?;

        let wire = if wire { Some(Wire::start(&dynamodb_url).await?) } else { None };
        let called = wire.as_ref().map_or(dynamodb_url.as_str(), Wire::url);
        let functions = functions(called, &template)?;
        let gateway = Arc::new(Gateway::new(&template, &functions, tokens, openapi)?);

        let (stop, stopped) = oneshot::channel();
        let server = axum::serve(listener, gateway::router(Arc::clone(&gateway)));
        let server = server.with_graceful_shutdown(async { _ = stopped.await });
        let serving = tokio::spawn(server.into_future());
        Ok(Self { url, dynamodb_url, template, gateway, stop, serving, wire, engine })
    }

    /// The gateway's base URL, without a final slash.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// DynamoDB's own base URL, past the wire.
    pub fn dynamodb_url(&self) -> &str {
        &self.dynamodb_url
    }

    /// The template that the stack was started from.
    pub fn template(&self) -> &Template {
        &self.template
    }

    /// The wire, if there is one.
    pub fn wire(&self) -> Option<&Wire> {
        self.wire.as_ref()
    }

    /// A token that the gateway accepts.
    pub fn token(&self, sub: &str, scope: &str) -> Result<String> {
        self.gateway.tokens().issue(sub, scope)
    }

    /// Stops everything. Running requests have a moment to finish.
    pub async fn shutdown(self) -> Result<()> {
        let Self { stop, serving, wire, engine, .. } = self;
        _ = stop.send(());
        if let Ok(served) = tokio::time::timeout(GRACE, serving).await {
            served?.context("the gateway failed")?;
        }
        drop(wire);
        if let Some(engine) = engine {
            // A client of the engine's own port may be in the middle of something: that is theirs to lose.
            _ = tokio::time::timeout(GRACE, engine.shutdown()).await;
        }
        Ok(())
    }
}
