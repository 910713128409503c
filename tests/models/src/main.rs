//! `cargo model`: explores the models for as long as it is told to, and says what it has seen.

#![allow(clippy::print_stdout, reason = "a report")]

use std::fmt::Debug;
use std::hash::Hash;
use std::time::{Duration, Instant};

use clap::Parser;
use models::{counting, order};
use stateright::{Checker as _, Model};

/// Explores the models, with as many processors as there are.
#[derive(Parser)]
#[command(bin_name = "cargo model")]
struct Options {
    /// Only the models whose name contains this.
    name: Option<String>,
    /// How many steps deep; everything, if it is not said.
    #[arg(long)]
    depth: Option<usize>,
    /// For how many seconds each.
    #[arg(long, default_value_t = 600)]
    seconds: u64,
    /// The small models that `cargo test` explores, and not the larger ones.
    #[arg(long)]
    small: bool,
}

fn main() -> anyhow::Result<()> {
    let options = Options::parse();
    for stream in if options.small { counting::small() } else { counting::large() } {
        explore(stream.name, stream, &options)?;
    }
    for shop in if options.small { order::small() } else { order::large() } {
        explore(shop.name, shop, &options)?;
    }
    Ok(())
}

fn explore<M>(name: &str, model: M, options: &Options) -> anyhow::Result<()>
where
    M: Model<State: Clone + Debug + Hash + PartialEq + Send + Sync, Action: Clone + Debug + PartialEq + Send + Sync>
        + Send
        + Sync
        + 'static,
{
    if options.name.as_ref().is_some_and(|part| !name.contains(part)) {
        return Ok(());
    }
    let begin = Instant::now();
    let threads = std::thread::available_parallelism()?.get();
    let mut checker = model.checker().threads(threads).timeout(Duration::from_secs(options.seconds));
    if let Some(depth) = options.depth {
        checker = checker.target_max_depth(depth);
    }
    let checker = checker.spawn_bfs().join();
    let (states, depth) = (checker.unique_state_count(), checker.max_depth());
    let whole = if begin.elapsed().as_secs() < options.seconds { "all" } else { "time is over:" };
    println!("{name}: {whole} {states} states, {depth} steps deep, {:.1} s", begin.elapsed().as_secs_f64());
    checker.assert_properties();
    Ok(())
}
