//! The log: structured lines on standard output, from where Lambda takes them. No bodies, no names, no addresses.

use tracing_subscriber::filter::LevelFilter;

/// Starts it. The level is Lambda's own setting; in a release build nothing below INFO is compiled in, because there
/// the SDK and the libraries under it write bodies.
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
    crate::metrics::go_to_standard_output();
}

/// An error and what caused it, and so on, in one line.
pub fn chain(error: &(dyn std::error::Error + 'static)) -> String {
    let causes = std::iter::successors(Some(error), |error| error.source());
    causes.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}
