//! Attributes as people write them.

use std::fmt;

use jiff::Timestamp;
use key_schema::layout::{ENTITIES, Item, RELATIONS};
use key_schema::value::Money;
use maud::{Markup, html};
use serde::Deserialize;
use serde::de::{MapAccess, Visitor};
use serde_json::{Map, Value, json};

use super::HERE;
use super::asked::link;

/// The most attributes on an item's line.
const MOST: usize = 7;

/// The most characters of a text on an item's line.
const LONGEST: usize = 48;

/// What matters of these kinds, first. Of the others, it is what their declarations name first.
const FIRST: &[(&str, &[&str])] = &[
    ("order", &["status", "total", "customerId", "placedAt", "units"]),
    ("orderItem", &["name", "quantity", "amount"]),
    ("invoice", &["amount", "number", "issuedAt", "customerId"]),
];

/// What tells little about an item.
const LAST: &[&str] = &[
    "version",
    "shard",
    "requestHash",
    "requestId",
    "priceVersion",
    "changedAt",
    "lineCount",
    "position",
    "body",
    "availabilityChanges",
];

/// The members of a document, in their order.
struct Ordered(Vec<(String, Value)>);

impl<'de> Deserialize<'de> for Ordered {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members;
        impl<'de> Visitor<'de> for Members {
            type Value = Ordered;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a document")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Ordered, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Ordered(members))
            }
        }
        deserializer.deserialize_map(Members)
    }
}

/// The attributes of an item in the order in which its entity declares them, but for keys.
fn declared(item: &Map<String, Value>) -> Vec<(String, Value)> {
    let read = serde_json::from_value::<Item>(Value::Object(item.clone()));
    let in_order = read.and_then(|item| serde_json::to_string(&item)).and_then(|text| serde_json::from_str(&text));
    let members = match in_order {
        Ok(Ordered(members)) => members,
        Err(_) => item.iter().map(|(name, value)| (name.clone(), value.clone())).collect(),
    };
    members.into_iter().filter(|(name, _)| name.starts_with(|first: char| first.is_ascii_lowercase())).collect()
}

/// What matters of an item, on one line. `known` are the values that the reader sees already.
pub(super) fn line(table: &str, kind: &str, item: &Map<String, Value>, known: &[String]) -> Markup {
    let mut attributes = declared(item);
    attributes.retain(|(_, value)| !value.as_str().is_some_and(|text| known.iter().any(|known| known == text)));
    let first = FIRST.iter().find(|(named, _)| *named == kind).map_or(&[][..], |(_, first)| *first);
    let rank = |name: &str| match first.iter().position(|first| *first == name) {
        Some(place) => place,
        None if LAST.contains(&name) => usize::MAX,
        None => first.len(),
    };
    attributes.sort_by_key(|(name, _)| rank(name));
    html! {
        @for (name, value) in attributes.iter().filter(|(name, _)| rank(name) < usize::MAX).take(MOST) {
            span { i { (name) } " " @match named_by(kind, name, value) {
                Some(partition) => a href=(link(HERE, &[("table", table), ("partition", &partition)])) { (shown(name, value)) },
                None => (shown(name, value)),
            } }
        }
    }
}

/// The partition of the item that this attribute names, if it names one.
fn named_by(kind: &str, attribute: &str, value: &Value) -> Option<String> {
    let relation = RELATIONS.iter().find(|relation| relation.to == kind && relation.by == attribute)?;
    let (_, places) = ENTITIES.iter().find(|(entity, _)| *entity == relation.from)?;
    let template = places.first()?.partition;
    let (before, rest) = template.split_once('{')?;
    let (_, after) = rest.split_once('}')?;
    let value = value.as_str()?;
    (!after.contains('{')).then(|| format!("{before}{value}{after}"))
}

/// A value as people write it: money in its currency, times without letters, and lists by their number.
pub(in crate::console) fn shown(name: &str, value: &Value) -> Markup {
    let text = match value {
        Value::Object(_) if let Ok(money) = serde_json::from_value::<Money>(value.clone()) => money.written(),
        Value::Object(members) => match members.len() {
            0 => "none".to_owned(),
            _ => short(
                &members.iter().map(|(name, value)| format!("{name}: {}", plain(value))).collect::<Vec<_>>().join(", "),
            ),
        },
        Value::Array(entries) if entries.len() == 1 => return shown(name, &entries[0]),
        Value::Array(entries) => format!("{} entries", entries.len()),
        Value::Number(seconds) if name.ends_with("At") => {
            match seconds.as_i64().and_then(|it| Timestamp::from_second(it).ok()) {
                Some(moment) => return time(moment),
                None => seconds.to_string(),
            }
        }
        // The name of a sum over a currency ends with it.
        Value::Number(amount)
            if let Some((_, currency)) = name.split_once(':')
                && let Ok(money) =
                    serde_json::from_value::<Money>(json!({ "amount": amount, "currency": currency })) =>
        {
            money.written()
        }
        Value::String(text) => match moment(text) {
            Some(moment) => return time(moment),
            None => short(text),
        },
        other => other.to_string(),
    };
    html! { (text) }
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Object(_) => serde_json::from_value::<Money>(value.clone()).map_or("…".to_owned(), Money::written),
        Value::Array(entries) => format!("{} entries", entries.len()),
        other => other.to_string(),
    }
}

fn moment(text: &str) -> Option<Timestamp> {
    // Nothing shorter is a moment: a day, for example, stays as it is.
    if text.len() >= 20 && text.as_bytes()[4] == b'-' { text.parse().ok() } else { None }
}

fn time(moment: Timestamp) -> Markup {
    html! { time datetime=(moment) { (moment.strftime("%-d %b %Y, %H:%M:%S")) } }
}

fn short(text: &str) -> String {
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
