//! What is left of an invocation's time.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use lambda_runtime::Context;

/// Kept back of the function's own time limit, to answer in.
pub const ANSWERING: Duration = Duration::from_secs(1);

/// The time limit where nobody says one.
const UNTOLD: Duration = Duration::from_secs(10);

/// A deadline before this one is none: `cargo lambda watch` gives each invocation the 600,000th millisecond of 1970.
const EARLIEST: Duration = Duration::from_hours(24);

/// What is left of the invocation's time, less what answering needs.
pub fn time_left(context: &Context) -> Duration {
    let deadline = Some(Duration::from_millis(context.deadline)).filter(|deadline| *deadline > EARLIEST);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    deadline.map_or(UNTOLD, |deadline| deadline.saturating_sub(now)).saturating_sub(ANSWERING)
}

/// The context of an invocation that this process makes itself, as Lambda would.
///
/// # Errors
/// The clock stands before 1970.
pub(crate) fn context(timeout: Duration) -> Result<Context, lambda_runtime::Error> {
    let deadline = SystemTime::now().duration_since(UNIX_EPOCH)? + timeout;
    let mut context = Context::default();
    context.deadline = u64::try_from(deadline.as_millis())?;
    Ok(context)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn left_until(deadline: u64) -> Duration {
        let mut context = Context::default();
        context.deadline = deadline;
        time_left(&context)
    }

    #[test]
    fn a_deadline_that_nobody_means_is_none() {
        for untold in [0, 600_000] {
            assert_eq!(left_until(untold), Duration::from_secs(9), "{untold}");
        }
    }

    #[test]
    fn a_deadline_that_has_passed_leaves_no_time_and_one_to_come_leaves_what_is_left() {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let at = |deadline: Duration| left_until(u64::try_from(deadline.as_millis()).unwrap_or_default());
        assert_eq!(at(now.saturating_sub(Duration::from_secs(1))), Duration::ZERO);
        let left = at(now + Duration::from_secs(21));
        assert!((Duration::from_secs(15)..=Duration::from_secs(20)).contains(&left), "{left:?}");
    }
}
