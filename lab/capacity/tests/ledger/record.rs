//! Recording: the requests of a case, with the kind of each item before and after.
//!
//! The fault proxy records the calls, and the table's stream has both images of each item that a call changed.

use std::collections::{HashMap, HashSet};

use capacity::ledger::Write;
use devstack::fault_proxy::Call;
use key_schema::layout::{Declaration, ENTITY_TYPE, Index};
use sample_items::{Kind, Sample};
use serde_dynamo::Item;
use serde_json::{Value, json};
use shop::Shop;
use shop::accesses::{key_of, key_written, writes_of};
use shop::pattern::{TableKey, consistency, entity, pattern, pattern_of_keys};
use shop::stream::Tail;

use super::form::{Form, Part, Requests, add};

/// The table as the stream describes it.
#[derive(Default)]
pub struct Recorder {
    tail: Tail,
    items: HashMap<TableKey, Item>,
}

fn item(value: &Value) -> Option<Item> {
    (!value.is_null()).then(|| serde_json::from_value(value.clone()).expect("an item"))
}

fn kind(item: Option<&Item>) -> Kind {
    item.map_or(Kind::Absent, |item| Kind::of(item).unwrap_or_else(|| panic!("an item of no entity: {item:?}")))
}

/// The only table of a batch.
fn only(tables: &Value) -> Value {
    tables.as_object().and_then(|tables| tables.values().next()).cloned().unwrap_or_default()
}

/// The relation of two items' entries in an index: none, the same, changed in place, moved, added or removed.
fn relation(index: Index, before: Option<&Item>, after: Option<&Item>) -> &'static str {
    let (partition, sort) = index.attributes();
    let entry = |item: Option<&Item>| Some((item?.get(partition)?.clone(), item?.get(sort)?.clone()));
    match (entry(before), entry(after)) {
        (None, None) => "none",
        (None, Some(_)) => "added",
        (Some(_), None) => "removed",
        (Some(_), Some(_)) if before == after => "the same",
        (Some(before), Some(after)) if before == after => "changed",
        (Some(_), Some(_)) => "moved",
    }
}

/// The kind of the item after a write: of its revisions, the one whose index entries change in the same way.
fn after(sample: &Sample, before: Option<&Item>, after: Option<&Item>) -> Kind {
    if before == after || after.is_none() {
        return kind(after);
    }
    let relations = |before, after| [Index::Gsi1, Index::Gsi2].map(|index| relation(index, before, after));
    let (was, seen) = (sample.item(kind(before)), relations(before, after));
    let mut revisions = kind(after).revisions();
    // A change leads to another revision, if the sample has several.
    if kind(before) == kind(after) && revisions.len() > 1 {
        revisions.retain(|revision| *revision != kind(before));
    }
    let alike = revisions.iter().find(|revision| relations(was, sample.item(**revision)) == seen);
    *alike.unwrap_or_else(|| panic!("the sample has no item that becomes another as {before:?} becomes {after:?}"))
}

impl Recorder {
    /// Reads the changes of the table since this was last called: of each item, all pairs of images in their order.
    async fn changes(&mut self, shop: &Shop) -> HashMap<TableKey, Vec<[Option<Item>; 2]>> {
        let mut changes: HashMap<TableKey, Vec<_>> = HashMap::new();
        for record in self.tail.new_records(shop).await {
            let change = &record["dynamodb"];
            let images = [&change["OldImage"], &change["NewImage"]].map(item);
            changes.entry(key_of(&change["Keys"])).or_default().push(images);
        }
        changes
    }

    /// Discards the changes so far.
    pub async fn pass(&mut self, shop: &Shop) {
        for (key, images) in self.changes(shop).await {
            self.apply(key, images.into_iter().next_back().and_then(|[_, after]| after));
        }
    }

    fn apply(&mut self, key: TableKey, item: Option<Item>) {
        match item {
            Some(item) => _ = self.items.insert(key, item),
            None => _ = self.items.remove(&key),
        }
    }

    pub async fn record(&mut self, shop: &Shop, sample: &Sample, calls: &[Call]) -> Vec<Requests> {
        let mut changes = self.changes(shop).await;
        // Changes before the calls were not made by them.
        let mut writes: HashMap<TableKey, usize> = HashMap::new();
        let mut tokens = HashSet::new();
        for call in calls.iter().filter(|call| call.status == Some(200) && is_new(call, &mut tokens)) {
            for (_, write) in writes_of(call).iter().filter(|(action, _)| action != "ConditionCheck") {
                *writes.entry(key_written(write)).or_default() += 1;
            }
        }
        for (key, images) in &mut changes {
            let own = writes.get(key).copied().unwrap_or_default();
            for [_, after] in images.drain(..images.len().saturating_sub(own)) {
                self.apply(key.clone(), after);
            }
        }

        let (mut all, mut done) = (Vec::<Requests>::new(), HashMap::new());
        for call in calls {
            let (form, parts) = self.request(sample, call, &mut changes, &mut done);
            let mut counted: Vec<(Part, u32)> = Vec::new();
            for part in parts {
                match counted.iter_mut().find(|(known, _)| *known == part) {
                    Some((_, times)) => *times += 1,
                    None => counted.push((part, 1)),
                }
            }
            counted.sort_by_key(|(part, _)| format!("{part:?}"));
            add(&mut all, Requests { form, times: 1, parts: counted });
        }
        // Of the items that the calls wrote, the last images.
        for (key, images) in changes {
            if let Some([_, after]) = images.into_iter().next_back() {
                self.apply(key, after);
            }
        }
        all
    }

    fn request(
        &mut self,
        sample: &Sample,
        call: &Call,
        changes: &mut HashMap<TableKey, Vec<[Option<Item>; 2]>>,
        done: &mut HashMap<String, Vec<Part>>,
    ) -> (Form, Vec<Part>) {
        let (request, response) = (&call.request, &call.response);
        let read =
            |items: &[Value]| -> Vec<Part> { items.iter().map(|found| Part::Read(self.kind_of(found))).collect() };
        match call.action.as_str() {
            "Query" => {
                let found = response["Items"].as_array().expect("items");
                (Form::Query(pattern(request, found)), read(found))
            }
            "BatchGetItem" => {
                let (asked, found) = (only(&request["RequestItems"]), only(&response["Responses"]));
                let (keys, found) = (asked["Keys"].as_array().expect("keys"), found.as_array().expect("items"));
                let missing = vec![Part::Read(Kind::Absent); keys.len() - found.len()];
                let keys: Vec<_> = keys.iter().map(key_of).collect();
                let form = match pattern_of_keys(&keys) {
                    Some(pattern) => Form::Keys(Declaration { consistency: consistency(&asked), ..pattern }),
                    None => Form::Batch(consistency(&asked)),
                };
                (form, [read(found), missing].concat())
            }
            "TransactGetItems" => {
                let found = response["Responses"].as_array().expect("responses");
                (Form::ReadTransaction, read(&found.iter().map(|one| one["Item"].clone()).collect::<Vec<_>>()))
            }
            _ => {
                let is_transaction = call.action == "TransactWriteItems";
                let token = request["ClientRequestToken"].as_str().unwrap_or_default().to_owned();
                if let Some(parts) = done.get(&token).filter(|_| is_transaction) {
                    return (Form::Repeated, parts.clone());
                }
                let is_done = call.status == Some(200);
                let parts: Vec<_> = writes_of(call)
                    .iter()
                    .map(|(action, write)| Part::Written(self.write(sample, action, write, is_done, changes)))
                    .collect();
                if is_done && is_transaction {
                    done.insert(token, parts.clone());
                }
                let form = match (is_transaction, is_done) {
                    (true, true) => Form::Transaction,
                    (true, false) => Form::Cancelled,
                    (false, true) => Form::Write,
                    (false, false) => Form::Failed,
                };
                (form, parts)
            }
        }
    }

    /// The kind of an item that was found. If only its key was read, the kind is that of the stored item.
    fn kind_of(&self, found: &Value) -> Kind {
        let is_key = found.as_object().is_some_and(|found| !found.contains_key(ENTITY_TYPE));
        if is_key { kind(self.items.get(&key_of(found))) } else { kind(item(found).as_ref()) }
    }

    /// One write, done or refused.
    fn write(
        &mut self,
        sample: &Sample,
        action: &str,
        write: &Value,
        is_done: bool,
        changes: &mut HashMap<TableKey, Vec<[Option<Item>; 2]>>,
    ) -> Write {
        let key = key_written(write);
        let stands = self.items.get(&key).cloned();
        let images = changes.get_mut(&key).filter(|images| is_done && action != "ConditionCheck" && !images.is_empty());
        let [before, now] = match images {
            Some(images) => {
                let images = images.remove(0);
                self.apply(key.clone(), images[1].clone());
                images
            }
            // An item that a write leaves as it is has no record in the stream.
            None if is_done => [stands.clone(), stands],
            // A refused write is charged for the item that it would have written.
            None => {
                let would_be = match action {
                    "Put" => item(&write["Item"]),
                    "Delete" => None,
                    _ => stands.clone().or_else(|| created(sample, entity(&key), write)),
                };
                [stands, would_be]
            }
        };
        let (was, becomes) = (kind(before.as_ref()), after(sample, before.as_ref(), now.as_ref()));
        match action {
            "Put" if before.is_none() => Write::New(becomes),
            "Put" => Write::Over(was, becomes),
            "Update" => Write::Update(was, becomes),
            "Delete" => Write::Delete(was),
            "ConditionCheck" => Write::Check(was),
            _ => panic!("{action}: not a write"),
        }
    }
}

/// Whether this call is not a repetition of a transaction that was done before.
fn is_new(call: &Call, tokens: &mut HashSet<String>) -> bool {
    call.request["ClientRequestToken"].as_str().is_none_or(|token| tokens.insert(token.to_owned()))
}

/// The item that an update would create, if the update sets its entity.
fn created(sample: &Sample, entity: &str, update: &Value) -> Option<Item> {
    let values = update["ExpressionAttributeValues"].as_object()?;
    values.values().find(|value| value["S"] == entity)?;
    let is_of = |item: &&Item| json!(item)[ENTITY_TYPE]["S"] == entity;
    sample.images().map(|(_, item)| item).find(is_of).cloned()
}
