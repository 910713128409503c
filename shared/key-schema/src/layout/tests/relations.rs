//! The declared relations are those of the items.

use std::collections::BTreeSet;

use super::parts::sample;
use crate::layout::{ALONE, ENTITIES, PlaceText, RELATIONS};
use single_table::charts::Number;

/// The template of the entity's own place, if partition and sort key are the same: the item that a collection is named
/// after.
fn own_collection(places: &[PlaceText]) -> Option<&'static str> {
    places.first().filter(|place| place.partition == place.sort).map(|place| place.partition)
}

fn placeholders(template: &str) -> BTreeSet<&str> {
    template.split('{').skip(1).filter_map(|rest| rest.split('}').next()).collect()
}

fn place(entity: &str) -> PlaceText {
    ENTITIES.iter().find(|(name, _)| *name == entity).expect("an entity").1[0]
}

#[test]
fn every_entity_has_a_relation_or_stands_alone() {
    let related: BTreeSet<_> = RELATIONS.iter().flat_map(|relation| [relation.from, relation.to]).collect();
    let alone: BTreeSet<_> = ALONE.iter().copied().collect();
    assert_eq!(related.intersection(&alone).collect::<Vec<_>>(), [&""; 0]);
    assert_eq!(
        related.union(&alone).copied().collect::<BTreeSet<_>>(),
        ENTITIES.iter().map(|(name, _)| *name).collect()
    );
}

#[test]
fn an_item_has_the_attribute_by_which_it_names_another() {
    let items: Vec<_> = sample().entities().iter().map(|entity| (entity.kind(), entity.item())).collect();
    for relation in RELATIONS {
        let (_, item) = items.iter().find(|(kind, _)| *kind == relation.to).expect("an item");
        assert!(item.get(relation.by).is_some(), "{relation:?}");
    }
}

#[test]
fn the_items_of_a_collection_are_related_to_the_item_it_is_named_after() {
    for (owner, places) in ENTITIES {
        let Some(collection) = own_collection(places) else { continue };
        let others = ENTITIES.iter().filter(|(name, places)| name != owner && places[0].partition == collection);
        for (other, _) in others {
            let is_declared = RELATIONS.iter().any(|relation| relation.from == *owner && relation.to == *other);
            assert!(is_declared, "{other} lies in the collection of {owner}");
        }
    }
}

#[test]
fn an_entity_whose_keys_name_another_is_related_to_it() {
    let named = [("customerId", "customer"), ("productId", "product"), ("orderId", "order")];
    for (entity, places) in ENTITIES {
        let texts = places.iter().flat_map(|place| [place.partition, place.sort]);
        let parts: BTreeSet<_> = texts.flat_map(placeholders).collect();
        for (part, other) in named.iter().filter(|(part, other)| parts.contains(part) && other != entity) {
            // Directly, or by the entities between them.
            let mut reached = BTreeSet::from([*other]);
            for _ in 0..3 {
                let further = RELATIONS.iter().filter(|relation| reached.contains(relation.from));
                reached.extend(further.map(|relation| relation.to).collect::<Vec<_>>());
            }
            assert!(reached.contains(entity), "the keys of {entity} have {{{part}}}");
        }
    }
}

/// If the key of an item has no parts besides those of the named item's key, there can be only one.
#[test]
fn a_number_of_items_fits_the_keys() {
    for relation in RELATIONS {
        let [from, to] = [relation.from, relation.to].map(place).map(|place| {
            placeholders(place.partition).union(&placeholders(place.sort)).copied().collect::<BTreeSet<_>>()
        });
        let is_single = matches!(relation.many, Number::One | Number::AtMostOne);
        assert!(is_single || !to.is_subset(&from), "{relation:?}: there can be only one");
    }
}
