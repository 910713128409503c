//! `cargo measure`: measures Till's performance and its limits.

mod counting;
mod figures;
mod functions;
mod growth;
mod history;
mod load;
mod moving;
mod partitions;
mod popularity;
mod rush;
mod soak;
mod throughput;
mod workspace;

use std::io::Write;
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::{Parser, Subcommand};

/// Measure Till's performance and its limits
#[derive(Parser)]
#[command(name = "measure")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Simulate how many orders a second are counted, with any number of stream shards
    Counting(counting::Arguments),
    /// Check that an operation costs the same in a large table as in a small one
    Growth(growth::Arguments),
    /// Simulate at how many orders a second each key design fails
    Partitions(partitions::Arguments),
    Functions(functions::Arguments),
    History(history::Arguments),
    #[command(hide = true)]
    HistoryStep(history::StepArguments),
    Load(load::Arguments),
    Move(moving::Arguments),
    /// Simulate a rush for one product, with and without a waiting room
    Rush(rush::Arguments),
    Soak(soak::Arguments),
    #[command(hide = true)]
    SoakStack(soak::StackArguments),
    Throughput(throughput::Arguments),
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
        Command::Counting(arguments) => counting::run(&arguments),
        Command::Growth(arguments) => growth::run(arguments).await,
        Command::Partitions(arguments) => partitions::run(&arguments),
        Command::Functions(arguments) => functions::run(&arguments).await,
        Command::History(arguments) => history::run(&arguments).await,
        Command::HistoryStep(arguments) => history::run_step(&arguments).await,
        Command::Load(arguments) => load::run(&arguments).await,
        Command::Move(arguments) => moving::run(&arguments).await,
        Command::Rush(arguments) => rush::run(&arguments),
        Command::Soak(arguments) => soak::run(&arguments).await,
        Command::SoakStack(arguments) => soak::run_stack(&arguments).await,
        Command::Throughput(arguments) => throughput::run(&arguments).await,
    }
}

/// Prints the tables of a simulation, and writes them into docs/scale.md if `docs`.
fn show(tables: &[docs_check::Part<'_>], docs: bool) -> Result<()> {
    for (name, table) in tables {
        print(&format!("{name}\n\n{table}\n"))?;
    }
    if docs { docs_check::write("scale.md", tables) } else { Ok(()) }
}

fn print(text: &str) -> Result<()> {
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).context("cannot write to standard output")
}
