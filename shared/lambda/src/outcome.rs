//! Whether a request may have written something.

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

/// The operations of the functions that write nothing. Any other is taken for a write.
const READS: [&str; 3] = ["Query", "BatchGetItem", "TransactGetItems"];

tokio::task_local! {
    /// How many attempts to write were sent by this request and not refused.
    static NOT_REFUSED: Cell<u32>;
}

/// What a request that failed has written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// Nothing, and nothing will be: AWS refused every attempt to write, or there was none.
    None,
    /// Perhaps something: an attempt to write succeeded or has no answer.
    Unknown,
}

impl Outcome {
    /// Does the work of one request and tells what it has written. Work that is spawned as another task is not seen.
    pub async fn of<F: Future>(work: F) -> (F::Output, Self) {
        let watched = async {
            let output = work.await;
            (output, if NOT_REFUSED.with(Cell::get) == 0 { Self::None } else { Self::Unknown })
        };
        NOT_REFUSED.scope(Cell::new(0), watched).await
    }
}

/// Counts the attempts to write of a client, the client's own retries included, for [`Outcome::of`]. Every client that a
/// function writes with has it, so no handler has to know which of its requests may have happened.
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

    /// A status of 4xx is AWS's word that this attempt did nothing. Any other answer, and none, leaves it counted.
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

fn count(more: i32) {
    // Outside of a request, as in a consumer of a queue, nobody asks.
    _ = NOT_REFUSED.try_with(|attempts| attempts.set(attempts.get().saturating_add_signed(more)));
}
