//! An audit finds whatever breaks a law of the shop, and nothing else.

use serde_json::{Value, json};

use crate::laws::breaches;
use crate::shop::Shop;

/// Everything is counted by then.
const LATER: &str = "2100-01-01";

/// A shop with something of every kind, and one order: its id and its invoice's.
async fn a_shop() -> (Shop, String, String) {
    let shop = Shop::open_counted().await;
    shop.sign_up("ada").await;
    shop.product("tea", 500, 10).await;
    shop.discount("TEN", 10, Some(5)).await;
    shop.gift_card("CARD", 300).await;
    let cart = json!({ "lines": [{ "productId": "tea", "quantity": 1 }] });
    shop.customer("ada")
        .send(reqwest::Method::PUT, "/customers/ada/cart", &[], Some(cart.to_string()))
        .await
        .expect(200);
    shop.nobody().post("/products/tea/views", Value::Null).await.expect(204);
    let body = json!({
        "lines": [{ "productId": "tea", "quantity": 2 }], "discountCode": "TEN", "giftCards": ["CARD"],
    });
    let order = shop.customer("ada").order("one", body).await.expect(201);
    let called_off =
        shop.customer("ada").order("two", json!({ "lines": [{ "productId": "tea", "quantity": 1 }] })).await;
    let called_off = called_off.expect(201)["orderId"].as_str().expect("an id").to_owned();
    shop.customer("ada").post(&format!("/orders/{called_off}/cancellation"), json!({})).await.expect(200);
    shop.settle().await;
    let id = |value: &Value| value.as_str().expect("an id").to_owned();
    (shop, id(&order["orderId"]), id(&order["invoice"]["invoiceId"]))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_shop_that_was_only_used_keeps_every_law() {
    let (shop, _, _) = a_shop().await;
    assert_eq!(breaches(&shop, LATER).await, Vec::<String>::new());
    let kinds: std::collections::BTreeSet<_> =
        shop.dump().await.iter().map(|item| item["EntityType"]["S"].to_string()).collect();
    assert!(kinds.len() > 14, "the shop has something of most kinds: {kinds:?}");
}

/// An item's key, the attribute that is damaged, what is written there, and how the breaches begin.
type Damage = (String, String, &'static str, Value, Vec<String>);

#[tokio::test(flavor = "multi_thread")]
async fn each_damage_is_found_and_named() {
    let (shop, order, invoice) = a_shop().await;
    for (pk, sk, attribute, value, expected) in damages(&order, &invoice) {
        let before = shop.item(&pk, &sk).await;
        assert!(before.is_object(), "{pk} {sk}");
        let mut after = before.clone();
        after[attribute] = value;
        shop.dynamodb("PutItem", &json!({ "TableName": shop.table(), "Item": after })).await;
        let found = breaches(&shop, LATER).await;
        let fits =
            found.len() == expected.len() && found.iter().zip(&expected).all(|(one, begin)| one.starts_with(begin));
        assert!(fits, "{pk} {sk} {attribute}: {found:#?}");
        shop.dynamodb("PutItem", &json!({ "TableName": shop.table(), "Item": before })).await;
    }
}

fn damages(order: &str, invoice: &str) -> Vec<Damage> {
    let damage = |pk: &str, sk: &str, attribute, value, breaches: &[&str]| {
        let breaches = breaches.iter().map(|breach| breach.replace("ORDER", order)).collect();
        (pk.to_owned(), sk.to_owned(), attribute, value, breaches)
    };
    let (o, i) = (format!("o#{order}"), format!("i#{invoice}"));
    let money = |amount: u32| json!({ "M": { "amount": { "N": amount.to_string() }, "currency": { "S": "EUR" } } });
    let number = |number: u32| json!({ "N": number.to_string() });
    let text = |text: &str| json!({ "S": text });
    vec![
        damage(
            &o,
            &o,
            "subtotal",
            money(999),
            &[
                "order ORDER: subtotal less discount: 899 EUR (minor units); the total: 900 EUR",
                "order ORDER: the lines: 1000 EUR (minor units); the subtotal: 999 EUR",
            ],
        ),
        damage(
            &o,
            &o,
            "status",
            text("PAID"),
            &[
                "day ",
                "o#ORDER o#ORDER: its keys are ",
                "order ORDER: a payment of 600 EUR (minor units) is Authorized, the order PAID",
            ],
        ),
        damage(&o, &o, "lineCount", number(2), &["order ORDER: it is not whole: 1 lines of 2, lacks []"]),
        damage(
            &o,
            "p#tea",
            "quantity",
            number(3),
            &[
                "day ",
                "order ORDER: 3 tea at 500 EUR (minor units) are said to be 1000 EUR",
                "product tea: its counts lack ",
            ],
        ),
        damage(&o, &i, "amount", money(901), &["order ORDER: the invoice: 901 EUR (minor units); the total: 900 EUR"]),
        damage("g#CARD", "g#CARD", "balance", money(1), &["gift card CARD: -1 gone from it"]),
        damage(
            "g#CARD",
            &o,
            "status",
            text("refunded"),
            &["gift card CARD: 300 gone from it", "order ORDER: 300 paid with gift card CARD"],
        ),
        damage("d#TEN", "d#TEN", "uses", number(2), &["discount TEN: 1 uses counted beyond"]),
        damage(
            "p#tea",
            "stock",
            "price",
            money(499),
            &["product tea: its price is 500 EUR (minor units), the price in its stock 499 EUR"],
        ),
        damage(
            "p#tea",
            "stock",
            "available",
            json!({ "N": "-1" }),
            &[
                "p#tea stock: it cannot be read",
                "product tea: its price is 500 EUR (minor units), the price in its stock not there",
            ],
        ),
        damage("p#tea", "stats", "units", number(1), &["product tea: its counts lack "]),
        damage("c#ada", "stats", "orders", number(7), &["customer ada: its counts lack "]),
        damage(
            "c#ada",
            "c#ada",
            "email",
            text("eve@example.com"),
            &[
                "email#ada@example.com: it is claimed by ada, and in the profile of nobody",
                "email#eve@example.com: it is claimed by nobody, and in the profile of ada",
            ],
        ),
        damage(
            "username#ada",
            "username#ada",
            "customerId",
            text("eve"),
            &["username#ada: it is claimed by eve, and in the profile of ada"],
        ),
        damage("c#ada", "cart", "EntityType", text("trolley"), &["c#ada cart: \"trolley\" is no kind of item"]),
        damage("p#tea", "p#tea", "GSI1SK", text("p#coffee"), &["p#tea p#tea: its keys are "]),
    ]
}
