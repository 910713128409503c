//! A cart becomes one order at most, also among concurrent requests and after answers that were lost.

use devstack::fault_proxy::{Access, Consumed};
use futures_util::future::join_all;
use futures_util::join;
use shop::engine::{Feature, lacks};
use shop::orders::lines_of;

use crate::carts::is_empty;
use crate::prelude::*;

const CART: &str = "/customers/ada/cart";

/// The attempts for each race. Either side may win.
const ROUNDS: usize = 12;

fn lines(quantity: u64) -> Value {
    json!([{ "productId": "thing", "quantity": quantity }, { "productId": "other", "quantity": 1 }])
}

fn order_of(cart: &Value) -> Value {
    json!({ "lines": lines_of(cart), "cart": cart["version"] })
}

async fn put(shop: &Shop, lines: &Value) -> Reply {
    replace(shop, None, lines).await
}

async fn replace(shop: &Shop, version: Option<&Value>, lines: &Value) -> Reply {
    let tag = version.map(|version| format!("\"{version}\""));
    let headers: Vec<_> = tag.iter().map(|tag| ("if-match", tag.as_str())).collect();
    let body = json!({ "lines": lines }).to_string();
    shop.customer("ada").send(Method::PUT, CART, &headers, Some(body)).await
}

async fn stocked(shop: Shop) -> Shop {
    shop.sign_up("ada").await;
    for product in ["thing", "other"] {
        shop.product(product, 1000, 1000).await;
    }
    shop
}

async fn shop() -> Shop {
    stocked(Shop::open().await).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cart_becomes_an_order_and_is_gone() {
    let shop = shop().await;
    let ada = shop.customer("ada");
    let cart = put(&shop, &lines(2)).await.expect(200);
    assert_eq!(ada.get(CART).await.expect(200), cart);
    let mut body = order_of(&cart);
    body["lines"].as_array_mut().expect("lines").reverse();
    let quote = ada.post("/quotes", body.clone()).await.expect(200);
    shop.fault_proxy().take_calls();
    let order = ada.order("k", body.clone()).await.expect(201);
    let actions: Vec<_> = shop.fault_proxy().take_calls().into_iter().map(|call| call.action).collect();
    assert_eq!(actions, ["BatchGetItem", "TransactWriteItems"]);
    assert_eq!((&order["total"], &order["lines"]), (&quote["total"], &quote["lines"]));
    is_empty(&ada).await;

    // The same request again has the same answer, and another one finds no cart.
    assert_eq!(ada.order("k", body.clone()).await.expect(201), order);
    let before = shop.dump().await;
    let problem = ada.order("again", body.clone()).await.problem(Kind::CartChanged);
    assert_eq!(problem["cart"], cart["version"]);
    ada.post("/quotes", body.clone()).await.problem(Kind::CartChanged);
    assert_eq!(shop.dump().await, before);

    // A new cart with the same lines is another one.
    let next = put(&shop, &lines(2)).await.expect(200);
    ada.order("again", body).await.problem(Kind::CartChanged);
    ada.order("again", order_of(&next)).await.expect(201);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_order_that_differs_from_its_cart_is_refused_and_the_cart_stays() {
    let shop = shop().await;
    let ada = shop.customer("ada");
    let cart = put(&shop, &lines(2)).await.expect(200);
    let before = shop.dump().await;
    let with = |lines: &Value| json!({ "lines": lines, "cart": cart["version"] });
    let one = json!([lines(2)[0]]);
    let instead = json!([lines(2)[0], { "productId": "third", "quantity": 1 }]);
    let other = json!({ "lines": lines(2), "cart": 1 });
    for body in [with(&lines(3)), with(&one), with(&instead), other] {
        ada.order("k", body.clone()).await.problem(Kind::CartChanged);
        ada.post("/quotes", body).await.problem(Kind::CartChanged);
    }
    for version in [json!(0), json!(-1), json!(1.5), json!("1"), json!(1_000_000_000_000_u64)] {
        ada.order("k", json!({ "lines": lines(2), "cart": version })).await.problem(Kind::Validation);
    }
    assert_eq!(shop.dump().await, before);

    // An order that names no cart leaves the cart as it is.
    ada.order("k", json!({ "lines": lines(2) })).await.expect(201);
    assert_eq!(ada.get(CART).await.expect(200), cart);
    // Another customer has no such cart.
    shop.sign_up("eve").await;
    shop.customer("eve").order("k", order_of(&cart)).await.problem(Kind::CartChanged);
    shop.set("c#ada", "cart", "expiresAt", json!({ "N": "1" })).await;
    ada.order("expired", order_of(&cart)).await.problem(Kind::CartChanged);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_order_of_a_cart_takes_half_a_read_unit_and_two_write_units_more() {
    if lacks(Feature::CapacityFigures) {
        return;
    }
    let shop = shop().await;
    let ada = shop.customer("ada");
    let cart = put(&shop, &lines(2)).await.expect(200);
    let units = |access| {
        let calls = shop.fault_proxy().calls();
        let consumed = calls.iter().flat_map(|call| &call.consumed).filter(|consumed| consumed.access == access);
        consumed.map(Consumed::units).sum::<f64>()
    };
    let mut took = Vec::new();
    for (key, order) in [("plain", json!({ "lines": lines(2) })), ("of-a-cart", order_of(&cart))] {
        shop.fault_proxy().take_calls();
        ada.order(key, order).await.expect(201);
        took.push((units(Access::Read), units(Access::Write)));
    }
    assert_eq!(took[1], (took[0].0 + 0.5, took[0].1 + 2.0));
}

#[tokio::test(flavor = "multi_thread")]
async fn of_twenty_orders_of_a_cart_at_once_one_is_placed() {
    let shop = shop().await;
    let ada = shop.customer("ada");
    let cart = put(&shop, &lines(2)).await.expect(200);
    let keys: Vec<_> = (0..20).map(|at| format!("k{at}")).collect();
    let sent = keys.iter().map(|key| ada.order(key, order_of(&cart)));
    let replies = join_all(sent).await;
    let placed: Vec<_> = replies.iter().filter(|reply| reply.status == 201).map(|reply| reply.body.clone()).collect();
    assert_eq!(placed.len(), 1);
    for reply in replies.into_iter().filter(|reply| reply.status != 201) {
        reply.problem(Kind::CartChanged);
    }
    assert_eq!(shop.available("thing").await, 998);
    // Each request again has its answer again.
    for key in &keys {
        let reply = ada.order(key, order_of(&cart)).await;
        if reply.status == 201 {
            assert_eq!(reply.body, placed[0]);
        } else {
            reply.problem(Kind::CartChanged);
        }
    }
    assert_eq!(shop.available("thing").await, 998);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cart_that_is_put_beside_the_order_of_the_one_before_is_kept() {
    let shop = shop().await;
    let ada = shop.customer("ada");
    for round in 0..ROUNDS {
        let cart = put(&shop, &lines(1)).await.expect(200);
        let key = format!("k{round}");
        let version = (round % 2 == 0).then_some(&cart["version"]);
        let next = lines(5);
        let (order, replaced) = join!(ada.order(&key, order_of(&cart)), replace(&shop, version, &next));
        // The cart that was put is the cart now, whether the earlier one became an order or not.
        if replaced.status == 200 {
            assert_eq!(ada.get(CART).await.expect(200), replaced.body);
        } else {
            replaced.problem(Kind::VersionConflict);
            assert_eq!(order.status, 201, "one of the two wins");
            is_empty(&ada).await;
        }
        if order.status != 201 {
            order.problem(Kind::CartChanged);
        } else if version.is_some() {
            is_empty(&ada).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn no_version_of_a_cart_is_sent_to_the_table_twice() {
    let shop = shop().await;
    let fault_proxy = shop.fault_proxy();
    fault_proxy.take_calls();
    for cut in [Fault::CutAfter, Fault::CutBefore] {
        fault_proxy.inject(Match::action("PutItem"), cut, 1);
        let cart = put(&shop, &lines(1)).await.expect(200);
        assert_eq!(fault_proxy.pending(), 0);
        assert_eq!(shop.customer("ada").get(CART).await.expect(200), cart);
    }
    let puts = fault_proxy.take_calls().into_iter().filter(|call| call.action == "PutItem");
    let sent: Vec<_> = puts.map(|call| call.request["Item"]["version"]["N"].to_string()).collect();
    assert_eq!((sent.len(), sent.iter().collect::<BTreeSet<_>>().len()), (4, 4), "{sent:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn of_orders_of_a_cart_that_wait_the_first_is_placed_and_a_cart_that_changed_meanwhile_is_kept() {
    let shop = stocked(Shop::open_undrained().await).await;
    let ada = shop.customer("ada");
    let cart = put(&shop, &lines(2)).await.expect(200);
    let mut accepted = Vec::new();
    for key in ["first", "second"] {
        accepted.push(order_later(&ada, key, order_of(&cart)).await);
    }
    assert_eq!(ada.get(CART).await.expect(200), cart, "the cart stays while its orders wait");
    let messages = shop.take_messages().await;
    // Each message is delivered twice.
    for _ in 0..2 {
        for message in &messages {
            shop.drain(std::slice::from_ref(message)).await;
        }
    }
    let [first, second] = [0, 1].map(|at: usize| accepted[at].header("location").expect("a location").to_owned());
    assert_eq!(ada.get(&first).await.expect(200)["status"], "PENDING");
    let refused = ada.get(&second).await.expect(200);
    assert_eq!(refused["status"], "REJECTED");
    assert_eq!(refused["problem"]["type"], "/problems/cart-changed", "{refused}");
    is_empty(&ada).await;
    assert_eq!(shop.available("thing").await, 998);

    let cart = put(&shop, &lines(2)).await.expect(200);
    let waits = order_later(&ada, "third", order_of(&cart)).await;
    let changed = put(&shop, &lines(3)).await.expect(200);
    shop.drain(&shop.take_messages().await).await;
    let refused = ada.get(waits.header("location").expect("a location")).await.expect(200);
    assert_eq!(refused["status"], "REJECTED");
    assert_eq!(ada.get(CART).await.expect(200), changed);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_guest_has_no_cart_to_order() {
    let shop = shop().await;
    let secret = "YSBndWVzdCB3aG9tIG5vYm9keSBrbm93cyBzbyBmYXI";
    shop.introduce(secret, json!({ "email": "grace@example.com", "name": "Grace" })).await.expect(201);
    let body = json!({ "lines": lines(1), "cart": 7 });
    let problem = shop.guest_order(secret, "k", body).await.problem(Kind::Validation);
    assert!(problem["detail"].as_str().is_some_and(|detail| detail.contains("cart")), "{problem}");
}
