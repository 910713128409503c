//! Dead letters on their way back to the queue that they came from.
//!
//! AWS has `StartMessageMoveTask` for it; the embedded SQS knows the call and moves nothing, so the stack moves
//! them. Each is sent before it is deleted: a crash between the two leaves it in both queues, and consumers know
//! doubles.

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

use crate::sqs::{MAX_BATCH, Sqs};

/// What one step did for one dead-letter queue.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// The name of the dead-letter queue.
    pub from: String,
    /// The name of the queue whose dead letters it has.
    pub to: String,
    /// How many messages were moved in this step, at most ten.
    pub moved: u64,
    /// How many are left to be moved.
    pub left: u64,
}

/// Moves one batch of every dead-letter queue.
pub(crate) async fn step(sqs: &Sqs) -> Result<Vec<Step>> {
    let mut steps = Vec::new();
    for queue in sqs.queues() {
        if let Some(redrive) = &queue.redrive {
            let moved = move_batch(sqs, &redrive.dead_letters, &queue.name).await?;
            let left = sqs.counts_of(&redrive.dead_letters).await?.visible;
            steps.push(Step { from: redrive.dead_letters.clone(), to: queue.name.clone(), moved, left });
        }
    }
    Ok(steps)
}

async fn move_batch(sqs: &Sqs, from: &str, to: &str) -> Result<u64> {
    let mut moved = 0;
    for message in sqs.receive(from, MAX_BATCH, 0).await? {
        sqs.send(to, &message["Body"], &message["MessageAttributes"]).await?;
        sqs.delete(from, &[message["ReceiptHandle"].as_str().context("a message has no receipt handle")?]).await?;
        moved += 1;
    }
    Ok(moved)
}
