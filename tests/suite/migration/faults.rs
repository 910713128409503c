//! The functions of a migration survive every fault at every call.

use devstack::gateway::Invoke;
use key_schema::entity::{CopyProgress, CopyTask, Phase};
use shop::seed::{random, sample};

use super::MigratingShop;
use super::copying::Operator;
use super::functions::{hurried, leave_repair, make_stale, message};
use crate::every_fault::kinds::{Injection, Service, injections};
use crate::prelude::*;

const QUEUE: &str = "till-local-copy-queue";

/// A shop whose functions are invoked by the test alone.
struct World {
    migrating: MigratingShop,
    operator: Operator,
    copy_items: Invoke,
    repair_copies: Invoke,
}

impl World {
    async fn open() -> Self {
        let (shop, _) = Shop::open_migrating_mortal(|template| {
            hurried(template);
            template.queue_sources.iter_mut().for_each(|source| source.enabled = false);
        })
        .await;
        let next = shop.next_table().to_owned();
        let migrating = MigratingShop { shop, next };
        for product in ["p1", "p2", "p3"] {
            migrating.shop.product(product, 1000, 10).await;
        }
        let operator = Operator::of(&migrating);
        operator.step(Phase::Both).await;
        operator.run(CopyTask::Copy).await;
        let [copy_items, repair_copies] =
            ["copy-items", "repair-copies"].map(|name| migrating.shop.consumer(name, &migrating.shop.endpoints()));
        Self { migrating, operator, copy_items, repair_copies }
    }

    /// Starts a run of one segment over tables that differ.
    async fn start(&self) -> CopyProgress {
        make_stale(&self.migrating, Phase::Both).await;
        let state = self.operator.migrator.state().await.expect("the state");
        let segments = self.operator.migrator.start(&state, CopyTask::Copy, 1).await.expect("the run starts");
        segments.into_iter().next().expect("a segment")
    }

    async fn progress(&self) -> CopyProgress {
        self.operator.migrator.segments().await.expect("the progress").remove(0)
    }

    fn inject(&self, injection: &Injection) {
        let Injection { service, after, only, fault, .. } = injection;
        let matching = only.clone().map_or_else(Match::any, Match::recorded);
        let proxy = match service {
            Service::DynamoDb => self.migrating.shop.fault_proxy(),
            _ => &self.migrating.shop.service_proxies()[0],
        };
        proxy.inject_after(*after, matching, fault.clone(), 1);
    }

    async fn heal(&self) {
        let shop = &self.migrating.shop;
        let all = [shop.fault_proxy(), &shop.service_proxies()[0]];
        for proxy in all {
            proxy.heal();
        }
        until("no call is under way", async || all.iter().all(|proxy| proxy.is_idle())).await;
    }

    /// A sample of the faults of the calls since the last one, each once: every kind of fault at every kind of call. Those
    /// that take seconds are left out.
    fn injections(&self, least: usize) -> Vec<Injection> {
        let shop = &self.migrating.shop;
        let of = |service| match service {
            Service::DynamoDb => shop.fault_proxy().take_calls(),
            _ => shop.service_proxies()[0].take_calls(),
        };
        let calls: Vec<_> = [Service::DynamoDb, Service::Sqs]
            .into_iter()
            .flat_map(|service| of(service).into_iter().map(move |call| (service, call)))
            .collect();
        let mut all = injections(&calls);
        all.retain(|injection| injection.times == 1 && !matches!(injection.fault, Fault::Delay(_)));
        assert!(all.len() > least, "{} faults", all.len());
        sample(&mut random(), all, |injection| vec![injection.kind()])
    }

    fn forget_calls(&self) {
        self.migrating.shop.fault_proxy().take_calls();
        self.migrating.shop.service_proxies()[0].take_calls();
    }
}

/// After each fault, the segment is done, or its message comes back, or the next message is in the queue.
#[tokio::test(flavor = "multi_thread")]
async fn no_fault_loses_a_segment() {
    let world = World::open().await;
    let segment = world.start().await;
    world.forget_calls();
    while !world.progress().await.is_done {
        (world.copy_items)(message(&segment)).await.expect("an answer");
    }
    // Progress is read by the operator, whose calls do not go through the proxy.
    for injection in world.injections(40) {
        let segment = world.start().await;
        world.migrating.shop.sqs("PurgeQueue", QUEUE, json!({})).await;
        world.inject(&injection);
        for _ in 0..20 {
            let answer = (world.copy_items)(message(&segment)).await;
            if world.progress().await.is_done {
                break;
            }
            if answer.is_ok_and(|answer| answer["batchItemFailures"] == json!([])) {
                assert!(world.migrating.shop.messages_in(QUEUE).await > 0, "{injection:?}: the segment is lost");
            }
        }
        world.heal().await;
        assert!(world.progress().await.is_done, "{injection:?}");
        assert!(world.migrating.differences().await.is_empty(), "{injection:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn no_fault_loses_a_repair() {
    let world = World::open().await;
    let leave = async || {
        let keys = make_stale(&world.migrating, Phase::Both).await.into();
        leave_repair(&world.migrating, Phase::Both, 3, keys).await;
    };
    leave().await;
    world.forget_calls();
    (world.repair_copies)(json!({})).await.expect("a report");
    for injection in world.injections(20) {
        leave().await;
        world.inject(&injection);
        // It may fail.
        _ = (world.repair_copies)(json!({})).await;
        world.migrating.assert_in_step(&format!("{injection:?}")).await;
        world.heal().await;
        let report = (world.repair_copies)(json!({})).await.expect("a report");
        assert_eq!(report["failed"], 0, "{injection:?}: {report}");
        assert!(world.migrating.differences().await.is_empty(), "{injection:?}");
    }
}
