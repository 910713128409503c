//! Indexes and their aliases.

use serde_json::{Value, json};

use super::{OpenSearch, Reply, SEARCHED, refused};
use crate::{Error, IndexName};

/// What follows the name of an index in the name of the alias through which it is written.
const WRITTEN: &str = "-written";

impl IndexName {
    fn of(number: u32) -> Self {
        Self(format!("{SEARCHED}-{number:06}"))
    }

    fn number(&self) -> u32 {
        self.0.rsplit('-').next().and_then(|number| number.parse().ok()).unwrap_or_default()
    }

    /// The alias through which the index is written.
    pub(super) fn written(&self) -> String {
        format!("{}{WRITTEN}", self.0)
    }
}

impl OpenSearch {
    pub(crate) async fn written(&self) -> Result<Vec<IndexName>, Error> {
        self.of_alias(&format!("{SEARCHED}-*{WRITTEN}")).await
    }

    async fn searched(&self) -> Result<Option<IndexName>, Error> {
        Ok(self.of_alias(SEARCHED).await?.into_iter().next())
    }

    async fn of_alias(&self, alias: &str) -> Result<Vec<IndexName>, Error> {
        match self.try_call("GET", &format!("/_alias/{alias}"), None).await? {
            Reply::Done(found) => {
                let names = found.as_object().into_iter().flatten().map(|(name, _)| IndexName(name.clone()));
                Ok(names.collect())
            }
            Reply::Failed { status: 404, .. } => Ok(Vec::new()),
            Reply::Failed { status, kind, reason } => Err(refused(status, &kind, &reason)),
        }
    }

    /// The new index has a greater number than all others. If somebody else creates one with this number at the same time,
    /// this one gets the next.
    pub(crate) async fn create(&self) -> Result<IndexName, Error> {
        let last = self.written().await?.iter().map(IndexName::number).max().unwrap_or_default();
        let mut index = IndexName::of(last + 1);
        loop {
            let created = self.try_call("PUT", &format!("/{}", index.0), Some(&creation(&index))).await?;
            match created {
                Reply::Done(_) => return Ok(index),
                Reply::Failed { kind, .. } if kind == "resource_already_exists_exception" => {
                    index = IndexName::of(index.number() + 1);
                }
                Reply::Failed { status, kind, reason } => return Err(refused(status, &kind, &reason)),
            }
        }
    }

    /// One request changes the alias. It fails unless the index that was searched is still the one that is searched: its
    /// alias must exist, and only one index may have the alias, because it is declared to be the one for writes.
    pub(crate) async fn publish(&self, index: &IndexName) -> Result<(), Error> {
        let before = self.searched().await?;
        if before.as_ref() != Some(index) {
            if before.as_ref().is_some_and(|before| before > index) {
                return Err(Error::Replaced);
            }
            let add = json!({ "add": { "index": index.0, "alias": SEARCHED, "is_write_index": true } });
            let remove =
                |index: &IndexName| json!({ "remove": { "index": index.0, "alias": SEARCHED, "must_exist": true } });
            let actions: Vec<_> = before.iter().map(remove).chain([add]).collect();
            match self.try_call("POST", "/_aliases", Some(&json!({ "actions": actions }))).await? {
                Reply::Done(_) => {}
                Reply::Failed { .. } if self.searched().await? != before => return Err(Error::Replaced),
                Reply::Failed { status, kind, reason } => return Err(refused(status, &kind, &reason)),
            }
        }
        for older in self.written().await?.into_iter().filter(|other| other < index) {
            match self.try_call("DELETE", &format!("/{}", older.0), None).await? {
                Reply::Done(_) | Reply::Failed { status: 404, .. } => {}
                Reply::Failed { status, kind, reason } => return Err(refused(status, &kind, &reason)),
            }
        }
        Ok(())
    }

    pub(crate) async fn refresh(&self, index: &IndexName) -> Result<(), Error> {
        self.call("POST", &format!("/{}/_refresh", index.0), None).await.map(|_| ())
    }
}

/// The settings, the mapping and the alias of a new index.
///
/// One shard holds millions of products. With two nodes, each has a copy. The words are already folded, so the standard
/// analyzer only splits them. Beginnings of the words of a name are indexed for search as one types.
fn creation(index: &IndexName) -> Value {
    let kept = json!({ "type": "keyword", "index": false, "doc_values": false });
    json!({
        "aliases": { index.written(): {} },
        "settings": { "index": { "number_of_shards": 1, "auto_expand_replicas": "0-1" } },
        "mappings": {
            "dynamic": "strict",
            "properties": {
                "productId": { "type": "keyword" },
                "name": kept,
                "description": kept,
                "descriptionContinues": { "type": "boolean", "index": false, "doc_values": false },
                "category": { "type": "keyword" },
                "price": { "properties": { "amount": { "type": "long" }, "currency": { "type": "keyword" } } },
                "availability": { "type": "keyword" },
                "version": { "type": "long", "index": false },
                "removed": { "type": "boolean" },
                "words": {
                    "properties": {
                        "name": {
                            "type": "text",
                            "analyzer": "standard",
                            "index_prefixes": { "min_chars": 1, "max_chars": 10 },
                        },
                        "all": { "type": "text", "analyzer": "standard" },
                        "order": { "type": "keyword" },
                    },
                },
            },
        },
    })
}
