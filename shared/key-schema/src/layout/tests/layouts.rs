//! The layouts: each is another spelling of the same keys.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::any::any_entity;
use super::parts::{Parts, any_parts};
use crate::layout::Direction::{Ascending, Descending};
use crate::layout::layouts::{Collections, Respelled, Sort};
use crate::layout::{ENTITIES, INSTEAD, Index, Item, Key, Layout, PATTERNS, PlaceText, SortRange, spells};

proptest! {
    #[test]
    fn the_canonical_key_comes_back_from_every_layout(entity in any_entity()) {
        for layout in Layout::ALL {
            for key in entity.keys() {
                prop_assert_eq!(layout.canonical(layout.key(key.clone())), Some(key));
            }
        }
    }

    #[test]
    fn the_keys_of_an_entity_match_its_places_in_every_layout(entity in any_entity()) {
        for layout in Layout::ALL {
            for (key, place) in entity.keys().into_iter().zip(entity.places_of_keys()) {
                let (key, place) = (layout.key(key), layout.place(place));
                prop_assert!(spells(&place.partition, &key.partition), "{:?} is not {:?}", key, place);
                prop_assert!(spells(&place.sort, &key.sort), "{:?} is not {:?}", key, place);
            }
        }
    }

    /// So a list has the same order in every layout.
    #[test]
    fn keys_of_one_kind_keep_their_order(parts in any_parts(), other in any_parts()) {
        let other = Parts { customer: parts.customer.clone(), status: parts.status, shard: parts.shard, ..other };
        for (a, b) in parts.entities().iter().zip(other.entities()) {
            for (a, b) in a.keys().into_iter().zip(b.keys()).filter(|(a, b)| a.partition == b.partition) {
                for layout in Layout::ALL {
                    let order = layout.key(a.clone()).sort.cmp(&layout.key(b.clone()).sort);
                    prop_assert_eq!(order, a.sort.cmp(&b.sort), "{}: {:?}, {:?}", layout, a, b);
                }
            }
        }
    }

    /// A walk may stop at any item, go on in a table of another layout, and misses and repeats no item of its kind.
    #[test]
    fn a_walk_goes_on_in_another_layout(parts in any_parts(), others in proptest::collection::vec(any_parts(), 1..5)) {
        for (at, entity) in parts.entities().into_iter().enumerate() {
            let lists = |place: &PlaceText| place.index != Index::Table && place.sort != place.partition;
            for (place, key) in entity.keys().into_iter().enumerate().filter(|(at, _)| lists(&entity.places_of_keys()[*at])) {
                let listed = entity.places_of_keys()[place];
                let alike = |other: &Parts| {
                    let other = other.entities().swap_remove(at);
                    (other.places_of_keys()[place] == listed).then(|| other.keys().swap_remove(place).sort)
                };
                let prefix = literal(listed.sort).to_owned();
                let range = if prefix.is_empty() { SortRange::Whole } else { SortRange::BeginsWith(prefix) };
                for layout in Layout::ALL {
                    let stored = |sort: String| layout.key(Key { sort, ..key.clone() }).sort;
                    let position = layout.position(key.index, &key.partition, stored(key.sort.clone()));
                    for direction in [Ascending, Descending] {
                        let rest = range.rest(direction, &position);
                        let rest = layout.range(key.index, &key.partition, rest);
                        for sort in others.iter().filter_map(alike) {
                            let is_left = if direction == Ascending { sort > key.sort } else { sort < key.sort };
                            prop_assert_eq!(rest.contains(&stored(sort.clone())), is_left, "{}: {}", layout, sort);
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn different_keys_stay_different(a in any_entity(), b in any_entity()) {
        let layouts = || Layout::ALL.iter().copied();
        let keys = |entity: &Item, layout: Layout| entity.keys().into_iter().map(move |key| layout.key(key));
        for (x, y) in a.keys().iter().flat_map(|x| b.keys().into_iter().map(move |y| (x.clone(), y))) {
            let is_same = x == y;
            prop_assert!(layouts().all(|layout| (layout.key(x.clone()) == layout.key(y.clone())) == is_same));
        }
        prop_assert!(keys(&a, Layout::V1).eq(a.keys()), "the first layout is the canonical one");
    }
}

fn literal(template: &str) -> &str {
    template.split('{').next().unwrap_or_default()
}

fn respelling() -> impl Iterator<Item = (Layout, &'static [Collections])> {
    Layout::ALL.iter().filter_map(|layout| layout.collections().map(|collections| (*layout, collections)))
}

#[test]
fn every_place_is_respelled_and_no_spelling_is_unused() {
    for (layout, collections) in respelling() {
        let places: Vec<PlaceText> = ENTITIES.iter().flat_map(|(_, places)| *places).chain(INSTEAD).copied().collect();
        for place in &places {
            let spelled = layout.place(*place);
            assert_ne!(spelled.partition, place.partition, "{layout}");
            assert_ne!(spelled.sort, place.sort, "{layout}");
        }
        for Collections { index, partition, sorts } in collections {
            let here = places.iter().filter(|place| place.index == *index);
            let here: Vec<_> = here.filter(|place| place.partition.starts_with(partition.canonical)).collect();
            for sort in *sorts {
                let is_used = |place: &&&PlaceText| match sort {
                    Sort::Own(_) => place.sort == place.partition,
                    Sort::With(sort) => place.sort.starts_with(sort.canonical),
                };
                assert!(here.iter().any(|place| is_used(&place)), "{layout}: {} {index:?}", partition.canonical);
            }
        }
    }
}

/// Else the spelling of a key would depend on the order of the declarations.
#[test]
fn no_beginning_of_a_key_is_the_beginning_of_another() {
    fn assert_free(what: &str, beginnings: &[&str]) {
        for (at, one) in beginnings.iter().enumerate() {
            let others = beginnings.iter().enumerate().filter(|(other, _)| *other != at);
            assert!(others.clone().all(|(_, other)| !other.starts_with(one)), "{what}: {one} in {beginnings:?}");
        }
    }
    for (layout, collections) in respelling() {
        for index in [Index::Table, Index::Gsi1, Index::Gsi2] {
            let here = || collections.iter().filter(|collections| collections.index == index);
            let of = |beginning: fn(&Respelled) -> &'static str| here().map(|it| beginning(&it.partition)).collect();
            let (canonical, stored): (Vec<_>, Vec<_>) = (of(|it| it.canonical), of(|it| it.stored));
            assert_free(layout.name(), &canonical);
            assert_free(layout.name(), &stored);
            for Collections { partition, sorts, .. } in here() {
                let both = sorts.iter().map(|sort| match sort {
                    Sort::Own(word) => (partition.canonical, *word),
                    Sort::With(sort) => (sort.canonical, sort.stored),
                });
                let (canonical, stored): (Vec<_>, Vec<_>) = both.unzip();
                assert_free(partition.canonical, &canonical);
                assert_free(partition.stored, &stored);
            }
        }
    }
}

/// A descending range ends before a key whose last character is changed. Behind a beginning that stays, the range is
/// right in every layout.
#[test]
fn descending_lists_have_keys_with_parts() {
    for declared in PATTERNS.iter().filter(|declared| declared.direction == Descending) {
        assert!(declared.place.sort.contains('{'), "{}", declared.question);
    }
}

#[test]
fn a_layout_is_read_from_its_name() {
    for layout in Layout::ALL {
        assert_eq!(layout.name().parse(), Ok(*layout));
    }
    let names: BTreeSet<_> = Layout::ALL.iter().map(|layout| layout.name()).collect();
    assert_eq!(names.len(), Layout::ALL.len());
    assert!("v3".parse::<Layout>().is_err() && "".parse::<Layout>().is_err());
}
