//! Comparing the counts with the orders: wrong counts are found and repaired, and late counts are neither.

mod rate;

use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

use devstack::Template;
use futures_util::future::join_all;
use key_schema::entity::ParkedCounts;
use serde::Deserialize;
use shop::log::Log;
use shop::reconcile::{FAST, ask, count, reconciled};
use shop::set_everywhere;
use shop::stream::Tail;

use crate::counts::book::Book;
use crate::prelude::*;

/// Sets the age after which a change must be counted, and the read rate. A comparison reads every shard of every status of
/// every day, so these are few.
fn compared(template: &mut Template, settle_seconds: u32, read_units: u32) {
    reconciled(template, settle_seconds, read_units);
    set_everywhere(template, "STATUS_SHARDS", "2");
}

async fn counted_shop(settle_seconds: u32, read_units: u32, timeout: Option<u64>) -> (Shop, Book, Tail) {
    let shop = Shop::open_with(|template| {
        compared(template, settle_seconds, read_units);
        for function in template.functions.iter_mut().filter(|function| function.handler == "reconcile-counts") {
            function.timeout_seconds = timeout.unwrap_or(function.timeout_seconds);
        }
    })
    .await;
    on_one_day().await;
    let book = Book::of(&shop, 7, 20).await;
    let mut tail = Tail::default();
    count(&shop, &mut tail, "shardId-0").await;
    book.check(&shop).await;
    (shop, book, tail)
}

/// Waits until midnight is not near, so that a test has one day.
async fn on_one_day() {
    let left = 86_400 - Timestamp::now().as_second() % 86_400;
    if left < 240 {
        tokio::time::sleep(Duration::from_secs(left.unsigned_abs())).await;
    }
}

fn today() -> String {
    format!("day#{}", Timestamp::now().day())
}

/// The figures of a comparison's report.
#[derive(Debug, PartialEq, Eq, Deserialize)]
struct Figures {
    checked: u64,
    drifted: u64,
    repaired: u64,
    unsettled: u64,
    busy: u64,
}

const NONE: Figures = Figures { checked: 0, drifted: 0, repaired: 0, unsettled: 0, busy: 0 };

fn figures(answer: &Value) -> Figures {
    Figures::deserialize(answer).expect("a report")
}

/// Makes a counter of every kind wrong.
async fn damage(shop: &Shop) -> u64 {
    for (pk, sk, attribute, amount) in [
        ("c#ada", "stats", "orders", 3),
        ("c#bob", "stats", "spent:EUR", -1),
        ("p#cup", "stats", "orders", -2),
        ("p#pot", "stats", "units", 5),
        ("p#map", "stats", "revenue:EUR", 700),
        (&today(), "totals", "orders", 1),
        (&today(), "totals", "units", -4),
        (&today(), "totals", "revenue:USD", 12),
        (&today(), "totals", "status:PAID", -1),
    ] {
        shop.add(pk, sk, attribute, amount).await;
    }
    shop.delete("c#eve", "stats").await;
    shop.delete("p#tea", "stats").await;
    3 + 4 + 1
}

#[tokio::test(flavor = "multi_thread")]
async fn correct_counts_agree_with_the_orders() {
    let (shop, _, _) = counted_shop(0, FAST, None).await;
    let before = shop.dump().await;
    // Three customers, five products, and a day without an order before that of the orders.
    assert_eq!(figures(&shop.reconcile(true).await), Figures { checked: 10, ..NONE });
    assert_eq!(shop.dump().await, before);
}

#[tokio::test(flavor = "multi_thread")]
async fn wrong_counts_are_found_and_repaired_on_request() {
    let (shop, book, _) = counted_shop(0, FAST, None).await;
    let wrong = damage(&shop).await;
    let before = shop.dump().await;
    assert_eq!(figures(&shop.reconcile(false).await), Figures { checked: 10, drifted: wrong, ..NONE });
    assert_eq!(shop.dump().await, before, "nothing is touched");

    assert_eq!(figures(&shop.reconcile(true).await), Figures { checked: 10, drifted: wrong, repaired: wrong, ..NONE });
    book.check(&shop).await;
    assert_eq!(figures(&shop.reconcile(true).await), Figures { checked: 10, ..NONE });
}

#[tokio::test(flavor = "multi_thread")]
async fn counts_with_possibly_pending_changes_are_neither_wrong_nor_repaired() {
    let shop = Shop::open_with(|template| compared(template, 23_400, FAST)).await;
    let (mut book, mut tail) = (Book::open(&shop).await, Tail::default());
    let mut rng = fastrand::Rng::with_seed(7);
    for round in 0..7 {
        book.write(&shop, &mut rng).await;
        // Sometimes before they are counted, sometimes after, and sometimes some of both.
        let Figures { drifted, repaired, .. } = figures(&shop.reconcile(true).await);
        assert_eq!((drifted, repaired), (0, 0));
        if round % 3 == 0 {
            count(&shop, &mut tail, "shardId-0").await;
        }
    }
    count(&shop, &mut tail, "shardId-0").await;
    book.check(&shop).await;
    assert_eq!(figures(&shop.reconcile(true).await), Figures { checked: 10, unsettled: 9, ..NONE });

    // More than all orders together, and less than zero.
    shop.add("c#ada", "stats", "orders", 1000).await;
    shop.add("p#cup", "stats", "units", -1000).await;
    let before = shop.dump().await;
    assert_eq!(figures(&shop.reconcile(true).await), Figures { checked: 10, drifted: 2, unsettled: 9, ..NONE });
    assert_eq!(shop.dump().await, before);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_drift_that_is_too_young_to_be_repaired_is_reported() {
    for (settle_seconds, settled) in [(0, true), (3600, false)] {
        let (shop, ..) = counted_shop(settle_seconds, 10_000, None).await;
        let stats =
            shop.dump().await.into_iter().find(|item| item["EntityType"]["S"] == "customerStats").expect("stats");
        let key = stats["PK"]["S"].as_str().expect("a key").to_owned();
        shop.add(&key, "stats", "orders", 100).await;
        let answer = shop.reconcile(true).await;
        let drift = &answer["drifts"][0];
        assert_eq!(drift["of"], format!("customer {}", &key[2..]), "{answer}");
        assert_eq!((&drift["settled"], &drift["repaired"]), (&json!(settled), &json!(settled)), "{answer}");
        assert_eq!(answer["drifts"].as_array().map(Vec::len), Some(1), "{answer}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_comparison_in_many_steps_finds_the_same_as_one_in_a_single_step() {
    let (shop, book, _) = counted_shop(0, FAST, Some(1)).await;
    let wrong = damage(&shop).await;
    for repair in [false, true] {
        let (mut event, mut pieces) = (ask(repair), 0);
        let answer = loop {
            // Each invocation has time for one step only, in an environment of its own.
            let answer = shop.reconciler()(event).await.expect("an answer");
            pieces += 1;
            if answer["done"] == true {
                break answer;
            }
            event = json!({ "resume": answer["resume"] });
        };
        assert!(pieces > 20, "{pieces} pieces");
        assert_eq!(
            figures(&answer),
            Figures { checked: 10, drifted: wrong, repaired: if repair { wrong } else { 0 }, ..NONE }
        );
        assert!(answer.get("resume").is_none());
    }
    book.check(&shop).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_scheduled_run_continues_where_the_last_one_stopped_and_ends_for_the_day() {
    let (shop, _, _) = counted_shop(0, FAST, Some(1)).await;
    let mut pieces = 0;
    loop {
        let answer = shop.reconciler()(json!({ "source": "aws.events", "detail": {} })).await.expect("an answer");
        pieces += 1;
        if answer["done"] == true {
            // The last seven days, without today.
            assert_eq!(figures(&answer), Figures { checked: 7, ..NONE });
            break;
        }
    }
    assert!(pieces > 7, "{pieces} pieces");
    let progress = shop.item("reconciliation", "reconciliation").await;
    assert_eq!(progress["to"]["S"], Timestamp::now().day().to_string());
    assert!(progress.get("resume").is_none());
    shop.fault_proxy().take_calls();
    let again = shop.reconciler()(json!({})).await.expect("an answer");
    assert_eq!(figures(&again), NONE);
    let lists = usize::from(ParkedCounts::GROUPS * ParkedCounts::LISTS);
    let calls = shop.fault_proxy().take_calls().len();
    assert_eq!(calls, lists + 1, "looks at what is parked, and at how far it is");
}

/// The metric is the age of the last completed comparison, also while another one is unfinished, and if there is nothing to
/// compare.
#[tokio::test]
async fn every_scheduled_invocation_reports_up_to_when_all_counts_are_compared() {
    let (log, _logging) = Log::begin();
    let (shop, _, _) = counted_shop(0, FAST, Some(1)).await;
    let today = Timestamp::now().day();
    let item = json!({
        "PK": { "S": "reconciliation" }, "SK": { "S": "reconciliation" }, "EntityType": { "S": "reconciliation" },
        "to": { "S": today.plus(-2).to_string() }, "updatedAt": { "S": Timestamp::now().to_string() },
    });
    shop.dynamodb("PutItem", &json!({ "TableName": shop.table(), "Item": item })).await;
    let since_midnight = || Timestamp::now().as_second() % 86_400;
    let (mut ages, begin) = (Vec::new(), since_midnight());
    loop {
        log.take();
        let answer = shop.reconciler()(json!({})).await.expect("an answer");
        let log = log.take();
        let (_, age) = log.split_once("(\"ComparedUpToAge\", Seconds(").expect("the age");
        ages.push(age.split(')').next().expect("a number").parse::<i64>().expect("a number"));
        if answer["done"] == true && ages.len() > 1 && ages[ages.len() - 2] < 86_400 {
            break;
        }
    }
    let now = begin..=since_midnight();
    let (last, unfinished) = ages.split_last().expect("an age");
    let (done, unfinished) = unfinished.split_last().expect("an age");
    for age in [last, done] {
        assert!(now.contains(age), "{ages:?}");
    }
    assert!(unfinished.len() > 5, "{ages:?}");
    for age in unfinished {
        assert!(now.contains(&(age - 2 * 86_400)), "{ages:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn after_a_long_comparison_the_next_one_skips_no_day() {
    let (shop, _, _) = counted_shop(0, FAST, None).await;
    // The last comparison ended three weeks ago, or so long ago that the range of days does not reach it.
    for (ago, days) in [(21, 21), (3650, 92)] {
        let item = json!({
            "PK": { "S": "reconciliation" }, "SK": { "S": "reconciliation" }, "EntityType": { "S": "reconciliation" },
            "to": { "S": Timestamp::now().day().plus(-ago).to_string() },
            "updatedAt": { "S": Timestamp::now().to_string() },
        });
        shop.dynamodb("PutItem", &json!({ "TableName": shop.table(), "Item": item })).await;
        let answer = shop.reconciler()(json!({})).await.expect("an answer");
        assert_eq!((figures(&answer), &answer["done"]), (Figures { checked: days, ..NONE }, &json!(true)));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn unreadable_counters_are_reported_and_do_not_stop_the_comparison() {
    let (shop, _, _) = counted_shop(0, FAST, None).await;
    shop.delete("c#bob", "stats").await;
    // The item lacks the id of its customer.
    shop.add("c#bob", "stats", "orders", 1).await;
    shop.add("p#cup", "stats", "units", 1).await;
    assert_eq!(figures(&shop.reconcile(true).await), Figures { checked: 10, drifted: 2, repaired: 1, ..NONE });
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unreadable_order_is_reported_for_its_day_only() {
    let shop = Shop::open_with(|template| compared(template, 0, FAST)).await;
    let order = |product: &str| basket(product, 1);
    for (customer, product) in [("ada", "cup"), ("bob", "pot")] {
        shop.sign_up(customer).await;
        shop.product(product, 100, 1000).await;
    }
    shop.customer("ada").order("k", order("cup")).await.expect(201);
    let mut last = Value::Null;
    // More than one page.
    for number in 0..9 {
        last = shop.customer("bob").order(&format!("k{number}"), order("pot")).await.expect(201);
    }
    count(&shop, &mut Tail::default(), "shardId-0").await;
    let id = order_id(&last);
    shop.set(&format!("o#{id}"), "p#pot", "quantity", json!({ "S": "some" })).await;
    // Yesterday, ada, the cup, and today. Today cannot be compared.
    assert_eq!(figures(&shop.reconcile(true).await), Figures { checked: 4, drifted: 1, ..NONE });
}

#[tokio::test(flavor = "multi_thread")]
async fn only_one_of_several_concurrent_repairs_is_applied() {
    let (shop, book, _) = counted_shop(0, FAST, None).await;
    let wrong = damage(&shop).await;
    let answers = join_all((0..4).map(|_| shop.reconcile(true))).await;
    let repaired: u64 = answers.iter().map(|answer| figures(answer).repaired).sum();
    assert!(repaired >= wrong, "{answers:?}");
    book.check(&shop).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_repairs_and_counting_result_in_correct_sums() {
    let shop = Shop::open_with(|template| {
        // Far longer than counting takes here, and short enough that some counters settle meanwhile.
        compared(template, 2, FAST);
        for source in &mut template.stream_sources {
            source.enabled = true;
            source.batching_window_seconds = 0;
        }
    })
    .await;
    let mut book = Book::open(&shop).await;
    let mut rng = fastrand::Rng::with_seed(3);
    for _ in 0..20 {
        book.write(&shop, &mut rng).await;
    }
    shop.settle().await;
    for product in ["p#cup", "p#pot", "p#tea", "p#map", "p#pen"] {
        shop.add(product, "stats", "units", 11).await;
    }
    for customer in ["c#ada", "c#bob", "c#eve"] {
        shop.add(customer, "stats", "spent:EUR", -500).await;
    }
    let is_repaired = AtomicBool::new(false);
    let writing = async {
        while !is_repaired.load(Relaxed) {
            book.write(&shop, &mut rng).await;
            tokio::time::sleep(Duration::from_millis(rng.u64(..2500))).await;
        }
    };
    let repairing = async {
        let mut repaired = 0;
        // Half of the counters.
        while repaired < 4 {
            tokio::time::sleep(Duration::from_millis(200)).await;
            // What was written before is counted, so what is not counted is no older than it may be.
            shop.settle().await;
            repaired += figures(&shop.reconcile(true).await).repaired;
        }
        is_repaired.store(true, Relaxed);
        repaired
    };
    let ((), repaired) = tokio::join!(writing, repairing);
    shop.settle().await;
    tokio::time::sleep(Duration::from_millis(2100)).await;
    // Counters that never settled are repaired now. The others were repaired while orders were written.
    let Figures { drifted, repaired: last, .. } = figures(&shop.reconcile(true).await);
    assert_eq!((drifted, repaired + last), (last, 8), "each is repaired once");
    book.check(&shop).await;
}
