//! The clock of tests, and their waits.
//!
//! A test must not fail because the machine was busy with something else. So its timers follow a clock that stands still
//! meanwhile, and it waits for what it needs, never for a time.

use std::cell::RefCell;
use std::fmt::Display;
use std::sync::{Arc, Weak};
use std::thread;
use std::time::Duration;

use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::sync::mpsc;
use tokio::task::{spawn_blocking, yield_now};
use tokio::time::{Instant, advance, pause, sleep};

/// The limit of every wait. Nothing that works comes near to it.
pub const PATIENCE: Duration = Duration::from_mins(5);

/// The pause between two looks.
const BETWEEN_LOOKS: Duration = Duration::from_millis(10);

/// The time between two ticks on the machine's clock, at least.
const BETWEEN_TICKS: Duration = Duration::from_millis(5);

/// The longest time by which one tick advances the clock.
const LONGEST_TICK: Duration = Duration::from_millis(20);

/// What can run gets this number of turns before each tick.
const TURNS: usize = 8;

/// From now on the timers of this runtime follow a clock that advances only as the test gets on: before each tick,
/// everything that can run has run several times. So nothing times out because the machine is slow, or stands still. The
/// clock is never faster than the machine's. A runtime with several threads keeps the machine's clock.
pub fn start() {
    thread_local!(static RUNNING: RefCell<Weak<()>> = RefCell::default());
    let is_single = Handle::current().runtime_flavor() == RuntimeFlavor::CurrentThread;
    if !is_single || RUNNING.with_borrow(|running| running.strong_count() > 0) {
        return;
    }
    let running = Arc::new(());
    RUNNING.set(Arc::downgrade(&running));
    pause();
    let (tick, mut ticks) = mpsc::channel(1);
    // While a blocking task runs, tokio does not advance a clock that is paused.
    spawn_blocking(move || {
        while tick.blocking_send(()).is_ok() {
            thread::sleep(BETWEEN_TICKS);
        }
    });
    tokio::spawn(async move {
        let mut last = std::time::Instant::now();
        while ticks.recv().await.is_some() {
            for _ in 0..TURNS {
                yield_now().await;
            }
            let passed = last.elapsed();
            last += passed;
            advance(passed.min(LONGEST_TICK)).await;
        }
        drop(running);
    });
}

/// Tells how long the clock stood still, for what follows the machine's clock.
pub(crate) struct Standstill {
    machine: std::time::Instant,
    clock: Instant,
    told: i64,
}

impl Default for Standstill {
    fn default() -> Self {
        Self { machine: std::time::Instant::now(), clock: Instant::now(), told: 0 }
    }
}

impl Standstill {
    /// The milliseconds for which the clock stood still since this was last called.
    pub(crate) fn take(&mut self) -> i64 {
        let all = self.machine.elapsed().saturating_sub(self.clock.elapsed()).as_millis();
        let new = i64::try_from(all).unwrap_or_default().saturating_sub(self.told).max(0);
        self.told += new;
        new
    }
}

/// Waits until this is so.
///
/// # Panics
/// It is not so for a very long time.
pub async fn until(what: impl Display, mut is_so: impl AsyncFnMut() -> bool) {
    until_some(what, async || is_so().await.then_some(())).await;
}

/// Looks until there is something, and returns it.
///
/// # Panics
/// There is nothing for a very long time.
pub async fn until_some<T>(what: impl Display, mut find: impl AsyncFnMut() -> Option<T>) -> T {
    let begin = Instant::now();
    loop {
        if let Some(found) = find().await {
            return found;
        }
        assert!(begin.elapsed() < PATIENCE, "still not after {} s: {what}", PATIENCE.as_secs());
        sleep(BETWEEN_LOOKS).await;
    }
}
