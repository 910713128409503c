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

    /// A budget that ends this time earlier.
    #[must_use]
    pub fn less(self, time: Duration) -> Self {
        Self { end: self.end.checked_sub(time).unwrap_or(self.end) }
    }

    /// Whether the time is over.
    pub fn is_over(self) -> bool {
        self.end <= Instant::now()
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
    /// if the budget would leave no time for an attempt after the pause: then there is no retry.
    pub async fn pause(&mut self) -> bool {
        let Some(pause) = self.next_pause(Instant::now(), fastrand::f64()) else { return false };
        tokio::time::sleep(pause).await;
        true
    }

    /// The pause before the next retry: this part of the longest pause. `None` if the budget would leave less than
    /// [`ATTEMPT`] after the pause.
    fn next_pause(&mut self, now: Instant, part: f64) -> Option<Duration> {
        let pause = longest_pause(self.made).mul_f64(part);
        if now + pause + ATTEMPT >= self.budget.end {
            return None;
        }
        self.made = self.made.saturating_add(1);
        Some(pause)
    }
}

/// The time that an attempt gets to be answered. If the end of the request cut it off, nobody would know whether it wrote
/// something, although AWS refused every attempt before it.
const ATTEMPT: Duration = Duration::from_millis(250);

/// The longest pause after this number of retries: 25 ms, doubled with each retry up to 800 ms.
pub const fn longest_pause(retries: u32) -> Duration {
    Duration::from_millis(25 << if retries < 5 { retries } else { 5 })
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn millis(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    #[test]
    fn the_longest_pause_doubles_with_each_retry_up_to_800_ms() {
        let mut retries = Budget::of(Duration::from_mins(1)).retries();
        let pauses = [25, 50, 100, 200, 400, 800, 800, 800].map(millis).map(Some);
        assert_eq!(pauses.map(|_| retries.next_pause(Instant::now(), 1.0)), pauses);
        retries.made = u32::MAX;
        assert_eq!(retries.next_pause(Instant::now(), 1.0), Some(millis(800)));
    }

    #[test]
    fn a_pause_is_any_part_of_the_longest_pause() {
        for (part, expected) in [(0.0, 0), (0.2, 5), (0.5, 12)] {
            let pause = Budget::of(Duration::from_mins(1)).retries().next_pause(Instant::now(), part);
            assert_eq!(pause.map(|pause| pause.as_millis()), Some(expected), "{part}");
        }
    }

    #[test]
    fn there_is_no_retry_whose_pause_would_reach_the_end_of_the_budget() {
        let budget = Budget::of(Duration::from_mins(1));
        let before_the_end = |time| budget.end.checked_sub(time + ATTEMPT).expect("a moment");
        let mut retries = budget.retries();
        assert_eq!(retries.next_pause(before_the_end(millis(25)), 1.0), None);
        assert_eq!(retries.next_pause(before_the_end(millis(0)), 0.0), None);
        assert_eq!(
            retries.next_pause(before_the_end(millis(26)), 1.0),
            Some(millis(25)),
            "a refused retry does not count"
        );
        assert_eq!(retries.next_pause(before_the_end(millis(26)), 1.0), None, "the next pause is twice as long");
        // A shorter pause is still in time.
        assert_eq!(retries.next_pause(before_the_end(millis(26)), 0.5), Some(millis(25)));
    }

    #[tokio::test]
    async fn a_pause_without_time_left_returns_at_once() {
        assert!(!Budget::of(Duration::ZERO).retries().pause().await);
        assert!(!Budget::of(Duration::from_mins(1)).at_most(Duration::ZERO).retries().pause().await);
        let mut retries = Budget::of(Duration::from_mins(1)).retries();
        assert!(retries.pause().await);
        assert_eq!(retries.made, 1);
    }
}
