//! Reading and writing documents, each only if nobody has written it since it was read.

use std::collections::HashMap;

use key_schema::value::ProductId;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{OpenSearch, Reply, refused};
use crate::{Error, IndexName};

/// The state of a document when it was read.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) enum Seen {
    /// It was never written.
    #[default]
    Absent,
    /// It has this content. OpenSearch identifies the write by the two numbers.
    Present { content: Value, seq_no: i64, primary_term: i64 },
}

#[derive(Deserialize)]
struct Documents {
    docs: Vec<Document>,
}

#[derive(Deserialize)]
struct Document {
    #[serde(rename = "_id")]
    id: String,
    #[serde(default)]
    found: bool,
    #[serde(rename = "_seq_no", default)]
    seq_no: i64,
    #[serde(rename = "_primary_term", default)]
    primary_term: i64,
    #[serde(rename = "_source", default)]
    source: Value,
    error: Option<Cause>,
}

#[derive(Deserialize)]
struct Cause {
    #[serde(rename = "type")]
    kind: String,
    reason: Option<String>,
}

#[derive(Deserialize)]
struct Written {
    items: Vec<HashMap<String, Item>>,
}

#[derive(Deserialize)]
struct Item {
    status: u16,
    error: Option<Cause>,
}

impl OpenSearch {
    /// The documents of these products, in this order, as they are now and not as searches see them.
    pub(crate) async fn documents(&self, index: &IndexName, ids: &[ProductId]) -> Result<Vec<Seen>, Error> {
        let path = format!("/{}/_mget", index.written());
        let answer = self.call("POST", &path, Some(&json!({ "ids": ids }))).await?;
        let Documents { docs } =
            serde_json::from_value(answer).map_err(|error| Error::Unreadable(error.to_string()))?;
        if docs.len() != ids.len() || docs.iter().zip(ids).any(|(document, id)| document.id != id.as_str()) {
            return Err(Error::Unreadable("it has other documents than were asked for".to_owned()));
        }
        let seen = docs.into_iter().map(|Document { found, seq_no, primary_term, source, error, .. }| match error {
            Some(Cause { kind, reason }) => Err(refused(404, &kind, &reason.unwrap_or_default())),
            None if found => Ok(Seen::Present { content: source, seq_no, primary_term }),
            None => Ok(Seen::Absent),
        });
        seen.collect()
    }

    /// Writes documents, each if it is still as it was seen. Returns the outcome of each, in this order.
    pub(crate) async fn write(
        &self,
        index: &IndexName,
        writes: &[(ProductId, Seen, Value)],
    ) -> Result<Vec<Result<(), Error>>, Error> {
        let mut body = String::new();
        for (id, seen, content) in writes {
            let action = match seen {
                Seen::Absent => json!({ "create": { "_id": id, "require_alias": true } }),
                Seen::Present { seq_no, primary_term, .. } => {
                    let same = json!({ "_id": id, "if_seq_no": seq_no, "if_primary_term": primary_term, "require_alias": true });
                    json!({ "index": same })
                }
            };
            body.extend([action.to_string().as_str(), "\n", &content.to_string(), "\n"]);
        }
        let path = format!("/{}/_bulk", index.written());
        let answer = match self.send("POST", &path, "application/x-ndjson", body).await? {
            Reply::Done(answer) => answer,
            Reply::Failed { status, kind, reason } => return Err(refused(status, &kind, &reason)),
        };
        let Written { items } = serde_json::from_value(answer).map_err(|error| Error::Unreadable(error.to_string()))?;
        if items.len() != writes.len() {
            return Err(Error::Unreadable("it has other items than were written".to_owned()));
        }
        Ok(items.into_iter().map(|item| item.into_values().next().map_or(Err(Error::Contention), outcome)).collect())
    }
}

fn outcome(Item { status, error }: Item) -> Result<(), Error> {
    let (kind, reason) = error.map(|Cause { kind, reason }| (kind, reason.unwrap_or_default())).unwrap_or_default();
    match status {
        200..=299 => Ok(()),
        409 => Err(Error::Contention),
        429 | 500.. => Err(Error::Busy { status, message: kind }),
        _ => Err(refused(status, &kind, &reason)),
    }
}
