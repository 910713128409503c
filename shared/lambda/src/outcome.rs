//! The outcome of a failed request: whether it may have written something.

use std::cell::Cell;
use std::future::Future;

use aws_smithy_runtime_api::box_error::BoxError;
use aws_smithy_runtime_api::client::interceptors::context::{
    BeforeDeserializationInterceptorContextRef, BeforeTransmitInterceptorContextRef,
};
use aws_smithy_runtime_api::client::interceptors::{Intercept, dyn_dispatch_hint};
use aws_smithy_runtime_api::client::orchestrator::Metadata;
use aws_smithy_runtime_api::client::runtime_components::RuntimeComponents;
use aws_smithy_types::config_bag::ConfigBag;
use serde::Serialize;
use tokio::task::LocalKey;

/// The operations that write nothing. Every other operation counts as a write.
const READS: [&str; 4] = ["Query", "BatchGetItem", "TransactGetItems", "GetQueueAttributes"];

tokio::task_local! {
    /// The number of write attempts that this request sent and AWS did not refuse.
    static NOT_REFUSED: Cell<u32>;
    /// The same number for one part of a request.
    static NOT_REFUSED_OF_PART: Cell<u32>;
}

/// Whether a failed request may have written something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// Nothing is written: AWS refused every write attempt, or there was none.
    None,
    /// Something may be written, now or later: a write attempt succeeded or was not answered.
    Unknown,
}

impl Outcome {
    /// Does the work of one request and returns its outcome. Writes of spawned tasks are not counted.
    pub async fn of<F: Future>(work: F) -> (F::Output, Self) {
        Self::counted(&NOT_REFUSED, work).await
    }

    /// Does the work of one part of a request and returns the part's outcome. The request's outcome includes it.
    pub async fn of_part<F: Future>(work: F) -> (F::Output, Self) {
        Self::counted(&NOT_REFUSED_OF_PART, work).await
    }

    async fn counted<F: Future>(attempts: &'static LocalKey<Cell<u32>>, work: F) -> (F::Output, Self) {
        let counted = async {
            let output = work.await;
            (output, if attempts.with(Cell::get) == 0 { Self::None } else { Self::Unknown })
        };
        attempts.scope(Cell::new(0), counted).await
    }
}

/// Counts a client's write attempts for [`Outcome::of`], including the client's own retries. Every client that writes
/// has this interceptor, so no handler has to track which of its requests may have taken effect.
#[derive(Debug)]
pub struct CountWrites;

#[dyn_dispatch_hint]
impl Intercept for CountWrites {
    fn name(&self) -> &'static str {
        "CountWrites"
    }

    fn read_before_transmit(
        &self,
        _: &BeforeTransmitInterceptorContextRef<'_>,
        _: &RuntimeComponents,
        config: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        if is_write(config) {
            count(1);
        }
        Ok(())
    }

    /// A 4xx status means that the attempt had no effect. After any other answer, or none, the attempt stays counted.
    fn read_after_transmit(
        &self,
        context: &BeforeDeserializationInterceptorContextRef<'_>,
        _: &RuntimeComponents,
        config: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        if context.response().status().is_client_error() && is_write(config) {
            count(-1);
        }
        Ok(())
    }
}

fn is_write(config: &ConfigBag) -> bool {
    config.load::<Metadata>().is_none_or(|operation| !READS.contains(&operation.name()))
}

fn count(change: i32) {
    // Outside of `Outcome::of`, as in a queue's consumer, there is no counter.
    for attempts in [&NOT_REFUSED, &NOT_REFUSED_OF_PART] {
        _ = attempts.try_with(|attempts| attempts.set(attempts.get().saturating_add_signed(change)));
    }
}
