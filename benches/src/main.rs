//! `cargo measure`: how fast Till is, and how far it goes.

mod functions;

use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand};

/// How fast Till is, and how far it goes
#[derive(Parser)]
#[command(name = "measure")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Functions(functions::Arguments),
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
        Command::Functions(arguments) => functions::run(&arguments).await,
    }
}
