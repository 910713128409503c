//! The scheduled comparison, which chooses its days itself.

use crate::reconcile_counts::run::LAST_STEP;
use key_schema::entity::Reconciliation;
use key_schema::layout::Consistency;
use key_schema::value::{Day, Days, Timestamp};
use lambda::Error;
use serde::Deserialize;
use table::{Budget, Condition, Write};
use tokio::time::Instant;
use tracing::warn;

use crate::reconcile_counts::{Answer, Reconciler, Run};

/// The least number of days to compare, the last of which is yesterday. Several, because the counts of a day change as
/// long as its orders change their status. A run has more days if the comparison before it took longer than these days.
pub const DAYS: u8 = 7;

impl Reconciler {
    /// Continues the unfinished comparison. If there is none, compares the last days, unless that was done today.
    pub(crate) async fn scheduled(&self, end: Instant) -> Result<Answer, Error> {
        let budget = Budget::of(end.saturating_duration_since(Instant::now()));
        let key = vec![Reconciliation::only_key()];
        let found: Vec<Reconciliation> = self.reads.reader.batch(key, Consistency::Strong, budget).await?;
        let (last, today) = (found.into_iter().next(), self.zone.day(Timestamp::now()));
        let mut run = match &last {
            Some(Reconciliation { resume: Some(left), .. }) => match serde_json::from_str(left) {
                Ok(run) => run,
                Err(error) => {
                    warn!(cause = lambda::chain(&error), "cannot read the unfinished run, and begins again");
                    let begun: Option<Begun> = serde_json::from_str(left).ok();
                    since(begun.and_then(|begun| begun.days.each().next()), today)?
                }
            },
            Some(Reconciliation { to, resume: None, .. }) if *to >= today => {
                self.report_age(*to);
                return Ok(Answer::new(Run::new(Days::new(today, today)?, false), true));
            }
            _ => since(last.as_ref().map(|last| last.to), today)?,
        };

        let done = self.go_on(&mut run, end).await?;
        self.report_age(run.compared_up_to(done));
        let resume = if done { None } else { Some(serde_json::to_string(&run)?) };
        let next = Reconciliation { to: run.end(), resume, updated_at: Timestamp::now() };
        let is_last = match &last {
            Some(last) => Condition::new("#updatedAt = :then").value(":then", last.updated_at)?,
            None => Condition::absent(),
        };
        if !self.writer.write(Write::put_if(&next, is_last)?, Budget::of(LAST_STEP)).await?.is_done() {
            warn!("another invocation has stored its progress meanwhile");
        }
        Ok(Answer::new(run, done))
    }
}

/// The part of a run that is read even if another release has stored the run.
#[derive(Deserialize)]
struct Begun {
    days: Days,
}

/// A run over the last days, and over the days before them that are not compared yet, as far back as the longest range
/// of days allows.
fn since(compared: Option<Day>, today: Day) -> Result<Run, Error> {
    let (recent, furthest) = (today.plus(-i64::from(DAYS)), today.plus(-i64::from(Days::MOST)));
    if let Some(compared) = compared.filter(|compared| *compared < furthest) {
        warn!(from = %compared, to = %furthest, "these days are too long ago, and are not compared");
    }
    let from = compared.map_or(recent, |to| to.clamp(furthest, recent));
    Ok(Run::new(Days::new(from, today)?, false).after(compared))
}
