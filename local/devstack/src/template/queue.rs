//! The template's queues.

use anyhow::{Context, Result, bail};
use serde_json::{Value as Json, json};
use yaml_serde::{Mapping, Value as Yaml};

use super::{kebab, of_type};
use crate::intrinsic::Scope;
use crate::resource::{Resource, queue_arn, queue_url};

/// SQS's own defaults, in seconds.
const DEFAULT_VISIBILITY_TIMEOUT: u64 = 30;
const DEFAULT_RETENTION: u64 = 4 * 24 * 60 * 60;

/// One SQS queue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Queue {
    /// The resource's name in the template: `ImportQueue`.
    pub logical_id: String,
    /// As declared, or from the stack's name and the logical id: `notes-import-queue`.
    pub name: String,
    /// The visibility timeout.
    pub visibility_timeout_seconds: u64,
    /// The retention period.
    pub retention_seconds: u64,
    /// The default wait of a receive.
    pub receive_wait_seconds: u64,
    /// The default delay of a message.
    pub delay_seconds: u64,
    /// The redrive policy. `None`: messages come back until they are too old.
    pub redrive: Option<Redrive>,
}

/// A queue's `RedrivePolicy`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redrive {
    /// The name of the dead-letter queue.
    pub dead_letters: String,
    /// The number of receives after which a message becomes a dead letter.
    pub max_receive_count: u64,
}

impl Queue {
    /// The queue's ARN.
    pub fn arn(&self) -> String {
        queue_arn(&self.name)
    }

    /// The queue's URL, as requests name it.
    pub fn url(&self) -> String {
        queue_url(&self.name)
    }

    /// The `Attributes` of the `CreateQueue` request that makes this queue.
    pub(crate) fn attributes(&self) -> Json {
        let mut attributes = json!({
            "VisibilityTimeout": self.visibility_timeout_seconds.to_string(),
            "MessageRetentionPeriod": self.retention_seconds.to_string(),
            "ReceiveMessageWaitTimeSeconds": self.receive_wait_seconds.to_string(),
            "DelaySeconds": self.delay_seconds.to_string(),
        });
        if let Some(Redrive { dead_letters, max_receive_count }) = &self.redrive {
            let policy =
                json!({ "deadLetterTargetArn": queue_arn(dead_letters), "maxReceiveCount": max_receive_count });
            attributes["RedrivePolicy"] = Json::from(policy.to_string());
        }
        attributes
    }
}

/// Reads every queue, and makes it known to references.
pub(super) fn read_all(scope: &mut Scope, resources: &Mapping) -> Result<Vec<Queue>> {
    let declared: Vec<(&str, &Yaml)> = of_type(scope, resources, "AWS::SQS::Queue")?
        .into_iter()
        .map(|(id, resource)| (id, resource.get("Properties").unwrap_or(&Yaml::Null)))
        .collect();

    let mut names = Vec::new();
    for (id, properties) in &declared {
        let default = format!("{}-{}", scope.stack_name(), kebab(id));
        let name = scope.text_or(properties, "QueueName", &default).context((*id).to_owned())?;
        scope.define(id, Resource::Queue(name.clone()));
        names.push(name);
    }

    // All names must be known before a redrive policy can refer to another queue.
    let mut queues = Vec::new();
    for ((id, properties), name) in declared.into_iter().zip(&names) {
        queues.push(read(scope, id, properties, name, &names).context(id.to_owned())?);
    }
    ensure_one_source_each(&queues)?;
    queues.sort_by_key(|queue| queue.redrive.is_some());
    Ok(queues)
}

fn read(scope: &Scope, id: &str, properties: &Yaml, name: &str, names: &[String]) -> Result<Queue> {
    let policy = properties.get("RedrivePolicy");
    let redrive = policy.map(|policy| redrive(scope, policy, names).context("RedrivePolicy")).transpose()?;
    Ok(Queue {
        logical_id: id.to_owned(),
        name: name.to_owned(),
        visibility_timeout_seconds: scope.number_or(properties, "VisibilityTimeout", DEFAULT_VISIBILITY_TIMEOUT)?,
        retention_seconds: scope.number_or(properties, "MessageRetentionPeriod", DEFAULT_RETENTION)?,
        receive_wait_seconds: scope.number_or(properties, "ReceiveMessageWaitTimeSeconds", 0)?,
        delay_seconds: scope.number_or(properties, "DelaySeconds", 0)?,
        redrive,
    })
}

fn redrive(scope: &Scope, policy: &Yaml, names: &[String]) -> Result<Redrive> {
    let target = scope.required_text(policy, "deadLetterTargetArn")?;
    let dead_letters = names.iter().find(|name| queue_arn(name) == target);
    let dead_letters = dead_letters.with_context(|| format!("deadLetterTargetArn: {target} is no queue here"))?;
    policy.get("maxReceiveCount").context("maxReceiveCount is missing")?;
    Ok(Redrive {
        dead_letters: dead_letters.clone(),
        max_receive_count: scope.number_or(policy, "maxReceiveCount", 0)?,
    })
}

/// Checks that a dead-letter queue has only one source queue: a dead letter does not name its source, so redriving
/// needs a single one.
fn ensure_one_source_each(queues: &[Queue]) -> Result<()> {
    let targets = queues.iter().filter_map(|queue| Some((queue, &queue.redrive.as_ref()?.dead_letters)));
    for (index, (queue, target)) in targets.clone().enumerate() {
        let earlier = targets.clone().take(index).find(|(_, other)| *other == target);
        if let Some((earlier, _)) = earlier {
            bail!(
                "{}: RedrivePolicy: {target} has the dead letters of {} already, and the laptop stack redrives to one \
                 queue",
                queue.logical_id,
                earlier.logical_id
            );
        }
    }
    Ok(())
}

#[cfg(test)]
#[path = "queue_tests.rs"]
mod tests;
