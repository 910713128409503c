//! Comparing the two tables by access pattern.

use std::sync::atomic::{AtomicBool, Ordering};

use copying::{Answers, Choice, Comparison, Copier, Pace};
use key_schema::entity::{CopyTask, Phase, Side};
use key_schema::layout::PATTERNS;
use lambda::FromEnvironment as _;
use table::{Pairs, Segment};

use super::MigratingShop;
use super::copying::{Operator, busy_shop, shop_once};
use super::in_step::send_all_events;
use crate::prelude::*;

/// The answers of all segments, by the number of the pattern and its question.
async fn compare(migrating: &MigratingShop, choice: Choice) -> BTreeMap<(u8, &'static str), Answers> {
    let (first, next) = (migrating.shop.table(), migrating.next.as_str());
    let variables = [("TABLE_NAME", first), ("NEXT_TABLE_NAME", next), ("NEXT_TABLE_LAYOUT", "v2")];
    let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let pairs = Pairs::from_environment(&migrating.shop.operator().with(variables)).expect("both tables");
    let comparison = Comparison::new(choice);
    for number in 0..2 {
        let mut copier = Copier::new(pairs.unshared(), Pace::new(1e6, 1e6));
        let segment = Segment { number, of: 2 };
        copier.compare_patterns(&comparison, segment, Side::First, || {}).await.expect("the tables answer");
    }
    comparison
        .answers()
        .into_iter()
        .map(|(declared, answers)| ((declared.number, declared.question), answers))
        .collect()
}

/// The numbers of the patterns whose answers differ, with the partitions of the items in which they do.
fn differing(answers: &BTreeMap<(u8, &'static str), Answers>) -> BTreeMap<u8, BTreeSet<String>> {
    let differing = answers.iter().filter(|(_, answers)| answers.differing > 0);
    let keys = |answers: &Answers| answers.keys.iter().map(|key| key.partition.clone()).collect();
    differing.map(|((number, _), answers)| (*number, keys(answers))).collect()
}

fn sample(of_each: u64) -> Choice {
    Choice::Sample { of_each, counts: BTreeMap::new() }
}

#[tokio::test(flavor = "multi_thread")]
async fn equal_tables_answer_every_pattern_alike() {
    let migrating = MigratingShop::open().await;
    migrating.enter(Phase::Compare).await;
    send_all_events(&migrating).await;
    // The examples end without a cart and without a flag.
    migrating.shop.sign_up("bob").await;
    migrating.shop.product("cup", 1000, 5).await;
    let (bob, admin) = (migrating.shop.customer("bob"), migrating.shop.admin());
    let lines = basket("cup", 1);
    let order = bob.order("first", lines.clone()).await.expect(201);
    bob.put("/customers/bob/cart", lines).await.expect(200);
    let flag = format!("/orders/{}/flag", order_id(&order));
    admin.send(Method::PUT, &flag, &[], Some(r#"{"reason":"odd"}"#.to_owned())).await.expect(200);
    for choice in [Choice::All, sample(1000)] {
        let answers = compare(&migrating, choice.clone()).await;
        assert_eq!(differing(&answers), BTreeMap::new(), "{choice:?}");
        assert!(answers.values().all(|answers| answers.asked == answers.equal), "{answers:?}");
        let asked: BTreeSet<_> = answers.keys().map(|(number, _)| *number).collect();
        assert_eq!(asked, PATTERNS.iter().map(|declared| declared.number).collect(), "{choice:?}");
    }
}

/// Every item of the other table is right, but one entry in an index is elsewhere.
#[tokio::test(flavor = "multi_thread")]
async fn a_wrong_key_in_an_index_is_found_by_its_pattern_and_its_item() {
    let migrating = MigratingShop::open().await;
    migrating.enter(Phase::Both).await;
    let shop = &migrating.shop;
    shop.sign_up("ada").await;
    shop.product("pot", 1000, 100).await;
    let mut orders = Vec::new();
    for at in 0..12 {
        let order = shop.customer("ada").order(&format!("order-{at}"), basket("pot", 1)).await.expect(201);
        orders.push(order_id(&order).to_owned());
    }
    assert_eq!(differing(&compare(&migrating, Choice::All).await), BTreeMap::new());

    let spoil = async |order: &str, name: &str, value: &str| {
        shop.set_in(&migrating.next, [&format!("ORDER#{order}"), "META"], name, json!({ "S": value })).await;
    };
    let partition = |order: &str| BTreeSet::from([format!("o#{order}")]);
    spoil(&orders[3], "GSI1PK", "STATUS#SHIPPED#0").await;
    for choice in [Choice::All, sample(1000)] {
        let found = differing(&compare(&migrating, choice).await);
        assert_eq!(found, BTreeMap::from([(15, partition(&orders[3]))]), "the orders of a status");
    }
    // Such a partition of another customer has no question of its own: nobody has the id.
    spoil(&orders[7], "GSI2PK", "CUSTOMER#nobody").await;
    let found = differing(&compare(&migrating, Choice::All).await);
    let of_customer = partition(&orders[7]);
    let expected = BTreeMap::from([(11, of_customer.clone()), (12, of_customer), (15, partition(&orders[3]))]);
    assert_eq!(found, expected, "the orders of a customer, with and without the profile");
}

/// While the shop is open, reads of the two tables see different moments.
#[tokio::test(flavor = "multi_thread")]
async fn an_open_shop_has_no_differences() {
    let migrating = Arc::new(busy_shop().await);
    migrating.enter(Phase::Both).await;
    // What was written before is in the first table alone.
    let first = migrating.tables().await[0].len();
    assert!(first > 40, "{first} items");
    Operator::of(&migrating).run(CopyTask::Copy).await;

    let stop = Arc::new(AtomicBool::new(false));
    let shopper = tokio::spawn({
        let (migrating, stop) = (Arc::clone(&migrating), Arc::clone(&stop));
        async move {
            let mut at = 500;
            while !stop.load(Ordering::Relaxed) {
                shop_once(&migrating, at).await;
                at += 1;
            }
            at - 500
        }
    });
    let answers = compare(&migrating, Choice::All).await;
    stop.store(true, Ordering::Relaxed);
    let orders = shopper.await.expect("the shopper stops");
    assert!(orders > 3, "{orders} orders meanwhile");
    assert_eq!(differing(&answers), BTreeMap::new());
    let asked: u64 = answers.values().map(|answers| answers.asked).sum();
    assert!(asked > 100, "{asked} questions");
}
