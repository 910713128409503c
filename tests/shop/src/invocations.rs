//! The invocations of functions that are under way.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use devstack::gateway::Invoke;
use devstack::{Functions, StartConsumer};
use tokio::time::Instant;

/// The same functions, each changed like this.
pub(crate) fn changed(
    functions: Functions,
    change: &(impl Fn(Invoke) -> Invoke + Clone + Send + Sync + 'static),
) -> Functions {
    let handlers = functions.handlers.into_iter().map(|(name, invoke)| (name, change(invoke))).collect();
    let consumers = functions.consumers.into_iter().map(|(name, start)| {
        let change = change.clone();
        let start: StartConsumer = Arc::new(move || Ok(change(start()?)));
        (name, start)
    });
    Functions { handlers, consumers: consumers.collect() }
}

/// When each invocation that is under way began, and its number.
#[derive(Default)]
pub struct Invocations {
    under_way: Mutex<BTreeSet<(Instant, u64)>>,
    begun: AtomicU64,
}

impl Invocations {
    /// The moment at which the oldest invocation that is under way began.
    pub fn since(&self) -> Option<Instant> {
        self.under_way().first().map(|(began, _)| *began)
    }

    /// The same function, whose invocations are known here.
    pub fn known(self: &Arc<Self>, invoke: Invoke) -> Invoke {
        let invocations = Arc::clone(self);
        Arc::new(move |event| {
            let (one, work) = (Invocation::begin(&invocations), invoke(event));
            Box::pin(async move {
                let outcome = work.await;
                drop(one);
                outcome
            })
        })
    }

    fn under_way(&self) -> MutexGuard<'_, BTreeSet<(Instant, u64)>> {
        self.under_way.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An invocation under way. It ends when this is dropped.
struct Invocation(Arc<Invocations>, (Instant, u64));

impl Invocation {
    fn begin(all: &Arc<Invocations>) -> Self {
        let one = (Instant::now(), all.begun.fetch_add(1, Ordering::Relaxed));
        all.under_way().insert(one);
        Self(Arc::clone(all), one)
    }
}

impl Drop for Invocation {
    fn drop(&mut self) {
        self.0.under_way().remove(&self.1);
    }
}
