//! The questions to which an item leads.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::any::any_entity;
use super::parts::sample;
use crate::layout::{Direction, Field, Item, PATTERNS, Question, Reads, parts};

/// Whether the answer has this entity.
fn finds(question: &Question, entity: &Item) -> bool {
    match &question.reads {
        Reads::Range { partition, range } => entity.keys().iter().any(|key| {
            key.index == question.declared.place.index && key.partition == *partition && range.contains(&key.sort)
        }),
        Reads::Batch(keys) => entity.keys().iter().any(|key| keys.contains(key)),
    }
}

#[test]
fn the_items_of_a_shop_lead_to_every_pattern_that_finds_them() {
    let entities = sample().entities();
    let asked: BTreeSet<_> = entities
        .iter()
        .flat_map(|entity| entity.questions().into_iter().map(|question| (question.declared.question, entity.kind())))
        .collect();
    let declared =
        PATTERNS.iter().flat_map(|declared| declared.entities.iter().map(|entity| (declared.question, *entity)));
    assert_eq!(asked, declared.collect());
}

proptest! {
    #[test]
    fn the_answer_to_each_question_has_the_item_that_led_to_it(entity in any_entity()) {
        // The first cell is another entity.
        prop_assume!(!matches!(&entity, Item::StockCell(cell) if cell.cell == 0));
        for question in entity.questions() {
            // A closed return has no entry in the list of open ones.
            let is_entered = entity.keys().iter().any(|key| key.index == question.declared.place.index);
            prop_assert_eq!(finds(&question, &entity), is_entered, "{}", question.declared.question);
        }
    }

    /// So a person who fills the form of an access pattern sends the request of a function.
    #[test]
    fn a_form_asks_what_the_types_ask(entity in any_entity()) {
        for question in entity.questions() {
            let (Reads::Range { partition, .. }, place) = (&question.reads, question.declared.place) else { continue };
            let Some(key) = entity.keys().into_iter().find(|key| key.index == place.index) else { continue };
            let of_sort = parts(place.sort, &key.sort).unwrap_or_default();
            let known = [parts(place.partition, partition).expect("its own partition"), of_sort].concat();
            // Every range of a question of an item is open.
            let text = |field: Field| match known.iter().find(|(name, _)| *name == field.name && !field.is_range) {
                Some((_, part)) => [(*part).to_owned(), String::new()],
                None => Default::default(),
            };
            let asked = question.declared.ask(text).map(|asked| asked.reads);
            prop_assert_eq!(asked, Ok(question.reads.clone()), "{}", question.declared.question);
        }
    }

    #[test]
    fn a_list_is_cut_at_any_item_without_losing_or_repeating_one(a in any_entity(), b in any_entity()) {
        for question in a.questions().into_iter().filter(Question::is_list) {
            let sort = |entity: &Item| {
                let mut keys = entity.keys().into_iter();
                keys.find(|key| key.index == question.declared.place.index).map(|key| key.sort)
            };
            let (Some(cut), true) = (sort(&a), finds(&question, &a)) else { continue };
            let (from, after) = (question.from(&cut).expect("a list"), question.after(&cut).expect("a list"));
            prop_assert!(finds(&from, &a) && !finds(&after, &a), "{:?}", question);
            if let (Some(other), true) = (sort(&b), finds(&question, &b)) {
                let is_left = match question.declared.direction {
                    Direction::Ascending => other > cut,
                    Direction::Descending => other < cut,
                };
                prop_assert_eq!(finds(&after, &b), is_left, "{:?} after {}", question, cut);
                prop_assert_eq!(finds(&from, &b), is_left || other == cut, "{:?} from {}", question, cut);
            }
        }
    }
}
