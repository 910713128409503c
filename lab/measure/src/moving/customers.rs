//! The load: customers who send requests at a steady rate, whether the shop answers soon or late.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::Result;
use fastrand::Rng;
use tokio::task::JoinSet;
use tokio::time::{Instant, Interval, interval_at};
use tracing::warn;

use super::log::{Log, Request};
use crate::load::judge::{Effect, judge};
use crate::load::shop::Shop;
use crate::load::traffic::{Ask, Crowd, Mix, Placed, Shopper, Tastes};

/// Each sends one request after the other, so a request may take this many times the average interval before another
/// one is late.
const CUSTOMERS: u32 = 64;

/// Customers who send requests until they are told to stop.
pub(super) struct Customers {
    coming: JoinSet<()>,
    is_over: Arc<AtomicBool>,
}

impl Customers {
    pub(super) fn start(shop: Shop, crowd: Crowd, rate: u32, seed: u64, log: &Arc<Log>) -> Result<Self> {
        let (shop, tastes) = (Arc::new(shop), Arc::new(Tastes::of(crowd)?));
        let (mut seeds, each) = (Rng::with_seed(seed), Duration::from_secs(1) / rate);
        let (mut coming, is_over) = (JoinSet::new(), Arc::new(AtomicBool::new(false)));
        for number in 0..CUSTOMERS {
            let shopper = Shopper::new(number.into(), seeds.u64(..), Mix::All, Arc::clone(&tastes));
            let due = interval_at(Instant::now() + each * number, each * CUSTOMERS);
            coming.spawn(come(Arc::clone(&shop), shopper, due, Arc::clone(log), Arc::clone(&is_over)));
        }
        Ok(Self { coming, is_over })
    }

    /// Waits for the answers to the last requests.
    pub(super) async fn stop(mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        while self.coming.join_next().await.is_some() {}
    }
}

/// One customer, whose requests are due at fixed times. A late request is sent at once, and its lateness counts.
async fn come(shop: Arc<Shop>, mut shopper: Shopper, mut due: Interval, log: Arc<Log>, is_over: Arc<AtomicBool>) {
    loop {
        let at = due.tick().await;
        if is_over.load(Ordering::Relaxed) {
            return;
        }
        let ask = shopper.next();
        let judgement = judge(&ask, shop.send(&ask).await);
        if let (Ask::PlaceOrder(order), Effect::Placed { id }) = (&ask, &judgement.effect) {
            shopper.remember(Placed { id: id.clone(), order: Arc::clone(order) });
        }
        let (at, took) = (at.duration_since(log.began), at.elapsed());
        if !judgement.is_expected {
            let (kind, millis) = (ask.kind().name(), took.as_millis());
            warn!(answer = judgement.answer, millis, "{kind}: an answer that should not be");
        }
        log.request(Request { at, took, answer: judgement.answer, is_expected: judgement.is_expected });
    }
}
