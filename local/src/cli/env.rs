//! `cargo local env`: the environment variables of the functions, for programs that run them elsewhere.

use anyhow::{Context, Result};
use clap::Args;
use serde_json::{Map, Value};

use super::stack::Stack;
use super::{DEFAULT_PORT, print};

/// Print the environment variables of the running stack's functions
///
/// Of all functions they are JSON, for `sam local invoke --env-vars`. Of one function they are lines, for `cargo lambda watch
/// --env-file`.
#[derive(Args)]
pub(super) struct Arguments {
    /// The function's logical id, such as `GetProduct` [default: all functions]
    function: Option<String>,

    /// The name of this machine where the functions run, for example `host.docker.internal`
    #[arg(long, value_name = "HOST", default_value = LOOPBACK)]
    host: String,

    /// The running stack's port on 127.0.0.1
    #[arg(long, default_value_t = DEFAULT_PORT)]
    port: u16,
}

const LOOPBACK: &str = "127.0.0.1";

pub(super) async fn run(arguments: &Arguments) -> Result<()> {
    let connection = Stack::at(arguments.port)?.look("/_local/connection").await?;
    let functions = connection["functions"].to_string().replace(LOOPBACK, &arguments.host);
    let functions: Map<String, Value> = serde_json::from_str(&functions).context("the stack names no functions")?;
    print(&match &arguments.function {
        None => format!("{:#}\n", Value::Object(functions)),
        Some(name) => {
            let variables = functions.get(name).and_then(Value::as_object);
            let variables = variables.with_context(|| format!("the stack has no function {name}"))?;
            variables.iter().map(line).collect()
        }
    })
}

/// A variable in quotes, which both cargo-lambda and shells understand.
fn line((name, value): (&String, &Value)) -> String {
    format!("{name}='{}'\n", value.as_str().unwrap_or_default().replace('\'', r"'\''"))
}
