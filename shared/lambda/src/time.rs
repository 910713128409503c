//! What is left of an invocation's time.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use lambda_runtime::Context;

/// Kept back of the function's own time limit, to answer in.
pub const ANSWERING: Duration = Duration::from_secs(1);

/// The time limit where nobody says one.
const UNTOLD: Duration = Duration::from_secs(10);

/// What is left of the invocation's time, less what answering needs.
pub fn time_left(context: &Context) -> Duration {
    let deadline = Some(context.deadline).filter(|deadline| *deadline > 0);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let left = deadline.map(|deadline| Duration::from_millis(deadline).saturating_sub(now));
    left.unwrap_or(UNTOLD).saturating_sub(ANSWERING)
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
