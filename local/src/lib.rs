//! Till on a laptop: the real handlers on the [`devstack`], a demo shop, and the commands of `cargo local`.
//!
//! The stack takes its routes, scopes, queues and table from `template.yaml` alone, so the deployed template is the one
//! that runs here.

pub mod archive;
pub mod audit;
pub mod console;
pub mod demo;
pub mod functions;
pub mod history;
pub mod marking;
pub mod pretend_provider;
pub mod pretend_search;
pub mod reindex;
pub mod replay;
mod scan;
mod storefront;

use std::collections::BTreeMap;

use anyhow::Result;
use devstack::stories::Prices;
use devstack::{Deployment, Issuer, Options, Template};
use serde_json::Value;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

/// The origins of pages of this machine, which may call the API unless the user says otherwise.
pub const OWN_ORIGINS: [&str; 2] = ["http://localhost:*", "http://127.0.0.1:*"];

/// The names that the deployment on a laptop has. CORS is off, as in the template's defaults. Orders may be paid later.
pub fn deployment() -> Deployment {
    Deployment {
        stack_name: "till-local".to_owned(),
        table_name: "till-local-orders".to_owned(),
        parameters: BTreeMap::from(
            [("PayLaterDays", "14"), ("TableIs", "created")].map(|(name, value)| (name.to_owned(), value.to_owned())),
        ),
        nested: NESTED.iter().map(|(file, text)| ((*file).to_owned(), (*text).to_owned())).collect(),
    }
}

/// The nested stacks that run on a laptop, as `template.yaml` names them: the tables and the queues of orders, and the roles.
pub const NESTED: [(&str, &str); 2] = [
    ("stacks/state.yaml", include_str!("../../stacks/state.yaml")),
    ("stacks/roles.yaml", include_str!("../../stacks/roles.yaml")),
];

/// The ARN of the secret with the payment provider's keys. It has the form of AWS's, because the template checks it.
pub const PAYMENT_SECRET: &str = "arn:aws:secretsmanager:us-east-1:000000000000:secret:till-local-payments";

/// The ARN of the secret with the user of the search cluster.
pub const SEARCH_SECRET: &str = "arn:aws:secretsmanager:us-east-1:000000000000:secret:till-local-search";

/// The same deployment, which takes card payments at the provider with this base URL.
pub fn paying_deployment(provider: &str) -> Deployment {
    let mut deployment = deployment();
    let parameters = [("PaymentSecretArn", PAYMENT_SECRET), ("PaymentUrl", provider)];
    deployment.parameters.extend(parameters.map(|(name, value)| (name.to_owned(), value.to_owned())));
    deployment
}

/// Reads a template for a deployment on a laptop.
///
/// # Errors
/// The template has something that the stack does not know.
pub fn template(text: &str) -> Result<Template> {
    Template::parse_for(text, &deployment())
}

/// Options for Till in memory, on free ports, without fault injection.
pub fn options(template: Template) -> Options {
    Options {
        openapi: functions::open_api(),
        issuer: Issuer::Stack { name: "till-local".to_owned(), audience: "till".to_owned() },
        prices: prices(),
        ..Options::new(template)
    }
}

/// What on-demand units cost, by the price list of `cargo cost`.
fn prices() -> Option<Prices> {
    let list: Value = yaml_serde::from_str(include_str!("../../lab/cost/prices/us-east-1-2026-11.yaml")).ok()?;
    let million = |name: &str| {
        let price = &list["dynamodb"]["standard"][name];
        Some(price["usd"].as_f64()? / price["per"].as_f64()? * 1e6)
    };
    Some(Prices { reads: million("read_request")?, writes: million("write_request")? })
}

/// Writes logs to standard error: what `RUST_LOG` asks for, such as `warn,http_api=info`, or else what `default` says.
///
/// # Panics
/// Logs are written already.
pub fn log_to_stderr(default: &str) {
    let asked = std::env::var("RUST_LOG").ok().and_then(|targets| targets.parse().ok());
    let targets: Targets = asked.unwrap_or_else(|| default.parse().unwrap_or_default());
    let lines = tracing_subscriber::fmt::layer().with_target(false).with_writer(std::io::stderr);
    tracing_subscriber::registry().with(targets).with(lines).init();
}
