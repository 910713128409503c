//! The waits of tests: for a condition, never for a time.

use std::fmt::Display;
use std::time::{Duration, Instant};

use tokio::time::sleep;

/// The limit of every wait. What works comes nowhere near it, on the busiest machine.
pub const PATIENCE: Duration = Duration::from_mins(5);

const BETWEEN_LOOKS: Duration = Duration::from_millis(10);

/// Waits until this is so.
///
/// # Panics
/// It is not so within [`PATIENCE`].
pub async fn until<F: Future<Output = bool>>(what: impl Display, mut is_so: impl FnMut() -> F) {
    let begin = Instant::now();
    while !is_so().await {
        assert!(begin.elapsed() < PATIENCE, "still not after {} s: {what}", PATIENCE.as_secs());
        sleep(BETWEEN_LOOKS).await;
    }
}

/// Looks until there is something, and returns it.
///
/// # Panics
/// There is nothing within [`PATIENCE`].
pub async fn until_some<T, F: Future<Output = Option<T>>>(what: impl Display, mut find: impl FnMut() -> F) -> T {
    let begin = Instant::now();
    loop {
        if let Some(found) = find().await {
            return found;
        }
        assert!(begin.elapsed() < PATIENCE, "still not after {} s: {what}", PATIENCE.as_secs());
        sleep(BETWEEN_LOOKS).await;
    }
}
