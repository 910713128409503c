//! Money that goes back: units are cancelled before an order is shipped, or returned after it was delivered.

mod allowances;
mod at_once;
mod cancelled_units;

use crate::prelude::*;

/// A time by which everything is counted.
const AFTER_EVERY_CHANGE: &str = "2100-01-01";

/// Adds what [`place`] orders to a shop.
async fn furnish(shop: &Shop) {
    shop.product("cup", 111, 10).await;
    shop.product("pot", 333, 10).await;
    shop.product("tray", 333, 10).await;
    shop.discount("TEN", 10, Some(5)).await;
    shop.gift_card("GIFT-A", 200).await;
    shop.gift_card("GIFT-B", 150).await;
}

/// Three cups, a pot and a tray for 9.99 less 1.00. Gift cards pay 2.00 and 1.50, and a bank card the rest: 5.49. Less
/// their shares of the discount, the lines are 3.00, 2.99 and 3.00.
async fn place(shop: &Shop, key: &str) -> Value {
    let lines = json!([
        { "productId": "cup", "quantity": 3 }, { "productId": "pot", "quantity": 1 },
        { "productId": "tray", "quantity": 1 },
    ]);
    let body = json!({ "lines": lines, "discountCode": "TEN", "giftCards": ["GIFT-A", "GIFT-B"] });
    let order = shop.customer("ada").order(key, body).await.expect(201);
    assert_eq!(order["total"], eur(899));
    order
}

async fn deliver(shop: &Shop, order: &Value) {
    shop.admin().advance(order, "SHIPPED").await.expect(200);
    shop.admin().advance(order, "DELIVERED").await.expect(200);
}

/// A shop with a delivered order that was paid by gift cards and bank transfer.
async fn delivered() -> (Shop, Value) {
    let shop = Shop::with_ada().await;
    furnish(&shop).await;
    let order = place(&shop, "k").await;
    shop.admin().capture(&order, "bank-1").await.expect(200);
    deliver(&shop, &order).await;
    (shop, order)
}

async fn ask(client: &Client, order: &Value, key: &str, lines: Value) -> Reply {
    let body = json!({ "lines": lines });
    client.request_return(order, key, body).await
}

async fn ask_for(shop: &Shop, order: &Value, key: &str, product: &str, quantity: u64) -> Value {
    let lines = json!([{ "productId": product, "quantity": quantity }]);
    ask(&shop.customer("ada"), order, key, lines).await.expect(201)
}

fn accepted() -> Value {
    json!({ "accepted": true, "restock": true })
}

/// The balance of a gift card.
async fn balance(shop: &Shop, code: &str) -> i64 {
    let card = shop.admin().get(&format!("/gift-cards/{code}")).await.expect(200);
    card["balance"]["amount"].as_i64().expect("an amount")
}

/// The amounts of the card payment: credited, received, returned and due. An absent one is zero.
fn amounts(order: &Value) -> [i64; 4] {
    let payments = order["invoice"]["payments"].as_array().expect("payments");
    let card = payments.iter().find(|payment| payment["type"] == "card").expect("a card payment");
    ["credited", "received", "returned", "due"].map(|name| card[name]["amount"].as_i64().unwrap_or(0))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_return_in_parts_brings_back_what_was_paid_to_the_minor_unit() {
    let (shop, order) = delivered().await;
    // The card payment goes back first, then the last gift card, then the first one.
    let parts = [
        ("pot", 1, 299, [299, 549, 0, 299], [0, 0]),
        ("tray", 1, 300, [549, 549, 0, 549], [0, 50]),
        ("cup", 2, 200, [549, 549, 0, 549], [100, 150]),
        ("cup", 1, 100, [549, 549, 0, 549], [200, 150]),
    ];
    for (at, (product, quantity, amount, card, [a, b])) in parts.into_iter().enumerate() {
        let asked = ask_for(&shop, &order, &format!("return {at}"), product, quantity).await;
        assert_eq!((&asked["status"], asked.get("amount")), (&json!("requested"), None));
        let received = shop.admin().receive(&asked, accepted()).await.expect(200);
        assert_eq!((&received["status"], &received["amount"]), (&json!("received"), &eur(amount)));
        let now = shop.customer("ada").read(&order).await;
        assert_eq!(amounts(&now), card, "{product}");
        assert_eq!([balance(&shop, "GIFT-A").await, balance(&shop, "GIFT-B").await], [a, b], "{product}");
        invariants::hold(&shop).await;
    }
    let now = shop.customer("ada").read(&order).await;
    let credits = json!([
        { "productId": "cup", "units": 3, "amount": eur(300) }, { "productId": "pot", "units": 1, "amount": eur(299) },
        { "productId": "tray", "units": 1, "amount": eur(300) },
    ]);
    assert_eq!((&now["credits"], &now["status"], &now["lines"]), (&credits, &json!("DELIVERED"), &order["lines"]));
    assert_eq!(now["returns"].as_array().expect("returns").len(), 4);

    shop.admin().confirm_refund(&order, "back-1").await.expect(200);
    assert_eq!(amounts(&shop.customer("ada").read(&order).await), [549, 549, 549, 0]);
    let statuses = shop.customer("ada").read(&order).await["invoice"]["payments"].clone();
    assert!(statuses.as_array().expect("payments").iter().all(|payment| payment["status"] == "refunded"), "{statuses}");
    for product in ["cup", "pot", "tray"] {
        assert_eq!(shop.available(product).await, 10);
    }
    invariants::hold(&shop).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_return_of_everything_at_once_brings_back_the_same() {
    let (shop, order) = delivered().await;
    let lines = json!([
        { "productId": "tray", "quantity": 1 }, { "productId": "cup", "quantity": 3 },
        { "productId": "pot", "quantity": 1 },
    ]);
    let asked = ask(&shop.customer("ada"), &order, "all", lines).await.expect(201);
    let received = shop.admin().receive(&asked, json!({ "accepted": true, "restock": false })).await.expect(200);
    assert_eq!((&received["amount"], &received["restocked"]), (&eur(899), &json!(false)));
    assert_eq!([balance(&shop, "GIFT-A").await, balance(&shop, "GIFT-B").await], [200, 150]);
    assert_eq!([shop.available("cup").await, shop.available("pot").await], [7, 9], "they cannot be sold again");
    invariants::hold(&shop).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn open_returns_are_listed_until_they_are_received_or_refused() {
    let (shop, order) = delivered().await;
    let [first, second] = [ask_for(&shop, &order, "a", "cup", 1).await, ask_for(&shop, &order, "b", "pot", 1).await];
    let open = || async {
        let page = shop.admin().get("/returns").await.expect(200);
        let ids = page["items"].as_array().expect("items").iter().map(|one| one["returnId"].clone());
        ids.collect::<Vec<_>>()
    };
    assert_eq!(open().await, [first["returnId"].clone(), second["returnId"].clone()], "the oldest first");
    shop.admin().receive(&first, accepted()).await.expect(200);
    assert_eq!(open().await, [second["returnId"].clone()]);
    let refused =
        shop.admin().receive(&second, json!({ "accepted": false, "reason": "It was used." })).await.expect(200);
    assert_eq!((&refused["status"], &refused["refusal"]), (&json!("refused"), &json!("It was used.")));
    assert_eq!(open().await, Vec::<Value>::new());

    let path = format!("/orders/{}/returns", order_id(&order));
    let listed = shop.customer("ada").get(&path).await.expect(200);
    assert_eq!(listed["items"].as_array().expect("items").len(), 2);
    shop.sign_up("bob").await;
    shop.customer("bob").get(&path).await.problem(Kind::NotFound);
    // The refused pot may be returned again.
    ask_for(&shop, &order, "c", "pot", 1).await;
    invariants::hold(&shop).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_customer_may_withdraw_within_the_period_and_staff_at_any_time() {
    let (shop, order) = delivered().await;
    // Delivered long ago.
    let key =
        json!({ "PK": { "S": format!("o#{}", order_id(&order)) }, "SK": { "S": format!("o#{}", order_id(&order)) } });
    let update = json!({
        "TableName": shop.table(), "Key": key, "UpdateExpression": "SET deliveredAt = :at",
        "ExpressionAttributeValues": { ":at": { "S": "2026-01-01T23:00:00.000Z" } },
    });
    shop.dynamodb("UpdateItem", &update).await;
    let lines = json!([{ "productId": "cup", "quantity": 1 }]);
    let late = ask(&shop.customer("ada"), &order, "late", lines.clone()).await.problem(Kind::WithdrawalOver);
    assert_eq!(late["lastDay"], "2026-01-15");
    let asked = ask(&shop.admin(), &order, "late", lines).await.expect(201);
    shop.admin().receive(&asked, accepted()).await.expect(200);
    invariants::hold(&shop).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_returned_is_refused_and_changes_nothing() {
    let (shop, order) = delivered().await;
    let undelivered = shop.customer("ada").order("l", basket("cup", 1)).await;
    let undelivered = undelivered.expect(201);
    ask_for(&shop, &order, "a", "cup", 2).await;
    shop.sign_up("bob").await;
    let (ada, bob) = (shop.customer("ada"), shop.customer("bob"));
    let units = |product: &str, quantity: i64| json!([{ "productId": product, "quantity": quantity }]);
    let before = shop.dump().await;
    let few = ask(&ada, &order, "b", units("cup", 2)).await.problem(Kind::TooFewUnits);
    assert_eq!((&few["productId"], &few["left"]), (&json!("cup"), &json!(1)));
    let none = ask(&ada, &order, "b", units("book", 1)).await.problem(Kind::TooFewUnits);
    assert_eq!(none["left"], 0);
    ask(&ada, &undelivered, "b", units("cup", 1)).await.problem(Kind::InvalidTransition);
    ask(&bob, &order, "b", units("cup", 1)).await.problem(Kind::NotFound);
    ask(&ada, &order, "a", units("cup", 1)).await.problem(Kind::IdempotencyKeyReused);
    ask(&ada, &order, "b", json!([])).await.problem(Kind::Validation);
    ask(&ada, &order, "b", json!([units("cup", 1)[0], units("cup", 1)[0]])).await.problem(Kind::Validation);
    let path = format!("/orders/{}/returns", order_id(&order));
    ada.post(&path, json!({ "lines": units("cup", 1) })).await.problem(Kind::IdempotencyKeyMissing);
    // Receipts that say too little or too much, and one of a return that is not there.
    let asked = ada.get(&path).await.expect(200)["items"][0].clone();
    for receipt in [
        json!({ "accepted": true }),
        json!({ "accepted": false }),
        json!({ "accepted": false, "reason": "used", "restock": true }),
        json!({ "accepted": true, "reason": "used", "restock": true }),
    ] {
        shop.admin().receive(&asked, receipt).await.problem(Kind::Validation);
    }
    for strange in ["ret-none", "none", &format!("ret-{}-0000000000000000", order_id(&order))] {
        shop.admin().receive(&json!({ "returnId": strange }), accepted()).await.problem(Kind::NotFound);
    }
    assert_eq!(shop.dump().await, before);
}
