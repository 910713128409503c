//! How functions learn the phase of a migration, and what they report while the tables are compared.

use std::time::Instant;

use futures_util::future::join_all;
use key_schema::entity::Phase;
use key_schema::layout::CART_OF_CUSTOMER;
use lambda::FromEnvironment as _;
use shop::log::Log;
use table::Reader;

use super::MigratingShop;
use crate::prelude::*;

/// The time for which the phase is used.
const CACHE: Duration = Duration::from_millis(400);

fn is_of_the_phase(request: &Value) -> bool {
    request.to_string().contains("\"migration\"")
}

/// However many requests an environment has at once, it reads the phase once until that has expired.
#[tokio::test(flavor = "multi_thread")]
async fn concurrent_requests_of_an_environment_share_one_read_of_the_phase() {
    let migrating = MigratingShop::open().await;
    migrating.enter(Phase::Both).await;
    let environment = migrating.environment().with(migrating.shop.operator_through_the_proxy());
    let cache = [("MIGRATION_CACHE_MILLISECONDS".to_owned(), CACHE.as_millis().to_string())];
    let reader = Reader::from_environment(&environment.with(cache)).expect("a reader");
    let proxy = migrating.shop.fault_proxy();
    // All requests of a round come before the read is answered.
    let slow = Match::action("BatchGetItem").when(is_of_the_phase);
    proxy.inject_share(slow, Fault::Delay(Duration::from_millis(50)), 1.0, 1);
    let customer = "ada".parse().expect("an id");
    let (begin, mut reads) = (Instant::now(), 0);
    for _ in 0..4 {
        proxy.take_calls();
        let pattern = CART_OF_CUSTOMER.ask(&customer);
        let found = join_all((0..40).map(|_| reader.one(&pattern))).await;
        assert!(found.into_iter().all(|found| found.expect("an answer").is_none()));
        let calls = proxy.take_calls();
        reads += calls.iter().filter(|call| is_of_the_phase(&call.request)).count();
        tokio::time::sleep(CACHE / 2).await;
    }
    let lifetimes = begin.elapsed().as_millis().div_ceil(CACHE.as_millis());
    assert!((2..=lifetimes).contains(&(reads as u128)), "{reads} reads in {lifetimes} lifetimes of a phase");
}

// The log of a test is that of its thread, so everything runs in one thread.
#[tokio::test]
async fn a_planted_difference_makes_a_metric_and_equal_tables_make_none() {
    let migrating = MigratingShop::open().await;
    let (shop, ada) = (&migrating.shop, migrating.shop.customer("ada"));
    migrating.enter(Phase::Compare).await;
    let (log, _logging) = Log::begin();
    shop.sign_up("ada").await;
    shop.product("pot", 1000, 5).await;
    let lines = basket("pot", 1);
    let order = ada.order("first", lines.clone()).await.expect(201);
    ada.put("/customers/ada/cart", lines).await.expect(200);
    let paths = ["/customers/ada", "/customers/ada/orders", "/customers/ada/cart", "/products/pot"];
    for path in paths {
        ada.get(path).await.expect(200);
    }
    assert!(!log.take().contains("CopiesDiffer"), "the tables are equal");

    let id = order_id(&order);
    let header = format!("ORDER#{id}");
    for (path, partition, sort) in [
        ("/customers/ada", "CUSTOMER#ada", "META"),
        ("/customers/ada/orders", header.as_str(), "META"),
        ("/products/pot", "PRODUCT#pot", "META"),
    ] {
        let key = json!({ "PK": { "S": partition }, "SK": { "S": sort } });
        let found = shop.dynamodb("GetItem", &json!({ "TableName": migrating.next, "Key": key })).await["Item"].clone();
        assert!(found.is_object(), "{partition} {sort}");
        let mut planted = found.clone();
        planted["planted"] = json!({ "S": "by hand" });
        shop.dynamodb("PutItem", &json!({ "TableName": migrating.next, "Item": planted })).await;
        log.take();
        // A request does not wait long for the table beside, so one read may miss the difference.
        let mut said = String::new();
        for _ in 0..20 {
            ada.get(path).await.expect(200);
            said = log.take();
            if said.contains("CopiesDiffer") {
                break;
            }
        }
        let metrics: Vec<_> = said.lines().filter(|line| line.contains("CopiesDiffer")).collect();
        assert!(metrics.len() == 1 && metrics[0].contains("Count(1)"), "{path}: {metrics:?}");
        assert!(said.contains("an item and its copy differ"), "{path}: {said}");
        shop.dynamodb("PutItem", &json!({ "TableName": migrating.next, "Item": found })).await;
    }
    for path in paths {
        ada.get(path).await.expect(200);
    }
    assert!(!log.take().contains("CopiesDiffer"), "the tables are equal again");
}

/// A phase that cannot be read is not guessed.
#[tokio::test(flavor = "multi_thread")]
async fn without_the_phase_a_request_fails_and_asks_for_a_retry() {
    let migrating = MigratingShop::open().await;
    migrating.enter(Phase::Both).await;
    migrating.shop.sign_up("ada").await;
    migrating.shop.fault_proxy().inject(
        Match::action("BatchGetItem").when(is_of_the_phase),
        Fault::InternalError,
        1000,
    );
    let reply = migrating.shop.customer("ada").get("/customers/ada").await;
    assert_eq!(reply.status, 503, "{}", reply.body);
    migrating.shop.fault_proxy().heal();
    migrating.shop.customer("ada").get("/customers/ada").await.expect(200);
}
