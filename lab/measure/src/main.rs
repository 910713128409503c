//! `cargo measure`: measures Till's performance, and checks that its data stays correct under faults.

mod functions;
mod growth;
mod soak;
mod workspace;

use std::io::Write;
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::{Parser, Subcommand};

/// Measure Till's performance, and check that its data stays correct under faults
#[derive(Parser)]
#[command(name = "measure")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Check that an operation costs the same in a large table as in a small one
    Growth(growth::Arguments),
    Functions(functions::Arguments),
    Soak(soak::Arguments),
    #[command(hide = true)]
    SoakStack(soak::StackArguments),
}

#[tokio::main]
async fn main() -> ExitCode {
    match run(Arguments::parse()).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

async fn run(arguments: Arguments) -> Result<()> {
    match arguments.command {
        Command::Growth(arguments) => growth::run(arguments).await,
        Command::Functions(arguments) => functions::run(&arguments).await,
        Command::Soak(arguments) => soak::run(&arguments).await,
        Command::SoakStack(arguments) => soak::run_stack(&arguments).await,
    }
}

fn print(text: &str) -> Result<()> {
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).context("cannot write to standard output")
}
