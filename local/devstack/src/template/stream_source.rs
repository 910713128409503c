//! A table's stream as a function's event source.

use anyhow::{Context, Result, ensure};
use yaml_serde::Value as Yaml;

use super::queue_source::reports_item_failures;
use super::{Bucket, Function, Pattern, Queue, Table};
use crate::intrinsic::Scope;
use crate::resource::{bucket_arn, stream_arn};

const DEFAULT_BATCH_SIZE: u64 = 100;

/// Lambda's value for "no limit", which is also the default.
const INFINITE: &str = "-1";

/// A limit that Lambda does not require, but the stack does.
const AGE: &str = "MaximumRecordAgeInSeconds";

/// A table's stream, consumed by a function.
#[derive(Debug, Clone, PartialEq)]
pub struct StreamSource {
    /// The logical id of the function.
    pub function: String,
    /// The name of the table.
    pub table: String,
    /// The most records of one invocation.
    pub batch_size: u64,
    /// The longest time that a batch waits to be full, in seconds.
    pub batching_window_seconds: u64,
    /// The length of tumbling windows, in seconds. Zero: no windows.
    pub tumbling_window_seconds: u64,
    /// The most retries of a failed batch. `None`: until its records are too old.
    pub maximum_retry_attempts: Option<u64>,
    /// The largest age of a delivered record, in seconds.
    pub maximum_record_age_seconds: u64,
    /// Whether a batch is bisected when the function fails.
    pub bisects_batches: bool,
    /// Whether the function reports failed records.
    pub reports_item_failures: bool,
    /// Where records that were given up are reported, if anywhere.
    pub on_failure: Option<Destination>,
    /// The filters. A record that matches none is skipped. Empty: all records match.
    pub filters: Vec<Pattern>,
    /// Whether the event source is enabled.
    pub enabled: bool,
}

/// The destination of what Lambda gives up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Destination {
    /// The queue with this name. Its messages say where the records are in the stream.
    Queue(String),
    /// The bucket with this name. Its objects contain the records.
    Bucket(String),
}

/// The queues and buckets of a template.
pub(super) struct Destinations<'a> {
    pub(super) queues: &'a [Queue],
    pub(super) buckets: &'a [Bucket],
}

impl StreamSource {
    /// From the properties of an `AWS::Lambda::EventSourceMapping` of one of these functions.
    pub(super) fn read(
        scope: &Scope,
        properties: &Yaml,
        functions: &[Function],
        tables: &[Table],
        destinations: &Destinations,
    ) -> Result<Self> {
        let name = scope.required_text(properties, "FunctionName")?;
        let function = functions.iter().find(|function| function.logical_id == name);
        let function = function.with_context(|| format!("FunctionName: {name} is no function of this template"))?;
        let stream = scope.required_text(properties, "EventSourceArn")?;
        let table = table_with(&stream, tables).context("EventSourceArn")?;

        // Concurrent batches of one shard are not implemented.
        let factor = scope.number_or(properties, "ParallelizationFactor", 1)?;
        ensure!(factor == 1, "ParallelizationFactor: {factor} is not 1, the only one that the laptop stack knows");

        let position = scope.required_text(properties, "StartingPosition")?;
        ensure!(
            position == "TRIM_HORIZON",
            "StartingPosition: {position} is not TRIM_HORIZON, the only one that the laptop stack knows"
        );

        Ok(Self {
            function: function.logical_id.clone(),
            table: table.name().to_owned(),
            batch_size: scope.number_or(properties, "BatchSize", DEFAULT_BATCH_SIZE)?,
            batching_window_seconds: scope.number_or(properties, "MaximumBatchingWindowInSeconds", 0)?,
            tumbling_window_seconds: scope.number_or(properties, "TumblingWindowInSeconds", 0)?,
            maximum_retry_attempts: limit(scope, properties, "MaximumRetryAttempts")?,
            maximum_record_age_seconds: limit(scope, properties, AGE)?.with_context(|| {
                format!("{AGE} is missing or {INFINITE}, with which a batch that fails blocks its shard for 24 hours: set it")
            })?,
            bisects_batches: scope.text_or(properties, "BisectBatchOnFunctionError", "false")? == "true",
            reports_item_failures: reports_item_failures(scope, properties)?,
            on_failure: on_failure(scope, properties, destinations).context("DestinationConfig")?,
            filters: filters(scope, properties).context("FilterCriteria")?,
            enabled: scope.text_or(properties, "Enabled", "true")? == "true",
        })
    }
}

fn table_with<'a>(stream: &str, tables: &'a [Table]) -> Result<&'a Table> {
    let table = tables.iter().find(|table| stream_arn(table.name()) == stream);
    let table = table.with_context(|| format!("{stream} is not the stream of a table of this template"))?;
    ensure!(table.has_stream(), "the table {} has no StreamSpecification", table.logical_id);
    Ok(table)
}

/// A limit. `None` if it is infinite, which is the default.
fn limit(scope: &Scope, properties: &Yaml, property: &str) -> Result<Option<u64>> {
    let text = scope.text_or(properties, property, INFINITE)?;
    if text == INFINITE {
        return Ok(None);
    }
    text.parse().map(Some).with_context(|| format!("{property}: {text} is not a whole number"))
}

fn on_failure(scope: &Scope, properties: &Yaml, known: &Destinations) -> Result<Option<Destination>> {
    let Some(target) = properties.get("DestinationConfig").and_then(|config| config.get("OnFailure")) else {
        return Ok(None);
    };
    let arn = scope.required_text(target, "Destination").context("OnFailure")?;
    let queue = known.queues.iter().find(|queue| queue.arn() == arn);
    let bucket = known.buckets.iter().find(|bucket| bucket_arn(&bucket.name) == arn);
    let destination = queue.map(|queue| Destination::Queue(queue.name.clone()));
    let destination = destination.or(bucket.map(|bucket| Destination::Bucket(bucket.name.clone())));
    let missing = || format!("OnFailure: Destination: {arn} is no queue and no bucket of this template");
    destination.with_context(missing).map(Some)
}

fn filters(scope: &Scope, properties: &Yaml) -> Result<Vec<Pattern>> {
    let Some(criteria) = properties.get("FilterCriteria") else { return Ok(Vec::new()) };
    let filters = criteria.get("Filters").and_then(Yaml::as_sequence).context("Filters is missing or not a list")?;
    let patterns = filters.iter().enumerate().map(|(position, filter)| {
        let pattern = scope.required_text(filter, "Pattern").and_then(|text| Pattern::parse(&text).context("Pattern"));
        pattern.with_context(|| format!("Filters[{position}]"))
    });
    patterns.collect()
}

#[cfg(test)]
#[path = "stream_source_tests.rs"]
mod tests;
