//! A run: workers that send requests, and the progress line.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use indicatif::ProgressBar;

use super::TICK;
use super::judge::{Effect, judge};
use super::shop::Shop;
use super::tally::Tally;
use super::traffic::{Ask, Placed, Shopper};

/// The end of a run.
pub(super) enum End {
    After(Duration),
    Requests { limit: u64, begun: AtomicU64 },
}

/// State that the workers share.
pub(super) struct Run {
    pub(super) shop: Shop,
    pub(super) end: End,
    pub(super) began: Instant,
    pub(super) tally: Mutex<Tally>,
    pub(super) bar: ProgressBar,
}

impl Run {
    fn goes_on(&self) -> bool {
        match &self.end {
            End::After(duration) => self.began.elapsed() < *duration,
            End::Requests { limit, begun } => begun.fetch_add(1, Ordering::Relaxed) < *limit,
        }
    }

    pub(super) fn tally(&self) -> MutexGuard<'_, Tally> {
        self.tally.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One worker: sends a request, waits for the answer, and repeats.
pub(super) async fn work(run: Arc<Run>, mut shopper: Shopper) {
    while run.goes_on() {
        let ask = shopper.next();
        let began = Instant::now();
        let reply = run.shop.send(&ask).await;
        let took = began.elapsed();
        let judgement = judge(&ask, reply);
        if let (Ask::PlaceOrder(order), Effect::Placed { id }) = (&ask, &judgement.effect) {
            shopper.remember(Placed { id: id.clone(), order: Arc::clone(order) });
        }
        run.tally().add(&ask, took, judgement);
    }
}

/// Updates the progress line, on a terminal.
pub(super) async fn show(run: Arc<Run>) {
    let mut ticks = tokio::time::interval(TICK);
    loop {
        ticks.tick().await;
        let (done, errors) = {
            let tally = run.tally();
            (tally.done(), tally.errors)
        };
        let position = match run.end {
            End::After(_) => u64::try_from(run.began.elapsed().as_millis()).unwrap_or(u64::MAX),
            End::Requests { .. } => done,
        };
        run.bar.set_position(position);
        run.bar.set_message(format!("{done} done  {errors} errors"));
    }
}
