//! The demo shop of `cargo local` shows everything that can become of an order.

use shop::openapi::{document, resolve};

use crate::invariants::breaches;
use crate::prelude::*;

/// An order has these for moments, or after failures that nobody can make from outside.
const LEFT_OUT: [&str; 2] = ["QUEUED", "DELAYED"];

/// The states of a schema, or of a member of it.
fn known(schema: &str, member: Option<&str>) -> BTreeSet<String> {
    let schema = &document()["components"]["schemas"][schema];
    let schema = resolve(member.map_or(schema, |member| &schema["properties"][member]));
    let values = schema["x-extensible-enum"].as_array().unwrap_or_else(|| panic!("{schema}"));
    values.iter().map(text).filter(|state| !LEFT_OUT.contains(&state.as_str())).collect()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("{value} is no text")).to_owned()
}

/// The states of orders, payments, disputes, shipments and returns that the description of the API knows.
fn all_states() -> [BTreeSet<String>; 5] {
    let members = [("OrderState", Some("status")), ("PaymentState", None), ("Dispute", None)];
    let [orders, payments, disputes] = members.map(|(schema, member)| known(schema, member));
    [orders, payments, disputes, known("ShipmentStatus", None), known("ReturnStatus", None)]
}

/// Those that the shop has.
async fn states(shop: &Shop) -> [BTreeSet<String>; 5] {
    let mut found: [BTreeSet<String>; 5] = Default::default();
    let admin = shop.admin();
    for id in orders(shop).await {
        let order = admin.get(&format!("/orders/{id}")).await.expect(200);
        found[0].insert(text(&order["status"]));
        for payment in order["invoice"]["payments"].as_array().into_iter().flatten() {
            found[1].insert(text(&payment["status"]));
            found[2].extend(payment.get("dispute").map(text));
        }
        if order["status"] == "REJECTED" || order["status"] == "QUEUED" {
            continue;
        }
        for (place, list) in [(3, "shipments"), (4, "returns")] {
            let listed = admin.get(&format!("/orders/{id}/{list}")).await.expect(200);
            found[place].extend(listed["items"].as_array().expect("a list").iter().map(|one| text(&one["status"])));
        }
    }
    found[0].retain(|state| !LEFT_OUT.contains(&state.as_str()));
    found
}

async fn orders(shop: &Shop) -> BTreeSet<String> {
    let ids = shop.dump().await.into_iter().filter_map(|item| item["orderId"]["S"].as_str().map(str::to_owned));
    ids.collect()
}

/// Waits until the shop has every state: the provider refunds some moments after an order is cancelled.
async fn expect_every_state(shop: &Shop) {
    let expected = all_states();
    let found = async || {
        let found = states(shop).await;
        (found.iter().map(BTreeSet::len).sum::<usize>(), found)
    };
    let most = expected.iter().map(BTreeSet::len).sum();
    for _ in 0..300 {
        if found().await.0 >= most {
            break;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    assert_eq!(found().await.1, expected);
    shop.settle_all().await;
    assert_eq!(breaches(shop, "2100-01-01").await, Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn the_demo_has_every_state_and_the_next_start_changes_nothing() {
    let shop = Shop::open_for_demo().await;
    shop.make_demo().await;
    expect_every_state(&shop).await;

    let products = shop.nobody().get("/products?limit=100").await.expect(200);
    for product in products["items"].as_array().expect("a list") {
        let image = &product["images"][0];
        let picture = reqwest::get(image["url"].as_str().expect("a picture")).await.expect("an answer");
        assert_eq!(picture.headers()["content-type"], "image/png", "{product}");
        assert!(image["alt"].as_str().is_some_and(|alt| !alt.is_empty()), "{product}");
    }
    let listed = shop.admin().get("/orders?status=DELIVERED").await.expect(200);
    let taxed = listed["items"].as_array().expect("a list").iter().find(|order| order["customerId"] == "ada");
    let id = text(&taxed.expect("an order of ada's")["orderId"]);
    let order = shop.admin().get(&format!("/orders/{id}")).await.expect(200);
    assert!(order["shipping"].is_object() && order["invoice"]["taxes"][0].is_object(), "{order}");

    let before = shop.dump().await;
    shop.make_demo().await;
    shop.settle_all().await;
    assert_eq!(shop.dump().await, before, "a next start");

    // Without the code that is made last, every step is taken again. A rejected order may be sent again, and is.
    let is_last = |item: &Value| item["code"]["S"] == "THANKYOU5";
    let last = before.iter().find(|item| is_last(item)).expect("the last code");
    shop.delete(last["PK"]["S"].as_str().expect("a key"), last["SK"]["S"].as_str().expect("a key")).await;
    shop.make_demo().await;
    shop.settle_all().await;
    let but_last = |items: Vec<Value>| {
        let is_kept = |item: &Value| !is_last(item) && item["EntityType"]["S"] != "queuedOrder";
        items.into_iter().filter(is_kept).collect::<Vec<_>>()
    };
    assert_eq!(but_last(shop.dump().await), but_last(before), "the steps again");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_demo_that_is_cut_off_is_completed_by_the_next_start() {
    let shop = Shop::open_for_demo().await;
    let mut time = Duration::from_millis(100);
    let mut cuts = 0;
    while tokio::time::timeout(time, shop.make_demo()).await.is_err() {
        time += time / 4;
        cuts += 1;
    }
    assert!(cuts > 2, "it was cut off {cuts} times");
    expect_every_state(&shop).await;
    let whole = Shop::open_for_demo().await;
    whole.make_demo().await;
    assert_eq!(orders(&shop).await.len(), orders(&whole).await.len());
}
