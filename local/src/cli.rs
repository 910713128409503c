//! The command line of `local`.

mod audit;
mod env;
mod expire;
mod export;
mod export_table;
mod fold;
mod import;
mod mark_availabilities;
mod migrate;
mod model;
mod payments;
mod place;
mod reconcile;
mod redrive;
mod reindex;
mod replay;
mod search;
mod stack;

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Error, Result, bail};
use clap::{Args, Parser, Subcommand};
use devstack::template::Route;
use devstack::{Issuer, OptionError, Options, Stack, Template};
use indicatif::{ProgressBar, ProgressStyle};
use local::console::Console;
use local::{OWN_ORIGINS, demo, functions};
use reqwest::Url;
use tokio::signal;

use self::payments::Payments;
use self::search::Search;

/// Environment variables that replace the embedded DynamoDB and SQS. The AWS SDKs use the same names.
const DYNAMODB_ENDPOINT: &str = "AWS_ENDPOINT_URL_DYNAMODB";
const SQS_ENDPOINT: &str = "AWS_ENDPOINT_URL_SQS";

/// The gateway's port unless the user chooses another.
const DEFAULT_PORT: u16 = 3000;

/// Till on your laptop: the real functions behind an HTTP gateway, over an embedded DynamoDB and SQS.
#[derive(Parser)]
#[command(name = "local", bin_name = "cargo local", args_conflicts_with_subcommands = true)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,

    #[command(flatten)]
    pub(crate) serve: Serve,
}

#[derive(Subcommand)]
enum Command {
    Audit(audit::Arguments),
    Env(env::Arguments),
    Expire(expire::Arguments),
    Export(export::Arguments),
    ExportTable(export_table::Arguments),
    ExportModel(model::Export),
    FoldCounts(fold::Arguments),
    Import(import::Arguments),
    ImportModel(model::Import),
    MarkAvailabilities(mark_availabilities::Arguments),
    Migrate(migrate::Arguments),
    Reconcile(reconcile::Arguments),
    Redrive(redrive::Arguments),
    Reindex(reindex::Arguments),
    Replay(replay::Arguments),
}

/// Options of `cargo local` without a subcommand.
#[derive(Args)]
pub(crate) struct Serve {
    /// The gateway's port on 127.0.0.1; 0 takes a free one
    #[arg(long, default_value_t = DEFAULT_PORT)]
    port: u16,

    /// DynamoDB's port on 127.0.0.1; 0 takes a free one
    #[arg(long, default_value_t = 0)]
    dynamodb_port: u16,

    /// SQS's port on 127.0.0.1; 0 takes a free one
    #[arg(long, default_value_t = 0)]
    sqs_port: u16,

    /// EventBridge's port on 127.0.0.1; 0 takes a free one
    #[arg(long, default_value_t = 0)]
    eventbridge_port: u16,

    /// S3's port on 127.0.0.1; 0 takes a free one. There is one if the template has buckets
    #[arg(long, default_value_t = 0)]
    s3_port: u16,

    /// Keep the table, the queued messages, the objects of buckets and the tokens' secret in this directory
    /// [default: in memory]
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,

    /// The tables of the stack: v1, v1-v2, v2-v1 or v2; of two, the shop uses the first [default: the template's]
    #[arg(long, value_parser = ["v1", "v1-v2", "v2-v1", "v2"])]
    tables: Option<String>,

    /// Whether the shop is open. If it is closed, routes answer 503, queues keep their messages, and there is no demo shop
    /// [default: the template's, open]
    #[arg(long, value_name = "STATE", value_parser = ["open", "closed"])]
    shop: Option<String>,

    /// Start without the demo shop
    #[arg(long)]
    empty: bool,

    /// Print the gateway's address, and then only warnings
    #[arg(long)]
    pub(crate) quiet: bool,

    /// Let pages of this origin call the API, next to those of localhost and 127.0.0.1; may be repeated
    #[arg(long, value_name = "ORIGIN", value_parser = origin)]
    cors_origin: Vec<String>,

    /// Accept the access tokens of this OpenID Connect issuer, instead of issuing tokens
    #[arg(long, value_name = "URL", requires = "audience", value_parser = url)]
    issuer: Option<String>,

    /// The audience of that issuer's tokens: `aud`, or `client_id` in tokens without `aud`
    #[arg(long, value_name = "AUDIENCE", requires = "issuer")]
    audience: Option<String>,

    /// Take card payments at this provider, which speaks Stripe's protocol. Its keys are in the environment variables
    /// `PAYMENT_API_KEY` and `PAYMENT_WEBHOOK_SECRET` [default: a pretend provider]
    #[arg(long, value_name = "URL", value_parser = url)]
    payments: Option<String>,

    /// The pretend payment provider's port on 127.0.0.1; 0 takes a free one
    #[arg(long, default_value_t = 0, conflicts_with = "payments")]
    payments_port: u16,

    /// Keep the search index in this OpenSearch cluster. Its user is in the environment variables `SEARCH_USERNAME` and
    /// `SEARCH_PASSWORD`, if it has one [default: a pretend OpenSearch, in memory]
    #[arg(long, value_name = "URL", value_parser = url)]
    search: Option<String>,

    /// Routes, scopes, queues and the table [default: template.yaml of this workspace or this directory]
    #[arg(long, value_name = "PATH")]
    template: Option<PathBuf>,
}

impl Serve {
    /// Whether the stack starts with the demo shop.
    fn has_demo(&self) -> bool {
        !self.empty && self.shop.as_deref() != Some("closed")
    }
}

fn url(text: &str) -> Result<String, String> {
    match Url::parse(text) {
        Ok(url) if matches!(url.scheme(), "http" | "https") => Ok(text.to_owned()),
        _ => Err("write a URL, such as https://service.example".to_owned()),
    }
}

/// An origin as a browser sends it, or with `:*` for every port.
fn origin(text: &str) -> Result<String, String> {
    let host = text.strip_suffix(":*").unwrap_or(text);
    let is_origin =
        url(host).is_ok_and(|url| Url::parse(&url).is_ok_and(|url| url.origin().ascii_serialization() == host));
    let refused = || "write scheme and host, and the port unless it is the default: https://shop.example".to_owned();
    if is_origin || text == "*" { Ok(text.to_owned()) } else { Err(refused()) }
}

pub(crate) async fn run(arguments: Arguments) -> Result<()> {
    match arguments.command {
        Some(Command::Audit(arguments)) => audit::run(&arguments).await,
        Some(Command::Env(arguments)) => env::run(&arguments).await,
        Some(Command::Expire(arguments)) => expire::run(&arguments).await,
        Some(Command::Export(arguments)) => export::run(&arguments).await,
        Some(Command::ExportTable(arguments)) => export_table::run(&arguments).await,
        Some(Command::ExportModel(arguments)) => model::run_export(&arguments).await,
        Some(Command::FoldCounts(arguments)) => fold::run(&arguments).await,
        Some(Command::ImportModel(arguments)) => model::run_import(&arguments).await,
        Some(Command::Import(arguments)) => import::run(&arguments).await,
        Some(Command::MarkAvailabilities(arguments)) => mark_availabilities::run(&arguments).await,
        Some(Command::Migrate(arguments)) => migrate::run(&arguments).await,
        Some(Command::Reconcile(arguments)) => reconcile::run(&arguments).await,
        Some(Command::Redrive(arguments)) => redrive::run(&arguments).await,
        Some(Command::Reindex(arguments)) => reindex::run(&arguments).await,
        Some(Command::Replay(arguments)) => replay::run(&arguments).await,
        None => serve(arguments.serve).await,
    }
}

/// Starts the stack, prints its addresses, and serves until a stop signal.
async fn serve(arguments: Serve) -> Result<()> {
    // Listens for Ctrl-C before anything starts, so that an early one is not lost.
    let stop = stop_signal()?;

    let (mut provider, search) = (Payments::start(&arguments).await?, Search::start(&arguments).await?);
    let console = Console::new(provider.pretend());
    let options = Options { pages: console.router(provider.url()), ..options(&arguments, &provider, &search)? };
    let stack = Stack::start(options, functions::start_all).await.map_err(named_as_here)?;
    provider.send_webhooks_to(&stack);
    console.show(
        &stack,
        vec![("Payments", provider.url().to_owned()), ("Search", search.url().to_owned())],
        arguments.has_demo(),
    )?;
    let indexing = search.build(&stack).await?;
    if arguments.has_demo() {
        demo::create(&stack).await?;
        if let Some(provider) = provider.pretend() {
            demo::fill(&stack, provider).await?;
        }
    }
    announce(&stack, &arguments, &provider, &search)?;
    tokio::select! {
        () = stop => {}
        () = stack.run_schedules() => {}
    }
    drop(indexing);
    stack.shutdown().await
}

/// The error of a stack, with the name that an option has here: its flag or its environment variable.
fn named_as_here(error: Error) -> Error {
    match error.downcast::<OptionError>() {
        Ok(error) => {
            let name = match error.option() {
                "dynamodb_endpoint" => DYNAMODB_ENDPOINT.to_owned(),
                option => format!("--{}", option.replace('_', "-")),
            };
            error.with_name(name).into()
        }
        Err(error) => error,
    }
}

fn options(arguments: &Serve, provider: &Payments, search: &Search) -> Result<Options> {
    let path = arguments.template.clone().unwrap_or_else(default_template);
    let name = path.display();
    let text = std::fs::read_to_string(&path)
        .with_context(|| format!("cannot read {name}: name the template with --template"))?;
    let own = OWN_ORIGINS.iter().map(ToString::to_string);
    let origins: Vec<_> = own.chain(arguments.cors_origin.iter().cloned()).collect();
    let mut deployment = local::paying_deployment(provider.url());
    deployment.parameters.insert("CorsOrigins".to_owned(), origins.join(","));
    deployment.parameters.extend(demo::PARAMETERS.map(|(name, value)| (name.to_owned(), value.to_owned())));
    deployment.parameters.extend(search.parameters());
    deployment.parameters.extend(arguments.tables.clone().map(|tables| ("Tables".to_owned(), tables)));
    deployment.parameters.extend(arguments.shop.clone().map(|shop| ("Shop".to_owned(), shop)));
    for (file, nested) in &mut deployment.nested {
        if let Ok(text) = std::fs::read_to_string(path.with_file_name(file)) {
            *nested = text;
        }
    }
    let template = Template::parse_for(&text, &deployment).with_context(|| name.to_string())?;

    let [dynamodb_endpoint, sqs_endpoint] =
        [DYNAMODB_ENDPOINT, SQS_ENDPOINT].map(|name| std::env::var(name).ok().filter(|url| !url.is_empty()));
    for (service, name, endpoint) in
        [("DynamoDB", DYNAMODB_ENDPOINT, &dynamodb_endpoint), ("SQS", SQS_ENDPOINT, &sqs_endpoint)]
    {
        if let (Some(_), Some(url)) = (&arguments.data, endpoint) {
            bail!("--data is for the embedded {service}, and {name} asks for {url}: choose one of them");
        }
    }
    let options = local::options(template);
    let issuer = match (&arguments.issuer, &arguments.audience) {
        (Some(url), Some(audience)) => Issuer::OpenId { url: url.clone(), audience: audience.clone() },
        _ => options.issuer.clone(),
    };
    Ok(Options {
        port: arguments.port,
        dynamodb_port: arguments.dynamodb_port,
        sqs_port: arguments.sqs_port,
        eventbridge_port: arguments.eventbridge_port,
        s3_port: arguments.s3_port,
        data: arguments.data.clone(),
        dynamodb_endpoint,
        sqs_endpoint,
        secrets: provider.secrets().into_iter().chain(search.secrets()).collect(),
        issuer,
        ..options
    })
}

/// The template of the workspace that this program was built in, if it still exists.
fn default_template() -> PathBuf {
    let of_workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../template.yaml");
    of_workspace.canonicalize().unwrap_or_else(|_| PathBuf::from("template.yaml"))
}

fn announce(stack: &Stack, arguments: &Serve, provider: &Payments, search: &Search) -> Result<()> {
    let mut text = format!("listening on {}\n", stack.url());
    if !arguments.quiet {
        text.push_str(&welcome(stack, arguments, provider, search)?);
    }
    print(&text)
}

/// The number of items so far, drawn to standard error, and only on a terminal.
fn item_bar() -> Result<ProgressBar> {
    Ok(ProgressBar::no_length().with_style(ProgressStyle::with_template("{spinner} {pos} items, {per_sec}")?))
}

fn print(text: &str) -> Result<()> {
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).context("cannot write to standard output")
}

fn welcome(stack: &Stack, arguments: &Serve, provider: &Payments, search: &Search) -> Result<String> {
    let (url, dynamodb, sqs, bus) = (stack.url(), stack.dynamodb_url(), stack.sqs_url(), stack.bus().url());
    let buckets = stack.s3_url().map(|url| format!("S3 at {url} (secret access key: local)\n")).unwrap_or_default();
    let routes = route_lines(&stack.template().routes);
    let tokens = match &arguments.issuer {
        Some(issuer) => format!("Tokens of {issuer} are accepted.\n"),
        None => tokens(stack, arguments)?,
    };
    Ok(format!(
        r"
Routes:
{routes}
{tokens}
DynamoDB at {dynamodb}
SQS at {sqs}
EventBridge at {bus} (received events: {url}/_local/events)
{buckets}{provider}
{search}

Open {url}/ in a browser: shop, API, requests, table, stream, queues, payments. Ctrl-C stops it.
"
    ))
}

/// A token, and commands to try it with.
fn tokens(stack: &Stack, arguments: &Serve) -> Result<String> {
    let (url, customer) = (stack.url(), demo::CUSTOMER);
    let token = stack.token(customer, http_api::SHOP_SCOPE)?;
    let commands = if arguments.has_demo() { format!("\nTry:\n{}\n", demo::commands(url)) } else { String::new() };
    Ok(format!(
        r#"A token for the customer {customer}, valid for 12 hours:
  TOKEN={token}
A token for another caller:
  curl '{url}/_local/token' -d '{{"sub": "me", "scope": "admin"}}'
{commands}"#
    ))
}

fn route_lines(routes: &[Route]) -> String {
    let width = routes.iter().map(|route| route.path.len()).max().unwrap_or_default();
    let lines = routes.iter().map(|Route { method, path, scopes, .. }| {
        let scopes = if scopes.is_empty() { "public".to_owned() } else { scopes.join(", ") };
        format!("  {method:<7}{path:<width$}  {scopes}\n")
    });
    lines.collect()
}

/// Resolves on Ctrl-C or SIGTERM. After this call neither ends the process by itself.
#[cfg(unix)]
fn stop_signal() -> Result<impl Future<Output = ()>> {
    use signal::unix::{SignalKind, signal};

    let mut interrupt = signal(SignalKind::interrupt()).context("cannot listen for Ctrl-C")?;
    let mut terminate = signal(SignalKind::terminate()).context("cannot listen for SIGTERM")?;
    Ok(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    })
}

/// Resolves on Ctrl-C.
#[cfg(not(unix))]
fn stop_signal() -> Result<impl Future<Output = ()>> {
    Ok(async { _ = signal::ctrl_c().await })
}
