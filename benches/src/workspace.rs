//! What this workspace deploys, and a stack of our own: what `cargo local` starts, in this process and for one
//! measurement.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result};
use lambda::{Environment, FromEnvironment as _};
use local::{Options, Stack, Template, functions};
use serde_json::Value;
use table::{ProductShards, StatusShards, ViewShards};

/// Who operates the stack: no function, so no role limits what they may do.
const OPERATOR: &str = "operator";

/// The template that this workspace deploys.
pub(crate) fn template() -> Result<Template> {
    Template::parse(&read("template.yaml")?.1).context("template.yaml")
}

/// Over how many partitions it spreads what would be one hot partition.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shards {
    /// The orders of a status.
    pub(crate) status: u8,
    /// The lines of a product.
    pub(crate) products: u8,
    /// The views of a product.
    pub(crate) views: u8,
}

impl Shards {
    /// As the template has them by default.
    pub(crate) fn deployed() -> Result<Self> {
        // They are parameters of the template, which tells them to every function that asks.
        let variables = template()?.functions.into_iter().flat_map(|function| function.environment);
        let environment = Environment::of(variables);
        let StatusShards(status) = StatusShards::from_environment(&environment)?;
        let ProductShards(products) = ProductShards::from_environment(&environment)?;
        let ViewShards(views) = ViewShards::from_environment(&environment)?;
        Ok(Self { status, products, views })
    }
}

/// For how long a function may take.
pub(crate) fn timeout(function: &str) -> Result<Duration> {
    let template = template()?;
    let found = template.functions.iter().find(|one| one.handler == function);
    Ok(Duration::from_secs(found.with_context(|| format!("template.yaml has no function {function}"))?.timeout_seconds))
}

/// The sample event of a function.
pub(crate) fn sample(function: &str) -> Result<Value> {
    let (path, text) = read(&format!("events/{function}.json"))?;
    serde_json::from_str(&text).with_context(|| format!("{} is no JSON", path.display()))
}

/// A file of the workspace, and where it lies.
fn read(file: &str) -> Result<(PathBuf, String)> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(file);
    let text = std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    Ok((path, text))
}

/// Starts a stack in memory, on free ports.
pub(crate) async fn stack() -> Result<Stack> {
    stack_with(Options::new(template()?)).await
}

/// The same, with other options.
pub(crate) async fn stack_with(options: Options) -> Result<Stack> {
    Stack::start(options, functions::start_all).await.context("cannot start a stack")
}

/// The environment of whoever may call anything at this DynamoDB.
pub(crate) fn operator(dynamodb_url: &str) -> Environment {
    let variables = [
        ("AWS_REGION", "us-east-1"),
        ("AWS_ACCESS_KEY_ID", OPERATOR),
        ("AWS_SECRET_ACCESS_KEY", OPERATOR),
        ("AWS_ENDPOINT_URL_DYNAMODB", dynamodb_url),
    ];
    Environment::of(variables.map(|(name, value)| (name.to_owned(), value.to_owned())))
}
