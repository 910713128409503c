//! The log: JSON lines on standard output, which Lambda collects. They contain no bodies, names or addresses.

use std::fmt;

use tracing::{Event, Subscriber};
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::fmt::format::{Format, Json, JsonFields, Writer};
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields, SubscriberBuilder};
use tracing_subscriber::registry::LookupSpan;

use crate::trail;

/// Starts the log. Lambda's own setting is the level. In a release build no level below INFO is compiled in, because
/// the SDK and its libraries log bodies at those levels.
pub(crate) fn start() {
    // A filter by module would bring a regular-expression engine into every binary.
    let level = std::env::var("AWS_LAMBDA_LOG_LEVEL").ok().and_then(|level| level.parse().ok());
    trail::begin();
    log_lines().with_max_level(level.unwrap_or(LevelFilter::INFO)).init();
    crate::metrics::write_to_standard_output();
}

/// The lines of the log: JSON objects with the fields of the event, and those of the [trail](crate::trail()).
pub fn log_lines() -> SubscriberBuilder<JsonFields, Lines> {
    tracing_subscriber::fmt()
        .json()
        .flatten_event(true)
        .with_current_span(false)
        .with_span_list(false)
        .map_event_format(Lines)
}

/// The format of [`log_lines`].
#[derive(Debug)]
pub struct Lines(Format<Json>);

impl<S, N> FormatEvent<S, N> for Lines
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(&self, context: &FmtContext<'_, S, N>, mut writer: Writer<'_>, event: &Event<'_>) -> fmt::Result {
        let mut line = String::new();
        self.0.format_event(context, Writer::new(&mut line), event)?;
        writer.write_char('{')?;
        for (name, value) in trail::fields() {
            // The event may know better. Within a text, the quotation marks would be escaped.
            let name = format!("\"{name}\":");
            if !line.contains(&name) {
                write!(writer, "{name}{value},")?;
            }
        }
        writer.write_str(line.get(1..).unwrap_or_default())
    }
}

/// An error and the chain of its sources, in one line.
pub fn chain(error: &(dyn std::error::Error + 'static)) -> String {
    let errors = std::iter::successors(Some(error), |error| error.source());
    errors.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}
