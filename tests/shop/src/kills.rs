//! Kills functions in the middle of their work, as the end of an execution environment does.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Poll;

use devstack::Functions;
use devstack::gateway::Invoke;
use fastrand::Rng;

use crate::invocations::changed;

/// The most steps that a function takes before it is killed. A step is the work between two waits, for example for an
/// answer of DynamoDB.
const MOST_STEPS: usize = 40;

/// Kills a share of all invocations, each after a random number of steps.
#[derive(Default)]
pub struct Kills {
    share: Mutex<Option<(f64, Rng)>>,
    killed: AtomicUsize,
}

impl Kills {
    /// From now on this share of the invocations is killed, unless they end earlier.
    pub fn begin(&self, share: f64, seed: u64) {
        *self.share.lock().unwrap_or_else(PoisonError::into_inner) = Some((share, Rng::with_seed(seed)));
    }

    /// From now on nothing is killed.
    pub fn end(&self) {
        *self.share.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// The number of invocations that were killed.
    pub fn killed(&self) -> usize {
        self.killed.load(Ordering::SeqCst)
    }

    /// The same functions, which can be killed.
    pub fn of(self: &Arc<Self>, functions: Functions) -> Functions {
        let kills = Arc::clone(self);
        changed(functions, &move |invoke| kills.mortal(invoke))
    }

    /// The same function, which can be killed.
    pub fn mortal(self: &Arc<Self>, invoke: Invoke) -> Invoke {
        let kills = Arc::clone(self);
        Arc::new(move |event| {
            let (kills, work, steps) = (Arc::clone(&kills), invoke(event), kills.draw());
            Box::pin(async move {
                let Some(steps) = steps else { return work.await };
                let outcome = for_steps(steps, work).await;
                outcome.unwrap_or_else(|| {
                    kills.killed.fetch_add(1, Ordering::SeqCst);
                    Err("killed".to_owned())
                })
            })
        })
    }

    /// The number of steps that an invocation may take, if it is to be killed.
    fn draw(&self) -> Option<usize> {
        let mut share = self.share.lock().unwrap_or_else(PoisonError::into_inner);
        let (share, random) = share.as_mut()?;
        (random.f64() < *share).then(|| random.usize(0..MOST_STEPS))
    }
}

/// The outcome of work that is done in this number of steps, or `None`: then the caller drops the work, as if it were
/// killed, or goes on with it later.
pub async fn for_steps<T>(steps: usize, work: impl Future<Output = T>) -> Option<T> {
    let (mut work, mut left) = (pin!(work), steps);
    poll_fn(move |context| match work.as_mut().poll(context) {
        Poll::Ready(outcome) => Poll::Ready(Some(outcome)),
        Poll::Pending if left == 0 => Poll::Ready(None),
        Poll::Pending => {
            left -= 1;
            Poll::Pending
        }
    })
    .await
}
