//! Indexes, aliases and documents.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

/// A refusal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Refused {
    pub(super) status: u16,
    pub(super) kind: &'static str,
    pub(super) reason: String,
}

impl Refused {
    pub(super) fn new(status: u16, kind: &'static str, reason: impl Into<String>) -> Self {
        Self { status, kind, reason: reason.into() }
    }

    /// A request that this cluster does not know, although OpenSearch may.
    pub(super) fn unknown(what: impl std::fmt::Display) -> Self {
        Self::new(400, "illegal_argument_exception", format!("the pretend OpenSearch does not know {what}"))
    }

    fn no_index(name: &str) -> Self {
        Self::new(404, "index_not_found_exception", format!("no such index [{name}]"))
    }

    /// The error as the API shows it.
    pub(super) fn body(&self) -> Value {
        json!({ "error": { "type": self.kind, "reason": self.reason }, "status": self.status })
    }
}

pub(super) type Answer = Result<Value, Refused>;

#[derive(Clone, Default)]
pub(super) struct Cluster {
    pub(super) indexes: BTreeMap<String, Index>,
    /// For each alias the indexes that have it, and whether it is the one for writes.
    aliases: BTreeMap<String, BTreeMap<String, bool>>,
}

#[derive(Clone, Default)]
pub(super) struct Index {
    properties: Value,
    pub(super) documents: BTreeMap<String, Document>,
    writes: i64,
}

#[derive(Clone)]
pub(super) struct Document {
    pub(super) source: Value,
    seq_no: i64,
}

impl Cluster {
    /// The index with this name, or the only one with this alias.
    pub(super) fn resolve(&self, name: &str) -> Result<&str, Refused> {
        if let Some((name, _)) = self.indexes.get_key_value(name) {
            return Ok(name);
        }
        let mut found = self.aliases.get(name).into_iter().flatten();
        match (found.next(), found.next()) {
            (Some((index, _)), None) => Ok(index),
            (None, _) => Err(Refused::no_index(name)),
            (Some(_), Some(_)) => Err(Refused::unknown(format!("[{name}], an alias of several indexes, here"))),
        }
    }

    pub(super) fn index(&self, name: &str) -> Result<&Index, Refused> {
        let index = self.resolve(name)?;
        self.indexes.get(index).ok_or_else(|| Refused::no_index(name))
    }

    pub(super) fn create(&mut self, name: &str, body: &Value) -> Answer {
        if self.indexes.contains_key(name) {
            let reason = format!("index [{name}] already exists");
            return Err(Refused::new(400, "resource_already_exists_exception", reason));
        }
        if self.aliases.contains_key(name) {
            return Err(Refused::new(400, "invalid_index_name_exception", format!("[{name}] is an alias")));
        }
        if body["mappings"]["dynamic"] != "strict" {
            return Err(Refused::unknown("a mapping that is not strict"));
        }
        for (alias, _) in body["aliases"].as_object().into_iter().flatten() {
            self.aliases.entry(alias.clone()).or_default().insert(name.to_owned(), false);
        }
        let index = Index { properties: body["mappings"]["properties"].clone(), ..Index::default() };
        self.indexes.insert(name.to_owned(), index);
        Ok(json!({ "acknowledged": true, "shards_acknowledged": true, "index": name }))
    }

    pub(super) fn delete(&mut self, name: &str) -> Answer {
        self.indexes.remove(name).ok_or_else(|| Refused::no_index(name))?;
        for indexes in self.aliases.values_mut() {
            indexes.remove(name);
        }
        self.aliases.retain(|_, indexes| !indexes.is_empty());
        Ok(json!({ "acknowledged": true }))
    }

    /// The indexes with an alias that matches the pattern, each with its matching aliases.
    pub(super) fn of_alias(&self, pattern: &str) -> Answer {
        let (before, after) = pattern.split_once('*').unwrap_or((pattern, ""));
        let is_pattern = pattern.contains('*');
        let matches = |alias: &str| {
            if is_pattern {
                alias.len() >= before.len() + after.len() && alias.starts_with(before) && alias.ends_with(after)
            } else {
                alias == pattern
            }
        };
        let mut found = Map::new();
        for (alias, indexes) in self.aliases.iter().filter(|(alias, _)| matches(alias)) {
            for (index, is_write_index) in indexes {
                let alias_of_index = if *is_write_index { json!({ "is_write_index": true }) } else { json!({}) };
                found.entry(index.clone()).or_insert_with(|| json!({ "aliases": {} }))["aliases"][alias] =
                    alias_of_index;
            }
        }
        if found.is_empty() && !is_pattern {
            return Err(Refused::new(404, "aliases_not_found_exception", format!("alias [{pattern}] missing")));
        }
        Ok(found.into())
    }

    /// Changes aliases, all of them or none.
    pub(super) fn change_aliases(&mut self, body: &Value) -> Answer {
        let mut aliases = self.aliases.clone();
        for action in body["actions"].as_array().into_iter().flatten() {
            let Some((kind, of)) = action.as_object().and_then(|action| action.iter().next()) else {
                return Err(Refused::unknown("an action without a name"));
            };
            let text = |name: &str| of[name].as_str().unwrap_or_default().to_owned();
            let (index, alias) = (text("index"), text("alias"));
            if !self.indexes.contains_key(&index) {
                return Err(Refused::no_index(&index));
            }
            let indexes = aliases.entry(alias.clone()).or_default();
            match kind.as_str() {
                "add" => _ = indexes.insert(index, of["is_write_index"] == true),
                "remove" if indexes.remove(&index).is_none() && of["must_exist"] == true => {
                    let reason = format!("aliases [{alias}] missing");
                    return Err(Refused::new(404, "aliases_not_found_exception", reason));
                }
                "remove" => {}
                other => return Err(Refused::unknown(format!("the action [{other}]"))),
            }
        }
        aliases.retain(|_, indexes| !indexes.is_empty());
        if let Some((alias, _)) =
            aliases.iter().find(|(_, indexes)| indexes.values().filter(|is_write| **is_write).count() > 1)
        {
            let reason = format!("alias [{alias}] has more than one write index");
            return Err(Refused::new(500, "illegal_state_exception", reason));
        }
        self.aliases = aliases;
        Ok(json!({ "acknowledged": true }))
    }

    pub(super) fn documents(&self, name: &str, body: &Value) -> Value {
        let ids: Vec<_> = body["ids"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let found = self.index(name);
        let documents = ids.into_iter().map(|id| match &found {
            Err(refused) => json!({ "_index": name, "_id": id, "error": refused.body()["error"] }),
            Ok(index) => match index.documents.get(id) {
                Some(Document { source, seq_no }) => json!({
                    "_index": name, "_id": id, "found": true, "_seq_no": seq_no, "_primary_term": 1, "_source": source,
                }),
                None => json!({ "_index": name, "_id": id, "found": false }),
            },
        });
        json!({ "docs": documents.collect::<Vec<_>>() })
    }

    /// Carries out the writes of a bulk request one by one.
    pub(super) fn bulk(&mut self, name: &str, body: &str) -> Answer {
        let mut lines = body.lines();
        let (mut items, mut errors) = (Vec::new(), false);
        while let Some(action) = lines.next() {
            let parsed = |line: Option<&str>| {
                let parsed = line.and_then(|line| serde_json::from_str::<Value>(line).ok());
                parsed.ok_or_else(|| Refused::new(400, "illegal_argument_exception", "Malformed action/metadata line"))
            };
            let action = parsed(Some(action))?;
            let Some((kind, of)) = action.as_object().and_then(|action| action.iter().next()) else {
                return Err(Refused::unknown("an action without a name"));
            };
            let source = parsed(lines.next())?;
            let id = of["_id"].as_str().unwrap_or_default();
            let item = match self.write(name, kind, of, source) {
                Ok((status, seq_no)) => json!({ "_id": id, "status": status, "_seq_no": seq_no, "_primary_term": 1 }),
                Err(refused) => {
                    errors = true;
                    json!({ "_id": id, "status": refused.status, "error": refused.body()["error"] })
                }
            };
            items.push(json!({ kind: item }));
        }
        Ok(json!({ "took": 0, "errors": errors, "items": items }))
    }

    fn write(&mut self, name: &str, kind: &str, of: &Value, source: Value) -> Result<(u16, i64), Refused> {
        if of["require_alias"] != true {
            return Err(Refused::unknown("a write that may create an index"));
        }
        if !self.aliases.contains_key(name) {
            let reason = format!(
                "no such index [{name}] and [require_alias] request flag is [true] and [{name}] is not an alias"
            );
            return Err(Refused::new(404, "index_not_found_exception", reason));
        }
        let resolved = self.resolve(name)?.to_owned();
        let index = self.indexes.get_mut(&resolved).ok_or_else(|| Refused::no_index(name))?;
        let id = of["_id"].as_str().ok_or_else(|| Refused::unknown("a write without an id"))?;
        let seen = index.documents.get(id).map(|document| document.seq_no);
        let conflict =
            |reason: String| Err(Refused::new(409, "version_conflict_engine_exception", format!("[{id}]: {reason}")));
        match kind {
            "create" if seen.is_some() => return conflict("document already exists".to_owned()),
            "index" if of["if_primary_term"] != 1 => return Err(Refused::unknown("a write without a condition")),
            "index" if of["if_seq_no"].as_i64() != seen => {
                return conflict(format!(
                    "required seqNo [{}], current document has seqNo [{seen:?}]",
                    of["if_seq_no"]
                ));
            }
            "create" | "index" => {}
            other => return Err(Refused::unknown(format!("the action [{other}]"))),
        }
        fits(&index.properties, &source, "")?;
        let seq_no = index.writes;
        index.writes += 1;
        index.documents.insert(id.to_owned(), Document { source, seq_no });
        Ok((if seen.is_some() { 200 } else { 201 }, seq_no))
    }
}

/// Refuses a field that the mapping does not have, or a value of another type.
fn fits(properties: &Value, source: &Value, path: &str) -> Result<(), Refused> {
    for (field, value) in source.as_object().into_iter().flatten() {
        let (of, path) = (&properties[field], format!("{path}{field}"));
        let fits_type = match of["type"].as_str() {
            None if of["properties"].is_object() => {
                fits(&of["properties"], value, &format!("{path}."))?;
                true
            }
            None => {
                let reason = format!("mapping set to strict, dynamic introduction of [{path}] is not allowed");
                return Err(Refused::new(400, "strict_dynamic_mapping_exception", reason));
            }
            Some("long") => value.is_i64() || value.is_u64(),
            Some("boolean") => value.is_boolean(),
            Some(_) => value.is_string(),
        };
        if !fits_type {
            return Err(Refused::new(400, "mapper_parsing_exception", format!("failed to parse field [{path}]")));
        }
    }
    Ok(())
}

impl Index {
    /// The value of a field, by its path.
    pub(super) fn value<'a>(source: &'a Value, field: &str) -> &'a Value {
        field.split('.').fold(source, |value, name| &value[name])
    }

    /// Refuses a field that no document can have.
    pub(super) fn ensure_field(&self, field: &str) -> Result<(), Refused> {
        let mut names = field.split('.');
        let first = names.next().unwrap_or_default();
        let of = names.fold(&self.properties[first], |of, name| &of["properties"][name]);
        if of["type"].is_string() { Ok(()) } else { Err(Refused::unknown(format!("the field [{field}]"))) }
    }

    pub(super) fn words(source: &Value, field: &str) -> Vec<String> {
        words(Self::value(source, field).as_str().unwrap_or_default())
    }

    /// The names of the fields in which words are searched.
    pub(super) fn text_fields(&self) -> BTreeSet<String> {
        fn collect(properties: &Value, path: &str, fields: &mut BTreeSet<String>) {
            for (name, of) in properties.as_object().into_iter().flatten() {
                if of["type"] == "text" {
                    fields.insert(format!("{path}{name}"));
                }
                collect(&of["properties"], &format!("{path}{name}."), fields);
            }
        }
        let mut fields = BTreeSet::new();
        collect(&self.properties, "", &mut fields);
        fields
    }
}

pub(super) fn words(text: &str) -> Vec<String> {
    let words = text.split(|character: char| !character.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect()
}
