//! Sums are kept in range when they are written.

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
