//! `cargo measure throughput`: measures the functions themselves, without the engine of the laptop's stack.
//!
//! Three set-ups process the same events: the whole stack over HTTP, the function directly over the engine, and the
//! function over an endpoint that returns the engine's recorded answers at once. Work that is not measured runs on a
//! separate thread, so that two clocks are enough: the process's and one thread's.

mod alone;
mod instant;
mod subject;
mod whole;

use std::time::Duration;

use anyhow::{Result, ensure};
use clap::Args;
use devstack::FaultProxy;
use indicatif::ProgressBar;

use self::alone::Cost;
use self::instant::Instantly;
use self::subject::Subject;
use crate::workspace;

/// The number of rounds. Each figure is the best round, because other load can only make it worse.
const ROUNDS: u32 = 3;

/// Measure the functions themselves, without the engine that dominates the laptop's stack
///
/// For meaningful figures, build with optimisation: cargo run --profile measure --package measure -- throughput
#[derive(Args)]
pub(crate) struct Arguments {
    /// The events of each function in each round
    #[arg(long, default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..))]
    events: u32,

    /// The number of concurrent clients of the whole stack
    #[arg(long, default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..=1000))]
    clients: u32,
}

/// The figures of one function in each set-up.
#[derive(Clone, Copy)]
struct Row {
    function: &'static str,
    /// The whole stack without the client.
    whole: Cost,
    /// The CPU time is that of the function.
    over_engine: Cost,
    engine: Duration,
    alone: Cost,
}

/// Measures, and prints a table.
pub(crate) async fn run(arguments: &Arguments) -> Result<()> {
    if cfg!(debug_assertions) {
        eprintln!("this is a debug build, which measures debugging: see cargo measure throughput --help");
    }
    let rows = measure(arguments).await?;
    super::print(&table(arguments, &rows))
}

async fn measure(arguments: &Arguments) -> Result<Vec<Row>> {
    let Arguments { events, clients } = *arguments;
    let whole = workspace::stack().await?;
    // Without consumers of the stream and the queue, so that the engine has no other work.
    let mut template = workspace::template()?;
    template.queue_sources.clear();
    template.stream_sources.clear();
    let bare = workspace::stack_with(local::options(template)).await?;
    let in_whole = subject::subjects(&whole).await?;
    let in_bare = subject::subjects(&bare).await?;

    let bar = ProgressBar::new(u64::from(ROUNDS) * in_whole.len() as u64 * 3);
    let mut rows: Vec<Row> = Vec::new();
    for (of_whole, of_bare) in in_whole.iter().zip(&in_bare) {
        let recorded = recorded(&bare, of_bare).await?;
        ensure!(!recorded.is_empty(), "{} calls nothing", of_bare.function);
        let mut best: Option<Row> = None;
        for round in 0..ROUNDS {
            let whole = whole::drive(&whole, of_whole.events(&format!("whole-{round}"), events), clients).await?;
            bar.inc(1);
            let given = of_bare.events(&format!("engine-{round}"), events + 1);
            let (over_engine, engine) = alone::drive(of_bare, bare.dynamodb_url(), given).await?;
            bar.inc(1);
            let instantly = Instantly::start(recorded.clone())?;
            let given = of_bare.events(&format!("alone-{round}"), events + 1);
            let (alone, _) = alone::drive(of_bare, instantly.url(), given).await?;
            bar.inc(1);
            let row = Row { function: of_bare.function, whole, over_engine, engine, alone };
            best = Some(best.map_or(row, |best: Row| best.better(row)));
        }
        rows.extend(best);
    }
    bar.finish_and_clear();
    whole.shutdown().await?;
    bare.shutdown().await?;
    Ok(rows)
}

/// The engine's answers to a function, by action.
async fn recorded(stack: &devstack::Stack, subject: &Subject) -> Result<Vec<(String, String)>> {
    let proxy = FaultProxy::start(stack.dynamodb_url()).await?;
    alone::drive(subject, proxy.url(), subject.events("recorded", 2)).await?;
    let calls = proxy.take_calls().into_iter();
    Ok(calls.map(|call| (call.action, call.response.to_string())).collect())
}

impl Row {
    fn better(self, other: Self) -> Self {
        Self {
            function: self.function,
            whole: self.whole.better(other.whole),
            over_engine: self.over_engine.better(other.over_engine),
            engine: self.engine.min(other.engine),
            alone: self.alone.better(other.alone),
        }
    }
}

fn table(arguments: &Arguments, rows: &[Row]) -> String {
    let Arguments { events, clients } = arguments;
    let head = format!(
        "The best of {ROUNDS} rounds of {events} events each, in events a second and CPU microseconds an event.\n\n\
         | function | whole stack, {clients} clients | its CPU | over the engine | CPU of the engine \
         | CPU of the function | function alone | its CPU |\n\
         |---|---|---|---|---|---|---|---|\n"
    );
    let line = |Row { function, whole, over_engine, engine, alone }: &Row| {
        let rates = [whole, over_engine, alone].map(|cost| format!("{:.0}/s", cost.rate()));
        let cpu = [whole.cpu, *engine, over_engine.cpu, alone.cpu].map(|cpu| cpu.as_micros());
        let ([whole, over, alone], [whole_cpu, engine, over_cpu, alone_cpu]) = (rates, cpu);
        format!("| `{function}` | {whole} | {whole_cpu} | {over} | {engine} | {over_cpu} | {alone} | {alone_cpu} |\n")
    };
    rows.iter().map(line).fold(head, |text, line| text + &line)
}

#[cfg(test)]
#[path = "throughput/tests.rs"]
mod tests;
