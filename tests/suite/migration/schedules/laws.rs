//! What holds whenever a shop that migrates comes to rest, and at the end of its migration.
//!
//! - An audit of the table that leads finds nothing, and every change is counted. Units are conserved.
//! - Once the tables were copied, each item and its copy are equal, or a repair is due.
//! - Before the last step, the checksums of each kind of item agree, and so do the tables byte for byte.
//! - The shop has every order that somebody was told of, in its last status, and no other order.
//! - A comparison of the counts with the orders finds no drift.
//! - Each change of an order was told once: duplicates have the same id.
//! - An export has every order.

use key_schema::entity::{Checksum, Side};
use local::history::export;
use shop::bus::told;

use super::operator::Operator;
use super::shopper::Shopper;
use super::world::{World, purchases};
use crate::invariants::{breaches_of, not_conserved};
use crate::prelude::*;

/// A time by which everything is counted.
const AFTER_EVERY_CHANGE: &str = "2100-01-01";

/// The laws in the middle of a migration. The caller holds the gate.
pub async fn in_between(world: &World, operator: &Operator) {
    world.rest().await;
    whole(world).await;
    if operator.is_in_step {
        in_step(world).await;
    }
}

/// The laws of the table that leads.
async fn whole(world: &World) {
    world.figures().audits += 1;
    for breach in breaches_of(&world.migrating.environment(), AFTER_EVERY_CHANGE).await {
        world.complain(format!("the audit finds: {breach}"));
    }
    let adjusted = world.adjusted.lock().expect("no panic").clone();
    for complaint in not_conserved(&leader(world).await, &adjusted) {
        world.complain(complaint);
    }
}

/// The items of the table that leads.
async fn leader(world: &World) -> Vec<Value> {
    let table = match world.phase().leader() {
        Side::First => world.shop().table(),
        Side::Next => &world.migrating.next,
    };
    world.shop().dump_of(table).await
}

async fn in_step(world: &World) {
    let [first, next] = world.migrating.repairs().await;
    let due: BTreeSet<_> = first.union(&next).cloned().collect();
    let differ = world.migrating.differences().await;
    for key in differ.difference(&due) {
        world.complain(format!("{key:?} differs without a repair, in {:?}", world.phase()));
    }
}

/// The laws before the first table is left behind. The shop is closed, and no repair is due.
pub async fn before_the_last_step(world: &World, operator: &mut Operator, shoppers: &mut [Shopper]) {
    world.rest().await;
    for shopper in &mut *shoppers {
        shopper.look_at_all(world).await;
    }
    whole(world).await;
    let mut sums: BTreeMap<String, [Checksum; 2]> = BTreeMap::new();
    for segment in operator.compare().await {
        for (kind, of_segment) in segment.sums {
            let [first, next] = sums.entry(kind).or_default();
            *first += of_segment.first;
            *next += of_segment.next;
        }
    }
    for (kind, [first, next]) in &sums {
        if first != next {
            world.complain(format!("the checksums of {kind} are {first:?} and {next:?}"));
        }
    }
    let orders = sums.get("order").map_or(0, |[first, _]| first.items);
    let bought = purchases(shoppers).len() as u64;
    if orders != bought {
        world.complain(format!("{orders} orders were compared, of {bought}"));
    }
    for key in world.migrating.differences().await {
        world.complain(format!("{key:?} differs before the last step"));
    }
}

/// The laws at the end. The shop is closed, and the next table is alone.
pub async fn at_the_end(world: &World, shoppers: &mut [Shopper]) {
    world.rest().await;
    for shopper in &mut *shoppers {
        shopper.look_at_all(world).await;
    }
    whole(world).await;
    orders(world, shoppers).await;
    events(world, shoppers);
    let compared = world.shop().reconcile(false).await;
    if compared["drifted"] != 0 || compared["unsettled"] != 0 || compared["checked"] == 0 {
        world.complain(format!("the counts are not those of the orders: {compared}"));
    }
}

/// The shop has the orders that somebody was told of, and no other one.
async fn orders(world: &World, shoppers: &[Shopper]) {
    let bought = purchases(shoppers);
    let dump = leader(world).await;
    let orders = dump.iter().filter(|item| item["EntityType"]["S"] == "order");
    let text = |item: &Value, name: &str| item[name]["S"].as_str().expect("a text").to_owned();
    let stored: BTreeMap<_, _> = orders.map(|order| (text(order, "orderId"), text(order, "status"))).collect();
    for (id, purchase) in &bought {
        let last = purchase.path.last();
        if last.is_none() || stored.get(*id) != last {
            world.complain(format!("order {id} is {:?}, and was told {:?}", stored.get(*id), purchase.path));
        }
    }
    for id in stored.keys().filter(|id| !bought.contains_key(id.as_str())) {
        world.complain(format!("nobody was told of order {id}"));
    }
    let mut out = Vec::new();
    let exported = export(&world.migrating.environment(), &mut out, |_| ()).await.expect("the table can be read");
    if exported.get("order").copied() != Some(bought.len() as u64) {
        world.complain(format!("{exported:?} was exported, of {} orders", bought.len()));
    }
}

/// Each change was told once: `told` has checked that duplicates of an event are equal.
fn events(world: &World, shoppers: &[Shopper]) {
    let told = told(world.shop());
    world.figures().events += told.len();
    let mut times: BTreeMap<_, u64> = BTreeMap::new();
    for change in &told {
        *times.entry(change).or_default() += 1;
    }
    for (change, times) in times.iter().filter(|(_, times)| **times > 1) {
        world.complain(format!("{change:?} was told under {times} ids"));
    }
    for (id, purchase) in purchases(shoppers) {
        let of = |kind: &str| times.keys().filter(|(told, order, _)| told == kind && order == id).count();
        // An order that waits has told nothing.
        let expected = (purchase.path.len().min(1), purchase.path.len().saturating_sub(1));
        if (of("OrderPlaced"), of("OrderStatusChanged")) != expected {
            let told: Vec<_> = times.keys().filter(|(_, order, _)| order == id).collect();
            world.complain(format!("order {id} went {:?}, and this was told: {told:?}", purchase.path));
        }
    }
}
