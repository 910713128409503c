//! The locks of transactions.

use std::collections::HashMap;
use std::time::Duration;

use tokio::time::Instant;

/// The time for which a transaction locks an item, from prepare to commit. AWS documents none; see docs/scale.md.
pub(super) const HELD: Duration = Duration::from_millis(10);

/// The number of locks beyond which those that ended are forgotten.
const MOST_KEPT: usize = 100_000;

/// The items that are locked, with the end of each lock.
#[derive(Debug, Default)]
pub(super) struct Locks(HashMap<String, Instant>);

impl Locks {
    /// Locks all of these items.
    ///
    /// # Errors
    /// Another transaction holds some: for each item, whether that is so. The items before the first of them are locked for
    /// the usual time all the same.
    pub(super) fn lock(&mut self, items: &[String]) -> Result<(), Vec<bool>> {
        let now = Instant::now();
        if self.0.len() > MOST_KEPT {
            self.0.retain(|_, until| *until > now);
        }
        let held: Vec<_> = items.iter().map(|item| self.is_held(item)).collect();
        let free = held.iter().position(|held| *held).unwrap_or(items.len());
        for item in &items[..free] {
            self.0.insert(item.clone(), now + HELD);
        }
        if free == items.len() { Ok(()) } else { Err(held) }
    }

    /// Whether a transaction holds an item.
    pub(super) fn is_held(&self, item: &str) -> bool {
        self.0.get(item).is_some_and(|until| *until > Instant::now())
    }
}
