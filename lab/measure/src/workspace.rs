//! The workspace's template, and stacks like those of `cargo local`, in this process, for one measurement.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result};
use devstack::{Options, Stack, Template};
use lambda::{Environment, FromEnvironment as _};
use local::functions;
use serde_json::Value;
use table::{ProductShards, StatusShards, ViewShards};

/// The access key of the stack's operator, who is not a function, so no role limits the calls.
const OPERATOR: &str = "operator";

/// The workspace's template.
pub(crate) fn template() -> Result<Template> {
    local::template(&read("template.yaml")?.1).context("template.yaml")
}

/// The template with these tables, a value of its parameter `Tables`, for a load whose customers order and never pay: the
/// cap of unpaid units is as high as it can be.
pub(crate) fn template_for_load(tables: &str) -> Result<Template> {
    template_with(&[("Tables", tables), ("MaxOpenUnits", "1000000")])
}

/// The template with these parameters.
pub(crate) fn template_with(parameters: &[(&str, &str)]) -> Result<Template> {
    let mut deployment = local::deployment();
    deployment.parameters.extend(parameters.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
    Template::parse_for(&read("template.yaml")?.1, &deployment).context("template.yaml")
}

/// The template's numbers of shards.
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
    /// The template's defaults.
    pub(crate) fn deployed() -> Result<Self> {
        // They are parameters of the template, which passes them to functions as environment variables.
        let variables = template()?.functions.into_iter().flat_map(|function| function.environment);
        let environment = Environment::of(variables);
        let StatusShards(status) = StatusShards::from_environment(&environment)?;
        let ProductShards(products) = ProductShards::from_environment(&environment)?;
        let ViewShards(views) = ViewShards::from_environment(&environment)?;
        Ok(Self { status, products, views })
    }
}

/// The timeout of a function.
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

/// A file of the workspace.
fn read(file: &str) -> Result<(PathBuf, String)> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(file);
    let text = std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    Ok((path, text))
}

/// Starts a stack in memory, on free ports.
pub(crate) async fn stack() -> Result<Stack> {
    stack_with(local::options(template()?)).await
}

/// Starts a stack with these options.
pub(crate) async fn stack_with(options: Options) -> Result<Stack> {
    Stack::start(options, functions::start_all).await.context("cannot start a stack")
}

/// The environment of the operator, who may make any call at this DynamoDB.
pub(crate) fn operator(dynamodb_url: &str) -> Environment {
    let variables = [
        ("AWS_REGION", "us-east-1"),
        ("AWS_ACCESS_KEY_ID", OPERATOR),
        ("AWS_SECRET_ACCESS_KEY", OPERATOR),
        ("AWS_ENDPOINT_URL_DYNAMODB", dynamodb_url),
    ];
    Environment::of(variables.map(|(name, value)| (name.to_owned(), value.to_owned())))
}

/// The environment of an operator of this table.
pub(crate) fn operator_of(dynamodb_url: &str, table: &str) -> Environment {
    operator(dynamodb_url).with([("TABLE_NAME".to_owned(), table.to_owned())])
}
