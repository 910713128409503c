//! Gift cards that are blocked or expire: no order takes anything from them, and their money adds up.

use std::sync::Mutex;

use futures_util::{StreamExt as _, stream};

use crate::history::copied;
use crate::prelude::*;
use crate::workbench::assert_round_trip;

const LONG_AGO: &str = "2020-01-01T00:00:00.000Z";

/// A shop with a thing at 10 euros, and a card.
async fn shop(balance: u64) -> Shop {
    let shop = Shop::selling("thing", 1000, 1000).await;
    shop.gift_card("GIFT", balance).await;
    shop
}

/// An order of one thing, which the card pays.
fn with_card() -> Value {
    json!({ "lines": [{ "productId": "thing", "quantity": 1 }], "giftCards": ["GIFT"] })
}

async fn change(shop: &Shop, if_match: &str, changes: Value) -> Reply {
    shop.admin().patch("/gift-cards/GIFT", if_match, changes).await
}

async fn block(shop: &Shop) {
    change(shop, "*", json!({ "blocked": true })).await.expect(200);
}

/// The card as its holder sees it.
async fn card(shop: &Shop) -> Value {
    shop.customer("ada").get("/gift-cards/GIFT").await.expect(200)
}

async fn balance(shop: &Shop) -> u64 {
    card(shop).await["balance"]["amount"].as_u64().expect("a number")
}

#[tokio::test(flavor = "multi_thread")]
async fn no_order_takes_anything_from_a_card_after_the_answer_that_it_is_blocked() {
    const INITIAL: u64 = 100_000;
    let shop = shop(INITIAL).await;
    let ada = shop.customer("ada");
    let orders = (0..100).map(|at| {
        let ada = ada.clone();
        async move { ada.order(&format!("k{at}"), with_card()).await }
    });
    let blocking = async {
        until("a tenth is spent", async || balance(&shop).await <= INITIAL - 10_000).await;
        block(&shop).await;
        balance(&shop).await
    };
    let placing = stream::iter(orders).buffer_unordered(16).collect::<Vec<_>>();
    let (replies, left) = tokio::join!(placing, blocking);

    let (placed, refused): (Vec<_>, Vec<_>) = replies.into_iter().partition(|reply| reply.status == 201);
    assert!(placed.len() >= 10 && !refused.is_empty(), "{} of 100 orders are placed", placed.len());
    for reply in refused {
        reply.problem(Kind::GiftCardInvalid);
    }
    assert_eq!(balance(&shop).await, left, "an order took something after the answer");
    assert_eq!(left, INITIAL - 1000 * placed.len() as u64);
    invariants::hold(&shop).await;
}

/// Sends an order, and changes the card while the order's transaction is on its way to the table. `changes` are made for
/// the time at which the order is placed.
async fn changed_on_the_way(shop: &Shop, key: &str, changes: impl FnOnce(Timestamp) -> Value) -> (Reply, Value) {
    let seen = Arc::new(Mutex::new(None));
    let placed_at = |write: &Value| write["Put"]["Item"]["placedAt"]["S"].as_str()?.parse::<Timestamp>().ok();
    let place = commit().when({
        let seen = Arc::clone(&seen);
        move |request| {
            *seen.lock().expect("no panic") =
                request["TransactItems"].as_array().and_then(|all| placed_at(all.first()?));
            true
        }
    });
    let ada = shop.customer("ada");
    shop.held(place, ada.order(key, with_card()), async || {
        let at = seen.lock().expect("no panic").take().expect("the time of the order");
        change(shop, "*", changes(at)).await.expect(200)
    })
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_card_that_is_blocked_while_an_order_is_on_its_way_pays_nothing() {
    let shop = shop(5000).await;
    let (reply, changed) = changed_on_the_way(&shop, "k", |_| json!({ "blocked": true })).await;
    reply.problem(Kind::GiftCardInvalid);
    assert_eq!((&changed["balance"], &changed["blocked"]), (&eur(5000), &json!(true)));
    assert_eq!((balance(&shop).await, shop.available("thing").await), (5000, 1000), "nothing was written");
    // The client may send the same order again when the card is allowed again.
    change(&shop, "*", json!({ "blocked": false })).await.expect(200);
    assert_eq!(card(&shop).await.get("blocked"), None);
    shop.customer("ada").order("k", with_card()).await.expect(201);
    invariants::hold(&shop).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_card_is_spent_in_the_last_millisecond_before_its_end_and_not_at_its_end() {
    let shop = shop(5000).await;
    let (reply, _) = changed_on_the_way(&shop, "late", |placed_at| json!({ "validUntil": placed_at })).await;
    reply.problem(Kind::GiftCardInvalid);
    assert_eq!(balance(&shop).await, 5000);

    change(&shop, "*", json!({ "validUntil": "2100-01-01" })).await.expect(200);
    let just_after = |at: Timestamp| Timestamp::from_millisecond(at.as_millisecond() + 1).expect("a time");
    let (reply, changed) =
        changed_on_the_way(&shop, "in time", |placed_at| json!({ "validUntil": just_after(placed_at) })).await;
    let order = reply.expect(201);
    assert_eq!(
        changed["validUntil"],
        json!(just_after(order["placedAt"].as_str().expect("a time").parse().expect("one")))
    );
    assert_eq!(balance(&shop).await, 4000);
    shop.customer("ada").order("later", with_card()).await.problem(Kind::GiftCardInvalid);
    invariants::hold(&shop).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_quote_refuses_the_cards_that_an_order_refuses() {
    let shop = shop(5000).await;
    let ada = shop.customer("ada");
    let placed = ada.order("first", with_card()).await.expect(201);
    let steps = [
        (json!({ "blocked": true }), false),
        (json!({ "blocked": false }), true),
        (json!({ "validUntil": LONG_AGO }), false),
        (json!({ "validUntil": "2100-01-01" }), true),
        (json!({ "validUntil": LONG_AGO, "blocked": true }), false),
        (json!({ "validUntil": "2100-01-01" }), false),
    ];
    for (at, (changes, may_pay)) in steps.into_iter().enumerate() {
        change(&shop, "*", changes.clone()).await.expect(200);
        let quoted = ada.post("/quotes", with_card()).await;
        let ordered = ada.order(&format!("k{at}"), with_card()).await;
        if may_pay {
            assert_eq!((quoted.status, ordered.status), (200, 201), "{changes}");
        } else {
            quoted.problem(Kind::GiftCardInvalid);
            ordered.problem(Kind::GiftCardInvalid);
        }
    }
    // The card is blocked, and a repeated request still gets its order.
    let again = ada.order("first", with_card()).await;
    assert_eq!(again.header("idempotent-replayed"), Some("true"));
    assert_eq!(again.expect(201), placed);
    // A blocked card is refused, too, if another card pays all.
    shop.gift_card("FULL", 5000).await;
    let mut both = with_card();
    both["giftCards"] = json!(["FULL", "GIFT"]);
    ada.order("both", both).await.problem(Kind::GiftCardInvalid);
    invariants::hold(&shop).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_accepted_order_is_refused_if_its_card_is_blocked_before_it_is_placed() {
    let shop = Shop::open_undrained().await;
    shop.sign_up("ada").await;
    shop.product("thing", 1000, 10).await;
    shop.gift_card("GIFT", 5000).await;
    let ada = shop.customer("ada");
    let accepted = order_later(&ada, "later", with_card()).await;
    let path = accepted.header("location").expect("a location").to_owned();
    accepted.expect(202);
    block(&shop).await;
    for message in shop.take_messages().await {
        assert_eq!(shop.drain(&[message]).await["batchItemFailures"], json!([]));
    }
    let refused = ada.get(&path).await.expect(200);
    assert_eq!((&refused["status"], balance(&shop).await), (&json!("REJECTED"), 5000), "{refused}");
    assert!(refused.to_string().contains("gift-card-invalid"), "{refused}");
    invariants::hold(&shop).await;
}

/// The money belongs to the holder of the card. If it went elsewhere, a block would be a way to turn a card into cash.
#[tokio::test(flavor = "multi_thread")]
async fn money_goes_back_to_a_card_that_is_blocked_or_has_expired_and_the_card_stays_so() {
    for changes in [json!({ "blocked": true }), json!({ "validUntil": LONG_AGO })] {
        let shop = shop(2500).await;
        let (ada, admin) = (shop.customer("ada"), shop.admin());
        let mut two = with_card();
        two["lines"][0]["quantity"] = json!(2);
        let order = ada.order("k", two).await.expect(201);
        change(&shop, "\"1\"", changes.clone()).await.expect(200);

        let unit = basket("thing", 1);
        ada.cancel(&order, unit.clone()).await.expect(200);
        assert_eq!(balance(&shop).await, 1500, "{changes}: a unit is cancelled");
        invariants::hold(&shop).await;
        for status in ["SHIPPED", "DELIVERED"] {
            admin.advance(&order, status).await.expect(200);
        }
        let asked = ada.request_return(&order, "r", unit).await.expect(201);
        admin.receive(&asked, json!({ "accepted": true, "restock": true })).await.expect(200);

        let back = card(&shop).await;
        assert_eq!(back["balance"], eur(2500), "{changes}: the other unit is returned");
        for (name, value) in changes.as_object().expect("changes") {
            assert_eq!(&back[name], value, "{back}");
        }
        ada.order("next", with_card()).await.problem(Kind::GiftCardInvalid);
        invariants::hold(&shop).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_of_a_card_names_its_version_and_orders_do_not_count() {
    let shop = shop(5000).await;
    let etag = |reply: &Reply| reply.header("etag").expect("an ETag").to_owned();
    let read = shop.admin().get("/gift-cards/GIFT").await;
    shop.customer("ada").order("k", with_card()).await.expect(201);

    let first = change(&shop, &etag(&read), json!({ "blocked": true })).await;
    let seen = etag(&first);
    let shown = first.expect(200);
    assert_eq!((&shown["blocked"], &shown["balance"]), (&json!(true), &eur(4000)));
    // The same request again, after a lost answer. Another request with the old version is refused.
    assert_eq!(change(&shop, &etag(&read), json!({ "blocked": true })).await.expect(200), shown);
    let stale = change(&shop, &etag(&read), json!({ "blocked": false })).await.problem(Kind::VersionConflict);
    assert_eq!(stale["version"], 2);
    let second = change(&shop, &seen, json!({ "blocked": false, "validUntil": "2100-01-01" })).await.expect(200);
    assert_eq!((second.get("blocked"), &second["validUntil"]), (None, &json!("2100-01-01T00:00:00.000Z")));

    // Of two changes at once, one wins.
    let changes = ["2101-01-01", "2102-01-01"].map(|until| change(&shop, "\"3\"", json!({ "validUntil": until })));
    let mut statuses =
        futures_util::future::join_all(changes).await.iter().map(|reply| reply.status).collect::<Vec<_>>();
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 412]);

    let admin = shop.admin();
    let body = || Some(json!({ "blocked": true }).to_string());
    admin.send(Method::PATCH, "/gift-cards/GIFT", &[], body()).await.problem(Kind::PreconditionRequired);
    let any = [("if-match", "*")];
    admin.send(Method::PATCH, "/gift-cards/NO-SUCH-CARD", &any, body()).await.problem(Kind::NotFound);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_card_can_be_made_with_an_end_in_the_future() {
    let shop = Shop::with_ada().await;
    let admin = shop.admin();
    let new = |until: &str| json!({ "code": "GIFT-2031-ABCD", "balance": eur(1000), "validUntil": until });
    admin.post("/gift-cards", new(LONG_AGO)).await.problem(Kind::Validation);
    let made = admin.post("/gift-cards", new("2100-01-01")).await.expect(201);
    assert_eq!(made["validUntil"], "2100-01-01T00:00:00.000Z");
    let again = admin.post("/gift-cards", new("2100-01-01T00:00:00Z")).await;
    assert_eq!((again.header("idempotent-replayed"), again.clone().expect(201)), (Some("true"), made));
    admin.post("/gift-cards", new("2100-01-02")).await.problem(Kind::AlreadyExists);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_card_that_is_blocked_and_was_spent_before_is_exported_and_imported() {
    let shop = shop(5000).await;
    shop.customer("ada").order("k", with_card()).await.expect(201);
    change(&shop, "*", json!({ "blocked": true, "validUntil": LONG_AGO })).await.expect(200);
    let other = Shop::open().await;
    copied(&shop, &other).await;
    let admin = other.admin().get("/gift-cards/GIFT").await.expect(200);
    assert_eq!((&admin["blocked"], &admin["balance"]), (&json!(true), &eur(4000)));
    assert_round_trip(&shop).await;
}
