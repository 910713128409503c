//! `cargo local migrate`: moves the shop from one table to another while it is open.

mod report;
mod run;

use std::time::Duration;

use anyhow::{Context as _, Result, bail, ensure};
use clap::{Args, Subcommand};
use copying::steps::{Obstacle, SETTLE};
use copying::{Mover, State};
use indicatif::{ProgressBar, ProgressStyle};
use key_schema::entity::{CopyProgress, CopyTask, Phase};
use key_schema::layout::Layout;
use lambda::{Environment, FromEnvironment as _};
use table::Pairs;

use super::place::of_stack;
use super::{DEFAULT_PORT, print};
use run::Pace;

/// The pause between two rounds of repairs.
const BETWEEN_ROUNDS: Duration = Duration::from_secs(2);

/// Move the shop from one table to another while it is open
///
/// Each step checks that it is safe, waits for what passes by itself, and otherwise refuses and says what to do.
/// docs/migrating.md shows a whole move, and the way back from each step.
///
/// Without --table, the tables are those of the stack that runs on this machine. For a deployed stack, name both tables;
/// region and credentials come from the environment, as for `cargo local audit`.
#[derive(Args)]
pub(super) struct Arguments {
    #[command(subcommand)]
    command: Command,

    #[command(flatten)]
    tables: Tables,
}

#[derive(Subcommand)]
enum Command {
    /// Show the phase, the last run and the repairs
    Status,
    /// Copy the leading table to the other one, or go on with a copy that was interrupted
    Start(Pace),
    /// Compare the two tables item by item, or go on with a comparison that was interrupted
    Compare(Pace),
    /// Carry out the repairs that are due
    Repair {
        #[command(flatten)]
        pace: Pace,

        /// Go on until it is stopped
        #[arg(long)]
        watch: bool,
    },
    /// Go to the next phase
    Advance {
        /// Every running function is of a release that knows moves. Needed for the first step
        #[arg(long)]
        old_release_is_gone: bool,
    },
    /// Go to the phase before
    Back,
}

#[derive(Args)]
#[allow(clippy::doc_markdown, reason = "the comments are the texts of --help")]
struct Tables {
    /// The table from which the shop moves: TABLE_NAME of the functions
    #[arg(long, global = true, value_name = "NAME", requires = "next_table")]
    table: Option<String>,

    /// The table to which the shop moves: NEXT_TABLE_NAME of the functions
    #[arg(long, global = true, value_name = "NAME", requires = "table")]
    next_table: Option<String>,

    /// The layout of the keys in --table: v1 or v2
    #[arg(long, global = true, value_name = "LAYOUT", default_value = "v1")]
    layout: Layout,

    /// The layout of the keys in --next-table
    #[arg(long, global = true, value_name = "LAYOUT", default_value = "v2")]
    next_layout: Layout,

    /// The time after a step before the next one, in seconds. Less than the default is for tests only
    #[arg(long, global = true, value_name = "SECONDS", default_value_t = SETTLE.as_secs(), hide = true)]
    settle: u64,

    /// The running stack's port on 127.0.0.1
    #[arg(long, global = true, default_value_t = DEFAULT_PORT)]
    port: u16,
}

pub(super) async fn run(arguments: &Arguments) -> Result<()> {
    let pairs = arguments.tables.open().await?;
    let mover = Mover::new(pairs.clone(), Duration::from_secs(arguments.tables.settle));
    match &arguments.command {
        Command::Status => {
            let state = mover.state().await?;
            print(&report::status(&state, &pairs))
        }
        Command::Start(pace) => work(&mover, &pairs, CopyTask::Copy, *pace).await,
        Command::Compare(pace) => work(&mover, &pairs, CopyTask::Compare, *pace).await,
        Command::Repair { pace, watch } => loop {
            run::repair(&pairs, *pace).await?;
            if !watch {
                return Ok(());
            }
            tokio::time::sleep(BETWEEN_ROUNDS).await;
        },
        Command::Advance { old_release_is_gone } => step(&mover, &pairs, Phase::forwards, *old_release_is_gone).await,
        Command::Back => step(&mover, &pairs, Phase::back, false).await,
    }
}

impl Tables {
    async fn open(&self) -> Result<Pairs> {
        let variables = |table: &str, next: &str| {
            [
                ("TABLE_NAME", table.to_owned()),
                ("TABLE_LAYOUT", self.layout.to_string()),
                ("NEXT_TABLE_NAME", next.to_owned()),
                ("NEXT_TABLE_LAYOUT", self.next_layout.to_string()),
            ]
            .map(|(name, value)| (name.to_owned(), value))
        };
        let environment = if let (Some(table), Some(next)) = (&self.table, &self.next_table) {
            Environment::of_process().with(variables(table, next))
        } else {
            let environment = of_stack(self.port).await?;
            ensure!(
                environment.optional("NEXT_TABLE_NAME").is_some(),
                "the stack on port {} has one table: start it with cargo local --tables v1-v2",
                self.port
            );
            environment
        };
        Pairs::from_environment(&environment).context("cannot reach the tables")
    }
}

/// Works off a run: the one that was interrupted in this phase, or a new one.
async fn work(mover: &Mover, pairs: &Pairs, task: CopyTask, pace: Pace) -> Result<()> {
    let state = wait(mover, pairs, |state| mover.obstacles_to_run(state, task)).await?;
    let version = state.moving.as_ref().map_or(0, |moving| moving.version);
    let is_of_phase = |segment: &CopyProgress| segment.task == task && segment.move_version == version;
    let is_interrupted =
        state.segments.iter().all(is_of_phase) && state.segments.iter().any(|segment| !segment.is_done);
    let segments = if is_interrupted { state.segments } else { mover.start(&state, task, pace.segments).await? };
    let segments = run::work(pairs, segments, pace).await?;
    run::repair(pairs, pace).await?;
    print(&report::run(&segments))?;
    let differences: u64 = segments.iter().map(|segment| segment.differences).sum();
    ensure!(differences == 0, "{differences} items differ: migrate start copies them");
    Ok(())
}

/// Makes a step, as soon as what passes by itself has passed.
async fn step(
    mover: &Mover,
    pairs: &Pairs,
    to: impl Fn(Phase) -> Option<Phase>,
    old_release_is_gone: bool,
) -> Result<()> {
    let state = mover.state().await?;
    let from = state.phase();
    let Some(to) = to(from) else { bail!("the move is in the phase {from:?}: there is no further step this way") };
    let state = wait(mover, pairs, |state| mover.obstacles(state, to, old_release_is_gone)).await?;
    let moving = mover.step(&state, to, old_release_is_gone).await?;
    print(&report::step(moving.phase))
}

/// Waits until there are no obstacles left. Carries out the repairs that are due.
async fn wait(mover: &Mover, pairs: &Pairs, obstacles: impl Fn(&State) -> Vec<Obstacle>) -> Result<State> {
    // Drawn to standard error, and only on a terminal.
    let bar = ProgressBar::new_spinner().with_style(ProgressStyle::with_template("{spinner} {msg}")?);
    loop {
        let state = mover.state().await?;
        let found = obstacles(&state);
        if found.is_empty() {
            bar.finish_and_clear();
            return Ok(state);
        }
        let (passing, lasting): (Vec<_>, Vec<_>) = found.into_iter().partition(|obstacle| {
            // Nobody else may work on the run: the operator decides.
            obstacle.passes_by_itself() && !matches!(obstacle, Obstacle::Running(_))
        });
        if !lasting.is_empty() {
            bar.finish_and_clear();
            let texts: Vec<_> = lasting.iter().map(ToString::to_string).collect();
            bail!("not yet: {}", texts.join("; "));
        }
        let texts: Vec<_> = passing.iter().map(ToString::to_string).collect();
        bar.set_message(texts.join("; "));
        if passing.iter().any(|obstacle| matches!(obstacle, Obstacle::RepairsDue(_))) {
            run::repair(pairs, Pace::default()).await?;
        }
        bar.tick();
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
}
