//! SQS as a function's event source.

use anyhow::{Context, Result, bail, ensure};
use yaml_serde::Value as Yaml;

use super::{Function, Queue};
use crate::intrinsic::Scope;

/// Lambda begins with five pollers if the template sets no maximum. Lambda adds more under load; the laptop does not.
const DEFAULT_CONCURRENCY: u64 = 5;

const DEFAULT_BATCH_SIZE: u64 = 10;

/// The most messages of one receive. A larger batch takes several receives, and so needs a batching window.
const ONE_RECEIVE: u64 = 10;

/// AWS recommends a visibility timeout of this many function timeouts, so that a throttled batch can be retried before
/// its messages become visible.
const TIMEOUTS_OF_VISIBILITY: u64 = 6;

/// AWS recommends at least this many receives, so that no message becomes a dead letter because of missing concurrency.
const LEAST_RECEIVES: u64 = 5;

/// An SQS queue that a function consumes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueueSource {
    /// The logical id of the function.
    pub function: String,
    /// The name of the queue.
    pub queue: String,
    /// The most messages of one invocation.
    pub batch_size: u64,
    /// The longest time that a batch waits to be full, in seconds.
    pub batching_window_seconds: u64,
    /// The most concurrent invocations.
    pub maximum_concurrency: u64,
    /// Whether the function reports failed messages. If not, all messages of a batch succeed or fail together.
    pub reports_item_failures: bool,
    /// Whether the event source is enabled.
    pub enabled: bool,
}

impl QueueSource {
    pub(super) fn read(scope: &Scope, properties: &Yaml, function: &Function, queues: &[Queue]) -> Result<Self> {
        let arn = scope.required_text(properties, "Queue")?;
        let queue = queues.iter().find(|queue| queue.arn() == arn);
        let queue = queue.with_context(|| format!("Queue: {arn} is no queue of this template"))?;

        let scaling = properties.get("ScalingConfig").unwrap_or(&Yaml::Null);
        let concurrency =
            scope.number_or(scaling, "MaximumConcurrency", DEFAULT_CONCURRENCY).context("ScalingConfig")?;
        let source = Self {
            function: function.logical_id.clone(),
            queue: queue.name.clone(),
            batch_size: scope.number_or(properties, "BatchSize", DEFAULT_BATCH_SIZE)?,
            batching_window_seconds: scope.number_or(properties, "MaximumBatchingWindowInSeconds", 0)?,
            maximum_concurrency: concurrency,
            reports_item_failures: reports_item_failures(scope, properties)?,
            enabled: scope.text_or(properties, "Enabled", "true")? == "true",
        };
        source.ensure_sound(function, queue)?;
        Ok(source)
    }

    /// Checks what no linter does: the settings of several resources together.
    fn ensure_sound(&self, function: &Function, queue: &Queue) -> Result<()> {
        let (size, window) = (self.batch_size, self.batching_window_seconds);
        ensure!(
            size <= ONE_RECEIVE || window > 0,
            "BatchSize: {size} is above {ONE_RECEIVE} and needs MaximumBatchingWindowInSeconds of at least 1"
        );
        let least = TIMEOUTS_OF_VISIBILITY * function.timeout_seconds + window;
        let visibility = queue.visibility_timeout_seconds;
        ensure!(
            visibility >= least,
            "Queue: VisibilityTimeout of {} is {visibility} s, below {least} s, which is {TIMEOUTS_OF_VISIBILITY} times \
             the function's timeout and the batching window",
            queue.logical_id
        );
        if let Some(redrive) = &queue.redrive {
            let receives = redrive.max_receive_count;
            ensure!(
                receives >= LEAST_RECEIVES,
                "Queue: maxReceiveCount of {} is {receives}: below {LEAST_RECEIVES}, messages die although nothing is \
                 wrong with them",
                queue.logical_id
            );
        }
        Ok(())
    }
}

/// Whether `FunctionResponseTypes` contains `ReportBatchItemFailures`.
pub(super) fn reports_item_failures(scope: &Scope, properties: &Yaml) -> Result<bool> {
    let Some(types) = properties.get("FunctionResponseTypes") else { return Ok(false) };
    let types = types.as_sequence().context("FunctionResponseTypes is not a list")?;
    for kind in types {
        let kind = scope.text(kind).context("FunctionResponseTypes")?;
        if kind != "ReportBatchItemFailures" {
            bail!("FunctionResponseTypes: {kind} is not ReportBatchItemFailures, the only one there is");
        }
    }
    Ok(!types.is_empty())
}
