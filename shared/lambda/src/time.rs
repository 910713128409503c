//! The time that is left of an invocation.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use lambda_runtime::Context;

/// The part of the function's time limit that is reserved for sending the answer.
const ANSWERING: Duration = Duration::from_secs(1);

/// The time limit of an invocation without a valid deadline.
const DEFAULT_LIMIT: Duration = Duration::from_secs(10);

/// The earliest valid deadline, as time since 1970. `cargo lambda watch` gives every invocation the deadline 600,000
/// ms.
const EARLIEST_DEADLINE: Duration = Duration::from_hours(24);

/// The time that is left of the invocation, less `ANSWERING`.
pub fn time_left(context: &Context) -> Duration {
    let deadline = Some(Duration::from_millis(context.deadline)).filter(|deadline| *deadline > EARLIEST_DEADLINE);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    deadline.map_or(DEFAULT_LIMIT, |deadline| deadline.saturating_sub(now)).saturating_sub(ANSWERING)
}

/// The context of an invocation with this time limit, as Lambda would make it.
///
/// # Errors
/// The clock shows a time before 1970.
pub(crate) fn context(timeout: Duration) -> Result<Context, lambda_runtime::Error> {
    let deadline = SystemTime::now().duration_since(UNIX_EPOCH)? + timeout;
    let mut context = Context::default();
    context.request_id = format!("{:032x}", fastrand::u128(..));
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
    fn an_invocation_without_a_valid_deadline_has_the_default_limit() {
        for invalid in [0, 600_000] {
            assert_eq!(left_until(invalid), Duration::from_secs(9), "{invalid}");
        }
    }

    #[test]
    fn the_time_left_is_that_until_the_deadline_less_the_time_to_answer() {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let at = |deadline: Duration| left_until(u64::try_from(deadline.as_millis()).unwrap_or_default());
        assert_eq!(at(now.saturating_sub(Duration::from_secs(1))), Duration::ZERO);
        let left = at(now + Duration::from_secs(21));
        assert!((Duration::from_secs(15)..=Duration::from_secs(20)).contains(&left), "{left:?}");
    }
}
