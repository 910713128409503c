//! One execution environment of a consumer, as on Lambda: it is started once, runs one invocation at a time, and loses
//! its state when it crashes.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use anyhow::Result;
use serde_json::Value;
use tokio::task::AbortHandle;

use crate::gateway::Invoke;
use crate::stories::{Invocation, Stories};

/// The largest event that Lambda invokes a function with: 6 MB.
pub(crate) const MAX_EVENT_BYTES: usize = 6 * 1024 * 1024;

/// Starts a consumer in a fresh execution environment, with state of its own.
pub type StartConsumer = Arc<dyn Fn() -> Result<Invoke> + Send + Sync>;

pub(crate) struct Sandbox {
    /// The function's logical id.
    function: String,
    start: StartConsumer,
    timeout: Duration,
    stories: Arc<Stories>,
    inside: Mutex<Inside>,
}

struct Inside {
    /// None after a crash, until the next invocation.
    invoke: Option<Invoke>,
    running: Option<AbortHandle>,
}

impl Sandbox {
    pub(crate) fn start(
        function: &str,
        start: StartConsumer,
        timeout: Duration,
        stories: &Arc<Stories>,
    ) -> Result<Self> {
        let inside = Mutex::new(Inside { invoke: Some(start()?), running: None });
        Ok(Self { function: function.to_owned(), start, timeout, stories: Arc::clone(stories), inside })
    }

    /// Runs the function with this event, which these records or messages caused.
    pub(crate) async fn invoke(&self, event: Value, causes: Vec<String>) -> Result<Value, String> {
        let invocation = self.stories.invocation(&self.function, causes);
        let outcome = self.run(event, invocation.clone()).await;
        invocation.ended(outcome.as_ref().err().map(String::as_str));
        outcome
    }

    /// Runs the function until it answers, fails, times out or crashes. After a timeout or a crash the environment
    /// starts afresh.
    async fn run(&self, event: Value, invocation: Invocation) -> Result<Value, String> {
        let task = {
            let mut inside = self.inside();
            let invoke = match &inside.invoke {
                Some(invoke) => Arc::clone(invoke),
                None => (self.start)().map_err(|error| format!("{error:#}"))?,
            };
            // A task of its own, so that a panic stays there and the invocation can be aborted.
            let task = tokio::spawn(invocation.run(tokio::time::timeout(self.timeout, invoke(event))));
            *inside = Inside { invoke: Some(invoke), running: Some(task.abort_handle()) };
            task
        };
        let crash = match task.await {
            Ok(Ok(outcome)) => return outcome,
            Ok(Err(_)) => format!("timed out after {} s", self.timeout.as_secs()),
            Err(error) if error.is_cancelled() => "killed".to_owned(),
            Err(error) => error.to_string(),
        };
        self.inside().invoke = None;
        Err(crash)
    }

    /// Ends the environment at once, and the invocation that runs in it.
    pub(crate) fn kill(&self) {
        let mut inside = self.inside();
        inside.invoke = None;
        if let Some(running) = inside.running.take() {
            running.abort();
        }
    }

    fn inside(&self) -> MutexGuard<'_, Inside> {
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
