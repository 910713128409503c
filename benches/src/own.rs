//! A stack of our own: what `cargo local` starts, in this process and for one measurement.

use std::path::Path;

use anyhow::{Context, Result};
use lambda::Environment;
use local::{Options, Stack, Template, functions};

/// Who operates the stack: no function, so no role limits what they may do.
const OPERATOR: &str = "operator";

/// The template that this workspace deploys.
pub(crate) fn template() -> Result<Template> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../template.yaml");
    let text = std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    Template::parse(&text).context("template.yaml")
}

/// Starts it in memory, on free ports.
pub(crate) async fn stack() -> Result<Stack> {
    stack_of(template()?).await
}

/// The same, from another template.
pub(crate) async fn stack_of(template: Template) -> Result<Stack> {
    Stack::start(Options::new(template), functions::start_all).await.context("cannot start a stack")
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
