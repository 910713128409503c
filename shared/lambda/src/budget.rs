//! Retries with backoff, within the time that is left.

use std::time::Duration;

use tokio::time::Instant;

/// The time that is left for one request. Copies share the same end.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    end: Instant,
}

impl Budget {
    /// A budget that ends after this time from now.
    pub fn of(time: Duration) -> Self {
        Self { end: Instant::now() + time }
    }

    /// A budget that ends with this one, but after this time from now at the latest.
    #[must_use]
    pub fn at_most(self, time: Duration) -> Self {
        Self { end: self.end.min(Instant::now() + time) }
    }

    /// The retries of one operation.
    pub fn retries(self) -> Retries {
        Retries { budget: self, made: 0 }
    }
}

/// The retries of one operation within a [`Budget`]: a pause before each, with exponential backoff and full jitter, so
/// that writers that collided do not collide again.
#[derive(Clone, Copy, Debug)]
#[must_use]
pub struct Retries {
    budget: Budget,
    made: u32,
}

impl Retries {
    /// Pauses before the next retry, for a random part of the [longest pause](longest_pause). Returns `false` at once
    /// if the budget ends before the pause would: then there is no retry.
    pub async fn pause(&mut self) -> bool {
        let pause = longest_pause(self.made).mul_f64(fastrand::f64());
        if Instant::now() + pause >= self.budget.end {
            return false;
        }
        self.made = self.made.saturating_add(1);
        tokio::time::sleep(pause).await;
        true
    }
}

/// The longest pause after this number of retries: 25 ms, doubled with each retry up to 800 ms.
pub const fn longest_pause(retries: u32) -> Duration {
    Duration::from_millis(25 << if retries < 5 { retries } else { 5 })
}
