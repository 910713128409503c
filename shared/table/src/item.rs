//! Entities as DynamoDB items.

use std::collections::HashMap;

use aws_sdk_dynamodb::types::AttributeValue;
use key_schema::layout::{ENTITY_TYPE, Key, Stored};
use serde::de::DeserializeOwned;

use crate::Error;

/// A DynamoDB item.
pub type Item = HashMap<String, AttributeValue>;

/// The attributes of an entity and its `EntityType`, without keys.
pub(crate) fn attributes<T: Stored>(entity: &T) -> Result<Item, Error> {
    let mut item: Item = serde_dynamo::to_item(entity)?;
    item.insert(ENTITY_TYPE.to_owned(), AttributeValue::S(T::TYPE.to_owned()));
    Ok(item)
}

/// The item of an entity: its attributes, its `EntityType` and its keys.
pub fn write<T: Stored>(entity: &T) -> Result<Item, Error> {
    let mut item = attributes(entity)?;
    item.extend(entity.keys().into_iter().flat_map(key));
    Ok(item)
}

pub(crate) fn key(key: Key) -> [(String, AttributeValue); 2] {
    let (partition, sort) = key.index.attributes();
    [(partition.to_owned(), AttributeValue::S(key.partition)), (sort.to_owned(), AttributeValue::S(key.sort))]
}

/// Deserializes an item as an entity, or as an enum of entities.
pub fn read<T: DeserializeOwned>(item: Item) -> Result<T, Error> {
    Ok(serde_dynamo::from_item(item)?)
}
