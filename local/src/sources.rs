//! The event sources: what reads for the consumers and invokes them.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::queue_source::Poller;
use crate::sandbox::{Sandbox, StartConsumer};
use crate::sqs::Sqs;
use crate::template::Template;

/// Every running event source. They end when dropped.
pub(crate) struct Sources {
    /// The execution environments, with the binaries that run in them.
    sandboxes: Vec<(String, Arc<Sandbox>)>,
    stop: watch::Sender<bool>,
    pollers: JoinSet<()>,
}

impl Sources {
    /// Connects the consumers, named by their binaries, to the template's event sources.
    pub(crate) fn start(template: &Template, consumers: &[(String, StartConsumer)], sqs: &Sqs) -> Result<Self> {
        let mut sources = Self { sandboxes: Vec::new(), stop: watch::Sender::new(false), pollers: JoinSet::new() };
        for source in template.queue_sources.iter().filter(|source| source.enabled) {
            for _ in 0..source.maximum_concurrency {
                let sandbox = sources.sandbox(template, &source.function, consumers)?;
                let queue = template.queue(&source.queue);
                let queue = queue.with_context(|| format!("there is no queue {}", source.queue))?;
                let poller = Poller { sqs: sqs.clone(), source: source.clone(), arn: queue.arn(), sandbox };
                sources.pollers.spawn(poller.run(sources.stop.subscribe()));
            }
        }
        Ok(sources)
    }

    /// A fresh execution environment of this function.
    fn sandbox(
        &mut self,
        template: &Template,
        logical_id: &str,
        consumers: &[(String, StartConsumer)],
    ) -> Result<Arc<Sandbox>> {
        let missing = || format!("nothing consumes the events of {logical_id}: this build has no such consumer");
        let function = template.function(logical_id).with_context(missing)?;
        let (_, start) = consumers.iter().find(|(name, _)| *name == function.binary).with_context(missing)?;
        let sandbox = Sandbox::start(Arc::clone(start), Duration::from_secs(function.timeout_seconds));
        let sandbox = Arc::new(sandbox.with_context(|| format!("cannot start {logical_id}"))?);
        self.sandboxes.push((function.binary.clone(), Arc::clone(&sandbox)));
        Ok(sandbox)
    }

    /// Ends every execution environment of this binary at once, as a crash does.
    pub(crate) fn kill(&self, binary: &str) -> Result<()> {
        let mut killed = self.sandboxes.iter().filter(|(name, _)| name == binary).peekable();
        ensure!(killed.peek().is_some(), "{binary} consumes nothing here");
        killed.for_each(|(_, sandbox)| sandbox.kill());
        Ok(())
    }

    /// Reads no more, and lets running invocations finish within this time.
    pub(crate) async fn stop(mut self, grace: Duration) {
        self.stop.send_replace(true);
        let finished = async { while self.pollers.join_next().await.is_some() {} };
        _ = tokio::time::timeout(grace, finished).await;
        // Without its poller, an invocation that runs on would still write to the table.
        self.sandboxes.iter().for_each(|(_, sandbox)| sandbox.kill());
    }
}

#[cfg(test)]
#[path = "sources_tests.rs"]
mod tests;
