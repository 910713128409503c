//! The log: JSON lines on standard output, which Lambda collects. They contain no bodies, names or addresses.

use tracing_subscriber::filter::LevelFilter;

/// Starts the log. Lambda's own setting is the level. In a release build no level below INFO is compiled in, because
/// the SDK and its libraries log bodies at those levels.
pub(crate) fn start() {
    // A filter by module would bring a regular-expression engine into every binary.
    let level = std::env::var("AWS_LAMBDA_LOG_LEVEL").ok().and_then(|level| level.parse().ok());
    tracing_subscriber::fmt()
        .json()
        .flatten_event(true)
        .with_current_span(false)
        .with_span_list(false)
        .with_max_level(level.unwrap_or(LevelFilter::INFO))
        .init();
    crate::metrics::write_to_standard_output();
}

/// An error and the chain of its sources, in one line.
pub fn chain(error: &(dyn std::error::Error + 'static)) -> String {
    let errors = std::iter::successors(Some(error), |error| error.source());
    errors.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}
