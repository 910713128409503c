//! Functions of two neighbouring phases side by side, as in the seconds after each step.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use key_schema::entity::{Phase, ViewShard};
use key_schema::layout::{CartOfCustomer, CellsOfStock};
use key_schema::value::Timestamp;
use lambda::FromEnvironment as _;
use table::{Budget, Condition, Put, Reader, Write, Writer};
use tokio::task::JoinSet;

use super::MovingShop;

/// The reader and the writer of an execution environment that keeps its phase for two seconds.
fn environment(moving: &MovingShop) -> (Reader, Writer) {
    let environment = moving.environment();
    (
        Reader::from_environment(&environment).expect("a reader"),
        Writer::from_environment(&environment).expect("a writer"),
    )
}

/// The number of rounds of each of six writers, who together take one unit for every second round.
const ROUNDS: u32 = 10;

const STOCK: u64 = ROUNDS as u64 * 3;

/// What the writers of one shop have done.
#[derive(Default)]
struct Done {
    taken: AtomicU64,
    views: AtomicU64,
    carts: AtomicU64,
}

/// Takes units, counts views and claims carts, each under its condition.
async fn write(writer: Writer, done: Arc<Done>) {
    let (product, shard) = ("pot".parse().expect("an id"), 0);
    for at in 0..ROUNDS {
        let budget = Budget::of(Duration::from_secs(20));
        let has_units = Condition::new("#available >= :one").value(":one", 1).expect("a number");
        let stock = CellsOfStock { product: &product, cells: 1.try_into().expect("one cell") }.keys().remove(0);
        let take = Write::update(stock, "SET #available = #available - :one", has_units);
        if writer.write(take, budget).await.expect("an answer").is_done() {
            done.taken.fetch_add(1, Ordering::Relaxed);
        }
        let view = ViewShard { product_id: product.clone(), shard, views: 1 };
        let view = Write::add(&view).expect("a write");
        if writer.write(view, budget).await.expect("an answer").is_done() {
            done.views.fetch_add(1, Ordering::Relaxed);
        }
        let cart = key_schema::entity::Cart {
            customer_id: format!("c{at}").parse().expect("an id"),
            lines: Vec::new(),
            updated_at: Timestamp::now(),
            version: at.into(),
            expires_at: i64::MAX / 2,
            erased_at: None,
        };
        if writer.put_new(&cart, budget).await.expect("an answer") == Put::New {
            done.carts.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// Writers that began before a step, and writers that began after it, work on the same items.
async fn side_by_side(before: Phase, after: Phase) {
    let moving = MovingShop::open().await;
    moving.enter(Phase::Both).await;
    moving.shop.product("pot", 1000, STOCK).await;
    assert!(moving.differences().await.is_empty());

    moving.enter(before).await;
    let (old_reader, old_writer) = environment(&moving);
    let customer = "c0".parse().expect("an id");
    // Reads the phase, which the environment then keeps.
    assert_eq!(old_reader.one(&CartOfCustomer { customer: &customer }).await.expect("an answer"), None);
    moving.enter(after).await;
    let (new_reader, new_writer) = environment(&moving);

    let (done, mut writing) = (Arc::new(Done::default()), JoinSet::new());
    for at in 0..6 {
        let writer = if at % 2 == 0 { old_writer.clone() } else { new_writer.clone() };
        writing.spawn(write(writer, Arc::clone(&done)));
    }
    writing.join_all().await;

    let what = format!("{before:?} to {after:?}");
    moving.assert_in_step(&what).await;
    let [first, next] = moving.tables().await;
    let number = |key: (&str, &str), name: &str| {
        let items = if after.leader() == key_schema::entity::Side::First { &first } else { &next };
        let item = &items[&(key.0.to_owned(), key.1.to_owned())];
        item[name].as_n().expect("a number").parse::<u64>().expect("a natural number")
    };
    assert_eq!(done.taken.load(Ordering::Relaxed), STOCK, "{what}");
    assert_eq!(number(("p#pot", "stock"), "available"), 0, "{what}");
    let views = u64::from(ROUNDS) * 6;
    assert_eq!(done.views.load(Ordering::Relaxed), views, "{what}");
    assert_eq!(number(("v#pot#0", "v#pot#0"), "views"), views, "{what}");
    assert_eq!(done.carts.load(Ordering::Relaxed), u64::from(ROUNDS), "{what}: each cart is put once");
    for reader in [old_reader, new_reader] {
        assert!(reader.one(&CartOfCustomer { customer: &customer }).await.expect("an answer").is_some(), "{what}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn functions_of_neighbouring_phases_lose_nothing() {
    let phases = [Phase::Both, Phase::Compare, Phase::Handover, Phase::Takeover, Phase::NextLeads];
    for (one, other) in phases.iter().zip(&phases[1..]) {
        side_by_side(*one, *other).await;
        side_by_side(*other, *one).await;
    }
}

/// A phase that cannot be read is not guessed.
#[tokio::test(flavor = "multi_thread")]
async fn without_the_phase_a_request_fails_and_asks_for_a_retry() {
    use devstack::fault_proxy::{Fault, Match};

    let moving = MovingShop::open().await;
    moving.enter(Phase::Both).await;
    moving.shop.sign_up("ada").await;
    let is_move = |request: &serde_json::Value| request.to_string().contains("\"move\"");
    moving.shop.fault_proxy().inject(Match::action("BatchGetItem").when(is_move), Fault::InternalError, 1000);
    let reply = moving.shop.customer("ada").get("/customers/ada").await;
    assert_eq!(reply.status, 503, "{}", reply.body);
    moving.shop.fault_proxy().heal();
    moving.shop.customer("ada").get("/customers/ada").await.expect(200);
}
