//! Any item, so that an invariant is written once.

use proptest::prelude::*;
use proptest::sample::Index as Pick;
use serde_dynamo::AttributeValue;

use super::parts::any_parts;
use crate::layout::{Item, PlaceText, spells};

impl Item {
    /// The places of its keys, in the order of the keys.
    pub(super) fn places_of_keys(&self) -> Vec<PlaceText> {
        let keys = self.keys();
        let place_of = |place: &PlaceText| {
            let key = keys.iter().find(|key| key.index == place.index);
            let mut others = self.instead().iter().filter(|other| other.index == place.index);
            *others.find(|other| key.is_some_and(|key| spells(other.partition, &key.partition))).unwrap_or(place)
        };
        self.places().iter().map(place_of).collect()
    }

    /// The item as it is stored.
    pub(super) fn item(&self) -> serde_dynamo::Item {
        let mut item: serde_dynamo::Item = serde_dynamo::to_item(self).expect("an item");
        for key in self.keys() {
            let (partition, sort) = key.index.attributes();
            item.inner_mut().insert(partition.to_owned(), AttributeValue::S(key.partition));
            item.inner_mut().insert(sort.to_owned(), AttributeValue::S(key.sort));
        }
        item
    }
}

/// Any item.
pub(super) fn any_entity() -> impl Strategy<Value = Item> {
    (any_parts(), any::<Pick>()).prop_map(|(parts, pick)| {
        let mut entities = parts.entities();
        entities.swap_remove(pick.index(entities.len()))
    })
}
