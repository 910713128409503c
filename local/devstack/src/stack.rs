//! The stack: database, queues, fault proxies, functions, event sources and gateway, started and stopped together.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Error, Result};
use dynoxide::Database;
use serde_json::Value;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::browser_guard::BrowserGuard;
use crate::bus::{self, Bus, Targets};
use crate::endpoint::Endpoint;
use crate::engine::Engine;
use crate::environments::pooled;
use crate::fault_proxy::FaultProxy;
use crate::functions::{Endpoints, Functions, connection};
use crate::gateway::{self, Gateway, Routes};
use crate::iam::Guard;
use crate::listen::{loopback, url_of};
use crate::openid::OpenIdIssuer;
use crate::option_error::OptionError;
use crate::options::Options;
use crate::pages::Pages;
use crate::private_file;
use crate::queue::Queues;
use crate::s3::Buckets;
use crate::scheduled;
use crate::secrets::Secrets;
use crate::sources::Sources;
use crate::sqs::Sqs;
use crate::stories::Stories;
use crate::stream_source::Failures;
use crate::template::Template;
use crate::token::{Issuer, Tokens};

/// Time that running requests and invocations get to finish after a stop.
const GRACE: Duration = Duration::from_millis(400);

/// A running stack. If it is dropped without [`Stack::shutdown`], its tasks end with the runtime.
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
    /// Proxies in front of SQS and EventBridge, if the stack injects faults or remembers stories.
    service_proxies: Option<[FaultProxy; 2]>,
    injects_faults: bool,
    guard: Arc<Guard>,
    stories: Arc<Stories>,
    queues: Option<Queues>,
    bus: Arc<Bus>,
    secrets: Secrets,
    buckets: Option<Buckets>,
    engine: Option<Engine>,
    /// Keeps other stacks out of the data directory.
    _lock: Option<File>,
}

/// Locks the data directory, so that no other stack writes there.
fn take(directory: &Path) -> Result<File, OptionError> {
    private_file::take_directory(directory).map_err(|error| match error.kind() {
        ErrorKind::WouldBlock => {
            let name = directory.display();
            OptionError::new("data", format!("{name} is in use: stop the stack that uses it, or choose another"))
        }
        _ => OptionError::unusable_directory(directory, error),
    })
}

/// The error of a database in this directory, with a remedy.
fn unreadable(error: Error, data: Option<&Path>) -> Error {
    match data {
        Some(directory) if !error.is::<OptionError>() => {
            let name = directory.display();
            let message =
                format!("cannot read the table in {name}: restore a copy, delete it, or choose another directory");
            OptionError::new("data", message).caused_by(error).into()
        }
        _ => error,
    }
}

/// The stack's own tokens, and the other issuer if there is one.
async fn tokens_of(issuer: &Issuer, data: Option<&Path>) -> Result<(Tokens, Option<OpenIdIssuer>)> {
    match issuer {
        Issuer::Stack { name, audience } => {
            let tokens = match data {
                Some(directory) => Tokens::kept_in(directory, name, audience)?,
                None => Tokens::ephemeral(name, audience),
            };
            Ok((tokens, None))
        }
        Issuer::OpenId { url, audience } => {
            Ok((Tokens::ephemeral("devstack", audience), Some(OpenIdIssuer::discover(url, audience).await?)))
        }
    }
}

/// Proxies in front of SQS and EventBridge, if somebody wants to know of their calls.
async fn service_proxies(
    sqs: &str,
    bus: &str,
    stories: &Arc<Stories>,
    injects_faults: bool,
) -> Result<Option<[FaultProxy; 2]>> {
    if !injects_faults && !stories.is_on() {
        return Ok(None);
    }
    let queues = FaultProxy::of_service("SQS", sqs, stories, injects_faults).await?;
    Ok(Some([queues, FaultProxy::of_service("EventBridge", bus, stories, injects_faults).await?]))
}

impl Stack {
    /// Starts everything. The gateway answers requests when this returns. `functions` builds the functions of this
    /// template, by their handlers' names, against these endpoints.
    ///
    /// # Errors
    /// An option cannot be used here ([`OptionError`]), a function of the template is missing or comes twice, or its
    /// role does not allow to read its event source.
    pub async fn start(
        options: Options,
        functions: impl FnOnce(&Endpoints, &Template) -> Result<Functions>,
    ) -> Result<Self> {
        let Options { template, data, .. } = options;
        // First, so that a port in use is found before anything is written.
        let listener = loopback(options.port, "port").await?;
        let url = url_of(&listener)?;

        let lock = data.as_deref().map(take).transpose()?;
        let engine = match &options.dynamodb_endpoint {
            Some(_) => None,
            None => Some(Engine::start(options.dynamodb_port, data.as_deref()).await?),
        };
        let elsewhere = options.dynamodb_endpoint;
        let urls = engine.as_ref().map(|engine| (engine.url().to_owned(), engine.own_url().to_owned()));
        // Programs are told the guarded port; the stack itself calls the engine's own port.
        let (dynamodb_url, database_url) =
            urls.or(elsewhere.map(|url| (url.clone(), url))).context("there is no DynamoDB")?;
        let origin = if engine.is_some() { "data" } else { "dynamodb_endpoint" };
        let tables = Endpoint::new(&dynamodb_url)?.ensure_tables(&template.tables, origin).await;
        tables.map_err(|error| unreadable(error, data.as_deref()))?;
        let indexed = engine.as_ref().map_or(Ok(()), Engine::add_indexes);
        indexed.map_err(|error| unreadable(error, data.as_deref()))?;
        let (tokens, issuer) = tokens_of(&options.issuer, data.as_deref()).await?;

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
        let stories = Stories::new(&template, options.stories, options.prices);
        let proxy = FaultProxy::guarded(&database_url, &guard, &stories, injects_faults).await?;
        let (rules, told) = (template.rules.clone(), Arc::clone(&stories));
        let targets = Arc::new(Targets { rules, sqs: sqs.clone(), stories: told });
        let kept = if options.inject_faults { usize::MAX } else { bus::KEPT };
        let bus = Arc::new(Bus::start(options.eventbridge_port, Arc::clone(&guard), Arc::clone(&targets), kept).await?);
        let secrets = Secrets::start(options.secrets, Arc::clone(&guard), Arc::clone(&stories)).await?;
        let buckets = match &*template.buckets {
            [] => None,
            buckets => Some(Buckets::start(options.s3_port, data.as_deref(), buckets, &guard, targets).await?),
        };
        let service_proxies = service_proxies(&sqs_url, bus.url(), &stories, injects_faults).await?;
        let [sqs_way, bus_way] =
            service_proxies.as_ref().map_or([&*sqs_url, bus.url()], |proxies| proxies.each_ref().map(FaultProxy::url));
        let endpoints = Endpoints {
            dynamodb: proxy.url().to_owned(),
            sqs: sqs_way.to_owned(),
            eventbridge: bus_way.to_owned(),
            secretsmanager: secrets.url().to_owned(),
            s3: buckets.as_ref().map(|buckets| buckets.url().to_owned()),
        };
        let functions = functions(&endpoints, &template)?;
        functions.ensure_each_once()?;
        let scheduled = functions.consumers.iter().filter(|(name, _)| template.scheduled.contains_key(name));
        let scheduled = scheduled
            .map(|(name, start)| Ok((name.clone(), pooled(Arc::clone(start))?)))
            .collect::<Result<BTreeMap<_, _>>>()?;
        let failures = Failures { sqs: sqs.clone(), store: buckets.as_ref().map(|buckets| buckets.store().clone()) };
        let sources =
            Sources::start(&template, functions.consumers, failures, &stories, &dynamodb_url, proxy.url()).await?;
        let gateway = Arc::new(Gateway {
            routes: Routes::new(&template, &functions.handlers)?,
            tokens,
            issuer,
            scopes: template.routes.iter().flat_map(|route| route.scopes.iter().cloned()).collect(),
            cors: template.cors.clone(),
            sqs,
            bus: Arc::clone(&bus),
            scheduled,
            stories: Arc::clone(&stories),
            openapi: options.openapi,
            pages: Pages::new(options.pages),
            connection: connection(&dynamodb_url, &endpoints, &template),
        });

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
            stories,
            queues,
            bus,
            secrets,
            buckets,
            engine,
            _lock: lock,
        })
    }

    /// The gateway's base URL, without a final slash.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The base URL of DynamoDB itself, not of the fault proxy.
    pub fn dynamodb_url(&self) -> &str {
        &self.dynamodb_url
    }

    /// The embedded engine, unless another DynamoDB is used. Benchmarks fill the table through it, because a network
    /// protocol is too slow for that.
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

    /// The base URL of Secrets Manager.
    pub fn secrets_url(&self) -> &str {
        self.secrets.url()
    }

    /// The base URL of S3, if the template has buckets.
    pub fn s3_url(&self) -> Option<&str> {
        self.buckets.as_ref().map(Buckets::url)
    }

    /// The template that the stack was started from.
    pub fn template(&self) -> &Template {
        &self.template
    }

    /// The fault proxy in front of DynamoDB, if the options ask for fault injection.
    pub fn fault_proxy(&self) -> Option<&FaultProxy> {
        self.injects_faults.then_some(&self.proxy)
    }

    /// The fault proxies in front of SQS and EventBridge, in that sequence, if the options ask for fault injection.
    pub fn service_proxies(&self) -> Option<&[FaultProxy; 2]> {
        self.service_proxies.as_ref().filter(|_| self.injects_faults)
    }

    /// What the newest requests did.
    pub fn stories(&self) -> &Arc<Stories> {
        &self.stories
    }

    /// The guard that enforces the functions' roles.
    pub fn guard(&self) -> &Guard {
        &self.guard
    }

    /// A token that the gateway accepts, whoever the issuer is.
    pub fn token(&self, sub: &str, scope: &str) -> Result<String> {
        self.gateway.tokens.issue(sub, scope, None)
    }

    /// A token with any claims, signed by the stack. The gateway may still refuse it.
    pub fn sign(&self, claims: &Value) -> Result<String> {
        self.gateway.tokens.sign(claims)
    }

    /// Ends every execution environment of a consumer, named by its handler, as a crash does. Running invocations stop
    /// where they are, and new environments start. Messages of a queue return when their visibility timeout ends, and
    /// records of a stream are retried.
    ///
    /// # Errors
    /// No event source of the template invokes a function of this name.
    pub fn kill(&self, function: &str) -> Result<()> {
        self.sources.kill(function)
    }

    /// Invokes the functions that have schedules, each at its rate, for ever. Unless this runs, only requests invoke them.
    pub async fn run_schedules(&self) {
        scheduled::run(&self.gateway.scheduled, &self.template.scheduled).await;
    }

    /// Waits until the event sources have delivered everything that was sent to their queues or written to the table
    /// before this call. It does not wait for an open tumbling window to end.
    pub async fn settle(&self, within: Duration) -> Result<()> {
        // A consumer of the stream may publish an event that a rule sends to a queue, whose consumer writes to the table
        // again.
        let rounds = if self.template.rules.is_empty() { 1 } else { 2 };
        self.sources.settle(rounds, within).await
    }

    /// Like [`Stack::settle`], but waits for the stream alone.
    pub async fn settle_streams(&self, within: Duration) -> Result<()> {
        let settled = tokio::time::timeout(within, self.sources.settle_streams()).await;
        settled.with_context(|| format!("the consumers of the stream are still busy after {} s", within.as_secs_f64()))
    }

    /// Stops everything. Running requests and invocations get a moment to finish.
    pub async fn shutdown(self) -> Result<()> {
        let Self { stop, serving, sources, proxy, queues, engine, .. } = self;
        _ = stop.send(());
        let (served, ()) = tokio::join!(tokio::time::timeout(GRACE, serving), sources.stop(GRACE));
        drop(proxy);
        // A client that still calls an embedded service's own port loses its call.
        if let Some(queues) = queues {
            queues.shutdown(GRACE).await?;
        }
        if let Some(engine) = engine {
            _ = tokio::time::timeout(GRACE, engine.shutdown()).await;
        }
        // A gateway that is still busy is dropped with the runtime.
        served.map_or(Ok(()), |served| served?.context("the gateway failed"))
    }
}

#[cfg(test)]
#[path = "stack_tests.rs"]
mod tests;
