//! Helpers for figures of all measurements.

use std::fmt::Display;
use std::fs;
use std::time::Duration;

use anyhow::{Context, Result};

/// The median, or `None` without values.
pub(crate) fn median(mut all: Vec<Duration>) -> Duration {
    all.sort_unstable();
    all.get(all.len() / 2).copied().unwrap_or_default()
}

/// Converts to a float. Exact below 2^53.
#[allow(clippy::cast_precision_loss, reason = "ranks and counts are far below 2^53")]
pub(crate) fn as_float(number: usize) -> f64 {
    number as f64
}

/// Formats a number with commas between thousands.
pub(crate) fn grouped(digits: &str) -> String {
    let mut grouped = String::new();
    for (position, digit) in digits.chars().enumerate() {
        if position > 0 && (digits.len() - position).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// The peak memory of the process with this id, or `self`, in bytes.
///
/// # Errors
/// There is no such process, or the system is not Linux.
pub(crate) fn most_memory(process: impl Display) -> Result<u64> {
    let status = fs::read_to_string(format!("/proc/{process}/status"));
    let status = status.context("the memory of a process can only be read on Linux")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).context("no VmHWM")?;
    let kilobytes: u64 = line.trim().trim_end_matches(" kB").parse().context("VmHWM")?;
    Ok(kilobytes * 1024)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn as_many_are_below_the_median_as_above(nanoseconds in prop::collection::vec(any::<u64>(), 1..50)) {
            let all: Vec<_> = nanoseconds.into_iter().map(Duration::from_nanos).collect();
            let middle = median(all.clone());
            prop_assert!(all.contains(&middle));
            prop_assert!(2 * all.iter().filter(|one| **one < middle).count() <= all.len());
            prop_assert!(2 * all.iter().filter(|one| **one > middle).count() <= all.len());
        }

        #[test]
        fn commas_stand_before_every_third_digit_from_the_end(number: u64) {
            let grouped = grouped(&number.to_string());
            let groups: Vec<_> = grouped.split(',').collect();
            prop_assert!((1..=3).contains(&groups[0].len()) && groups[1..].iter().all(|group| group.len() == 3));
            prop_assert_eq!(groups.concat(), number.to_string());
        }
    }
}
