//! Moves dead letters back to the queue that they came from.
//!
//! AWS has `StartMessageMoveTask` for this, and most local versions of SQS do not, so the stack moves the messages. Each
//! message is sent before it is deleted. After a crash between the two it is in both queues, which is safe because
//! consumers are idempotent.

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

use crate::sqs::{MAX_BATCH, Sqs};

/// The result of one step for one dead-letter queue.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// The name of the dead-letter queue.
    pub from: String,
    /// The name of the queue that the messages are moved to.
    pub to: String,
    /// The number of messages moved in this step, at most ten.
    pub moved: u64,
    /// The number of messages still to be moved.
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
