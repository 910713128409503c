//! The stack: database, queues, wire, functions, event sources and gateway, started and stopped together.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Error, Result, anyhow};
use dynoxide::Database;
use serde_json::Value;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::browser_guard::BrowserGuard;
use crate::bus::Bus;
use crate::endpoint::Endpoint;
use crate::engine::Engine;
use crate::fault_proxy::FaultProxy;
use crate::functions::{Endpoints, Functions};
use crate::gateway::{self, Gateway};
use crate::iam::Guard;
use crate::listen::{loopback, url_of};
use crate::private_file;
use crate::queue::Queues;
use crate::sources::Sources;
use crate::sqs::Sqs;
use crate::template::Template;
use crate::token::Tokens;

/// How long running requests and invocations may take to finish after a stop.
const GRACE: Duration = Duration::from_millis(400);

/// What a schedule invokes on AWS, and a request here.
const SCHEDULED: [&str; 2] = ["expire-orders", "reconcile-counts"];

/// How to start a stack.
#[derive(Debug, Clone)]
pub struct Options {
    /// Where routes, scopes, queues and the table come from.
    pub template: Template,
    /// The gateway's port on 127.0.0.1; 0 takes a free one.
    pub port: u16,
    /// The embedded DynamoDB's port on 127.0.0.1; 0 takes a free one.
    pub dynamodb_port: u16,
    /// The embedded SQS's port on 127.0.0.1; 0 takes a free one.
    pub sqs_port: u16,
    /// The embedded EventBridge's port on 127.0.0.1; 0 takes a free one.
    pub eventbridge_port: u16,
    /// Keeps the table, the queued messages and the token secret in this directory. None: in memory.
    pub data: Option<PathBuf>,
    /// Uses the DynamoDB at this base URL, and starts none.
    pub dynamodb_endpoint: Option<String>,
    /// Uses the SQS at this base URL, and starts none.
    pub sqs_endpoint: Option<String>,
    /// Lets the [`FaultProxy`] between the functions and DynamoDB record and fail calls, and the [`Guard`] its rulings.
    pub inject_faults: bool,
    /// What `GET /openapi.json` answers.
    pub openapi: String,
}

impl Options {
    /// In memory, on free ports, without a fault proxy.
    pub fn new(template: Template) -> Self {
        Self {
            template,
            port: 0,
            dynamodb_port: 0,
            sqs_port: 0,
            eventbridge_port: 0,
            data: None,
            dynamodb_endpoint: None,
            sqs_endpoint: None,
            inject_faults: false,
            openapi: "{}".to_owned(),
        }
    }
}

/// A running stack. Whatever is dropped without [`Stack::shutdown`] ends with its runtime.
pub struct Stack {
    url: String,
    dynamodb_url: String,
    sqs_url: String,
    template: Template,
    gateway: Arc<Gateway>,
    stop: oneshot::Sender<()>,
    serving: JoinHandle<std::io::Result<()>>,
    sources: Sources,
    proxy: FaultProxy,
    /// In front of SQS and of EventBridge, if the stack has a fault proxy.
    service_proxies: Option<[FaultProxy; 2]>,
    injects_faults: bool,
    guard: Arc<Guard>,
    queues: Option<Queues>,
    bus: Arc<Bus>,
    engine: Option<Engine>,
    /// Keeps others out of the directory that the data is in.
    _lock: Option<File>,
}

/// Takes the directory of the data, so that no other stack writes there.
fn take(directory: &Path) -> Result<File> {
    let name = directory.display();
    private_file::take_directory(directory).map_err(|error| match error.kind() {
        ErrorKind::WouldBlock => anyhow!("{name} is in use: stop the stack that uses it, or name another with --data"),
        _ => Error::new(error).context(format!("cannot use {name}: choose a directory you may write to with --data")),
    })
}

impl Stack {
    /// Starts everything; it answers when this returns. `functions` makes the functions, named by their binaries, for
    /// this template over these endpoints.
    pub async fn start(
        options: Options,
        functions: impl FnOnce(&Endpoints, &Template) -> Result<Functions>,
    ) -> Result<Self> {
        let Options { template, data, .. } = options;
        // First, so that a port in use is found before anything is written.
        let listener = loopback(options.port, "--port").await?;
        let url = url_of(&listener)?;

        let lock = data.as_deref().map(take).transpose()?;
        let engine = match &options.dynamodb_endpoint {
            Some(_) => None,
            None => Some(Engine::start(options.dynamodb_port, data.as_deref()).await?),
        };
        let elsewhere = options.dynamodb_endpoint;
        let urls = engine.as_ref().map(|engine| (engine.url().to_owned(), engine.own_url().to_owned()));
        // What programs are told, and where the stack itself goes.
        let (dynamodb_url, database_url) =
            urls.or(elsewhere.map(|url| (url.clone(), url))).context("there is no DynamoDB")?;
        Endpoint::new(&dynamodb_url)?.ensure_table(&template).await?;
        let tokens = data.as_deref().map_or_else(|| Ok(Tokens::ephemeral()), Tokens::kept_in)?;

        let guard = Arc::new(Guard::new(&template, options.inject_faults));
        let queues = match options.sqs_endpoint {
            Some(_) => None,
            None => Some(Queues::start(options.sqs_port, data.as_deref(), Arc::clone(&guard)).await?),
        };
        let embedded = queues.as_ref().map(|queues| queues.url().to_owned());
        let sqs_url = options.sqs_endpoint.or(embedded).context("there is no SQS")?;
        let sqs = Sqs::new(&sqs_url, &template.queues)?;
        sqs.ensure_queues().await?;

        let injects_faults = options.inject_faults;
        let proxy = FaultProxy::guarded(&database_url, &guard, injects_faults).await?;
        let bus = Arc::new(Bus::start(options.eventbridge_port, Arc::clone(&guard)).await?);
        let service_proxies = if injects_faults {
            Some([FaultProxy::start(&sqs_url).await?, FaultProxy::start(bus.url()).await?])
        } else {
            None
        };
        let [sqs_way, bus_way] =
            service_proxies.as_ref().map_or([&*sqs_url, bus.url()], |proxies| proxies.each_ref().map(FaultProxy::url));
        let endpoints =
            Endpoints { dynamodb: proxy.url().to_owned(), sqs: sqs_way.to_owned(), eventbridge: bus_way.to_owned() };
        let functions = functions(&endpoints, &template)?;
        let scheduled = functions.consumers.iter().filter(|(name, _)| SCHEDULED.contains(&name.as_str()));
        let scheduled =
            scheduled.map(|(name, start)| Ok((name.clone(), start()?))).collect::<Result<BTreeMap<_, _>>>()?;
        let sources = Sources::start(&template, functions.consumers, &sqs, &dynamodb_url, proxy.url()).await?;
        let shown = Arc::clone(&bus);
        let gateway = Gateway::new(&template, &functions.handlers, tokens, sqs, shown, scheduled, options.openapi)?;
        let gateway = Arc::new(gateway);

        let (stop, stopped) = oneshot::channel();
        let router = gateway::router(Arc::clone(&gateway), BrowserGuard::of(&listener)?);
        let server = axum::serve(listener, router);
        let server = server.with_graceful_shutdown(async { _ = stopped.await });
        let serving = tokio::spawn(server.into_future());
        Ok(Self {
            url,
            dynamodb_url,
            sqs_url,
            template,
            gateway,
            stop,
            serving,
            sources,
            proxy,
            service_proxies,
            injects_faults,
            guard,
            queues,
            bus,
            engine,
            _lock: lock,
        })
    }

    /// The gateway's base URL, without a final slash.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// DynamoDB's own base URL, past the fault proxy.
    pub fn dynamodb_url(&self) -> &str {
        &self.dynamodb_url
    }

    /// The embedded engine itself, unless another DynamoDB is used: for whoever fills the table faster than any
    /// protocol allows.
    pub fn database(&self) -> Option<&Database> {
        self.engine.as_ref().map(Engine::database)
    }

    /// SQS's base URL.
    pub fn sqs_url(&self) -> &str {
        &self.sqs_url
    }

    /// The embedded EventBridge.
    pub fn bus(&self) -> &Bus {
        &self.bus
    }

    /// The template that the stack was started from.
    pub fn template(&self) -> &Template {
        &self.template
    }

    /// The fault proxy, if it was asked for.
    pub fn fault_proxy(&self) -> Option<&FaultProxy> {
        self.injects_faults.then_some(&self.proxy)
    }

    /// The fault proxies between the functions and SQS, and between them and EventBridge, if wires were asked for.
    pub fn service_proxies(&self) -> Option<&[FaultProxy; 2]> {
        self.service_proxies.as_ref()
    }

    /// What enforces the roles of the functions.
    pub fn guard(&self) -> &Guard {
        &self.guard
    }

    /// A token that the gateway accepts.
    pub fn token(&self, sub: &str, scope: &str) -> Result<String> {
        self.gateway.tokens().issue(sub, scope)
    }

    /// A token of any claims, signed by the stack, which the gateway may accept or not.
    ///
    /// # Errors
    /// The claims are no JSON object.
    pub fn sign(&self, claims: &Value) -> Result<String> {
        self.gateway.tokens().sign(claims)
    }

    /// Ends every execution environment of a consumer, named by its binary, as a crash does: running invocations stop
    /// where they are, new environments start, messages of a queue come back when their visibility timeout ends, and
    /// records of a stream are tried again.
    ///
    /// # Errors
    /// No event source of the template invokes a function of this name.
    pub fn kill(&self, function: &str) -> Result<()> {
        self.sources.kill(function)
    }

    /// Waits until the event sources have delivered everything that was sent to their queues or written to the table
    /// before this. A tumbling window that is open then ends in its own time, all the same.
    ///
    /// # Errors
    /// They have not within this time, or the queues do not answer.
    pub async fn settle(&self, within: Duration) -> Result<()> {
        let settling = async {
            // In this order, for who consumes a queue writes to the table.
            self.sources.settle_queues().await?;
            self.sources.settle_streams().await;
            anyhow::Ok(())
        };
        let settled = tokio::time::timeout(within, settling).await;
        settled.with_context(|| format!("the event sources are still busy after {} s", within.as_secs_f64()))?
    }

    /// As [`Stack::settle`] with the stream alone, whatever the queues hold.
    ///
    /// # Errors
    /// Its consumers are not done within this time.
    pub async fn settle_streams(&self, within: Duration) -> Result<()> {
        let settled = tokio::time::timeout(within, self.sources.settle_streams()).await;
        settled.with_context(|| format!("the consumers of the stream are still busy after {} s", within.as_secs_f64()))
    }

    /// Stops everything. Running requests and invocations have a moment to finish.
    pub async fn shutdown(self) -> Result<()> {
        let Self { stop, serving, sources, proxy, queues, engine, .. } = self;
        _ = stop.send(());
        let (served, ()) = tokio::join!(tokio::time::timeout(GRACE, serving), sources.stop(GRACE));
        drop(proxy);
        // A client of an embedded service's own port may be in the middle of something: that is theirs to lose.
        if let Some(queues) = queues {
            queues.shutdown(GRACE).await?;
        }
        if let Some(engine) = engine {
            _ = tokio::time::timeout(GRACE, engine.shutdown()).await;
        }
        // One that is still busy is dropped with the runtime.
        served.map_or(Ok(()), |served| served?.context("the gateway failed"))
    }
}
