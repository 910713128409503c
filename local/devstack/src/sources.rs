//! The event sources: they read queues and streams, and invoke the consumers.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;

use crate::queue_source::Poller;
use crate::sandbox::StartConsumer;
use crate::sandboxes::Sandboxes;
use crate::sqs::{Counts, Sqs};
use crate::stories::Stories;
use crate::stream::Stream;
use crate::stream_source::{Consumer, Failures, Token};
use crate::template::Template;

/// The interval between checks whether a queue is empty.
const BETWEEN_LOOKS: Duration = Duration::from_millis(20);

/// Every running event source. They end when dropped.
pub(crate) struct Sources {
    sandboxes: Arc<Sandboxes>,
    sqs: Sqs,
    failures: Failures,
    /// The names of the queues that are consumed.
    queues: Vec<String>,
    /// Channels to the consumers of streams.
    streams: Vec<mpsc::UnboundedSender<Token>>,
    stop: watch::Sender<bool>,
    running: JoinSet<()>,
}

impl Sources {
    /// Connects the consumers, named by their handlers, to the template's event sources. `dynamodb_url` is used to find
    /// the streams, and the other URL to read them.
    pub(crate) async fn start(
        template: &Template,
        consumers: Vec<(String, StartConsumer)>,
        failures: Failures,
        stories: &Arc<Stories>,
        dynamodb_url: &str,
        stream_url: &str,
    ) -> Result<Self> {
        let mut sources = Self {
            sandboxes: Arc::new(Sandboxes::new(consumers, template.functions.clone(), Arc::clone(stories))),
            sqs: failures.sqs.clone(),
            failures,
            queues: Vec::new(),
            streams: Vec::new(),
            stop: watch::Sender::new(false),
            running: JoinSet::new(),
        };
        sources.consume_queues(template).await?;
        sources.consume_streams(template, dynamodb_url, stream_url).await?;
        Ok(sources)
    }

    async fn consume_queues(&mut self, template: &Template) -> Result<()> {
        for source in template.queue_sources.iter().filter(|source| source.enabled) {
            let queue = template.queue(&source.queue);
            let queue = queue.with_context(|| format!("there is no queue {}", source.queue))?;
            // Lambda reads with the function's own role, which must also allow it to read the queue's attributes.
            let sqs = self.sqs.signed_by(&source.function);
            let refused = || format!("{}: the role cannot consume {}", source.function, source.queue);
            sqs.counts_of(&source.queue).await.with_context(refused)?;
            for _ in 0..source.maximum_concurrency {
                let sandbox = self.sandboxes.start(&source.function)?;
                let poller = Poller { sqs: sqs.clone(), source: source.clone(), arn: queue.arn(), sandbox };
                self.running.spawn(poller.run(self.stop.subscribe()));
            }
            self.queues.push(source.queue.clone());
        }
        Ok(())
    }

    async fn consume_streams(&mut self, template: &Template, dynamodb_url: &str, stream_url: &str) -> Result<()> {
        let mut streams = BTreeMap::new();
        for source in template.stream_sources.iter().filter(|source| source.enabled) {
            let stream = match streams.entry(source.table.as_str()) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(new) => new.insert(Stream::of_table(dynamodb_url, &source.table, stream_url).await?),
            };
            let stop = self.stop.subscribe();
            let refused = || format!("{}: the role cannot consume the stream of {}", source.function, source.table);
            let stream = Arc::new(stream.signed_by(&source.function).await.with_context(refused)?);
            let failures = self.failures.of(&source.function);
            let consumer = Consumer::start(source, &stream, &failures, &self.sandboxes, stop).await?;
            let (ask, asking) = mpsc::unbounded_channel();
            self.running.spawn(consumer.run(asking));
            self.streams.push(ask);
        }
        Ok(())
    }

    /// Ends every execution environment of the consumer with this handler at once, as a crash does.
    pub(crate) fn kill(&self, handler: &str) -> Result<()> {
        self.sandboxes.kill(handler)
    }

    /// Waits until the queues and then the streams have nothing left, this number of times.
    pub(crate) async fn settle(&self, rounds: usize, within: Duration) -> Result<()> {
        let settling = async {
            for _ in 0..rounds {
                // Queues first: their consumers write to the table.
                self.settle_queues().await?;
                self.settle_streams().await;
            }
            Ok(())
        };
        if let Ok(settled) = tokio::time::timeout(within, settling).await {
            return settled;
        }
        let (seconds, queues) = (within.as_secs_f64(), self.busy_queues().await);
        bail!("the event sources are still busy after {seconds} s: {queues}")
    }

    /// Waits until the consumed queues are empty, including messages in flight and delayed ones.
    async fn settle_queues(&self) -> Result<()> {
        for queue in &self.queues {
            while self.sqs.counts_of(queue).await? != Counts::default() {
                tokio::time::sleep(BETWEEN_LOOKS).await;
            }
        }
        Ok(())
    }

    /// The consumed queues that are not empty, as a text.
    async fn busy_queues(&self) -> String {
        let mut busy = Vec::new();
        for queue in &self.queues {
            match self.sqs.counts_of(queue).await {
                Ok(counts) if counts == Counts::default() => {}
                Ok(Counts { visible, in_flight, delayed }) => {
                    busy.push(format!(
                        "{queue} has {visible} messages visible, {in_flight} in flight, {delayed} delayed"
                    ));
                }
                Err(error) => busy.push(format!("{queue} does not answer: {error:#}")),
            }
        }
        if busy.is_empty() { "every consumed queue is empty".to_owned() } else { busy.join("; ") }
    }

    /// Waits until every consumer of a stream has processed everything that was written before. Meanwhile batches are
    /// delivered without waiting to be full.
    pub(crate) async fn settle_streams(&self) {
        let (token, mut settled) = mpsc::channel(1);
        self.streams.iter().for_each(|consumer| _ = consumer.send(token.clone()));
        drop(token);
        // Nothing is sent on this channel: it closes when the last token is dropped.
        settled.recv().await;
    }

    /// Stops reading, and lets running invocations finish within this time.
    pub(crate) async fn stop(mut self, grace: Duration) {
        self.stop.send_replace(true);
        let finished = async { while self.running.join_next().await.is_some() {} };
        _ = tokio::time::timeout(grace, finished).await;
        // An invocation that outlives its poller would still write to the table.
        self.sandboxes.kill_all();
    }
}

#[cfg(test)]
#[path = "sources_tests.rs"]
mod tests;
