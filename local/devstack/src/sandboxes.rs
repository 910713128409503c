//! The execution environments of every consumer.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use anyhow::{Context, Result, ensure};

use crate::sandbox::{Sandbox, StartConsumer};
use crate::stories::Stories;
use crate::template::Function;

/// Starts execution environments, and keeps track of them.
pub(crate) struct Sandboxes {
    /// Consumers by their handlers' names.
    consumers: Vec<(String, StartConsumer)>,
    functions: Vec<Function>,
    stories: Arc<Stories>,
    started: Mutex<Vec<(String, Arc<Sandbox>)>>,
}

impl Sandboxes {
    pub(crate) fn new(
        consumers: Vec<(String, StartConsumer)>,
        functions: Vec<Function>,
        stories: Arc<Stories>,
    ) -> Self {
        Self { consumers, functions, stories, started: Mutex::default() }
    }

    pub(crate) fn stories(&self) -> &Arc<Stories> {
        &self.stories
    }

    /// A fresh execution environment of this function.
    pub(crate) fn start(&self, logical_id: &str) -> Result<Arc<Sandbox>> {
        let function = self.functions.iter().find(|function| function.logical_id == logical_id);
        let function = function.with_context(|| format!("the template has no function {logical_id}"))?;
        let (_, start) = self.consumers.iter().find(|(name, _)| *name == function.handler).with_context(|| {
            let handler = &function.handler;
            format!("nothing consumes the events of {logical_id}: the stack was given no consumer {handler}")
        })?;
        let timeout = Duration::from_secs(function.timeout_seconds);
        let sandbox = Sandbox::start(logical_id, Arc::clone(start), timeout, &self.stories);
        let sandbox = Arc::new(sandbox.with_context(|| format!("cannot start {logical_id}"))?);
        self.started().push((function.handler.clone(), Arc::clone(&sandbox)));
        Ok(sandbox)
    }

    /// Ends every execution environment of the consumer with this handler at once, as a crash does.
    pub(crate) fn kill(&self, handler: &str) -> Result<()> {
        let started = self.started();
        let mut killed = started.iter().filter(|(name, _)| name == handler).peekable();
        ensure!(killed.peek().is_some(), "{handler} consumes nothing here");
        killed.for_each(|(_, sandbox)| sandbox.kill());
        Ok(())
    }

    /// Ends all environments.
    pub(crate) fn kill_all(&self) {
        self.started().iter().for_each(|(_, sandbox)| sandbox.kill());
    }

    fn started(&self) -> MutexGuard<'_, Vec<(String, Arc<Sandbox>)>> {
        self.started.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
