//! What counts as a difference between two answers.

#![allow(clippy::expect_used, reason = "tests")]

use key_schema::entity::OrderStatus;
use key_schema::layout::{COPIED, EXPIRES_AT, ORDERS_OF_CUSTOMER, ORDERS_OF_STATUS};
use key_schema::value::{CustomerId, TimeRange};

use super::*;

fn item(partition: &str, more: &[(&str, &str)]) -> Item {
    let keys = [("PK", partition), ("SK", partition)];
    keys.iter().chain(more).map(|(name, text)| ((*name).to_owned(), AttributeValue::S((*text).to_owned()))).collect()
}

/// A customer's orders, newest first, each with its sort key as its name.
fn orders(sorts: &[&str], position: Option<&str>) -> Answered {
    let items = sorts.iter().map(|sort| item(sort, &[("GSI2PK", "c#ada"), ("GSI2SK", sort)])).collect();
    Answered { items, position: position.map(str::to_owned) }
}

fn question() -> Question {
    let customer: CustomerId = "ada".parse().expect("an id");
    ORDERS_OF_CUSTOMER.ask((&customer, &TimeRange::default())).into()
}

fn differing(ours: &Answered, theirs: &Answered) -> Vec<String> {
    let now = "2026-11-23T00:00:00.000Z".parse().expect("a time");
    differences(&question(), ours, theirs, now).into_keys().map(|(partition, _)| partition).collect()
}

#[test]
fn equal_answers_do_not_differ_and_each_missing_or_additional_item_is_named() {
    let all = orders(&["o#3", "o#2", "o#1"], None);
    assert_eq!(differing(&all, &all), Vec::<String>::new());
    assert_eq!(differing(&all, &orders(&["o#3", "o#1"], None)), ["o#2"]);
    assert_eq!(differing(&orders(&["o#3"], None), &all), ["o#1", "o#2"]);
}

#[test]
fn only_the_part_that_both_pages_cover_is_compared() {
    let (ours, theirs) = (orders(&["o#4", "o#3"], Some("o#3")), orders(&["o#4", "o#2"], Some("o#2")));
    assert_eq!(differing(&ours, &theirs), ["o#3"]);
    assert_eq!(first_of(&question(), &ours, &theirs), Some("o#3"), "the next page begins where both have ended");
}

#[test]
fn a_list_in_another_order_differs() {
    let (ours, theirs) = (orders(&["o#3", "o#2", "o#1"], None), orders(&["o#3", "o#1", "o#2"], None));
    assert_eq!(differing(&ours, &theirs), ["o#2"]);
}

#[test]
fn the_same_page_with_another_cursor_differs() {
    let page = ["o#3", "o#2"];
    assert_eq!(differing(&orders(&page, Some("o#2")), &orders(&page, Some("o#2"))), Vec::<String>::new());
    assert_eq!(differing(&orders(&page, Some("o#2")), &orders(&page, None)), ["o#2"]);
}

#[test]
fn marks_of_copies_and_expired_items_do_not_count_and_contents_do() {
    let alone = |more: &[(&str, &str)]| Answered { items: vec![item("o#1", more)], position: None };
    assert_eq!(differing(&alone(&[("name", "a")]), &alone(&[("name", "a"), (COPIED, "7")])), Vec::<String>::new());
    assert_eq!(differing(&alone(&[("name", "a")]), &alone(&[("name", "b")])), ["o#1"]);
    let mut expired = alone(&[]);
    expired.items[0].insert(EXPIRES_AT.to_owned(), AttributeValue::N("1".to_owned()));
    assert_eq!(differing(&expired, &Answered::default()), Vec::<String>::new());
}

/// A list of another index, or an entry elsewhere in it, is another answer. The item itself is the same.
#[test]
fn a_wrong_key_differs_in_the_list_of_its_index_alone() {
    let placed = TimeRange::default();
    let by_status = ORDERS_OF_STATUS.ask((&OrderStatus::Pending, &0, &placed)).into();
    let keys = |sort: &str| vec![item("o#1", &[("GSI1PK", "s#PENDING#0"), ("GSI1SK", sort), ("GSI2SK", "o#1")])];
    let answers = ["2026-01-01", "2026-01-02"].map(|sort| Answered { items: keys(sort), position: None });
    let [right, wrong] = &answers;
    assert_eq!(differing(right, wrong), Vec::<String>::new(), "the customer's list");
    let now = "2026-11-23T00:00:00.000Z".parse().expect("a time");
    assert_eq!(differences(&by_status, right, wrong, now).len(), 1, "the status's list");
}

#[test]
fn a_pattern_that_differs_too_often_is_not_asked_any_more() {
    let comparison = Comparison::new(Choice::All);
    let key = |at: u64| ItemKey { partition: format!("o#{at}"), sort: "o".to_owned() };
    let ask = |at: u64| question().from(&format!("o#{at}")).expect("a list");
    for at in 0..MOST_DIFFERING {
        assert!(comparison.is_open(&ask(at)) && !comparison.is_open(&ask(at)), "each question once");
        comparison.record(&ask(at), vec![key(at), key(at)]);
    }
    assert!(!comparison.is_open(&ask(MOST_DIFFERING)));
    let [(declared, answers)] = &comparison.answers()[..] else { panic!("one pattern was asked") };
    assert_eq!((declared.number, answers.asked, answers.differing, answers.equal), (11, 20, 20, 0));
    assert_eq!(answers.keys.len(), 20);
}
