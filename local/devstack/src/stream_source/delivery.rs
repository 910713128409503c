//! Delivers the records of one shard in batches, with retries, bisecting and discarding.

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;

use super::backlog::{Backlog, Part};
use super::discard::{Failures, Reason, pointer};
use super::invocation::{Ending, Invocation};
use super::record::Record;
use super::window::{Window, Windows};
use crate::sandbox::Sandbox;
use crate::template::StreamSource;

const FIRST_BACKOFF: Duration = Duration::from_millis(100);
const LONGEST_BACKOFF: Duration = Duration::from_secs(2);

pub(super) struct Delivery {
    pub(super) backlog: Backlog,
    source: Arc<StreamSource>,
    sandbox: Arc<Sandbox>,
    failures: Failures,
    stream: String,
    shard: String,
    windows: Windows,
    window: Option<Window>,
}

impl Delivery {
    pub(super) fn new(
        source: Arc<StreamSource>,
        sandbox: Arc<Sandbox>,
        failures: Failures,
        stream: &str,
        shard: &str,
    ) -> Self {
        let windows = Windows(source.tumbling_window_seconds.try_into().unwrap_or_default());
        Self {
            backlog: Backlog::new(&source, windows),
            source,
            sandbox,
            failures,
            stream: stream.to_owned(),
            shard: shard.to_owned(),
            windows,
            window: None,
        }
    }

    /// Whether the open window, if there is one, has had all its records. The backlog must be empty.
    pub(super) fn window_is_over(&self, read_at: Timestamp, shard_ended: bool) -> bool {
        self.window.as_ref().is_some_and(|window| shard_ended || window.is_over(read_at))
    }

    /// Invokes the function once, and returns the time to wait before the next invocation.
    pub(super) async fn step(&mut self) -> Option<Duration> {
        let (aged, records) = self.backlog.take_aged();
        if !records.is_empty() {
            self.discard(&records.iter().collect::<Vec<_>>(), Reason::record_age_exceeded(aged.retries)).await;
        }
        let first = self.backlog.first()?;
        match &self.window {
            Some(window) if window.start != self.windows.start_of(first) => return self.end_window().await,
            Some(window) if window.is_too_large() => return self.invoke_for_window(Ending::Early).await,
            Some(_) => {}
            None => self.window = self.windows.open(first),
        }

        let part = self.backlog.take_part();
        let behind = self.backlog.behind(part).map(|record| self.windows.start_of(record));
        let is_last = self.window.as_ref().is_some_and(|window| behind.is_some_and(|start| start != window.start));
        let ending = if is_last { Ending::Final } else { Ending::NotYet };
        let success = match self.invocation(self.backlog.records(part.len).collect(), ending).run().await {
            Ok(success) => success,
            Err(error) => {
                tracing::error!(function = self.source.function, error, "function failed");
                return self.failed(part).await;
            }
        };
        if let Some(window) = &mut self.window {
            window.state = success.state;
        }
        self.backlog.done(success.done);
        if success.done < part.len {
            return self.partly(part, success.done).await;
        }
        if is_last {
            self.window = None;
        }
        None
    }

    /// Invokes the function without records, for the end of the window.
    pub(super) async fn end_window(&mut self) -> Option<Duration> {
        self.invoke_for_window(Ending::Final).await
    }

    async fn invoke_for_window(&mut self, ending: Ending) -> Option<Duration> {
        let outcome = self.invocation(Vec::new(), ending).run().await;
        let window = self.window.as_mut()?;
        if let Err(error) = outcome {
            window.failures += 1;
            tracing::error!(function = self.source.function, error, "function failed to end a window");
            // After the last retry the state is lost: there is no record that a message could point to.
            let is_tried_again = match self.source.maximum_retry_attempts {
                Some(most) => window.failures <= most,
                None => window.is_younger_than(self.source.maximum_record_age_seconds),
            };
            if is_tried_again {
                return Some(backoff(window.failures));
            }
        }
        if ending == Ending::Early {
            window.begin_again();
        } else {
            self.window = None;
        }
        None
    }

    fn invocation<'a>(&'a self, records: Vec<&'a Record>, ending: Ending) -> Invocation<'a> {
        Invocation {
            source: &self.source,
            sandbox: &self.sandbox,
            table: &self.source.table,
            stream: &self.stream,
            shard: &self.shard,
            window: self.window.as_ref(),
            records,
            ending,
        }
    }

    /// Handles a partial failure: the function processed only the first `done` records of the part.
    async fn partly(&mut self, part: Part, done: usize) -> Option<Duration> {
        let retries = match done {
            0 => part.retries + 1,
            // Like bisecting a batch, cutting it at the reported record uses up no retry.
            _ if self.source.bisects_batches => part.retries,
            _ => 1,
        };
        let rest = Part { len: part.len - done, retries };
        if self.source.maximum_retry_attempts.is_some_and(|most| retries > most) {
            self.give_up(rest.len, Reason::retry_attempts_exhausted(retries, false)).await;
            return None;
        }
        if done > 0 {
            self.backlog.put_back_rest(rest);
        } else {
            self.backlog.put_back(rest);
        }
        Some(backoff(retries))
    }

    /// Handles the failure of the whole part.
    async fn failed(&mut self, part: Part) -> Option<Duration> {
        if self.source.bisects_batches && part.len > 1 {
            let first = part.len / 2;
            self.backlog.put_back(Part { len: part.len - first, ..part });
            self.backlog.put_back(Part { len: first, ..part });
            return None;
        }
        let retries = part.retries + 1;
        if self.source.maximum_retry_attempts.is_some_and(|most| retries > most) {
            self.give_up(part.len, Reason::retry_attempts_exhausted(retries, true)).await;
            return None;
        }
        self.backlog.put_back(Part { retries, ..part });
        Some(backoff(retries))
    }

    async fn give_up(&mut self, len: usize, reason: Reason) {
        self.discard(&self.backlog.records(len).collect::<Vec<_>>(), reason).await;
        self.backlog.done(len);
    }

    /// Reports records that will not be delivered again.
    async fn discard(&self, records: &[&Record], reason: Reason) {
        let function = &self.source.function;
        let message = pointer(records, &reason, function, &self.stream, &self.shard);
        tracing::error!(function, %message, "records are given up");
        let Some(destination) = &self.source.on_failure else { return };
        let payload = || self.invocation(records.to_vec(), Ending::NotYet).event();
        if let Err(error) = self.failures.report(destination, function, &self.shard, message, payload).await {
            tracing::error!(function, "they cannot be reported: {error:#}");
        }
    }
}

/// The backoff: 100 ms before the first retry, doubled for each further one, two seconds at most.
fn backoff(failures: u64) -> Duration {
    let doublings = u32::try_from(failures.saturating_sub(1)).unwrap_or(u32::MAX);
    FIRST_BACKOFF.saturating_mul(2_u32.saturating_pow(doublings)).min(LONGEST_BACKOFF)
}
