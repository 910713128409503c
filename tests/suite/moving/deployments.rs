//! Deployments by the parameter `Tables`: the shop on the second layout alone, and after a move.

use std::time::Duration;

use copying::Mover;
use key_schema::entity::{CopyTask, Phase};
use key_schema::layout::Layout;
use key_schema::value::Timestamp;
use lambda::FromEnvironment as _;
use serde_json::{Value, json};
use shop::Shop;
use shop::tables::name_of;
use table::Pairs;

use super::MovingShop;
use super::copying::Operator;
use crate::invariants::breaches_of;

/// A time by which everything is counted.
const AFTER_EVERY_CHANGE: &str = "2100-01-01";

fn pots(quantity: u64) -> Value {
    json!({ "lines": [{ "productId": "pot", "quantity": quantity }] })
}

/// The breaches that an audit of the first table finds.
async fn breaches(shop: &Shop) -> Vec<String> {
    let layout = shop.template().functions[0].environment["TABLE_LAYOUT"].clone();
    let variables = [("TABLE_NAME", shop.table().to_owned()), ("TABLE_LAYOUT", layout)];
    let environment = shop.operator().with(variables.map(|(name, value)| (name.to_owned(), value)));
    breaches_of(&environment, AFTER_EVERY_CHANGE).await
}

/// Places an order of two pots, and looks for it in the lists and counts.
async fn order(shop: &Shop, key: &str, before: u64) {
    let ada = shop.customer("ada");
    let order = ada.order(key, pots(2)).await.expect(201);
    let path = format!("/orders/{}", order["orderId"].as_str().expect("an id"));
    assert_eq!(ada.get(&path).await.expect(200), order);
    let listed = ada.get("/customers/ada/orders").await.expect(200);
    assert_eq!(listed["items"][0]["orderId"], order["orderId"]);
    assert_eq!(listed["items"].as_array().expect("items").len() as u64, before + 1);
    shop.settle().await;
    let stats = shop.admin().get("/products/pot/stats").await.expect(200);
    assert_eq!((&stats["orders"], &stats["units"]), (&json!(before + 1), &json!(2 * (before + 1))));
    let profile = shop.admin().get("/customers/ada").await.expect(200);
    assert_eq!(profile["stats"]["orders"], before + 1);
    let today = Timestamp::now().day();
    let path = format!("/totals?from={}&to={}", today.plus(-1), today.plus(1));
    let totals = shop.admin().get(&path).await.expect(200);
    let days = totals["items"].as_array().expect("days").iter();
    assert_eq!(days.filter_map(|day| day["orders"].as_u64()).sum::<u64>(), before + 1, "{totals}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_shop_whose_first_table_has_the_second_layout_works_from_the_sign_up_to_the_counts() {
    for tables in ["v2", "v2-v1"] {
        let shop = Shop::open_moving_with(tables, |_| {}).await;
        assert_eq!(Some(shop.table()), name_of(shop.template(), Layout::V2));
        shop.sign_up("ada").await;
        shop.product("pot", 1000, 100).await;
        order(&shop, "first", 0).await;
        let told = |kind: &str| shop.bus().events().iter().filter(|event| event["detail-type"] == kind).count();
        assert_eq!(told("OrderPlaced"), 1, "{tables}");
        let dump = shop.dump().await;
        let is_long = |item: &Value| item["PK"]["S"].as_str().is_some_and(|key| key.starts_with(char::is_uppercase));
        assert!(dump.len() > 8 && dump.iter().all(is_long), "{tables}: {dump:#?}");
        assert_eq!(breaches(&shop).await, Vec::<String>::new(), "{tables}");
        if tables == "v2-v1" {
            assert!(shop.dump_of(shop.next_table()).await.is_empty(), "no move has begun");
        }
    }
}

/// As the runbook says: after the last step the stack is deployed with `v2-v1`, and later with `v2`.
#[tokio::test(flavor = "multi_thread")]
async fn after_a_move_the_next_table_becomes_the_first_one_and_the_old_phase_means_nothing() {
    let open = Shop::open_moving_with("v1-v2", |template| {
        for function in &mut template.functions {
            function.environment.insert("MOVE_CACHE_MILLISECONDS".to_owned(), "0".to_owned());
        }
    });
    let moving = MovingShop::of(open.await);
    let (before, operator) = (&moving.shop, Operator::of(&moving));
    before.sign_up("ada").await;
    before.product("pot", 1000, 100).await;
    order(before, "in the first table", 0).await;
    operator.step(Phase::Both).await;
    operator.run(CopyTask::Copy).await;
    operator.step(Phase::Compare).await;
    operator.run(CopyTask::Compare).await;
    for phase in [Phase::Handover, Phase::Takeover, Phase::NextLeads, Phase::Next] {
        operator.step(phase).await;
    }
    order(before, "in the next table", 1).await;

    // Functions of both deployments run side by side for some time.
    let after = before.redeployed("v2-v1").await;
    assert_eq!((after.table(), after.next_table()), (moving.next.as_str(), before.table()));
    assert_eq!(before.item("move", "move").await["phase"]["S"], "next");
    order(&after, "in the first table again", 2).await;
    order(before, "by a function of the deployment before", 3).await;
    order(&after, "after all of that", 4).await;
    assert_eq!(breaches(&after).await, Vec::<String>::new());

    // The way back is another move. Nothing that the first one left is in its way.
    let variables = [
        ("TABLE_NAME", after.table()),
        ("TABLE_LAYOUT", "v2"),
        ("NEXT_TABLE_NAME", after.next_table()),
        ("NEXT_TABLE_LAYOUT", "v1"),
    ];
    let environment = after.operator().with(variables.map(|(name, value)| (name.to_owned(), value.to_owned())));
    let mover = Mover::new(Pairs::from_environment(&environment).expect("both tables"), Duration::ZERO);
    let state = mover.state().await.expect("the state");
    assert_eq!((state.phase(), state.moving.is_none(), state.segments.len()), (Phase::First, true, 0));
    assert_eq!(mover.obstacles(&state, Phase::Both, true), []);

    let alone = before.redeployed("v2").await;
    order(&alone, "with one table", 5).await;
    assert_eq!(breaches(&alone).await, Vec::<String>::new());
}
