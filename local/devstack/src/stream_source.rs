//! The table's stream as an event source, as on Lambda: a poller for each shard, batches in sequence, retries, windows.
//!
//! Only one invocation runs per shard at a time, because the consumer keeps one checkpoint for each shard.

mod backlog;
mod delivery;
mod discard;
mod invocation;
mod poller;
mod reader;
mod record;
mod window;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;

use self::delivery::Delivery;
pub(crate) use self::discard::Failures;
use self::poller::Poller;
use self::reader::Reader;
use crate::sandbox::Sandbox;
use crate::sandboxes::Sandboxes;
use crate::stream::{Position, Shard, Stream};
use crate::template::StreamSource;

/// The interval between checks for new shards. When a shard ends, its children are looked for at once. The embedded engine
/// always has exactly one shard, and needs a time in proportion to the stream for each check.
const BETWEEN_LOOKS: Duration = Duration::from_mins(1);

/// A token of a caller that waits until everything is delivered. Each poller receives one, and drops it after it has
/// delivered everything that was in its shard at that time.
pub(crate) type Token = mpsc::Sender<()>;

/// The consumer of a stream, with a poller for each shard.
pub(crate) struct Consumer {
    source: Arc<StreamSource>,
    stream: Arc<Stream>,
    failures: Failures,
    sandboxes: Arc<Sandboxes>,
    /// Execution environments whose shard has ended, for reuse.
    idle: Vec<Arc<Sandbox>>,
    stop: watch::Receiver<bool>,
    /// Shards with a poller, and the channel to it.
    running: BTreeMap<String, mpsc::UnboundedSender<Token>>,
    finished: BTreeSet<String>,
    pollers: JoinSet<(String, Arc<Sandbox>)>,
}

impl Consumer {
    /// Starts to consume, with the oldest record.
    pub(crate) async fn start(
        source: &StreamSource,
        stream: &Arc<Stream>,
        failures: &Failures,
        sandboxes: &Arc<Sandboxes>,
        stop: watch::Receiver<bool>,
    ) -> Result<Self> {
        let mut consumer = Self {
            source: Arc::new(source.clone()),
            stream: Arc::clone(stream),
            failures: failures.clone(),
            sandboxes: Arc::clone(sandboxes),
            // Started now, so that a consumer that cannot start is reported now.
            idle: vec![sandboxes.start(&source.function)?],
            stop,
            running: BTreeMap::new(),
            finished: BTreeSet::new(),
            pollers: JoinSet::new(),
        };
        consumer.look().await?;
        Ok(consumer)
    }

    /// Looks for new shards until `stop` turns true, and then waits for the pollers.
    pub(crate) async fn run(mut self, mut asking: mpsc::UnboundedReceiver<Token>) {
        let mut stop = self.stop.clone();
        let mut looks = tokio::time::interval(BETWEEN_LOOKS);
        loop {
            tokio::select! {
                _ = stop.wait_for(|stop| *stop) => break,
                Some(token) = asking.recv() => {
                    self.running.values().for_each(|poller| _ = poller.send(token.clone()));
                    continue;
                }
                Some(finished) = self.pollers.join_next() => {
                    if let Ok((shard, sandbox)) = finished {
                        self.running.remove(&shard);
                        self.finished.insert(shard);
                        self.idle.push(sandbox);
                    }
                }
                _ = looks.tick() => {}
            }
            if let Err(error) = self.look().await {
                tracing::warn!(function = self.source.function, "cannot look for new shards: {error:#}");
            }
        }
        while self.pollers.join_next().await.is_some() {}
    }

    /// Starts a poller for every new shard whose parent is read to its end: parents come before their children.
    async fn look(&mut self) -> Result<()> {
        let shards = self.stream.shards().await?;
        let known: BTreeSet<_> = shards.iter().map(|shard| shard.id.clone()).collect();
        self.finished.retain(|shard| known.contains(shard));
        for Shard { id, parent } in shards {
            let after = parent.is_none_or(|parent| !known.contains(&parent) || self.finished.contains(&parent));
            if after && !self.running.contains_key(&id) && !self.finished.contains(&id) {
                self.poll(id)?;
            }
        }
        Ok(())
    }

    fn poll(&mut self, shard: String) -> Result<()> {
        let reader = Reader {
            stream: Arc::clone(&self.stream),
            table: self.source.table.clone(),
            stories: Arc::clone(self.sandboxes.stories()),
            shard: shard.clone(),
            filters: self.source.filters.clone(),
            position: Position::TrimHorizon,
            iterator: None,
        };
        let sandbox = self.idle.pop().map_or_else(|| self.sandboxes.start(&self.source.function), Ok)?;
        let (ask, asking) = mpsc::unbounded_channel();
        let (source, used) = (Arc::clone(&self.source), Arc::clone(&sandbox));
        let delivery = Delivery::new(source, used, self.failures.clone(), self.stream.arn(), &shard);
        let poller = Poller { reader, delivery, asking, waiting: Vec::new() }.run(self.stop.clone());
        self.running.insert(shard.clone(), ask);
        self.pollers.spawn(async move {
            poller.await;
            (shard, sandbox)
        });
        Ok(())
    }
}

#[cfg(test)]
#[path = "stream_source_tests/mod.rs"]
mod tests;
