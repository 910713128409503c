//! Kills functions in the middle of their work, as the end of an execution environment does.

use std::future::poll_fn;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Poll;

use devstack::Functions;
use devstack::gateway::Invoke;
use fastrand::Rng;

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
        let handlers = functions.handlers.into_iter().map(|(name, invoke)| (name, self.mortal(invoke))).collect();
        let consumers = functions.consumers.into_iter().map(|(name, start)| {
            let kills = Arc::clone(self);
            let start: devstack::StartConsumer = Arc::new(move || Ok(kills.mortal(start()?)));
            (name, start)
        });
        Functions { handlers, consumers: consumers.collect() }
    }

    fn mortal(self: &Arc<Self>, invoke: Invoke) -> Invoke {
        let kills = Arc::clone(self);
        Arc::new(move |event| {
            let (kills, mut work) = (Arc::clone(&kills), invoke(event));
            let mut steps_left = kills.draw();
            Box::pin(poll_fn(move |context| match (work.as_mut().poll(context), &mut steps_left) {
                (Poll::Ready(outcome), _) => Poll::Ready(outcome),
                (Poll::Pending, None) => Poll::Pending,
                (Poll::Pending, Some(0)) => {
                    // The caller drops this future, and the work with it.
                    kills.killed.fetch_add(1, Ordering::SeqCst);
                    Poll::Ready(Err("killed".to_owned()))
                }
                (Poll::Pending, Some(left)) => {
                    *left -= 1;
                    Poll::Pending
                }
            }))
        })
    }

    /// The number of steps that an invocation may take, if it is to be killed.
    fn draw(&self) -> Option<usize> {
        let mut share = self.share.lock().unwrap_or_else(PoisonError::into_inner);
        let (share, random) = share.as_mut()?;
        (random.f64() < *share).then(|| random.usize(0..MOST_STEPS))
    }
}
