//! Imports while the shop migrates to another table, and into a table of the second layout.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use key_schema::entity::{CopyTask, Phase};
use lambda::Environment;
use shop::reconcile::count;
use shop::stream::Tail;
use tokio::time::sleep;

use super::{AFTER_EVERY_CHANGE, Temporary, credited, environment, exported, file, imported, imported_to, open};
use crate::counts::book::Book;
use crate::invariants::breaches;
use crate::migration::MigratingShop;
use crate::migration::copying::Operator;
use crate::prelude::*;

/// The environment of a command that knows both tables.
fn of_both(migrating: &MigratingShop) -> Environment {
    let more =
        [("NEXT_TABLE_NAME", &*migrating.next), ("NEXT_TABLE_LAYOUT", "v2"), ("MIGRATION_CACHE_MILLISECONDS", "0")];
    environment(&migrating.shop).with(more.map(|(name, value)| (name.to_owned(), value.to_owned())))
}

/// A random history with everything that orders have.
async fn history(seed: u64) -> String {
    let shop = Shop::open().await;
    Book::of(&shop, seed, 8).await;
    exported(&shop).await
}

/// A customer, so many products, and an order of all of them with a discount code and four gift cards. If the products are
/// 40, the order does not fit into one transaction over both tables. `name` is a part of all ids.
fn order_of(products: u64, name: &str) -> String {
    let (price, paid) = (eur(4000 / products), eur(900));
    let customer = json!({ "type": "customer", "customerId": name, "username": name,
        "email": format!("{name}@example.com"), "name": "Many", "createdAt": "2019-01-01" });
    let new_products = (0..products).map(|at| {
        json!({ "type": "product", "productId": format!("{name}-{at}"), "name": "M", "category": "many", "price": price })
    });
    let cards = || (0..4).map(|at| format!("{name}-card-{at}").to_uppercase());
    let new_cards =
        cards().map(|code| json!({ "type": "giftCard", "code": code, "initial": paid, "createdAt": "2019-01-01" }));
    let lines: Vec<_> = (0..products)
        .map(|at| json!({ "productId": format!("{name}-{at}"), "name": "M", "quantity": 1, "unitPrice": price }))
        .collect();
    let used: Vec<_> = cards().map(|code| json!({ "code": code, "amount": paid })).collect();
    let code = format!("{name}-ten").to_uppercase();
    let discount = json!({ "type": "discount", "code": code, "percent": 10, "maxUses": 5, "createdAt": "2019-01-01" });
    let order = json!({ "type": "order", "orderId": name, "customerId": name, "status": "DELIVERED",
        "placedAt": "2019-05-01", "lines": lines, "codes": [{ "code": code, "amount": eur(400) }], "discount": eur(400), "total": eur(3600),
        "giftCards": used });
    file(&std::iter::once(customer).chain(new_products).chain(new_cards).chain([discount, order]).collect::<Vec<_>>())
}

#[tokio::test(flavor = "multi_thread")]
async fn an_import_writes_by_the_phase_of_the_migration() {
    let source = Temporary::with("phases.ndjson", &history(11).await);
    let large = Temporary::with("large.ndjson", &order_of(40, "large"));
    for phase in [Phase::Both, Phase::Compare, Phase::Handover, Phase::Takeover, Phase::NextLeads, Phase::Next] {
        let migrating = MigratingShop::open().await;
        migrating.enter(phase).await;
        let (summary, refused) = imported_to(&of_both(&migrating), &source, &open()).await.expect("an import");
        assert_eq!(refused, [], "{phase:?}");
        let differences = migrating.differences().await;
        if phase == Phase::Next {
            assert!(migrating.tables().await[0].is_empty());
        } else {
            assert!(differences.is_empty(), "{phase:?}: {differences:?}");
        }
        if !phase.is_strict() {
            let (_, refused) = imported_to(&of_both(&migrating), &large, &open()).await.expect("an import");
            assert_eq!(refused, [], "{phase:?}");
            let repairs: usize = migrating.repairs().await.iter().map(BTreeSet::len).sum();
            assert_eq!(repairs > 40, phase != Phase::Next, "{phase:?}: {repairs} repairs");
        }
        if phase != Phase::Next {
            migrating.assert_in_step(&format!("{phase:?}")).await;
        }
        // The functions of the same phase show what was imported, and a second import finds all of it.
        let orders = migrating.shop.customer("ada").get("/customers/ada/orders").await.expect(200);
        assert!(!orders["items"].as_array().expect("a list").is_empty(), "{phase:?}");
        let (again, _) = imported_to(&of_both(&migrating), &source, &open()).await.expect("an import");
        assert_eq!((again.new, again.same), (0, summary.new), "{phase:?}");
    }
}

/// The migration goes from its begin to its end while one import after the other runs. An order that does not fit into
/// both tables waits until the lead has changed.
#[tokio::test(flavor = "multi_thread")]
async fn imports_beside_a_whole_migration_lose_nothing() {
    let migrating = Arc::new(MigratingShop::open().await);
    let operator = Operator::of(&migrating);
    let (done, rounds) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
    let importing = tokio::spawn({
        let (migrating, done, rounds) = (Arc::clone(&migrating), Arc::clone(&done), Arc::clone(&rounds));
        async move {
            while !done.load(Ordering::Relaxed) {
                let round = rounds.load(Ordering::Relaxed);
                // Repairs must not come faster than they are carried out. Lines of an order of 80 come after its header.
                let products = match round % 8 {
                    0 => 40,
                    4 => 80,
                    _ => 2,
                };
                let lines = order_of(products, &format!("round-{round}"));
                let source = Temporary::with(&format!("beside-{round}.ndjson"), &lines);
                let (summary, refused) = imported_to(&of_both(&migrating), &source, &open()).await.expect("an import");
                assert_eq!((summary.new, refused), (lines.lines().count() as u64, vec![]));
                rounds.fetch_add(1, Ordering::Relaxed);
            }
        }
    });
    // Whatever an import began in an earlier phase has ended then.
    let two_imports = async || {
        let begin = rounds.load(Ordering::Relaxed);
        until("two imports have ended", async || rounds.load(Ordering::Relaxed) >= begin + 2).await;
    };
    two_imports().await;
    for (phase, run) in [
        (Phase::Both, Some(CopyTask::Copy)),
        (Phase::Compare, Some(CopyTask::Compare)),
        (Phase::Handover, None),
        (Phase::Takeover, None),
        (Phase::NextLeads, None),
    ] {
        operator.step_when_repaired(phase).await;
        if phase.is_strict() {
            // An import of a large order waits until this phase is over.
            sleep(Duration::from_millis(300)).await;
        } else {
            two_imports().await;
        }
        if let Some(run) = run {
            operator.repair().await;
            operator.run(run).await;
        }
    }
    done.store(true, Ordering::Relaxed);
    importing.await.expect("imports");
    let rounds = rounds.load(Ordering::Relaxed);
    operator.assert_equal(&migrating).await;
    for round in 0..rounds {
        let customer = format!("round-{round}");
        let orders = migrating.shop.customer(&customer).get(&format!("/customers/{customer}/orders")).await.expect(200);
        assert_eq!(orders["items"].as_array().map(Vec::len), Some(1), "round {round} of {rounds}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_import_that_knows_one_table_stops_when_it_migrates() {
    let migrating = MigratingShop::open().await;
    let source = Temporary::with("one-table.ndjson", &order_of(40, "large"));
    for phase in Phase::ALL.into_iter().filter(|phase| *phase != Phase::First) {
        migrating.enter(phase).await;
        let refused = imported_to(&environment(&migrating.shop), &source, &open()).await.expect_err("a refusal");
        assert!(refused.contains("name both with --next-table"), "{phase:?}: {refused}");
        assert!(migrating.tables().await.iter().all(std::collections::BTreeMap::is_empty), "{phase:?}");
    }
    migrating.enter(Phase::First).await;
    let (_, refused) = imported(&migrating.shop, &source, &open()).await;
    assert_eq!(refused, []);
}

/// The import has looked at the phase before it wrote the header.
#[tokio::test(flavor = "multi_thread")]
async fn an_import_that_knows_one_table_stops_between_the_lines_of_an_order() {
    let migrating = MigratingShop::open().await;
    let source = Temporary::with("long.ndjson", &order_of(100, "long"));
    let is_line = |request: &Value| request["Item"]["EntityType"]["S"] == "orderItem";
    let gate = migrating.shop.fault_proxy().hold(Match::action("PutItem").when(is_line), 1);
    let of_one = environment(&migrating.shop).with(migrating.shop.operator_through_the_proxy());
    let importing = async { imported_to(&of_one, &source, &open()).await };
    let moving = async {
        until("a line is on its way", async || migrating.shop.fault_proxy().pending() == 0).await;
        migrating.enter(Phase::Both).await;
        // As long as a phase may be used.
        sleep(Duration::from_secs(2)).await;
        gate.open();
    };
    let (refused, ()) = tokio::join!(importing, moving);
    let refused = refused.expect_err("a refusal");
    assert!(refused.contains("name both with --next-table"), "{refused}");
    let operator = Operator::of(&migrating);
    operator.run(CopyTask::Copy).await;
    let (summary, refused) = imported_to(&of_both(&migrating), &source, &open()).await.expect("an import");
    assert_eq!((summary.new, refused), (1, vec![]));
    operator.assert_equal(&migrating).await;
    let order = migrating.shop.customer("long").get("/orders/long").await.expect(200);
    assert_eq!(order["lines"].as_array().map(Vec::len), Some(100));
}

/// Each counter of a fold is written in both tables.
#[tokio::test(flavor = "multi_thread")]
async fn an_order_with_many_credits_is_counted_while_the_first_table_leads() {
    for phase in [Phase::First, Phase::Both, Phase::Compare, Phase::Handover] {
        let migrating = MigratingShop::open().await;
        migrating.enter(phase).await;
        let (_, refused) = imported_to(&of_both(&migrating), &credited(190), &open()).await.expect("an import");
        assert_eq!(refused, [], "{phase:?}");
        count(&migrating.shop, &mut Tail::default(), "shardId-0").await;
        let parked = |item: &&Value| item["EntityType"]["S"] == "parkedCounts";
        assert_eq!(migrating.shop.dump().await.iter().filter(parked).count(), 0, "{phase:?}");
        assert_eq!(breaches(&migrating.shop, AFTER_EVERY_CHANGE).await, Vec::<String>::new(), "{phase:?}");
        if phase.writes_both() {
            migrating.assert_in_step(&format!("{phase:?}")).await;
            assert!(migrating.repairs().await.iter().all(BTreeSet::is_empty), "{phase:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_table_of_the_second_layout_takes_the_same_history() {
    let history = history(12).await;
    let source = Temporary::with("second-layout.ndjson", &history);
    let shop = Shop::open_migrating_with("v2", |_| {}).await;
    let layout = || [("TABLE_LAYOUT".to_owned(), "v2".to_owned())];
    let of_shop = environment(&shop).with(layout());
    let (summary, refused) = imported_to(&of_shop, &source, &open()).await.expect("an import");
    assert_eq!((summary.new, refused), (history.lines().count() as u64, vec![]));
    let (again, _) = imported_to(&of_shop, &source, &open()).await.expect("an import");
    assert_eq!((again.new, again.same), (0, summary.new));
    shop.settle().await;
    assert!(shop.dump().await.iter().any(|item| item["PK"]["S"].as_str().is_some_and(|key| key.starts_with("ORDER#"))));
}
