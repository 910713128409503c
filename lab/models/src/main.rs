//! `cargo model`: explores the models for longer than the tests, and reports the results.

#![allow(clippy::print_stdout, reason = "a report on standard output")]

use std::fmt::Debug;
use std::hash::Hash;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::error::ErrorKind;
use clap::{CommandFactory as _, Parser};
use models::{migration, order, payment};
use stateright::{Checker, Expectation, Model, Property};

/// Explore the models: check the invariants in every reachable state
///
/// Prints one line for each model. If an invariant is violated, prints the steps that lead to it, and ends with exit
/// code 1.
#[derive(Parser)]
#[command(bin_name = "cargo model", version)]
struct Options {
    /// Explore only the models whose name contains this text.
    name: Option<String>,
    /// Stop exploring a model after this time.
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    seconds: u64,
    /// Explore the small models that `cargo test -p models` explores.
    #[arg(long)]
    small: bool,
}

fn main() -> anyhow::Result<ExitCode> {
    let options = Options::parse();
    let mut names = Vec::new();
    let mut broken = 0;
    for shop in if options.small { order::small() } else { order::large() } {
        names.push(shop.name);
        broken += options.explore(shop.name, shop)?;
    }
    for paying in if options.small { payment::small() } else { payment::large() } {
        names.push(paying.name);
        broken += options.explore(paying.name, paying)?;
    }
    for house in if options.small { migration::small() } else { migration::large() } {
        names.push(house.name);
        broken += options.explore(house.name, house)?;
    }
    if !names.iter().any(|name| options.is_meant(name)) {
        let message = format!("no model has such a name; there are: {}", names.join(", "));
        Options::command().error(ErrorKind::InvalidValue, message).exit();
    }
    Ok(if broken == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

impl Options {
    fn is_meant(&self, name: &str) -> bool {
        self.name.as_ref().is_none_or(|part| name.contains(part))
    }

    /// Explores a model, if it is selected. Returns the number of violated invariants.
    fn explore<M>(&self, name: &'static str, model: M) -> anyhow::Result<usize>
    where
        M: Model<
                State: Clone + Debug + Hash + PartialEq + Send + Sync,
                Action: Clone + Debug + PartialEq + Send + Sync,
            > + Send
            + Sync
            + 'static,
    {
        if !self.is_meant(name) {
            return Ok(0);
        }
        let begin = Instant::now();
        let threads = std::thread::available_parallelism()?.get();
        let checker = model.checker().threads(threads).timeout(Duration::from_secs(self.seconds)).spawn_bfs().join();
        let elapsed = begin.elapsed();
        let is_all = elapsed.as_secs() < self.seconds;
        let (states, depth) = (checker.unique_state_count(), checker.max_depth());
        let sizes = if is_all { "all states" } else { "a part of the states" };
        println!("{name}: {states} states, {depth} steps deep, {:.1} s, {sizes}", elapsed.as_secs_f64());
        let broken =
            checker.model().properties().into_iter().filter(|invariant| is_broken(invariant, &checker, is_all));
        Ok(broken.count())
    }
}

/// Whether an invariant is violated. If so, prints the steps that lead to it. A situation that must occur may be
/// outside the explored part.
fn is_broken<M, C>(invariant: &Property<M>, checker: &C, is_all: bool) -> bool
where
    M: Model<State: Clone + Debug + Hash + PartialEq, Action: Clone + Debug + PartialEq>,
    C: Checker<M>,
{
    match (invariant.expectation.clone(), checker.discovery(invariant.name)) {
        (Expectation::Always | Expectation::Eventually, Some(path)) => {
            println!("  broken: {}", invariant.name);
            path.into_actions().iter().for_each(|action| println!("    {action:?}"));
            true
        }
        (Expectation::Sometimes, None) if is_all => {
            println!("  never seen: {}", invariant.name);
            true
        }
        _ => false,
    }
}
