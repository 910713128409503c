//! An item that is read from DynamoDB's JSON is the one that `serde_dynamo` reads from a map of attribute values.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Debug;

use proptest::collection::{btree_map, hash_map, vec};
use proptest::prelude::*;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_dynamo::AttributeValue;

use super::any::any_entity;
use crate::json;
use crate::layout::{InCustomer, InGiftCard, InOrder, InProduct, InStock, InViews, Index, Item, ProfileOrOrder};

/// A type that is read in all the ways in which an entity's fields are.
#[derive(Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[derive(Default)]
struct Fields {
    text: String,
    number: i64,
    small: u8,
    great: u64,
    fraction: f64,
    flag: bool,
    maybe: Option<Box<Fields>>,
    list: Vec<Fields>,
    names: Vec<String>,
    map: BTreeMap<String, u16>,
    numbered: BTreeMap<u8, String>,
    status: Option<Status>,
}

#[derive(Debug, PartialEq, Deserialize)]
enum Status {
    Open,
    Closed,
}

fn any_text() -> impl Strategy<Value = String> {
    prop_oneof!["Open|Closed|[0-9]{1,2}", any::<String>()]
}

fn any_number() -> impl Strategy<Value = String> {
    let fraction = any::<f64>().prop_map(|number| number.to_string());
    prop_oneof!["[0-9]{1,3}", any::<i64>().prop_map(|number| number.to_string()), "[0-9]{38}", fraction]
}

fn any_name() -> impl Strategy<Value = String> {
    let known = "text|number|small|great|fraction|flag|maybe|list|names|map|numbered|status|[0-9]{1,3}";
    prop_oneof![8 => known, 1 => any::<String>()]
}

/// Any value but bytes and sets of numbers, which no entity has.
fn any_value() -> impl Strategy<Value = AttributeValue> {
    let leaf = prop_oneof![
        any_text().prop_map(AttributeValue::S),
        any_number().prop_map(AttributeValue::N),
        any::<bool>().prop_map(AttributeValue::Bool),
        Just(AttributeValue::Null(true)),
        // A set of one text would do for a struct of which all other fields have defaults.
        vec(any_text(), 2..4).prop_map(AttributeValue::Ss),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(AttributeValue::L),
            hash_map(any_name(), inner, 0..4).prop_map(AttributeValue::M),
        ]
    })
}

/// Both ways of reading an item agree: on the value, or that there is none.
fn agrees<T: DeserializeOwned + PartialEq + Debug>(item: &serde_dynamo::Item) -> Result<(), TestCaseError> {
    let text = serde_json::to_string(item).expect("JSON");
    let (read, expected) = (json::read::<T>(&text), serde_dynamo::from_item::<_, T>(item.clone()));
    if let (Ok(read), Ok(expected)) = (&read, &expected) {
        prop_assert_eq!(read, expected);
    } else {
        prop_assert_eq!(read.is_ok(), expected.is_ok(), "{:?}, {:?}: {}", read, expected, text);
    }
    Ok(())
}

fn agrees_in_all_types(item: &serde_dynamo::Item) -> Result<(), TestCaseError> {
    agrees::<Item>(item)?;
    agrees::<InCustomer>(item)?;
    agrees::<InProduct>(item)?;
    agrees::<InStock>(item)?;
    agrees::<InViews>(item)?;
    agrees::<InOrder>(item)?;
    agrees::<ProfileOrOrder>(item)?;
    agrees::<InGiftCard>(item)
}

proptest! {
    #[test]
    fn every_item_reads_alike_from_json_and_from_a_map(entity in any_entity(), extra in any_value()) {
        let mut item = entity.item();
        item.inner_mut().insert("of a later release".to_owned(), extra);
        agrees_in_all_types(&item)?;
    }

    #[test]
    fn an_item_with_a_wrong_attribute_is_refused_alike(
        entity in any_entity(), at in any::<prop::sample::Index>(), value in proptest::option::of(any_value()),
    ) {
        let mut item = entity.item();
        let mut names: Vec<_> = item.inner().keys().cloned().collect();
        names.sort();
        let name = at.get(&names).clone();
        match value {
            Some(value) => item.inner_mut().insert(name, value),
            None => item.inner_mut().remove(&name),
        };
        agrees_in_all_types(&item)?;
    }

    #[test]
    fn any_attributes_read_alike(attributes in hash_map(any_name(), any_value(), 0..4)) {
        let item = serde_dynamo::Item::from(attributes);
        agrees::<Fields>(&item)?;
        agrees::<HashMap<String, serde_json::Value>>(&item)?;
    }

    #[test]
    fn a_single_attribute_reads_alike(name in any_name(), value in any_value()) {
        agrees::<Fields>(&serde_dynamo::Item::from(HashMap::from([(name, value)])))?;
    }

    #[test]
    fn what_is_cut_off_is_refused(entity in any_entity(), at in any::<prop::sample::Index>()) {
        let text = serde_json::to_string(&entity.item()).expect("JSON");
        let (end, _) = at.get(&text.char_indices().collect::<Vec<_>>()).to_owned();
        prop_assert!(json::read::<Item>(&text[..end]).is_err());
    }

    #[test]
    fn the_keys_of_an_item_are_found(entity in any_entity()) {
        let text = serde_json::to_string(&entity.item()).expect("JSON");
        for key in entity.keys() {
            let (partition, sort) = key.index.attributes();
            prop_assert_eq!(json::texts(&text, [partition, sort]), Some([key.partition, key.sort]));
        }
        prop_assert_eq!(json::texts(&text, [Index::Table.attributes().0, "none"]), None);
    }

    #[test]
    fn an_answer_is_split_into_its_items_and_the_rest(
        items in vec(hash_map(any_text(), any_value(), 0..4), 0..4), rest in hash_map(any_text(), any_value(), 0..3),
        is_pretty in any::<bool>(), at in any::<prop::sample::Index>(),
    ) {
        let items = serde_json::to_value(items).expect("JSON");
        let mut answers = [serde_json::to_value(&rest).expect("JSON"), serde_json::to_value(&rest).expect("JSON")];
        answers[0]["Items"] = items.clone();
        answers[1]["Responses"] = serde_json::json!({ "a table": items });
        for answer in answers {
            let text = if is_pretty { format!(" {answer:#} ") } else { answer.to_string() };
            let (left, split) = json::split(&text).expect("an answer");
            prop_assert_eq!(serde_json::from_str::<serde_json::Value>(&left).expect("JSON"), serde_json::json!(rest));
            let split: Vec<serde_json::Value> = split.into_iter().map(|item| serde_json::from_str(item).expect("JSON")).collect();
            prop_assert_eq!(serde_json::json!(split), items.clone());
            let (end, _) = at.get(&text.trim_end().char_indices().collect::<Vec<_>>()).to_owned();
            prop_assert_eq!(json::split(&text[..end]), None, "{}", &text[..end]);
        }
    }

    #[test]
    fn an_entity_is_read_beside_values_of_any_other_type(entity in any_entity(), numbers in btree_map("[a-z]", 0..9, 3)) {
        let mut item = entity.item();
        let texts = || numbers.values().map(ToString::to_string).collect::<Vec<_>>();
        let bytes = || texts().into_iter().map(String::into_bytes).collect::<Vec<_>>();
        let others = [AttributeValue::Ns(texts()), AttributeValue::B(b"b".to_vec()), AttributeValue::Bs(bytes())];
        item.inner_mut().extend(["x", "y", "z"].map(str::to_owned).into_iter().zip(others));
        let text = serde_json::to_string(&item).expect("JSON");
        prop_assert_eq!(json::read::<Item>(&text).expect("an entity"), entity);
    }
}

#[test]
fn a_value_has_exactly_one_known_tag() {
    for value in [r#"{"X":"1"}"#, r#"{"S":"1","N":"1"}"#, "{}", r#""S""#, "null", r#"{"S":null}"#, r#"{"N":"1"}"#] {
        let item = format!(r#"{{"text":{value}}}"#);
        assert!(json::read::<Fields>(&item).is_err(), "{item}");
    }
    assert!(json::read::<Fields>(r#"{"number":{"N":"x"}}"#).is_err(), "no number");
}
