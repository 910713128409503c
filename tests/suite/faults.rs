//! Placing orders under faults of the network and the database.

use std::sync::Mutex;
use std::time::Instant;

use crate::prelude::*;

/// The number of attempts that the SDK makes for one call.
const GIVE_UP: usize = 3;

fn two_things() -> Value {
    json!({ "lines": [{ "productId": "thing", "quantity": 2 }], "giftCards": ["GIFT"] })
}

/// A shop with the customer ada, the product `thing` and a gift card.
async fn shop() -> Shop {
    let shop = Shop::selling("thing", 1000, 10).await;
    shop.gift_card("GIFT", 500).await;
    shop.fault_proxy().take_calls();
    shop
}

/// Asserts that the table has exactly one complete order of two things: this one.
async fn assert_placed_once(shop: &Shop, order: &Value) {
    assert_eq!(shop.available("thing").await, 8);
    let found = shop.customer("ada").read(order).await;
    assert_eq!(found, *order);
    let orders = shop.dump().await.into_iter().filter(|item| item["EntityType"]["S"] == "order").count();
    assert_eq!(orders, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_hung_up_gets_its_order_when_it_retries() {
    let shop = shop().await;
    let client = shop.customer("ada");
    let gate = shop.fault_proxy().hold(commit(), 1);
    tokio::select! {
        reply = client.order("k", two_things()) => panic!("its commit is held: {reply:?}"),
        () = shop.until_taken() => {}
    }
    let reply = client.order("k", two_things()).await;
    gate.open();
    shop.until_idle().await;
    assert_placed_once(&shop, &reply.expect(201)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_transaction_in_progress_is_retried_with_its_token() {
    // More often than the SDK itself retries.
    let times = 2 * GIVE_UP;
    let shop = shop().await;
    let tokens: Arc<Mutex<BTreeSet<String>>> = Arc::default();
    let seen = Arc::clone(&tokens);
    let remember = move |request: &Value| {
        let token = request["ClientRequestToken"].as_str().expect("a token").to_owned();
        seen.lock().expect("nobody panicked").insert(token);
        true
    };
    shop.fault_proxy().inject(commit().when(remember), Fault::InProgress, times);
    let order = shop.customer("ada").order("k", two_things()).await.expect(201);
    assert_eq!(shop.fault_proxy().pending(), 0);
    assert_placed_once(&shop, &order).await;
    assert_eq!(tokens.lock().expect("nobody panicked").len(), 1, "another token is another transaction");
}

/// Changes the price between an order's read and its commit, as an admin does: in the product and its copy.
async fn reprice_while_ordering(shop: &Shop, order: Value) -> shop::Reply {
    let update = |sort: &str| {
        json!({ "Update": {
            "TableName": shop.table(),
            "Key": { "PK": { "S": "p#thing" }, "SK": { "S": sort } },
            "UpdateExpression": "SET price.amount = :p",
            "ExpressionAttributeValues": { ":p": { "N": "1500" } },
        } })
    };
    let reprice = json!({ "TransactItems": [update("p#thing"), update("stock")] });
    let client = shop.customer("ada");
    shop.held(commit(), client.order("k", order), async || shop.dynamodb("TransactWriteItems", &reprice).await).await.0
}

#[tokio::test(flavor = "multi_thread")]
async fn a_price_that_changes_while_an_order_is_placed_is_read_again() {
    let shop = shop().await;
    let order = reprice_while_ordering(&shop, two_things()).await.expect(201);
    assert_eq!(order["total"], eur(3000));
    assert_placed_once(&shop, &order).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_customer_who_expects_another_total_is_not_charged_the_new_one() {
    let shop = shop().await;
    let mut order = two_things();
    order["expectedTotal"] = eur(2000);
    let problem = reprice_while_ordering(&shop, order).await.problem(Kind::PriceChanged);
    assert_eq!(problem["total"], eur(3000));
    assert_eq!(shop.available("thing").await, 10);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_write_that_succeeded_before_its_key_became_hot_is_applied_once() {
    let shop = shop().await;
    let hot = Fault::Throttle { reason: "TableWriteKeyRangeThroughputExceeded", resource: "arn".to_owned() };
    shop.fault_proxy().inject(commit(), Fault::CutAfter, 1);
    shop.fault_proxy().inject(commit(), hot, 2);
    let body = json!({ "delta": 5 });
    let reply = shop.admin().post_if("/products/thing/stock", "*", body).await.expect(200);
    assert_eq!(shop.fault_proxy().pending(), 0);
    assert_eq!((&reply["available"], shop.available("thing").await), (&json!(15), 15));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_gift_card_that_is_refunded_while_an_order_is_placed_pays_with_its_new_balance() {
    let shop = shop().await;
    shop.gift_card("BACK", 1500).await;
    let ada = shop.customer("ada");
    let with_card = || {
        let mut order = two_things();
        order["lines"][0]["quantity"] = json!(1);
        order["giftCards"] = json!(["BACK"]);
        order
    };
    let first = ada.order("first", with_card()).await.expect(201);
    // The card's balance is five when the second order reads it, and fifteen when the order commits.
    let cancel = async || ada.cancel(&first, json!({})).await.expect(200);
    let second = shop.held(commit(), ada.order("second", with_card()), cancel).await.0.expect(201);
    let payments = second["invoice"]["payments"].as_array().expect("payments");
    assert_eq!(payments.len(), 1, "{payments:?}");
    assert_eq!((&payments[0]["type"], &payments[0]["amount"]), (&json!("giftCard"), &eur(1000)));
    invariants::hold(&shop).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refusal_by_dynamodb_is_an_internal_error_whose_cause_is_only_logged() {
    let shop = shop().await;
    let before = shop.dump().await;
    let refusal = Fault::Cancel { item: 0, code: "ValidationError", message: "Item size has exceeded the maximum" };
    shop.fault_proxy().inject(commit(), refusal, 1);
    let problem = shop.customer("ada").order("k", two_things()).await.problem(Kind::Internal);
    assert_eq!(problem["detail"], "The request failed and was logged.");
    assert_eq!(shop.dump().await, before);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_incomplete_order_is_read_again_until_it_is_complete() {
    let shop = shop().await;
    let order = shop.customer("ada").order("k", two_things()).await.expect(201);
    let path = format!("/orders/{}", order_id(&order));
    let key = json!({ "PK": { "S": format!("o#{}", order_id(&order)) }, "SK": { "S": "p#thing" } });
    let line = shop.dynamodb("GetItem", &json!({ "TableName": shop.table(), "Key": key })).await["Item"].clone();
    shop.delete(&format!("o#{}", order_id(&order)), "p#thing").await;

    // As a Query may return it while the transaction is applied.
    let (client, read) = (shop.customer("ada"), path.clone());
    shop.fault_proxy().take_calls();
    let reading = tokio::spawn(async move { client.get(&read).await });
    until("it is read", async || !shop.fault_proxy().calls().is_empty()).await;
    shop.dynamodb("PutItem", &json!({ "TableName": shop.table(), "Item": line })).await;
    assert_eq!(reading.await.expect("a reply").expect(200), order);

    // If the order never becomes complete, it is neither shown nor restored.
    shop.delete(&format!("o#{}", order_id(&order)), "p#thing").await;
    let hurried = shop.hurried(3).await;
    hurried.customer("ada").get(&path).await.problem(Kind::Throttled);
    hurried.customer("ada").cancel(&order, json!({})).await.problem(Kind::Throttled);
    assert_eq!(shop.available("thing").await, 8);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_that_hangs_is_answered_in_time() {
    let filled = shop().await;
    let shop = filled.hurried(3).await;
    shop.fault_proxy().inject(Match::action("Query"), Fault::Delay(Duration::from_mins(1)), 5);
    let started = Instant::now();
    let reply = shop.nobody().get("/products/thing").await;
    assert!(reply.header("retry-after").is_some());
    reply.problem(Kind::Throttled);
    assert!(started.elapsed() < Duration::from_secs(50));
}
