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

    /// Waits before attempt number `attempt` (from 1 on): up to 25 ms, doubled with each attempt up to 800 ms, at
    /// random, so that those who collided do not meet again. `false` when too little time is left for another
    /// attempt.
    pub async fn wait(&self, attempt: u32) -> bool {
        let pause = pause(attempt);
        if Instant::now() + pause >= self.end {
            return false;
        }
        tokio::time::sleep(pause).await;
        true
    }
}

/// "Full jitter": a random time up to 25 ms, doubled with each attempt up to 800 ms.
fn pause(attempt: u32) -> Duration {
    Duration::from_millis(25 << attempt.saturating_sub(1).min(5)).mul_f64(fastrand::f64())
}
