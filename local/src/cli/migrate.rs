//! `cargo local migrate`: migrates the shop from one table to another while it is open.

mod patterns;
mod report;
mod run;
mod verify;
mod watch;

use std::time::Duration;

use anyhow::{Context as _, Result, bail, ensure};
use clap::{Args, Subcommand};
use copying::steps::{Obstacle, SETTLE};
use copying::{Migrator, State};
use indicatif::{ProgressBar, ProgressStyle};
use key_schema::entity::{CopyProgress, CopyTask, Phase};
use key_schema::layout::Layout;
use lambda::{Environment, FromEnvironment as _};
use queue::Queue;
use table::Pairs;

use super::place::of_stack;
use super::{DEFAULT_PORT, print};
use run::Pace;
use watch::Patience;

const BETWEEN_ROUNDS: Duration = Duration::from_secs(2);

/// The variable with the URL of the functions' queue, as `copy-items` has it.
const COPY_QUEUE: &str = "COPY_QUEUE_URL";

/// Migrate the shop from one table to another while it is open
///
/// Each step checks that it is safe, waits for what passes by itself, and otherwise refuses and says what to do.
/// docs/migrating.md shows a whole migration, and the way back from each step.
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
    Start(Work),
    /// Compare the two tables item by item, or go on with a comparison that was interrupted. Then compare what they answer
    /// to each access pattern
    Compare {
        #[command(flatten)]
        work: Work,

        #[command(flatten)]
        patterns: patterns::Arguments,
    },
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
        /// Every running function is of a release that knows migrations. Needed for the first step
        #[arg(long)]
        old_release_is_gone: bool,
    },
    /// Go to the phase before
    Back,
    Verify(verify::Arguments),
}

/// A run, and who works it off.
#[derive(Args)]
struct Work {
    /// The number of segments of the table that are worked on at once, at most 32
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u8).range(1..=32))]
    segments: u8,

    /// Do the work in this command, and not by the functions of the stack. It stops when the command does
    #[arg(long)]
    here: bool,

    /// Start another run, even if the last one of this phase is done
    #[arg(long)]
    again: bool,

    #[command(flatten)]
    pace: Pace,

    #[command(flatten)]
    patience: Patience,
}

#[derive(Args)]
#[allow(clippy::doc_markdown, reason = "the comments are the texts of --help")]
struct Tables {
    /// The table from which the shop migrates: TABLE_NAME of the functions
    #[arg(long, global = true, value_name = "NAME", requires = "next_table")]
    table: Option<String>,

    /// The table to which the shop migrates: NEXT_TABLE_NAME of the functions
    #[arg(long, global = true, value_name = "NAME", requires = "table")]
    next_table: Option<String>,

    /// The layout of the keys in --table: v1 or v2
    #[arg(long, global = true, value_name = "LAYOUT", default_value = "v1")]
    layout: Layout,

    /// The layout of the keys in --next-table
    #[arg(long, global = true, value_name = "LAYOUT", default_value = "v2")]
    next_layout: Layout,

    /// The queue of the functions that copy and compare: the output CopyQueueUrl of a deployed stack
    #[arg(long, global = true, value_name = "URL")]
    copy_queue: Option<String>,

    /// The time after a step before the next one, in seconds. Less than the default is for tests only
    #[arg(long, global = true, value_name = "SECONDS", default_value_t = SETTLE.as_secs(), hide = true)]
    settle: u64,

    /// The running stack's port on 127.0.0.1
    #[arg(long, global = true, default_value_t = DEFAULT_PORT)]
    port: u16,
}

pub(super) async fn run(arguments: &Arguments) -> Result<()> {
    let environment = arguments.tables.environment().await?;
    let pairs = Pairs::from_environment(&environment).context("cannot reach the tables")?;
    let migrator = Migrator::new(pairs.clone(), Duration::from_secs(arguments.tables.settle));
    match &arguments.command {
        Command::Status => {
            let state = migrator.state().await?;
            print(&report::status(&state, &pairs))
        }
        Command::Start(work) => ensure_equal(&work.run(&migrator, &pairs, CopyTask::Copy, &environment).await?),
        Command::Compare { work, patterns } => {
            let segments = work.run(&migrator, &pairs, CopyTask::Compare, &environment).await?;
            let answers = patterns.run(&pairs, &segments).await;
            ensure_equal(&segments).and(answers)
        }
        Command::Repair { pace, watch } => {
            let mut repairs = pace.repairs(&pairs);
            loop {
                run::repair(&mut repairs).await?;
                if !watch {
                    return Ok(());
                }
                tokio::time::sleep(BETWEEN_ROUNDS).await;
            }
        }
        Command::Advance { old_release_is_gone } => {
            step(&migrator, &pairs, Phase::forwards, *old_release_is_gone).await
        }
        Command::Back => step(&migrator, &pairs, Phase::back, false).await,
        Command::Verify(arguments) => verify::run(arguments, &environment, &migrator).await,
    }
}

impl Tables {
    /// The environment of a function that copies.
    async fn environment(&self) -> Result<Environment> {
        let own = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let environment = if let (Some(table), Some(next)) = (&self.table, &self.next_table) {
            Environment::of_process().with([
                own("TABLE_NAME", table),
                own("TABLE_LAYOUT", self.layout.name()),
                own("NEXT_TABLE_NAME", next),
                own("NEXT_TABLE_LAYOUT", self.next_layout.name()),
            ])
        } else {
            of_stack(self.port).await?
        };
        ensure!(
            environment.optional("NEXT_TABLE_NAME").is_some(),
            "the stack on port {} has one table: start it with cargo local --tables v1-v2",
            self.port
        );
        Ok(environment.with(self.copy_queue.iter().map(|url| own(COPY_QUEUE, url))))
    }
}

impl Work {
    /// Works off a run: the last one of this phase, or a new one. If the last one is done, it only shows the result: the
    /// functions may have done it while nobody watched.
    async fn run(
        &self,
        migrator: &Migrator,
        pairs: &Pairs,
        task: CopyTask,
        environment: &Environment,
    ) -> Result<Vec<CopyProgress>> {
        ensure!(
            self.here || self.pace.is_default(),
            "--read-units and --write-units need --here: the functions work at CopyReadUnits and CopyWriteUnits, \
             parameters of the stack"
        );
        ensure!(
            self.here || environment.optional(COPY_QUEUE).is_some(),
            "name the queue of the stack's functions with --copy-queue (the output CopyQueueUrl), or do the work here \
             with --here"
        );
        let state = wait(migrator, pairs, |state| migrator.obstacles_to_run(state, task)).await?;
        let version = state.migration.as_ref().map_or(0, |migration| migration.version);
        let is_of_phase = |segment: &CopyProgress| segment.task == task && segment.migration_version == version;
        let is_there = !state.segments.is_empty() && state.segments.iter().all(is_of_phase);
        let is_done = state.segments.iter().all(|segment| segment.is_done);
        if is_there && is_done && !self.again {
            print("this run is done (--again starts another one):\n")?;
            print(&report::run(&state.segments))?;
            return Ok(state.segments);
        }
        let goes_on = is_there && !is_done;
        let segments = if goes_on { state.segments } else { migrator.start(&state, task, self.segments).await? };
        let segments = if self.here {
            run::work(pairs, segments, self.pace).await?
        } else {
            let queue = Queue::named(environment, COPY_QUEUE).context("cannot reach the queue")?;
            watch::until_done(migrator, pairs, &queue, segments, self.patience).await?
        };
        run::repair(&mut self.pace.repairs(pairs)).await?;
        print(&report::run(&segments))?;
        Ok(segments)
    }
}

/// Fails if a run has found differences.
fn ensure_equal(segments: &[CopyProgress]) -> Result<()> {
    let differences: u64 = segments.iter().map(|segment| segment.differences).sum();
    ensure!(differences == 0, "{differences} items differ: migrate start copies them");
    Ok(())
}

/// Makes a step, as soon as what passes by itself has passed.
async fn step(
    migrator: &Migrator,
    pairs: &Pairs,
    to: impl Fn(Phase) -> Option<Phase>,
    old_release_is_gone: bool,
) -> Result<()> {
    let state = migrator.state().await?;
    let from = state.phase();
    let Some(to) = to(from) else { bail!("the migration is in the phase {from}: there is no further step this way") };
    let state = wait(migrator, pairs, |state| migrator.obstacles(state, to, old_release_is_gone)).await?;
    let migration = migrator.step(&state, to, old_release_is_gone).await?;
    print(&report::step(migration.phase))
}

/// Waits until there are no obstacles left. Carries out the repairs that are due.
async fn wait(migrator: &Migrator, pairs: &Pairs, obstacles: impl Fn(&State) -> Vec<Obstacle>) -> Result<State> {
    let mut repairs = Pace::default().repairs(pairs);
    // Drawn to standard error, and only on a terminal.
    let bar = ProgressBar::new_spinner().with_style(ProgressStyle::with_template("{spinner} {msg}")?);
    loop {
        let state = migrator.state().await?;
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
            run::repair(&mut repairs).await?;
        }
        bar.tick();
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
}
