//! The items of a page, by their collections.

use key_schema::layout::{Consistency, Declaration, Index, Key, parts};
use maud::{Markup, html};
use serde_json::{Map, Value};

use super::asked::{Asked, link};
use super::read::Found;
use super::{HERE, INDEXES, MOST, Table, capital, declared, place_of, values};

pub(super) struct Show<'a> {
    pub(super) table: &'a Table,
    pub(super) index: Index,
    pub(super) asked: &'a Asked,
}

/// An item with its keys: as they are stored, and as the key schema declares them.
struct Shown<'a> {
    item: &'a Map<String, Value>,
    kind: &'a str,
    stored: Vec<Key>,
    canonical: Vec<Key>,
}

impl Shown<'_> {
    fn key(&self, index: Index) -> Option<&Key> {
        self.stored.iter().find(|key| key.index == index)
    }
}

impl Show<'_> {
    /// What the request cost, and the items that it read.
    pub(super) fn found(&self, found: &Found) -> Markup {
        let items: Vec<_> = found.items.iter().map(|item| self.item(item)).collect();
        let of_one = |one: &Shown, other: &Shown| {
            let [one, other] = [one, other].map(|it| it.key(self.index).map(|key| &key.partition));
            one == other
        };
        html! {
            div.cost {
                span { b data-read=(found.read) { (found.read) } (if found.read == 1 { " item" } else { " items" }) " read" }
                span { b { (found.units) } " read " (if found.units > 1.0 { "units" } else { "unit" }) }
                span { (sentence(found)) }
                details { summary { (found.action) " as it was sent" }
                    pre { (serde_json::to_string_pretty(&found.request).unwrap_or_default()) } }
            }
            @if items.is_empty() { p { "It found no item." } }
            @for collection in items.chunk_by(of_one) {
                section.collection {
                    @if let Some(key) = collection[0].key(self.index) {
                        h2 { (self.partition(key)) @if let Some(name) = self.index.name() { " " span.quiet { "in " (name) } } }
                    }
                    ul.items { @for shown in collection { (self.line(shown)) } }
                }
            }
        }
    }

    /// The link to the page that follows.
    pub(super) fn next(&self, found: &Found) -> Markup {
        self.next_at(HERE, found)
    }

    /// The same of another page.
    pub(super) fn next_at(&self, path: &str, found: &Found) -> Markup {
        html! {
            @if let Some(key) = &found.next {
                p.more { a.button href=(self.asked.behind(path, key)) rel="next" { "Next items" } span.quiet { "up to " (MOST) " of them" } }
            }
        }
    }

    fn item<'a>(&self, item: &'a Map<String, Value>) -> Shown<'a> {
        let text = |name: &str| item.get(name).and_then(Value::as_str).map(str::to_owned);
        let stored = INDEXES.iter().filter_map(|index| {
            let (partition, sort) = index.attributes();
            Some(Key { index: *index, partition: text(partition)?, sort: text(sort)? })
        });
        let stored: Vec<_> = stored.collect();
        let canonical = stored.iter().filter_map(|key| self.table.layout.canonical(key.clone())).collect();
        Shown { item, kind: item.get("EntityType").and_then(Value::as_str).unwrap_or("unknown"), stored, canonical }
    }

    fn line(&self, shown: &Shown) -> Markup {
        let known = shown.canonical.iter().filter(|key| [Index::Table, self.index].contains(&key.index));
        let known: Vec<_> = known
            .filter_map(|key| Some((key, place_of(key)?)))
            .flat_map(|(key, place)| {
                let of = |template: &'static str, key: &str| {
                    let parts = parts(template, key).unwrap_or_default();
                    parts.into_iter().map(|(_, part)| part.to_owned()).collect::<Vec<_>>()
                };
                [of(place.partition, &key.partition), of(place.sort, &key.sort)].concat()
            })
            .collect();
        html! {
            li class={ "k-" (shown.kind) } {
                span.kind { (shown.kind) }
                span.keys {
                    @if self.index != Index::Table && let Some(key) = shown.key(self.index) { code { (key.sort) } }
                    @if let Some(key) = shown.key(Index::Table) {
                        @if self.index == Index::Table { code { (key.sort) } } @else { (self.partition(key)) }
                    }
                }
                span.what { (values::line(&self.table.name, shown.kind, shown.item, &known)) }
                details { summary { "JSON" } (self.details(shown)) }
            }
        }
    }

    /// All of an item: its keys with their collections, the access patterns that find it, and its attributes.
    fn details(&self, shown: &Shown) -> Markup {
        let attributes: Map<_, _> = shown
            .item
            .iter()
            .filter(|(name, _)| !is_key(name))
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect();
        let patterns: Vec<_> =
            declared().filter_map(|(name, pattern)| Some((pattern, self.asks(&name, pattern, shown)?))).collect();
        html! {
            dl.pairs {
                @for key in &shown.stored {
                    @let (partition, sort) = key.index.attributes();
                    dt { (partition) ", " (sort) } dd { (self.partition(key)) " " code { (key.sort) } }
                }
                @if !patterns.is_empty() {
                    dt { "found by" }
                    dd { @for (pattern, address) in &patterns { a href=(address) { (pattern.number) " " (capital(pattern.question)) } br; } }
                }
            }
            pre { (serde_json::to_string_pretty(&attributes).unwrap_or_default()) }
        }
    }

    /// The address of the pattern with the parameters that find this item.
    fn asks(&self, name: &str, pattern: &Declaration, shown: &Shown) -> Option<String> {
        if !pattern.entities.contains(&shown.kind) {
            return None;
        }
        let key = shown.canonical.iter().find(|key| key.index == pattern.place.index)?;
        let of_sort = parts(pattern.place.sort, &key.sort).unwrap_or_default();
        let known = [parts(pattern.place.partition, &key.partition)?, of_sort].concat();
        let fields = pattern.fields();
        let fields = fields.iter().filter(|field| !field.is_range);
        let named = fields.map(|field| known.iter().find(|(name, _)| *name == field.name).copied());
        let mut given = named.collect::<Option<Vec<_>>>()?;
        given.insert(0, ("table", self.asked.get("table")));
        Some(link(&format!("{HERE}/patterns/{name}"), &given))
    }

    /// A partition key, as a link to its collection.
    fn partition(&self, key: &Key) -> Markup {
        let parameters = [
            ("table", self.asked.get("table")),
            ("index", key.index.name().unwrap_or_default()),
            ("partition", &*key.partition),
        ];
        html! { a href=(link(HERE, &parameters)) { code { (key.partition) } } }
    }
}

fn is_key(name: &str) -> bool {
    INDEXES.iter().any(|index| {
        let (partition, sort) = index.attributes();
        name == partition || name == sort
    })
}

/// The request in a line: which keys it reads, and how.
fn sentence(found: &Found) -> Markup {
    let request = &found.request;
    let mut condition = request["KeyConditionExpression"].as_str().unwrap_or_default().to_owned();
    for values in ["ExpressionAttributeNames", "ExpressionAttributeValues"] {
        for (name, value) in request[values].as_object().into_iter().flatten() {
            let value = value.as_str().map_or_else(|| format!("{}", value["S"]), str::to_owned);
            condition = condition.replace(name, &value);
        }
    }
    let consistency = match request["ConsistentRead"].as_bool() {
        Some(true) => Consistency::Strong,
        _ => Consistency::Eventual,
    };
    html! {
        (found.action) " " (request["IndexName"].as_str().unwrap_or_default()) " "
        @if !condition.is_empty() { code { (condition) } " " }
        @if let Some(most) = request["Limit"].as_u64() { "Limit " (most) ", " }
        @match consistency { Consistency::Strong => "strongly consistent", Consistency::Eventual => "eventually consistent" }
        @if request["ScanIndexForward"] == false { ", descending" }
    }
}
