//! Requests with an `Idempotency-Key` are applied once, even if their answers are lost.

use crate::prelude::*;

async fn adjust(client: &Client, key: &str, headers: &[(&str, &str)], delta: i64) -> Reply {
    let headers = [&[("idempotency-key", key)], headers].concat();
    client.send(Method::POST, "/products/thing/stock", &headers, Some(json!({ "delta": delta }).to_string())).await
}

async fn shop() -> Shop {
    Shop::selling("thing", 1000, 10).await
}

fn new_product() -> Value {
    json!({ "name": "New", "description": "", "category": "things", "price": eur(500), "stock": 3 })
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_request_gets_the_same_answer_and_changes_nothing() {
    let shop = shop().await;
    let admin = shop.admin();
    let first = adjust(&admin, "k", &[], -4).await;
    assert_eq!(first.header("idempotent-replayed"), None);
    let (etag, first) = (first.header("etag").map(str::to_owned), first.expect(200));
    // Other requests follow, and the stock no longer has enough units for the first one.
    adjust(&admin, "another", &[], -5).await.expect(200);
    let before = shop.dump().await;
    for headers in [&[][..], &[("if-match", "\"1\"")], &[("if-match", "\"77\"")]] {
        let again = adjust(&admin, "k", headers, -4).await;
        assert_eq!(again.header("idempotent-replayed"), Some("true"));
        assert_eq!(again.header("etag"), etag.as_deref());
        assert_eq!(again.expect(200), first);
    }
    assert_eq!(shop.dump().await, before);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_stands_for_one_request_of_one_caller() {
    let shop = shop().await;
    shop.product("other", 1000, 10).await;
    let admin = shop.admin();
    adjust(&admin, "k", &[], 5).await.expect(200);
    let before = shop.dump().await;
    adjust(&admin, "k", &[], 6).await.problem(Kind::IdempotencyKeyReused);
    adjust(&admin, "k", &[], -600).await.problem(Kind::IdempotencyKeyReused);
    let other = json!({ "delta": 5 }).to_string();
    let other = admin.send(Method::POST, "/products/other/stock", &[("idempotency-key", "k")], Some(other)).await;
    other.problem(Kind::IdempotencyKeyReused);
    admin.post_once("/products", "k", new_product()).await.problem(Kind::IdempotencyKeyReused);
    assert_eq!(shop.dump().await, before, "what is refused changes nothing");
    // Without a key, If-Match is needed.
    admin.post("/products/thing/stock", json!({ "delta": 5 })).await.problem(Kind::PreconditionRequired);
    // The order of fields does not matter.
    let body = "{\"stock\":3,\"price\":{\"currency\":\"EUR\",\"amount\":500},\"name\":\"New\",\"description\":\"\", \"category\":\"things\"}";
    admin.post_once("/products", "new", new_product()).await.expect(201);
    let again = admin.send(Method::POST, "/products", &[("idempotency-key", "new")], Some(body.to_owned())).await;
    assert_eq!(again.header("idempotent-replayed"), Some("true"));
}

#[tokio::test(flavor = "multi_thread")]
async fn only_one_of_twenty_concurrent_copies_is_applied_and_all_get_the_same_answer() {
    let shop = shop().await;
    let answers =
        at_once(0..20, async |_| adjust(&shop.admin(), "k", &[("if-match", "\"1\"")], 5).await.expect(200)).await;
    assert!(answers.iter().all(|answer| *answer == answers[0]), "{answers:?}");
    assert_eq!(shop.available("thing").await, 15);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_product_without_a_client_s_id_is_created_once() {
    let shop = shop().await;
    let admin = shop.admin();
    shop.fault_proxy().inject(commit(), Fault::CutAfter, 3);
    admin.post_once("/products", "k", new_product()).await.problem(Kind::Throttled);
    let found = admin.post_once("/products", "k", new_product()).await;
    assert_eq!(found.header("idempotent-replayed"), Some("true"));
    let location = found.header("location").expect("where it is").to_owned();
    let found = found.expect(201);
    assert_eq!(location, format!("/products/{}", found["productId"].as_str().expect("an id")));
    assert_eq!(shop.nobody().get(&location).await.expect(200)["available"], 3);
    assert_eq!(shop.nobody().walk("/products?category=things", 10).await.len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_can_be_reused_after_three_days_even_if_dynamodb_has_not_deleted_it() {
    let shop = shop().await;
    let admin = shop.admin();
    adjust(&admin, "k", &[], 5).await.expect(200);
    let dump = shop.dump().await;
    let record = dump.iter().find(|item| item["EntityType"]["S"] == "idempotencyRecord").expect("a record");
    let expires: u64 = record["expiresAt"]["N"].as_str().expect("a number").parse().expect("seconds");
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).expect("after 1970").as_secs();
    assert!((259_000..=259_200).contains(&(expires - now)), "{expires}");
    let expire = json!({
        "TableName": shop.table(), "Key": { "PK": record["PK"], "SK": record["SK"] },
        "UpdateExpression": "SET expiresAt = :now", "ExpressionAttributeValues": { ":now": { "N": now.to_string() } },
    });
    shop.dynamodb("UpdateItem", &expire).await;
    adjust(&admin, "k", &[], -600).await.problem(Kind::OutOfStock);
    assert_eq!(adjust(&admin, "k", &[], 7).await.expect(200)["available"], 22);
}
