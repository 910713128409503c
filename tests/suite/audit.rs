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

#[tokio::test(flavor = "multi_thread")]
async fn each_damage_is_found_and_named() {
    let (shop, order, invoice) = a_shop().await;
    let (o, i) = (format!("o#{order}"), format!("i#{invoice}"));
    let money = |amount: u32| json!({ "M": { "amount": { "N": amount.to_string() }, "currency": { "S": "EUR" } } });
    let number = |number: u32| json!({ "N": number.to_string() });
    let text = |text: &str| json!({ "S": text });
    // An item, what is written into it, and how the breaches begin.
    let damages: Vec<(&str, &str, &str, Value, Vec<String>)> = vec![
        (
            &o,
            &o,
            "subtotal",
            money(999),
            vec![
                format!("order {order}: subtotal less discount: 899 EUR (minor units); the total: 900 EUR"),
                format!("order {order}: the lines: 1000 EUR (minor units); the subtotal: 999 EUR"),
            ],
        ),
        (
            &o,
            &o,
            "status",
            text("PAID"),
            vec![
                "day ".to_owned(),
                format!("o#{order} o#{order}: its keys are "),
                format!("order {order}: a payment of 600 EUR (minor units) is Authorized, the order PAID"),
            ],
        ),
        (&o, &o, "lineCount", number(2), vec![format!("order {order}: it is not whole: 1 lines of 2, lacks []")]),
        (
            &o,
            "p#tea",
            "quantity",
            number(3),
            vec![
                "day ".to_owned(),
                format!("order {order}: 3 tea at 500 EUR (minor units) are said to be 1000 EUR"),
                "product tea: its counts lack ".to_owned(),
            ],
        ),
        (
            &o,
            &i,
            "amount",
            money(901),
            vec![format!("order {order}: the invoice: 901 EUR (minor units); the total: 900 EUR")],
        ),
        ("g#CARD", "g#CARD", "balance", money(1), vec!["gift card CARD: -1 gone from it".to_owned()]),
        (
            "g#CARD",
            &o,
            "status",
            text("refunded"),
            vec!["gift card CARD: 300 gone from it".to_owned(), format!("order {order}: 300 paid with gift card CARD")],
        ),
        ("d#TEN", "d#TEN", "uses", number(2), vec!["discount TEN: 1 uses counted beyond".to_owned()]),
        (
            "p#tea",
            "stock",
            "price",
            money(499),
            vec!["product tea: its price is 500 EUR (minor units), the price in its stock 499 EUR".to_owned()],
        ),
        (
            "p#tea",
            "stock",
            "available",
            json!({ "N": "-1" }),
            vec![
                "p#tea stock: it cannot be read".to_owned(),
                "product tea: its price is 500 EUR (minor units), the price in its stock not there".to_owned(),
            ],
        ),
        ("p#tea", "stats", "units", number(1), vec!["product tea: its counts lack ".to_owned()]),
        ("c#ada", "stats", "orders", number(7), vec!["customer ada: its counts lack ".to_owned()]),
        (
            "c#ada",
            "c#ada",
            "email",
            text("eve@example.com"),
            vec![
                "email#ada@example.com: it is claimed by ada, and in the profile of nobody".to_owned(),
                "email#eve@example.com: it is claimed by nobody, and in the profile of ada".to_owned(),
            ],
        ),
        (
            "username#ada",
            "username#ada",
            "customerId",
            text("eve"),
            vec!["username#ada: it is claimed by eve, and in the profile of ada".to_owned()],
        ),
        ("c#ada", "cart", "EntityType", text("trolley"), vec!["c#ada cart: \"trolley\" is no kind of item".to_owned()]),
        ("p#tea", "p#tea", "GSI1SK", text("p#coffee"), vec!["p#tea p#tea: its keys are ".to_owned()]),
    ];
    for (pk, sk, attribute, value, expected) in damages {
        let before = shop.item(pk, sk).await;
        assert!(before.is_object(), "{pk} {sk}");
        let mut damaged = before.clone();
        damaged[attribute] = value;
        shop.dynamodb("PutItem", &json!({ "TableName": shop.table(), "Item": damaged })).await;
        let found = breaches(&shop, LATER).await;
        let fits =
            found.len() == expected.len() && found.iter().zip(&expected).all(|(one, begin)| one.starts_with(begin));
        assert!(fits, "{pk} {sk} {attribute}: {found:#?}");
        shop.dynamodb("PutItem", &json!({ "TableName": shop.table(), "Item": before })).await;
    }
}
