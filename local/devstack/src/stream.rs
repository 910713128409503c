//! A table's stream at one `DynamoDB` endpoint, embedded or not.

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use crate::aws_json::{Refusal, Service};

pub(crate) struct Stream {
    service: Service,
    table: String,
    arn: String,
}

pub(crate) struct Shard {
    pub(crate) id: String,
    /// The parent shard, whose records come before this shard's.
    pub(crate) parent: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Position {
    /// Before the oldest record.
    TrimHorizon,
    /// After the record with this sequence number.
    After(String),
}

/// The result of one read.
pub(crate) struct Page {
    pub(crate) records: Vec<Value>,
    /// The next iterator. `None`: the shard is closed, and was read to its end.
    pub(crate) next: Option<String>,
}

impl Stream {
    /// The stream of this table, which must have one. It is read at another URL of the same service.
    pub(crate) async fn of_table(url: &str, table: &str, read_at: &str) -> Result<Self> {
        let answer = Service::dynamodb(url)?.succeed("DescribeTable", &json!({ "TableName": table })).await?;
        let arn = answer["Table"]["LatestStreamArn"].as_str().with_context(|| {
            format!("the table {table} at {url} has no stream: delete it, or choose another place with --data")
        })?;
        Ok(Self { service: Service::dynamodb_streams(read_at)?, table: table.to_owned(), arn: arn.to_owned() })
    }

    /// The same stream, read as this function. Its role must also allow `ListStreams`.
    pub(crate) async fn signed_by(&self, function: &str) -> Result<Self> {
        let service = self.service.signed_by(function);
        let listed = service.succeed("ListStreams", &json!({ "TableName": self.table })).await?;
        let mut streams = listed["Streams"].as_array().into_iter().flatten();
        ensure!(streams.any(|stream| stream["StreamArn"] == *self.arn), "the stream {} is not listed", self.arn);
        Ok(Self { service, table: self.table.clone(), arn: self.arn.clone() })
    }

    /// The stream's ARN at this endpoint, which differs from the template's.
    pub(crate) fn arn(&self) -> &str {
        &self.arn
    }

    /// Every shard that has records, or may get some.
    pub(crate) async fn shards(&self) -> Result<Vec<Shard>> {
        let mut shards = Vec::new();
        let mut request = json!({ "StreamArn": self.arn });
        loop {
            let answer = self.service.succeed("DescribeStream", &request).await?;
            let description = &answer["StreamDescription"];
            for shard in description["Shards"].as_array().into_iter().flatten() {
                let text = |name: &str| shard[name].as_str().map(str::to_owned);
                let id = text("ShardId").context("a shard has no id")?;
                shards.push(Shard { id, parent: text("ParentShardId") });
            }
            match &description["LastEvaluatedShardId"] {
                Value::Null => return Ok(shards),
                last => request["ExclusiveStartShardId"] = last.clone(),
            }
        }
    }

    /// An iterator at this position. `None`: the shard is closed, and has no more records.
    pub(crate) async fn iterator(&self, shard: &str, position: &Position) -> Result<Result<Option<String>, Refusal>> {
        let (kind, sequence_number) = match position {
            Position::TrimHorizon => ("TRIM_HORIZON", None),
            Position::After(sequence_number) => ("AFTER_SEQUENCE_NUMBER", Some(sequence_number)),
        };
        let mut request = json!({ "StreamArn": self.arn, "ShardId": shard, "ShardIteratorType": kind });
        if let Some(sequence_number) = sequence_number {
            request["SequenceNumber"] = json!(sequence_number);
        }
        let answer = self.service.call("GetShardIterator", &request).await?;
        Ok(answer.map(|answer| answer["ShardIterator"].as_str().map(str::to_owned)))
    }

    /// The next records, up to a thousand.
    pub(crate) async fn read(&self, iterator: &str) -> Result<Result<Page, Refusal>> {
        let answer = self.service.call("GetRecords", &json!({ "ShardIterator": iterator })).await?;
        Ok(answer.map(|mut answer| Page {
            records: answer["Records"].as_array_mut().map(std::mem::take).unwrap_or_default(),
            next: answer["NextShardIterator"].as_str().map(str::to_owned),
        }))
    }
}
