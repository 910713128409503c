//! What is compared when nobody says what.

use crate::reconcile_counts::run::KEPT_BACK;
use key_schema::entity::Reconciliation;
use key_schema::layout::Consistency;
use key_schema::value::{Day, Days, Timestamp};
use lambda::Error;
use serde::Deserialize;
use table::{Budget, Condition, Write};
use tokio::time::Instant;
use tracing::warn;

use crate::reconcile_counts::{Answer, Reconciler, Run};

/// So many days up to yesterday at least: as long as orders go on from one status to the next, their day's counts
/// change. More, if the last comparison took so long that days would be left out.
pub const DAYS: u8 = 7;

impl Reconciler {
    /// Goes on with what the last one left, or compares the last days if that was not done today.
    pub(crate) async fn scheduled(&self, end: Instant) -> Result<Answer, Error> {
        let budget = Budget::of(end.saturating_duration_since(Instant::now()));
        let key = vec![Reconciliation::only_key()];
        let found: Vec<Reconciliation> = self.reads.reader.batch(key, Consistency::Strong, budget).await?;
        let (last, today) = (found.into_iter().next(), Timestamp::now().day());
        let mut run = match &last {
            Some(Reconciliation { resume: Some(left), .. }) => match serde_json::from_str(left) {
                Ok(run) => run,
                Err(error) => {
                    warn!(cause = lambda::chain(&error), "begins again: what was left does not read");
                    let begun: Option<Begun> = serde_json::from_str(left).ok();
                    since(begun.and_then(|begun| begun.days.each().next()), today)?
                }
            },
            Some(Reconciliation { to, resume: None, .. }) if *to >= today => {
                return Ok(Answer::new(Run::new(Days::new(today, today)?, false), true));
            }
            _ => since(last.as_ref().map(|last| last.to), today)?,
        };

        let done = self.go_on(&mut run, end).await?;
        let resume = if done { None } else { Some(serde_json::to_string(&run)?) };
        let next = Reconciliation { to: run.end(), resume, updated_at: Timestamp::now() };
        let is_last = match &last {
            Some(last) => Condition::new("#updatedAt = :then").value(":then", last.updated_at)?,
            None => Condition::absent(),
        };
        if !self.writer.write(Write::put_if(&next, is_last)?, Budget::of(KEPT_BACK)).await?.is_done() {
            warn!("another invocation did the same meanwhile");
        }
        Ok(Answer::new(run, done))
    }
}

/// As much of a run as has to be read of one that another version has left.
#[derive(Deserialize)]
struct Begun {
    days: Days,
}

/// The last days, and those before them that nobody has compared, as far back as a range of days goes.
fn since(compared: Option<Day>, today: Day) -> Result<Run, Error> {
    let (recent, furthest) = (today.plus(-i64::from(DAYS)), today.plus(-i64::from(Days::MOST)));
    if let Some(compared) = compared.filter(|compared| *compared < furthest) {
        warn!(from = %compared, to = %furthest, "these days are too long ago, and are not compared");
    }
    let from = compared.map_or(recent, |to| to.clamp(furthest, recent));
    Ok(Run::new(Days::new(from, today)?, false))
}
