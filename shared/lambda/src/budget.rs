//! How long to try again.

use std::time::Duration;

use tokio::time::Instant;

/// The time that is left for one request. Copies share the same end.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    end: Instant,
}

impl Budget {
    /// So much time from now on.
    pub fn of(time: Duration) -> Self {
        Self { end: Instant::now() + time }
    }

    /// The same, but at most so much time from now on.
    #[must_use]
    pub fn at_most(self, time: Duration) -> Self {
        Self { end: self.end.min(Instant::now() + time) }
    }

    /// Waits after attempt number `attempt` (from 1 on), for a random part of the [longest pause](Self::longest_pause)
    /// ("full jitter"), so that those who collided do not meet again. `false` when too little time is left for another
    /// attempt.
    pub async fn wait(&self, attempt: u32) -> bool {
        let pause = Self::longest_pause(attempt).mul_f64(fastrand::f64());
        if Instant::now() + pause >= self.end {
            return false;
        }
        tokio::time::sleep(pause).await;
        true
    }

    /// At most so long is the pause after this attempt: 25 ms, doubled with each attempt up to 800 ms.
    pub const fn longest_pause(attempt: u32) -> Duration {
        let doubled = attempt.saturating_sub(1);
        Duration::from_millis(25 << if doubled < 5 { doubled } else { 5 })
    }
}
