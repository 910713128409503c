//! Working off one segment of a run, page by page.

use std::time::Duration;

use key_schema::entity::{CopyProgress, CopyTask, ItemKey, Side};
use key_schema::layout::Key;
use key_schema::value::Timestamp;
use lambda::{Failure as _, Remedy, longest_pause};
use table::{Budget, Commit, Condition, Item, Pairs, Segment, Write};
use tokio::time::Instant;
use tracing::{error, warn};

use crate::batches::{MOST_PAIRS, batches};
use crate::item::is_copied;
use crate::sync::{BATCH, Fence, Fenced, is_contention, mark};
use crate::{Assignment, Error, Pace, plan};

/// The number of items in one page of a scan. The progress is saved after each page.
const PAGE: u16 = 200;

/// The time limit of one pair, and of saving the progress.
const ALONE: Duration = Duration::from_secs(20);

/// The number of failures in a row after which a worker gives up, for example because a table is missing.
const MOST_FAILURES: u32 = 10;

/// A worker that copies or compares items at its pace.
#[derive(Clone, Debug)]
pub struct Copier {
    pub(crate) pairs: Pairs,
    pace: Pace,
    /// Whether most items have no copy yet. Then a put without a read before it costs least.
    puts_first: bool,
}

impl Copier {
    /// A worker over these tables.
    pub fn new(pairs: Pairs, pace: Pace) -> Self {
        Self { pairs, pace, puts_first: true }
    }

    /// The progress of a segment that is still to be worked on; `None` if it is done, or if another run has started.
    pub async fn progress_of(&self, Assignment { run, segment }: Assignment) -> Result<Option<CopyProgress>, Error> {
        let key = CopyProgress::key_of(segment);
        let found: Vec<CopyProgress> = self.pairs.read(Side::First, vec![key], Budget::of(ALONE)).await?;
        Ok(found.into_iter().find(|progress| progress.run == run && !progress.is_done))
    }

    /// Works on a segment until it is done, and begins no further page after that time. It does one page in any case.
    /// `each` sees the progress after each page.
    ///
    /// # Errors
    /// [`Error::Superseded`] if another worker has the segment, or another run has started.
    pub async fn work(
        &mut self,
        mut progress: CopyProgress,
        until: Option<Instant>,
        mut each: impl FnMut(&CopyProgress),
    ) -> Result<CopyProgress, Error> {
        let mut failures = 0;
        while !progress.is_done {
            match self.page(&progress).await {
                Ok(next) => {
                    (progress, failures) = (next, 0);
                    each(&progress);
                    if until.is_some_and(|until| Instant::now() >= until) {
                        break;
                    }
                }
                Err(error) if error.remedy() == Remedy::Retry && failures < MOST_FAILURES => {
                    warn!(cause = lambda::chain(&error), segment = progress.segment, "a page is done again");
                    failures += 1;
                    tokio::time::sleep(longest_pause(failures)).await;
                    progress = self.saved(&progress).await.unwrap_or(progress);
                }
                Err(error) => return Err(error),
            }
        }
        Ok(progress)
    }

    /// The progress as it is saved: an attempt to save it that was not answered may have succeeded.
    async fn saved(&self, progress: &CopyProgress) -> Option<CopyProgress> {
        let key = CopyProgress::key_of(progress.segment);
        let saved: Vec<CopyProgress> = self.pairs.read(Side::First, vec![key], Budget::of(BATCH)).await.ok()?;
        saved.into_iter().find(|saved| saved.run == progress.run)
    }

    /// Does the next page of a segment, and saves the progress. A page that is done twice changes nothing the second
    /// time, and only one of two workers with the same page saves it.
    async fn page(&mut self, progress: &CopyProgress) -> Result<CopyProgress, Error> {
        let mut next = progress.clone();
        let segment = Segment { number: progress.segment.into(), of: progress.segments.into() };
        let page = self.pairs.scan(progress.scanned, segment, progress.last.as_ref(), PAGE).await?;
        self.pay().await;
        for stranger in page.strangers {
            error!("an item has no place in the other table: the segment's progress has its key");
            next.add_difference(stranger);
        }
        let items: Vec<_> = page.items.into_iter().filter(|(_, item)| is_copied(item)).collect();
        next.items += items.len() as u64;
        match progress.task {
            CopyTask::Copy => self.copy(&mut next, items).await?,
            CopyTask::Compare => self.compare(&mut next, items.into_iter().map(|(key, _)| key).collect()).await?,
        }
        next.last = page.last;
        if next.last.is_none() {
            next.is_done = progress.scanned != progress.leader;
            next.scanned = progress.leader.other();
        }
        next.pages += 1;
        next.updated_at = Timestamp::now();
        self.save(progress, &next).await?;
        Ok(next)
    }

    async fn save(&self, from: &CopyProgress, to: &CopyProgress) -> Result<(), Error> {
        let condition = Condition::new("#run = :run AND #pages = :pages");
        let condition = condition.value(":run", from.run)?.value(":pages", from.pages)?;
        let save = (Side::First, Write::put_if(to, condition)?);
        match self.pairs.commit(vec![save], Budget::of(ALONE)).await? {
            Commit::Done => Ok(()),
            Commit::Cancelled(_) => Err(Error::Superseded),
        }
    }

    async fn copy(&mut self, progress: &mut CopyProgress, items: Vec<(Key, Item)>) -> Result<(), Error> {
        let (side, check) = fence(progress)?;
        let fence = Fence(side, check);
        for batch in batches(items) {
            let keys = if self.puts_first && progress.scanned == progress.leader {
                self.put_absent(progress, &fence, batch).await?
            } else {
                batch.into_iter().map(|(key, _)| key).collect()
            };
            self.equalise(progress, &fence, keys).await?;
        }
        Ok(())
    }

    /// Puts the copies of a batch for which there are none. Returns the keys of the others.
    async fn put_absent(
        &mut self,
        progress: &mut CopyProgress,
        fence: &Fence,
        mut batch: Vec<(Key, Item)>,
    ) -> Result<Vec<Key>, Error> {
        let (total, mut others) = (batch.len(), Vec::new());
        while !batch.is_empty() {
            let writes =
                batch.iter().flat_map(|(key, item)| plan::put_absent(key.clone(), item, progress.leader, mark()));
            let outcome = fence.commit(&self.pairs, writes.collect(), Budget::of(BATCH)).await;
            self.pay().await;
            let failed = match outcome {
                Ok(Fenced::Done) => {
                    progress.copied += batch.len() as u64;
                    break;
                }
                Ok(Fenced::Failed(failed)) if failed.contains(&true) => failed,
                Err(error) if !is_contention(&error) => return Err(error),
                _ => vec![true; batch.len() * 2],
            };
            let mut failed = failed.chunks(2).map(|of_pair| of_pair.contains(&true));
            let (rest, left): (Vec<_>, Vec<_>) = batch.into_iter().partition(|_| failed.next() == Some(false));
            others.extend(left.into_iter().map(|(key, _)| key));
            batch = rest;
        }
        self.puts_first = others.len() * 2 <= total;
        Ok(others)
    }

    /// Makes these pairs equal.
    async fn equalise(&mut self, progress: &mut CopyProgress, fence: &Fence, keys: Vec<Key>) -> Result<(), Error> {
        for keys in keys.chunks(MOST_PAIRS) {
            progress.copied += fence.equalise(&self.pairs, keys, progress.leader, || Budget::of(ALONE)).await?;
            self.pay().await;
        }
        Ok(())
    }

    /// Waits until what was consumed is paid.
    pub(crate) async fn pay(&mut self) {
        self.pace.pay(self.pairs.consumed()).await;
    }
}

/// The check that each transaction of a segment's worker begins with: the run goes on, and the segment is not done. A
/// step that may change the lead needs all segments to be done, so a worker that slept through the step copies nothing
/// from a table that no longer leads.
pub fn fence(progress: &CopyProgress) -> Result<(Side, Write), table::Error> {
    let condition = Condition::new("#run = :run AND #isDone = :false");
    let condition = condition.value(":run", progress.run)?.value(":false", false)?;
    Ok((Side::First, Write::check(CopyProgress::key_of(progress.segment), condition)))
}

pub(crate) trait Differences {
    /// Counts a pair that differs, and keeps its key if it is one of the first.
    fn add_difference(&mut self, key: ItemKey);
}

impl Differences for CopyProgress {
    fn add_difference(&mut self, key: ItemKey) {
        self.differences += 1;
        if self.differing.len() < Self::MOST_DIFFERING {
            self.differing.push(key);
        }
    }
}
