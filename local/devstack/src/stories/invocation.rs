//! What an invocation tells of itself while it runs.

use std::sync::Arc;

use super::Stories;

tokio::task_local! {
    static RUNNING: Invocation;
}

/// A request to a function, or an invocation by an event source, that is under way.
#[derive(Clone)]
pub(crate) struct Invocation {
    pub(super) stories: Arc<Stories>,
    /// `None`: stories are not remembered.
    pub(super) number: Option<u64>,
}

impl Invocation {
    /// Does the work of this invocation. The environment that it [enters](Self::enter) is its own until another one enters it.
    pub(crate) fn run<F: Future>(self, work: F) -> impl Future<Output = F::Output> {
        RUNNING.scope(self, work)
    }

    /// The running invocation is handled by the environment with this access key. Without one, nothing happens.
    pub(crate) fn enter(access_key: &Arc<str>) {
        _ = RUNNING.try_with(|running| running.stories.enter(running.number, access_key));
    }

    /// The client of the request gets an answer of this status.
    pub(crate) fn answered(&self, status: u16) {
        self.stories.ended(self.number, Some(status), None);
    }

    /// It has ended, with this error or none.
    pub(crate) fn ended(&self, error: Option<&str>) {
        self.stories.ended(self.number, None, error);
    }
}
