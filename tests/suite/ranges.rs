//! Sums are kept in range when they are written, and sums out of range can be read.

use std::time::{SystemTime, UNIX_EPOCH};

use crate::invariants::breaches;
use crate::prelude::*;

#[tokio::test(flavor = "multi_thread")]
async fn no_order_s_total_exceeds_the_range_of_the_counters() {
    let shop = Shop::with_ada().await;
    let most: u64 = 1_000_000_000_000;
    shop.product("thing", most, 100).await;
    let ada = shop.customer("ada");
    ada.order("one", things(1)).await.expect(201);
    ada.order("two", things(2)).await.problem(Kind::Validation);
    let card = json!({ "code": "DEAR", "balance": eur(most + 1) });
    shop.admin().post("/gift-cards", card).await.problem(Kind::Validation);
    let headers = [("if-match", "*")];
    let price = Some(json!({ "price": eur(most + 1) }).to_string());
    let dear = shop.admin().send(reqwest::Method::PATCH, "/products/thing", &headers, price).await;
    dear.problem(Kind::Validation);
}

async fn set(shop: &Shop, pk: &str, sk: &str, attribute: &str, number: &str) {
    let update = json!({
        "TableName": shop.table(), "Key": { "PK": { "S": pk }, "SK": { "S": sk } },
        "UpdateExpression": "SET #counter = :number", "ConditionExpression": "attribute_exists(PK)",
        "ExpressionAttributeNames": { "#counter": attribute }, "ExpressionAttributeValues": { ":number": { "N": number } },
    });
    shop.dynamodb("UpdateItem", &update).await;
}

/// A price from before prices had a bound, and counters that its orders have driven beyond 64 bits.
#[tokio::test(flavor = "multi_thread")]
async fn counters_beyond_64_bits_can_be_read_audited_and_increased() {
    let shop = Shop::open_counted().await;
    shop.sign_up("ada").await;
    shop.product("thing", 1000, 100).await;
    let ada = shop.customer("ada");
    let order = ada.order("k", things(1)).await.expect(201);
    shop.settle().await;
    let day = order["placedAt"].as_str().expect("a time")[..10].to_owned();
    let next_month = SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970") + Duration::from_hours(30 * 24);
    let next_month = i64::try_from(next_month.as_millis()).expect("small");
    let until = Timestamp::from_millisecond(next_month).expect("a time").day();
    let beyond = "92233720368547758079999";
    for (pk, sk, attribute) in [
        ("p#thing", "stats", "revenue:EUR"),
        ("p#thing", "stats", "units"),
        ("c#ada", "stats", "spent:EUR"),
        ("c#ada", "stats", "orders"),
        (&format!("day#{day}"), "totals", "revenue:EUR"),
    ] {
        set(&shop, pk, sk, attribute, beyond).await;
    }
    let read = async || {
        let most = json!(9_007_199_254_740_991_u64);
        let product = shop.nobody().get("/products/thing").await.expect(200);
        assert_eq!(product["stats"]["units"], json!(i64::MAX));
        let stats = shop.admin().get("/products/thing/stats").await.expect(200);
        assert_eq!(stats["revenue"][0]["amount"], most);
        let customer = ada.get("/customers/ada").await.expect(200);
        assert_eq!(customer["stats"]["spent"][0]["amount"], most);
        let totals = shop.admin().get(&format!("/totals?from={day}&to={until}")).await.expect(200);
        assert!(totals.to_string().contains("9007199254740991"), "{totals}");
    };
    read().await;
    ada.order("another", things(1)).await.expect(201);
    shop.settle().await;
    read().await;
    let drifted = breaches(&shop, "2999-01-01").await;
    assert!(!drifted.is_empty(), "the counters are not what the orders add up to");
}
