//! Carts.

use shop::orders::lines_of;

use crate::prelude::*;

async fn put(shop: &Shop, lines: Value) -> Reply {
    let body = json!({ "lines": lines });
    shop.customer("ada").put("/customers/ada/cart", body).await
}

/// Asserts that there is no cart, and returns the `ETag` of the empty one.
pub async fn is_empty(client: &Client) -> String {
    let cart = client.get("/customers/ada/cart").await;
    assert_eq!((cart.status, &cart.body), (200, &json!({ "lines": [] })));
    cart.header("etag").expect("a version").to_owned()
}

async fn shop() -> Shop {
    let shop = Shop::selling("thing", 1000, 10).await;
    shop.product("other", 1000, 10).await;
    shop
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cart_is_created_read_replaced_and_deleted() {
    let shop = shop().await;
    let ada = shop.customer("ada");
    is_empty(&ada).await;

    let lines = json!([{ "productId": "thing", "quantity": 2 }, { "productId": "other", "quantity": 1 }]);
    let cart = put(&shop, lines.clone()).await.expect(200);
    assert_eq!(lines_of(&cart), lines);
    assert_eq!(ada.get("/customers/ada/cart").await.expect(200), cart);
    shop.customer("eve").get("/customers/ada/cart").await.problem(Kind::NotFound);

    put(&shop, json!([])).await.expect(200);
    assert_eq!(ada.get("/customers/ada/cart").await.expect(200)["lines"], json!([]));
    for _ in 0..2 {
        assert_eq!(ada.delete("/customers/ada/cart").await.status, 204);
        is_empty(&ada).await;
    }
    // The profile does not include the cart.
    put(&shop, lines).await.expect(200);
    assert_eq!(ada.get("/customers/ada").await.expect(200)["customerId"], "ada");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_expired_cart_is_gone_before_dynamodb_deletes_it() {
    let shop = shop().await;
    put(&shop, json!([{ "productId": "thing", "quantity": 2 }])).await.expect(200);
    let item = shop.item("c#ada", "cart").await;
    let kept: i64 = item["expiresAt"]["N"].as_str().expect("TTL reads a number").parse().expect("seconds");
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).expect("after 1970").as_secs();
    let days = (kept - i64::try_from(now).expect("small")) / 86_400;
    assert!((29..=30).contains(&days), "{days}");

    shop.set("c#ada", "cart", "expiresAt", json!({ "N": now.to_string() })).await;
    assert!(!shop.item("c#ada", "cart").await.is_null(), "DynamoDB has not deleted it yet");
    is_empty(&shop.customer("ada")).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_invalid_cart_is_refused_and_the_old_one_stays() {
    let shop = shop().await;
    put(&shop, json!([{ "productId": "thing", "quantity": 2 }])).await.expect(200);
    let before = shop.dump().await;

    let unknown =
        put(&shop, json!([{ "productId": "thing", "quantity": 1 }, { "productId": "none", "quantity": 1 }])).await;
    let unknown = unknown.problem(Kind::NotFound);
    assert_eq!((&unknown["line"], &unknown["productId"]), (&json!(1), &json!("none")));
    for quantity in [json!(0), json!(-1), json!(1.5), json!("1"), json!(10_001)] {
        put(&shop, json!([{ "productId": "thing", "quantity": quantity }])).await.problem(Kind::Validation);
    }
    let twice = json!([{ "productId": "thing", "quantity": 1 }, { "productId": "thing", "quantity": 1 }]);
    put(&shop, twice).await.problem(Kind::Validation);
    let many: Vec<_> = (0..100).map(|at| json!({ "productId": format!("p{at}"), "quantity": 1 })).collect();
    put(&shop, json!(many)).await.problem(Kind::TooLarge);
    let price = json!([{ "productId": "thing", "quantity": 1, "price": { "amount": -5, "currency": "EUR" } }]);
    put(&shop, price).await.problem(Kind::Validation);

    assert_eq!(shop.dump().await, before);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_late_cart_with_if_match_does_not_replace_a_newer_one() {
    let shop = shop().await;
    let lines = |quantity: u64| json!([{ "productId": "thing", "quantity": quantity }]);
    let replace = async |if_match: &str, quantity: u64| {
        let body = json!({ "lines": lines(quantity) }).to_string();
        shop.customer("ada").send(Method::PUT, "/customers/ada/cart", &[("if-match", if_match)], Some(body)).await
    };
    replace("\"1\"", 1).await.problem(Kind::VersionConflict);
    // Of two devices that have seen the empty cart, one fills it: after an expiry and an order, too.
    for (is_expired, quantity) in [(false, 1), (true, 2)] {
        if is_expired {
            shop.set("c#ada", "cart", "expiresAt", json!({ "N": "1" })).await;
        }
        let empty = is_empty(&shop.customer("ada")).await;
        replace(&empty, quantity).await.expect(200);
        replace(&empty, 3).await.problem(Kind::VersionConflict);
    }
    let first = put(&shop, lines(1)).await;
    let first = first.header("etag").expect("a version").to_owned();
    let second = replace(&first, 2).await;
    let second = second.header("etag").expect("a version").to_owned();
    assert_ne!(first, second);
    // A delayed request, and the same request twice.
    replace(&first, 3).await.problem(Kind::VersionConflict);
    let found = shop.customer("ada").get("/customers/ada/cart").await;
    assert_eq!(
        found.header("etag").expect("a tag").split_once('-').map(|(version, _)| format!("{version}\"")),
        Some(second)
    );
    assert_eq!(lines_of(&found.body), lines(2));
    for foreign in ["\"abc\"", "W/\"1\"", "\"1\", \"2\""] {
        replace(foreign, 3).await.problem(Kind::VersionConflict);
    }
    replace("*", 4).await.expect(200);
    // A list matches if one of its tags does (RFC 9110, 13.1.1).
    let current = put(&shop, lines(4)).await.header("etag").expect("a version").to_owned();
    replace(&format!("\"1\", \"abc\", \"0\", {current}"), 5).await.expect(200);
    replace(&format!("\"1\", \"0\", {current}"), 6).await.problem(Kind::VersionConflict);
    // Without the header the last writer wins.
    put(&shop, lines(5)).await.expect(200);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cart_that_another_device_wrote_meanwhile_is_not_deleted() {
    let shop = shop().await;
    let ada = shop.customer("ada");
    let throw_away =
        async |if_match: &str| ada.send(Method::DELETE, "/customers/ada/cart", &[("if-match", if_match)], None).await;
    // There is no cart, so every deletion succeeds.
    for if_match in ["*", "\"0\"", "\"7\"", "\"abc\""] {
        assert_eq!(throw_away(if_match).await.status, 204, "{if_match}");
    }
    let first = put(&shop, json!([])).await.header("etag").expect("a version").to_owned();
    let second = put(&shop, json!([])).await.header("etag").expect("a version").to_owned();
    let before = shop.dump().await;
    for other in [first.as_str(), "\"0\"", "\"abc\"", "W/\"1\"", "\"1\", \"2\""] {
        throw_away(other).await.problem(Kind::VersionConflict);
    }
    throw_away("2").await.problem(Kind::Validation);
    assert_eq!(shop.dump().await, before);
    shop.fault_proxy().inject(Match::action("DeleteItem"), Fault::CutAfter, 1);
    assert_eq!(throw_away(&second).await.status, 204, "the answer to its first attempt was lost");
    assert_eq!(shop.fault_proxy().pending(), 0);
    is_empty(&ada).await;

    let current = put(&shop, json!([])).await.header("etag").expect("a version").to_owned();
    assert_eq!(throw_away(&format!("{first}, {current}")).await.status, 204, "one tag of the list matches");
    is_empty(&ada).await;
    put(&shop, json!([])).await.expect(200);
    assert_eq!(throw_away("*").await.status, 204);
    is_empty(&ada).await;
    // An expired cart counts as missing.
    put(&shop, json!([])).await.expect(200);
    shop.set("c#ada", "cart", "expiresAt", json!({ "N": "1" })).await;
    assert_eq!(throw_away("\"7\"").await.status, 204);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cart_whose_answer_was_lost_is_written_once() {
    let shop = shop().await;
    let first = put(&shop, json!([])).await;
    let first = first.header("etag").expect("a version").to_owned();
    shop.fault_proxy().inject(Match::action("PutItem"), Fault::CutAfter, 1);
    let body = basket("thing", 1);
    let ada = shop.customer("ada");
    ada.put_if("/customers/ada/cart", &first, body).await.expect(200);
    assert_eq!(shop.fault_proxy().pending(), 0);
}
