//! The second half of `cargo local migrate compare`: both tables are asked the questions of the access patterns.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::str::FromStr;

use anyhow::{Context as _, Error, Result, ensure};
use clap::Args;
use copying::{Answers, Choice, Comparison, Copier, MOST_DIFFERING, Pace};
use futures_util::future::try_join_all;
use indicatif::{ProgressBar, ProgressStyle};
use key_schema::entity::{CopyProgress, Side};
use key_schema::layout::Declaration;
use table::{Pairs, Segment};

use crate::cli::print;

/// The number of segments of the table that lead to questions at once.
const WORKERS: u8 = 4;

/// The questions to ask.
#[derive(Args, Clone, Copy, Debug)]
pub(super) struct Arguments {
    /// Ask both tables the questions of all access patterns: those to which this number of items of each kind lead, or
    /// `all`, or `none`
    #[arg(long, value_name = "WHICH", default_value = "20")]
    patterns: Which,

    /// The most read units per second for these questions, in both tables together
    #[arg(long, default_value_t = 2000, value_parser = clap::value_parser!(u32).range(1..))]
    pattern_units: u32,
}

/// A choice of questions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Which {
    All,
    Sample(u64),
    None,
}

impl FromStr for Which {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match text {
            "all" => Ok(Self::All),
            "none" => Ok(Self::None),
            number => {
                let number = number.parse().ok().filter(|number| *number > 0);
                Ok(Self::Sample(number.context("it is neither a number nor all nor none")?))
            }
        }
    }
}

impl Arguments {
    /// Asks both tables after a comparison with these segments, and prints the answers by pattern.
    pub(super) async fn run(&self, pairs: &Pairs, segments: &[CopyProgress]) -> Result<()> {
        let choice = match self.patterns {
            Which::All => Choice::All,
            Which::None => return Ok(()),
            Which::Sample(of_each) => Choice::Sample { of_each, counts: counts(segments) },
        };
        let leader = segments.first().map_or(Side::First, |segment| segment.leader);
        let comparison = Comparison::new(choice);
        self.ask(pairs, &comparison, leader).await?;
        let answers = comparison.answers();
        print(&report(&answers))?;
        let differing: Vec<_> = answers.iter().filter(|(_, answers)| answers.differing > 0).collect();
        let names: Vec<_> = differing.iter().map(|(declared, _)| declared.question).collect();
        ensure!(names.is_empty(), "the tables answer differently: {}", names.join("; "));
        Ok(())
    }

    async fn ask(&self, pairs: &Pairs, comparison: &Comparison, leader: Side) -> Result<()> {
        let items = 2 * pairs.about_items(leader).await.context("cannot describe the table")?;
        // Drawn to standard error, and only on a terminal.
        let style = "{wide_bar} {pos}/{len} items, {per_sec}, {eta} left, {msg} questions";
        let bar = ProgressBar::new(items).with_style(ProgressStyle::with_template(style)?);
        let each = || {
            let (scanned, asked) = comparison.progress();
            bar.set_position(scanned);
            bar.set_message(asked.to_string());
        };
        let units = f64::from(self.pattern_units) / f64::from(WORKERS);
        let workers = (0..WORKERS).map(|number| {
            let mut worker = Copier::new(pairs.unshared(), Pace::new(units, units));
            let segment = Segment { number: number.into(), of: WORKERS.into() };
            let each = &each;
            async move { worker.compare_patterns(comparison, segment, leader, each).await }
        });
        let done = try_join_all(workers).await;
        bar.finish_and_clear();
        done?;
        Ok(())
    }
}

/// The number of items of each kind, as the comparison has counted them in both tables.
fn counts(segments: &[CopyProgress]) -> BTreeMap<String, u64> {
    let mut counts = BTreeMap::new();
    for (kind, sums) in segments.iter().flat_map(|segment| &segment.sums) {
        *counts.entry(kind.clone()).or_default() += sums.first.items + sums.next.items;
    }
    counts
}

/// One line for each pattern, and the keys in which answers differ.
fn report(answers: &[(&Declaration, Answers)]) -> String {
    let mut text = "access patterns: asked, equal, differing\n".to_owned();
    for (declared, Answers { asked, equal, differing, keys }) in answers {
        let more = if *differing >= MOST_DIFFERING { ", and not asked any more" } else { "" };
        let Declaration { number, question, .. } = declared;
        _ = writeln!(text, "  {number:>2} {question:62} {asked:>7} {equal:>7} {differing:>7}{more}");
        for key in keys {
            _ = writeln!(text, "     differs: {} {}", key.partition, key.sort);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_choice_is_a_number_or_a_word() {
        let parse = |text: &str| text.parse::<Which>().ok();
        assert_eq!(parse("all"), Some(Which::All));
        assert_eq!(parse("none"), Some(Which::None));
        assert_eq!(parse("5"), Some(Which::Sample(5)));
        assert_eq!([parse("0"), parse("-1"), parse("some")], [None; 3]);
    }
}
