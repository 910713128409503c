//! Copying one table to the other while the shop is open.

use copying::steps::Obstacle;
use copying::{Copier, Migrator, Pace, Repairs};
use key_schema::entity::{Cart, CopyProgress, CopyTask, Phase, Side};
use key_schema::layout::Layout;
use lambda::FromEnvironment as _;
use table::{Budget, Pairs, Write};
use tokio::time::Instant;

use super::MigratingShop;
use super::functions::make_stale;
use crate::prelude::*;

/// The operator of a migration, who does not wait for anything to settle: the functions read the phase before each
/// request.
pub struct Operator {
    pub pairs: Pairs,
    pub migrator: Migrator,
}

impl Operator {
    pub fn of(migrating: &MigratingShop) -> Self {
        let pairs = Pairs::from_environment(&migrating.environment()).expect("both tables");
        Self { migrator: Migrator::new(pairs.clone(), Duration::ZERO), pairs }
    }

    fn worker(&self) -> Copier {
        Copier::new(self.pairs.unshared(), Pace::new(1e6, 1e6))
    }

    /// An operator of the tables of this shop, whose first one has this layout.
    pub fn between(shop: &Shop, first: Layout, next: Layout) -> Self {
        let variables = [
            ("TABLE_NAME", shop.table()),
            ("TABLE_LAYOUT", first.name()),
            ("NEXT_TABLE_NAME", shop.next_table()),
            ("NEXT_TABLE_LAYOUT", next.name()),
        ];
        let environment = shop.operator().with(variables.map(|(name, value)| (name.to_owned(), value.to_owned())));
        let pairs = Pairs::from_environment(&environment).expect("both tables");
        Self { migrator: Migrator::new(pairs.clone(), Duration::ZERO), pairs }
    }

    /// Starts a run and works off all segments.
    pub async fn run(&self, task: CopyTask) -> Vec<CopyProgress> {
        let state = self.migrator.state().await.expect("the state");
        let segments = self.migrator.start(&state, task, 3).await.expect("the run starts");
        let mut done = Vec::new();
        for segment in segments {
            done.push(self.worker().work(segment, None, |_| {}).await.expect("the segment is done"));
        }
        done
    }

    pub fn repairs(&self) -> Repairs {
        Repairs::new(self.pairs.unshared(), Pace::new(1e6, 1e6))
    }

    pub async fn repair(&self) -> u64 {
        let round = self.repairs().round(Instant::now() + Duration::from_mins(1)).await.expect("a round");
        assert!(round.failed == 0 && round.is_whole, "{round:?}");
        round.repairs
    }

    async fn obstacles(&self, to: Phase) -> Vec<Obstacle> {
        self.migrator.obstacles(&self.migrator.state().await.expect("the state"), to, true)
    }

    /// Goes to a neighbouring phase.
    pub async fn step(&self, to: Phase) {
        let state = self.migrator.state().await.expect("the state");
        let stepped = self.migrator.step(&state, to, true).await;
        assert_eq!(stepped.expect("a step").phase, to);
    }

    /// Goes to a neighbouring phase as soon as the repairs that are due, and those that come meanwhile, are carried out.
    pub async fn step_when_repaired(&self, to: Phase) {
        until(format!("a step to {to:?}"), async || {
            self.repair().await;
            let state = self.migrator.state().await.expect("the state");
            if let [Obstacle::RepairsDue(_)] = self.migrator.obstacles(&state, to, true)[..] {
                return false;
            }
            assert_eq!(self.migrator.step(&state, to, true).await.expect("a step").phase, to);
            true
        })
        .await;
    }

    /// Compares the tables, and checks that nothing differs.
    pub async fn assert_equal(&self, migrating: &MigratingShop) {
        self.repair().await;
        let segments = self.run(CopyTask::Compare).await;
        assert_eq!(differing(&segments), Vec::<String>::new());
        for (kind, sums) in segments.iter().flat_map(|segment| &segment.sums) {
            assert_eq!(sums.first, sums.next, "{kind}");
        }
        assert!(migrating.differences().await.is_empty());
    }
}

fn differing(segments: &[CopyProgress]) -> Vec<String> {
    let keys = segments.iter().flat_map(|segment| &segment.differing);
    keys.map(|key| format!("{} {}", key.partition, key.sort)).collect()
}

/// A shop with customers, products, orders and carts.
pub(super) async fn busy_shop() -> MigratingShop {
    let migrating = MigratingShop::open().await;
    fill(&migrating).await;
    migrating
}

pub(super) async fn fill(migrating: &MigratingShop) {
    for at in 0..12 {
        migrating.shop.sign_up(&format!("c{at}")).await;
        migrating.shop.product(&format!("p{at}"), 1000, 10_000).await;
    }
    for at in 0..12 {
        shop_once(migrating, at).await;
    }
}

/// A busy shop whose tables are both written, and equal.
pub(super) async fn copied_shop() -> (MigratingShop, Operator) {
    let migrating = busy_shop().await;
    let operator = Operator::of(&migrating);
    operator.step(Phase::Both).await;
    operator.run(CopyTask::Copy).await;
    (migrating, operator)
}

/// One customer orders, fills the cart or empties it.
pub(super) async fn shop_once(migrating: &MigratingShop, at: usize) {
    let customer = format!("c{}", at % 12);
    let client = migrating.shop.customer(&customer);
    let lines = json!({ "lines": [{ "productId": format!("p{}", at % 12), "quantity": 1 }] });
    let reply = client.order(&format!("order-{at}"), lines.clone()).await;
    assert!(matches!(reply.status, 201 | 202), "{}", reply.body);
    let path = format!("/customers/{customer}/cart");
    if at.is_multiple_of(3) {
        client.delete(&path).await;
    } else {
        let reply = client.put(&path, lines).await;
        assert!(reply.status < 300, "{}", reply.body);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn differences_made_by_hand_are_named_refused_and_mended() {
    let migrating = busy_shop().await;
    let operator = Operator::of(&migrating);
    operator.step(Phase::Both).await;
    assert_eq!(operator.obstacles(Phase::Compare).await, [Obstacle::NotCopied]);
    operator.run(CopyTask::Copy).await;
    operator.step(Phase::Compare).await;
    assert_eq!(operator.obstacles(Phase::Handover).await, [Obstacle::NotCompared]);

    make_stale(&migrating, Phase::Compare).await;
    let mut found = differing(&operator.run(CopyTask::Compare).await);
    found.sort();
    assert_eq!(found, ["p#extra p#extra", "p#p1 p#p1", "p#p2 p#p2"]);
    assert!(matches!(&operator.obstacles(Phase::Handover).await[..], [Obstacle::Different(3, _)]));
    let copied: u64 = operator.run(CopyTask::Copy).await.iter().map(|segment| segment.copied).sum();
    assert_eq!(copied, 3);
    operator.assert_equal(&migrating).await;
    assert_eq!(operator.obstacles(Phase::Handover).await, []);
}

/// DynamoDB deletes expired items of each table at a time of its own. The embedded engine leaves that to the test.
#[tokio::test(flavor = "multi_thread")]
async fn an_expired_item_that_one_table_has_deleted_already_is_no_difference() {
    let (migrating, operator) = copied_shop().await;
    let put = async |side, customer: &str, expires_at| {
        let customer_id = customer.parse().expect("an id");
        let cart = Cart {
            customer_id,
            lines: Vec::new(),
            updated_at: Timestamp::now(),
            version: 1,
            expires_at,
            erased_at: None,
        };
        let writes = vec![(side, Write::put(&cart).expect("an item"))];
        assert!(operator.pairs.commit(writes, Budget::of(Duration::from_secs(20))).await.is_ok());
    };
    let now = Timestamp::now().as_second();
    put(Side::First, "expired-1", now - 1).await;
    put(Side::Next, "expired-2", now - 1).await;
    let segments = operator.run(CopyTask::Compare).await;
    assert_eq!(differing(&segments), Vec::<String>::new());
    for (kind, sums) in segments.iter().flat_map(|segment| &segment.sums) {
        assert_eq!(sums.first, sums.next, "{kind}");
    }
    assert_eq!(migrating.differences().await.len(), 2, "each table still has its own");

    put(Side::First, "lasting-1", now + 600).await;
    put(Side::Next, "lasting-2", now + 600).await;
    let mut found = differing(&operator.run(CopyTask::Compare).await);
    found.sort();
    assert_eq!(found, ["c#lasting-1 cart", "c#lasting-2 cart"]);
}

/// The whole line, with repairs due on either side, and back again.
#[tokio::test(flavor = "multi_thread")]
async fn a_migration_goes_to_its_end_and_back_with_repairs_on_both_sides() {
    let migrating = busy_shop().await;
    let operator = Operator::of(&migrating);
    migrating.shop.sign_up("many").await;
    for product in 0..40 {
        migrating.shop.product(&format!("m{product}"), 100, 1000).await;
    }
    let lines: Vec<Value> = (0..40).map(|at| json!({ "productId": format!("m{at}"), "quantity": 1 })).collect();
    let order_many = async |key: &str| {
        migrating.shop.customer("many").order(key, json!({ "lines": lines })).await.expect(201);
    };
    operator.step(Phase::Both).await;
    operator.run(CopyTask::Copy).await;
    operator.step(Phase::Compare).await;
    operator.run(CopyTask::Compare).await;
    order_many("a").await;
    assert_eq!(operator.obstacles(Phase::Handover).await, [Obstacle::RepairsDue(1)]);
    assert_eq!(operator.repair().await, 1);
    operator.step(Phase::Handover).await;
    operator.step(Phase::Takeover).await;
    operator.step(Phase::NextLeads).await;
    order_many("b").await;
    assert_eq!(operator.repair().await, 1);
    operator.assert_equal(&migrating).await;
    operator.step(Phase::Next).await;
    order_many("c").await;
    shop_once(&migrating, 300).await;
    assert!(!migrating.differences().await.is_empty(), "the first table is out of date");

    operator.step(Phase::NextLeads).await;
    assert_eq!(operator.obstacles(Phase::Takeover).await, [Obstacle::NotCompared]);
    order_many("d").await;
    operator.run(CopyTask::Copy).await;
    operator.assert_equal(&migrating).await;
    for phase in [Phase::Takeover, Phase::Handover, Phase::Compare, Phase::Both, Phase::First] {
        operator.step(phase).await;
        shop_once(&migrating, 400 + phase as usize).await;
    }
    let listed = migrating.shop.customer("many").get("/customers/many/orders").await.expect(200);
    assert_eq!(listed["items"].as_array().map(Vec::len), Some(4), "orders of every phase are in the first table");
    assert_eq!(migrating.shop.available("m0").await, 996);
}
