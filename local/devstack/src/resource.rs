//! The resources whose names, ARNs and URLs other parts of a template refer to.

use std::collections::BTreeMap;

use anyhow::{Context, Result, bail};

pub(crate) const REGION: &str = "us-east-1";
pub(crate) const ACCOUNT: &str = "000000000000";

/// The value of `!Ref` for a nested stack. No template needs it.
const STACK_ARN: &str = "arn:aws:cloudformation:us-east-1:000000000000:stack/nested/local";

/// A resource of the template that the laptop stack has.
pub(crate) enum Resource {
    /// A DynamoDB table with this name.
    Table(String),
    /// An SQS queue with this name.
    Queue(String),
    /// An EventBridge bus with this name.
    Bus(String),
    /// An S3 bucket with this name.
    Bucket(String),
    /// An IAM role with this logical id.
    Role(String),
    /// A nested stack with these outputs.
    Stack(BTreeMap<String, String>),
    ManagedPolicy(String),
}

impl Resource {
    /// The value of `!Ref`.
    pub(crate) fn reference(&self) -> String {
        match self {
            Self::Table(name) | Self::Bus(name) | Self::Bucket(name) | Self::Role(name) => name.clone(),
            Self::Queue(name) => queue_url(name),
            Self::ManagedPolicy(name) => policy_arn(name),
            Self::Stack(_) => STACK_ARN.to_owned(),
        }
    }

    /// The value of `!GetAtt`.
    pub(crate) fn attribute(&self, attribute: &str) -> Result<String> {
        Ok(match (self, attribute) {
            (Self::Table(name), "Arn") => table_arn(name),
            (Self::Table(name), "StreamArn") => stream_arn(name),
            (Self::Queue(name), "Arn") => queue_arn(name),
            (Self::Queue(name), "QueueName") | (Self::Bus(name), "Name") => name.clone(),
            (Self::Queue(name), "QueueUrl") => queue_url(name),
            (Self::Bus(name), "Arn") => bus_arn(name),
            (Self::Bucket(name), "Arn") => bucket_arn(name),
            (Self::Role(name), "Arn") => role_arn(name),
            (Self::Stack(outputs), _) => {
                let output = attribute.strip_prefix("Outputs.").and_then(|name| outputs.get(name));
                output.with_context(|| format!("this nested stack has no {attribute} in this deployment"))?.clone()
            }
            (Self::Table(_), _) => bail!("a table has no attribute {attribute}: it has Arn and StreamArn"),
            (Self::Queue(_), _) => bail!("a queue has no attribute {attribute}: it has Arn, QueueName and QueueUrl"),
            (Self::Bucket(_), _) => bail!("a bucket has no attribute {attribute} here: it has Arn"),
            (Self::Role(_), _) => bail!("a role has no attribute {attribute} here: it has Arn"),
            (Self::ManagedPolicy(_), _) => {
                bail!("a managed policy has no attribute {attribute} here: refer to it with !Ref")
            }
            (Self::Bus(_), _) => bail!("a bus has no attribute {attribute}: it has Arn and Name"),
        })
    }
}

pub(crate) fn table_arn(name: &str) -> String {
    format!("arn:aws:dynamodb:{REGION}:{ACCOUNT}:table/{name}")
}

/// The ARN by which a template names the stream of the table with this name.
pub(crate) fn stream_arn(table: &str) -> String {
    format!("{}/stream/local", table_arn(table))
}

pub(crate) fn role_arn(name: &str) -> String {
    format!("arn:aws:iam::{ACCOUNT}:role/{name}")
}

pub(crate) fn policy_arn(name: &str) -> String {
    format!("arn:aws:iam::{ACCOUNT}:policy/{name}")
}

pub(crate) fn bus_arn(name: &str) -> String {
    format!("arn:aws:events:{REGION}:{ACCOUNT}:event-bus/{name}")
}

pub(crate) fn bucket_arn(name: &str) -> String {
    format!("arn:aws:s3:::{name}")
}

pub(crate) fn queue_arn(name: &str) -> String {
    format!("arn:aws:sqs:{REGION}:{ACCOUNT}:{name}")
}

/// The URL of the queue with this name, in SQS's format. SDKs send it in the request, but call their configured
/// endpoint.
pub(crate) fn queue_url(name: &str) -> String {
    format!("https://sqs.{REGION}.amazonaws.com/{ACCOUNT}/{name}")
}
