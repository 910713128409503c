//! Placing orders concurrently.

use futures_util::{StreamExt as _, stream};

use crate::prelude::*;

/// Sends these orders concurrently, each with its key, as many at once as a busy machine answers in time. Returns the
/// replies in any order.
async fn all_at_once(orders: impl IntoIterator<Item = (Client, String, Value)>) -> Vec<Reply> {
    let sending = orders.into_iter().map(|(client, key, body)| async move { client.order(&key, body).await });
    stream::iter(sending).buffer_unordered(16).collect().await
}

fn of_status(replies: &[Reply], status: u16) -> usize {
    replies.iter().filter(|reply| reply.status == status).count()
}

fn one(product: &str) -> Value {
    basket(product, 1)
}

/// The number of items of each type in the table.
fn kinds(dump: &[Value]) -> BTreeMap<String, usize> {
    let mut kinds = BTreeMap::new();
    for item in dump {
        *kinds.entry(item["EntityType"]["S"].as_str().expect("a kind").to_owned()).or_default() += 1;
    }
    kinds
}

#[tokio::test(flavor = "multi_thread")]
async fn only_one_of_fifty_buyers_gets_the_last_unit_and_the_others_write_nothing() {
    let shop = Shop::open().await;
    shop.product("last", 1999, 1).await;
    for buyer in 0..50 {
        shop.sign_up(&format!("buyer-{buyer}")).await;
    }
    let before = kinds(&shop.dump().await);

    let orders = (0..50).map(|buyer| (shop.customer(&format!("buyer-{buyer}")), "k".to_owned(), one("last")));
    let replies = all_at_once(orders).await;

    assert_eq!(of_status(&replies, 201), 1);
    for loser in replies.into_iter().filter(|reply| reply.status != 201) {
        let problem = loser.problem(Kind::OutOfStock);
        assert_eq!(problem["productId"], "last");
        assert_eq!(problem["available"], 0);
    }
    assert_eq!(shop.available("last").await, 0);
    let mut expected = before;
    expected.extend([("order".to_owned(), 1), ("orderItem".to_owned(), 1), ("invoice".to_owned(), 1)]);
    assert_eq!(kinds(&shop.dump().await), expected, "a loser left something");
}

#[tokio::test(flavor = "multi_thread")]
async fn stock_is_never_oversold_by_orders_of_many_lines() {
    let shop = Shop::with_ada().await;
    for product in ["a", "b", "c"] {
        shop.product(product, 100, 20).await;
    }
    // Lines in different sequences, so that transactions overlap from both ends.
    let body = |at: usize| {
        let mut lines = ["a", "b", "c"].map(|product| json!({ "productId": product, "quantity": at % 3 + 1 }));
        lines.rotate_left(at % 3);
        json!({ "lines": lines })
    };
    let replies = all_at_once((0..40).map(|at| (shop.customer("ada"), format!("k{at}"), body(at)))).await;

    let sold: u64 = replies
        .iter()
        .filter(|reply| reply.status == 201)
        .map(|reply| reply.body["lines"][0]["quantity"].as_u64().expect("a number"))
        .sum();
    assert!((18..=20).contains(&sold), "{sold}: less than three must be left for somebody to be refused");
    for product in ["a", "b", "c"] {
        assert_eq!(shop.available(product).await, 20 - sold, "units sold and units left are the units supplied");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_gift_card_is_never_spent_twice() {
    let shop = Shop::selling("thing", 1000, 100).await;
    shop.gift_card("GIFT", 3500).await;
    let body = || {
        let mut body = one("thing");
        body["giftCards"] = json!(["GIFT"]);
        body
    };
    let replies = all_at_once((0..20).map(|at| (shop.customer("ada"), format!("k{at}"), body()))).await;

    let mut spent = 0;
    for reply in &replies {
        if reply.status == 201 {
            let payments = reply.body["invoice"]["payments"].as_array().expect("payments");
            let paid: u64 =
                payments.iter().map(|payment| payment["amount"]["amount"].as_u64().expect("a number")).sum();
            assert_eq!(paid, 1000);
            assert_eq!(payments[0]["type"], "giftCard");
            spent += payments[0]["amount"]["amount"].as_u64().expect("a number");
        } else {
            assert_eq!(reply.clone().problem(Kind::GiftCardBalance)["code"], "GIFT");
        }
    }
    assert_eq!(spent, 3500 - balance(&shop, "GIFT").await);
    assert_eq!(spent, entries(&shop, "GIFT").await, "the entries are what was spent");
    assert_eq!(shop.available("thing").await, 100 - of_status(&replies, 201) as u64);
}

async fn balance(shop: &Shop, code: &str) -> u64 {
    let card = shop.item(&format!("g#{code}"), &format!("g#{code}")).await;
    card["balance"]["M"]["amount"]["N"].as_str().expect("a number").parse().expect("not below zero")
}

async fn entries(shop: &Shop, code: &str) -> u64 {
    let dump = shop.dump().await;
    let entries = dump.iter().filter(|item| item["EntityType"]["S"] == "giftCardEntry" && item["code"]["S"] == code);
    entries
        .map(|item| item["amount"]["M"]["amount"]["N"].as_str().expect("a number").parse::<u64>().expect("one"))
        .sum()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_discount_code_with_ten_uses_is_used_by_ten_of_a_hundred_buyers() {
    let shop = Shop::selling("thing", 1000, 1000).await;
    shop.discount("TEN", 10, Some(10)).await;
    let mut body = one("thing");
    body["discountCode"] = json!("TEN");

    let replies = all_at_once((0..100).map(|at| (shop.customer("ada"), format!("k{at}"), body.clone()))).await;

    assert_eq!(of_status(&replies, 201), 10);
    for reply in replies {
        if reply.status == 201 {
            assert_eq!(reply.body["total"], eur(900));
        } else {
            assert_eq!(reply.problem(Kind::DiscountExhausted)["code"], "TEN");
        }
    }
    assert_eq!(shop.item("d#TEN", "d#TEN").await["uses"]["N"], "10");
    assert_eq!(shop.available("thing").await, 990);
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_copies_of_a_request_place_one_order_and_get_one_answer() {
    let shop = Shop::with_ada().await;
    // Exactly enough for one order: a late copy must not be refused as out of stock.
    shop.product("thing", 1000, 2).await;
    shop.gift_card("GIFT", 500).await;
    shop.discount("ONCE", 50, Some(1)).await;
    let body = json!({
        "lines": [{ "productId": "thing", "quantity": 2 }],
        "discountCode": "ONCE", "giftCards": ["GIFT"], "expectedTotal": eur(1000),
    });

    let replies = all_at_once((0..30).map(|_| (shop.customer("ada"), "same".to_owned(), body.clone()))).await;

    let fresh = replies.iter().filter(|reply| reply.header("idempotent-replayed").is_none()).count();
    assert_eq!(fresh, 1);
    for reply in &replies {
        assert_eq!(reply.clone().expect(201), replies[0].body);
    }
    let after = shop.dump().await;
    assert_eq!(kinds(&after)["order"], 1);

    // And once more, after everything is used up.
    let again = shop.customer("ada").order("same", body).await;
    assert_eq!(again.header("idempotent-replayed"), Some("true"));
    assert_eq!(again.expect(201), replies[0].body);
    assert_eq!(shop.dump().await, after, "a replay changes nothing, byte for byte");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_key_of_two_customers_places_two_orders() {
    let shop = Shop::with_ada().await;
    shop.sign_up("bob").await;
    shop.product("thing", 1000, 2).await;
    let ada = shop.customer("ada").order("same", one("thing")).await.expect(201);
    let bob = shop.customer("bob").order("same", one("thing")).await.expect(201);
    assert_ne!(ada["orderId"], bob["orderId"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_order_covered_by_gift_cards_is_paid_at_once() {
    let shop = Shop::selling("thing", 1000, 10).await;
    shop.gift_card("SMALL", 300).await;
    shop.gift_card("LARGE", 5000).await;
    shop.gift_card("SPARE", 5000).await;
    let mut body = one("thing");
    body["giftCards"] = json!(["SMALL", "LARGE", "SPARE"]);

    let order = shop.customer("ada").order("k", body).await.expect(201);

    assert_eq!(order["status"], "PAID");
    let captured =
        |code, amount| json!({ "type": "giftCard", "code": code, "amount": eur(amount), "status": "captured" });
    assert_eq!(order["invoice"]["payments"], json!([captured("SMALL", 300), captured("LARGE", 700)]));
    assert_eq!(balance(&shop, "SPARE").await, 5000, "a card that is not needed is not touched");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_bank_card_is_never_charged_more_than_the_customer_allows() {
    let shop = Shop::selling("thing", 1000, 10).await;
    shop.gift_card("GIFT", 1000).await;
    let ada = shop.customer("ada");
    let paying = |quantity: u64, most: Value| {
        json!({
            "lines": [{ "productId": "thing", "quantity": quantity }],
            "giftCards": ["GIFT"], "expectedTotal": eur(1000 * quantity), "maxCardAmount": most,
        })
    };
    // The customer saw a balance of ten on the gift card. Another order takes six of it.
    let mut other = one("thing");
    other["discountCode"] = json!("FORTY");
    other["giftCards"] = json!(["GIFT"]);
    shop.discount("FORTY", 40, None).await;
    ada.order("other", other).await.expect(201);
    assert_eq!(balance(&shop, "GIFT").await, 400);

    for too_little in [eur(0), eur(599), json!({ "amount": 600, "currency": "USD" })] {
        let problem = ada.order("k", paying(1, too_little)).await.problem(Kind::PriceChanged);
        assert_eq!((&problem["total"], &problem["cardAmount"]), (&eur(1000), &eur(600)));
    }
    assert_eq!((balance(&shop, "GIFT").await, shop.available("thing").await), (400, 9), "nothing was written");
    let order = ada.order("k", paying(1, eur(600))).await.expect(201);
    assert_eq!(order["invoice"]["payments"][1]["amount"], eur(600));
    // The gift card is empty now. With `maxCardAmount` the order does not need it.
    let order = ada.order("rest", paying(2, eur(2000))).await.expect(201);
    assert_eq!(order["invoice"]["payments"].as_array().expect("payments").len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_order_with_an_empty_gift_card_is_placed_if_the_other_cards_cover_it() {
    let shop = Shop::selling("thing", 1000, 10).await;
    shop.gift_card("EMPTY", 1000).await;
    shop.gift_card("FULL", 1500).await;
    let ada = shop.customer("ada");
    let with = |cards: &[&str]| {
        let mut body = one("thing");
        body["giftCards"] = json!(cards);
        body
    };
    ada.order("first", with(&["EMPTY"])).await.expect(201);
    let emptied = shop.item("g#EMPTY", "g#EMPTY").await;

    let order = ada.order("second", with(&["EMPTY", "FULL"])).await.expect(201);
    assert_eq!(order["status"], "PAID");
    assert_eq!(order["invoice"]["payments"][0]["code"], "FULL");
    assert_eq!(shop.item("g#EMPTY", "g#EMPTY").await, emptied, "an empty card takes no part");
    // A balance of five is left. The bank card does not replace an empty gift card without consent.
    let problem = ada.order("third", with(&["FULL", "EMPTY"])).await.problem(Kind::GiftCardBalance);
    assert_eq!(problem["code"], "EMPTY");
    ada.order("third", with(&["EMPTY", "UNKNOWN"])).await.problem(Kind::GiftCardInvalid);
}

#[tokio::test(flavor = "multi_thread")]
async fn orders_do_not_write_a_code_with_unlimited_uses() {
    let shop = Shop::selling("thing", 1000, 10).await;
    shop.discount("ANY", 10, None).await;
    let ada = shop.customer("ada");
    let code = shop.item("d#ANY", "d#ANY").await;
    let mut body = one("thing");
    body["discountCode"] = json!("ANY");

    let order = ada.order("k", body).await.expect(201);
    assert_eq!((&order["discountCode"], &order["total"]), (&json!("ANY"), &eur(900)));
    assert_eq!(ada.read(&order).await, order);
    ada.cancel(&order, json!({})).await.expect(200);
    assert_eq!(shop.item("d#ANY", "d#ANY").await, code);
    invariants::hold(&shop).await;
}
