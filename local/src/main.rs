//! `cargo local`: Till on a laptop.

mod cli;

use std::process::ExitCode;

use clap::Parser;
use tracing_subscriber::EnvFilter;

use crate::cli::Arguments;

#[tokio::main]
async fn main() -> ExitCode {
    let arguments = Arguments::parse();
    // The engine warns about every failed condition, which is everyday here, and the functions log each request, which
    // the gateway's line says already.
    let default = if arguments.serve.quiet { "warn,dynoxide=error" } else { "info,dynoxide=error,edge=warn" };
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new(default));
    tracing_subscriber::fmt().with_env_filter(filter).with_target(false).with_writer(std::io::stderr).init();

    match cli::run(arguments).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
