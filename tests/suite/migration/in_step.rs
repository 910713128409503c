//! Writing both tables in step.

use key_schema::entity::Phase;
use local::functions;
use shop::events::{event, functions_by_event_time};

use super::MigratingShop;
use crate::prelude::*;
use crate::sample_events::is_expected;

/// Sends the sample events of all functions, and checks the answers.
pub(super) async fn send_all_events(migrating: &MigratingShop) {
    let shop = &migrating.shop;
    let functions = functions::start_all(&shop.endpoints(), shop.template()).expect("the functions start");
    for name in functions_by_event_time() {
        let Some((_, invoke)) = functions.handlers.iter().find(|(known, _)| *known == name) else {
            let answer = shop.consumer(&name, &shop.endpoints())(event(&name)).await;
            let answer = answer.unwrap_or_else(|error| panic!("{name}: {error}: {:?}", shop.denials()));
            assert!(answer["batchItemFailures"] == json!([]) || answer["done"] == true, "{name}: {answer}");
            continue;
        };
        shop.prepare_for(&name).await;
        let answer = invoke(event(&name)).await.expect("a response");
        let status = answer["statusCode"].as_u64().expect("a status");
        assert!(is_expected(&name, status), "{name}: {answer}");
        migrating.assert_in_step(&name).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_writes_of_every_function_leave_the_same_items_in_both_tables() {
    for phase in [Phase::Both, Phase::Compare, Phase::Handover, Phase::Takeover, Phase::NextLeads] {
        let migrating = MigratingShop::open().await;
        migrating.enter(phase).await;
        send_all_events(&migrating).await;
        assert!(migrating.differences().await.is_empty(), "{phase:?}");
        assert!(migrating.repairs().await.iter().all(BTreeSet::is_empty), "{phase:?}");
        let [first, next] = migrating.tables().await;
        assert!(first.len() > 20 && first.len() == next.len(), "{phase:?}: {} and {}", first.len(), next.len());
    }
}

/// An order of 40 lines has more writes than fit into a transaction over both tables.
#[tokio::test(flavor = "multi_thread")]
async fn an_order_of_forty_lines_leaves_a_repair_or_waits_until_the_lead_has_changed() {
    let migrating = MigratingShop::open().await;
    let shop = &migrating.shop;
    migrating.enter(Phase::Both).await;
    shop.sign_up("ada").await;
    for product in 0..40 {
        shop.product(&format!("p{product}"), 1000, 100).await;
    }
    let lines: Vec<Value> = (0..40).map(|at| json!({ "productId": format!("p{at}"), "quantity": 1 })).collect();
    // The strict phases come last: in any other one, an order that is queued in them is placed beside the assertions.
    for phase in [Phase::Both, Phase::Compare, Phase::NextLeads, Phase::Takeover, Phase::Handover] {
        migrating.enter(phase).await;
        let before = migrating.repairs().await;
        let reply = shop.customer("ada").order(&format!("{phase:?}"), json!({ "lines": lines })).await;
        let after = migrating.repairs().await;
        if phase.is_strict() {
            assert_eq!(reply.status, 202, "{phase:?}: {}", reply.body);
            assert_eq!(before, after, "{phase:?}");
        } else {
            assert_eq!(reply.status, 201, "{phase:?}: {}", reply.body);
            let leader = usize::from(phase == Phase::NextLeads);
            assert!(after[leader].len() > before[leader].len(), "{phase:?}");
            assert_eq!(after[1 - leader], before[1 - leader], "{phase:?}");
        }
        migrating.assert_in_step(&format!("{phase:?}")).await;
    }
}

/// A counter that only the leading table has must not be created in part in the other one.
#[tokio::test(flavor = "multi_thread")]
async fn a_change_of_an_item_that_is_not_copied_yet_leaves_a_repair_and_no_part_of_it() {
    // With one shard, every view changes the same item.
    let migrating = MigratingShop::open_where(&[("VIEW_SHARDS", "1")]).await;
    let shop = &migrating.shop;
    shop.sign_up("ada").await;
    shop.product("pot", 1000, 5).await;
    let view = async || assert_eq!(shop.nobody().post("/products/pot/views", json!({})).await.status, 204);
    view().await;
    migrating.enter(Phase::Both).await;
    view().await;
    shop.customer("ada").order("first", basket("pot", 2)).await.expect(201);
    let ([first, next], [repairs, none]) = (migrating.tables().await, migrating.repairs().await);
    assert!(none.is_empty());
    assert!(next.iter().all(|(key, item)| first.get(key) == Some(item)), "{next:?}");
    let begins = |key: &(String, String), (partition, sort): (&str, &str)| {
        key.0.starts_with(partition) && key.1.starts_with(sort)
    };
    let uncopied = [("p#pot", "stock"), ("v#pot#", "v#pot#")];
    for written in uncopied {
        assert!(repairs.iter().any(|key| begins(key, written)), "{written:?} is in no repair: {repairs:?}");
    }
    // The difference does not spread to the other items of the transaction.
    assert!(repairs.iter().all(|key| uncopied.into_iter().any(|written| begins(key, written))), "{repairs:?}");
    for written in [("o#", "o#"), ("o#", "i#"), ("o#", "p#pot")] {
        assert!(next.keys().any(|key| begins(key, written)), "{written:?} has no copy");
    }
    assert_eq!(shop.available("pot").await, 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_single_write_that_is_not_answered_is_done_once_in_both_tables() {
    for phase in [Phase::Both, Phase::Handover, Phase::NextLeads] {
        let migrating = MigratingShop::open().await;
        let shop = &migrating.shop;
        migrating.enter(phase).await;
        shop.product("pot", 1000, 5).await;
        let faults = [Fault::CutAfter, Fault::CutAfter, Fault::InternalError, Fault::CutBefore];
        for fault in faults {
            shop.fault_proxy().inject(commit(), fault.clone(), 1);
            let view = shop.nobody().post("/products/pot/views", json!({})).await;
            assert_eq!(view.status, 204, "{phase:?}, {fault:?}");
        }
        assert_eq!(shop.fault_proxy().pending(), 0);
        let stats = shop.admin().get("/products/pot/stats").await.expect(200);
        assert_eq!(stats["views"], 4, "{phase:?}");
        assert!(migrating.differences().await.is_empty(), "{phase:?}");
    }
}

/// A difference is found by reads of the phase, and answers come from the table that leads.
#[tokio::test(flavor = "multi_thread")]
async fn while_the_tables_are_compared_a_difference_fails_no_request() {
    let migrating = MigratingShop::open().await;
    let shop = &migrating.shop;
    migrating.enter(Phase::Compare).await;
    shop.product("pot", 1000, 5).await;
    let reads = async |table: &str| {
        shop.fault_proxy().take_calls();
        let product = shop.nobody().get("/products/pot").await.expect(200);
        assert_eq!(product["available"], 5);
        let calls = shop.fault_proxy().take_calls();
        calls.iter().filter(|call| call.action == "Query" && call.request["TableName"] == table).count()
    };
    assert_eq!(reads(&migrating.next).await, 1);

    let delete =
        json!({ "TableName": migrating.next, "Key": { "PK": { "S": "PRODUCT#pot" }, "SK": { "S": "STOCK" } } });
    shop.dynamodb("DeleteItem", &delete).await;
    assert_eq!(reads(&migrating.next).await, 2, "a difference must show twice");

    let to_next = migrating.next.clone();
    let is_next = move |request: &Value| request["TableName"] == to_next.as_str();
    shop.fault_proxy().inject(Match::action("Query").when(is_next), Fault::InternalError, 3);
    assert_eq!(shop.nobody().get("/products/pot").await.expect(200)["available"], 5);
}
