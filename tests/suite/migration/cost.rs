//! The units that a phase costs.

use std::fmt::Write as _;

use devstack::fault_proxy::{Access, Call};
use key_schema::entity::Phase;
use shop::engine::{Feature, lacks};

use super::MigratingShop;
use crate::prelude::*;

/// The units of the first table and of the next one, each with its indexes.
type Units = [f64; 2];

/// What the work of one request consumed.
struct Cost {
    read: Units,
    written: Units,
}

/// Whether a call reads the phase: once in two seconds, not once for each request.
fn reads_the_phase(call: &Call) -> bool {
    call.action == "BatchGetItem" && call.request.to_string().contains(r#"{"S":"migration"}"#)
}

async fn cost(migrating: &MigratingShop, work: impl Future<Output = ()>) -> Cost {
    migrating.shop.fault_proxy().take_calls();
    work.await;
    let calls = migrating.shop.fault_proxy().take_calls();
    let consumed: Vec<_> = calls.iter().filter(|call| !reads_the_phase(call)).flat_map(|call| &call.consumed).collect();
    let of = |access: Access| {
        [migrating.shop.table(), &migrating.next].map(|table| {
            let of_table = consumed.iter().filter(|consumed| consumed.table == table && consumed.access == access);
            // Begins with zero, because the sum of nothing is the negative one.
            of_table.fold(0.0, |sum, consumed| sum + consumed.units())
        })
    };
    Cost { read: of(Access::Read), written: of(Access::Write) }
}

/// A cart, an order of two lines, and the order read. Items are smaller than a kilobyte.
async fn costs_in(phase: Phase) -> [Cost; 3] {
    let migrating = MigratingShop::open().await;
    migrating.enter(phase).await;
    let shop = &migrating.shop;
    shop.sign_up("ada").await;
    for product in ["pot", "cup"] {
        shop.product(product, 1000, 5).await;
    }
    let ada = shop.customer("ada");
    let put_cart = async || {
        ada.put("/customers/ada/cart", basket("pot", 1)).await.expect(200);
    };
    put_cart().await;
    let cart = cost(&migrating, put_cart()).await;
    let mut order = String::new();
    let placed = cost(&migrating, async {
        let lines = json!([{ "productId": "pot", "quantity": 1 }, { "productId": "cup", "quantity": 1 }]);
        let placed = ada.order("first", json!({ "lines": lines })).await.expect(201);
        order_id(&placed).clone_into(&mut order);
    });
    let placed = placed.await;
    let read = cost(&migrating, async { _ = ada.get(&format!("/orders/{order}")).await.expect(200) }).await;
    [cart, placed, read]
}

#[tokio::test(flavor = "multi_thread")]
async fn the_runbook_says_what_each_phase_costs() {
    if lacks(Feature::CapacityFigures) {
        return;
    }
    let mut table = String::from(
        "| phase | a cart: read | written | an order of two lines: read | written | reading the order |\n\
         |---|---|---|---|---|---|\n",
    );
    let mut written = Vec::new();
    for phase in Phase::ALL {
        let [cart, order, read] = costs_in(phase).await;
        let cells = [cart.read, cart.written, order.read, order.written, read.read];
        let cells = cells.map(|[first, next]| format!("{first} + {next}"));
        let phase = serde_json::to_value(phase).expect("a text");
        _ = writeln!(table, "| {} | {} |", phase.as_str().expect("a text"), cells.join(" | "));
        written.push([cart.written, order.written].map(|[first, next]| first + next));
    }
    // A write of both tables is a transaction, which costs twice as much for each item.
    let [cart, order] = written[0];
    for (phase, units) in Phase::ALL.into_iter().zip(written) {
        let expected = if phase.writes_both() { [4.0 * cart, 2.0 * order] } else { [cart, order] };
        assert!(units.iter().zip(expected).all(|(is, expected)| (is - expected).abs() < 0.01), "{phase:?}: {units:?}");
    }
    docs_check::check("migrating.md", &[("phase-costs", table)]).expect("the runbook");
}
