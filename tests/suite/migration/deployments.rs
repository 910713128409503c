//! Deployments by the parameter `Tables`: the shop on the second layout alone, and after a migration.

use copying::steps::Obstacle;
use key_schema::entity::{CopyTask, Phase};
use key_schema::layout::Layout;
use shop::set_everywhere;

use super::MigratingShop;
use super::copying::Operator;
use crate::invariants::breaches_of;
use crate::prelude::*;

/// A time by which everything is counted.
const AFTER_EVERY_CHANGE: &str = "2100-01-01";

fn pots(quantity: u64) -> Value {
    basket("pot", quantity)
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
    assert_eq!(ada.read(&order).await, order);
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

/// The steps of a whole migration.
const STEPS: [Phase; 6] =
    [Phase::Both, Phase::Compare, Phase::Handover, Phase::Takeover, Phase::NextLeads, Phase::Next];

/// Does what a step needs, and makes it.
async fn go_to(operator: &Operator, phase: Phase) {
    match phase {
        Phase::Compare => _ = operator.run(CopyTask::Copy).await,
        Phase::Handover => _ = operator.run(CopyTask::Compare).await,
        _ => {}
    }
    operator.step_when_repaired(phase).await;
}

/// A shop with two tables, a customer and a product, whose orders are counted.
async fn open_shop() -> MigratingShop {
    let open = Shop::open_migrating_with("v1-v2", |template| {
        set_everywhere(template, "MIGRATION_CACHE_MILLISECONDS", "0");
    });
    let migrating = MigratingShop::of(open.await);
    migrating.shop.sign_up("ada").await;
    migrating.shop.product("pot", 1000, 100).await;
    migrating
}

/// As the runbook says: after the last step the stack is deployed with `v2-v1`, and later with `v2`.
#[tokio::test(flavor = "multi_thread")]
async fn after_a_migration_the_next_table_becomes_the_first_one_and_the_old_phase_means_nothing() {
    let migrating = open_shop().await;
    let (before, operator) = (&migrating.shop, Operator::of(&migrating));
    order(before, "in the first table", 0).await;
    for phase in STEPS {
        go_to(&operator, phase).await;
    }
    order(before, "in the next table", 1).await;

    // Functions of both deployments run side by side for some time.
    let after = before.redeployed("v2-v1").await;
    assert_eq!((after.table(), after.next_table()), (migrating.next.as_str(), before.table()));
    assert_eq!(before.item("migration", "migration").await["phase"]["S"], "next");
    order(&after, "in the first table again", 2).await;
    order(before, "by a function of the deployment before", 3).await;
    order(&after, "after all of that", 4).await;
    assert_eq!(breaches(&after).await, Vec::<String>::new());

    // The way back is another migration. Nothing that the first one left is in its way.
    let back = Operator::between(&after, Layout::V2, Layout::V1).migrator;
    let state = back.state().await.expect("the state");
    assert_eq!((state.phase(), state.segments.len()), (Phase::First, 0));
    assert_eq!(back.obstacles(&state, Phase::Both, true), []);

    let alone = before.redeployed("v2").await;
    order(&alone, "with one table", 5).await;
    assert_eq!(breaches(&alone).await, Vec::<String>::new());
}

/// Functions of both deployments serve the shop during the second migration, and those of the third deployment read
/// what the first migration left.
#[tokio::test(flavor = "multi_thread")]
async fn a_shop_that_migrates_there_and_back_may_be_deployed_either_way_at_any_moment() {
    let migrating = open_shop().await;
    let (there, straight) = (Operator::of(&migrating), &migrating.shop);
    for phase in STEPS {
        go_to(&there, phase).await;
    }
    let turned = straight.redeployed("v2-v1").await;
    let back = Operator::between(&turned, Layout::V2, Layout::V1);
    for (orders, phase) in (0..).step_by(2).zip(STEPS) {
        go_to(&back, phase).await;
        let seen = there.migrator.state().await.expect("the state").phase();
        assert_eq!(seen, phase.from_the_other_side(), "{phase:?}");
        order(straight, &format!("{phase:?}, straight"), orders).await;
        order(&turned, &format!("{phase:?}, turned"), orders + 1).await;
    }

    let again = straight.redeployed("v1-v2").await;
    let orders = 2 * u64::try_from(STEPS.len()).expect("a number");
    order(&again, "after both migrations", orders).await;
    assert_eq!(breaches(&again).await, Vec::<String>::new());
    let state = there.migrator.state().await.expect("the state");
    assert_eq!((state.phase(), there.migrator.obstacles(&state, Phase::Both, true)), (Phase::First, Vec::new()));
    go_to(&there, Phase::Both).await;
    let obstacles = there.migrator.obstacles(&there.migrator.state().await.expect("the state"), Phase::Compare, true);
    assert_eq!(obstacles, [Obstacle::NotCopied], "a run of the first migration does not count");
}
