//! The workspace's template, and stacks like those of `cargo local`, in this process, for one measurement.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use devstack::{Deployment, Options, Stack, Template};
use lambda::{Environment, FromEnvironment as _};
use local::functions;
use serde_json::Value;
use table::{ProductShards, StatusShards, ViewShards};

/// The access key of the stack's operator, who is not a function, so no role limits the calls.
const OPERATOR: &str = "operator";

pub(crate) fn template() -> Result<Template> {
    template_for(&local::deployment())
}

/// The template for another deployment on this machine.
pub(crate) fn template_for(deployment: &Deployment) -> Result<Template> {
    Template::parse_for(&read("template.yaml")?.1, deployment).context("template.yaml")
}

/// The template's numbers of shards.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shards {
    pub(crate) status: u8,
    pub(crate) products: u8,
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

pub(crate) fn sample(function: &str) -> Result<Value> {
    let (path, text) = read(&format!("events/{function}.json"))?;
    serde_json::from_str(&text).with_context(|| format!("{} is no JSON", path.display()))
}

fn read(file: &str) -> Result<(PathBuf, String)> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(file);
    let text = std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    Ok((path, text))
}

pub(crate) async fn stack_with(options: Options) -> Result<Stack> {
    Stack::start(options, functions::start_all).await.context("cannot start a stack")
}

/// The environment of an operator of this table, who may make any call.
pub(crate) fn operator_of(dynamodb_url: &str, table: &str) -> Environment {
    let variables = [
        ("AWS_REGION", "us-east-1"),
        ("AWS_ACCESS_KEY_ID", OPERATOR),
        ("AWS_SECRET_ACCESS_KEY", OPERATOR),
        ("AWS_ENDPOINT_URL_DYNAMODB", dynamodb_url),
        ("TABLE_NAME", table),
        ("TIME_ZONE", "UTC"),
    ];
    Environment::of(variables.map(|(name, value)| (name.to_owned(), value.to_owned())))
}
