//! `cargo measure`: how fast Till is, and how far it goes.

mod growth;
mod page;
mod partitions;
mod zipf;

use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand};

/// How fast Till is, and how far it goes: each command measures one thing, and writes its page of the documentation
#[derive(Parser)]
#[command(name = "measure")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Whether an operation costs the same in a large table as in a small one
    Growth(growth::Arguments),
    /// At how many orders a second each key design fails
    Partitions(partitions::Arguments),
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
        Command::Partitions(arguments) => partitions::run(&arguments),
    }
}
