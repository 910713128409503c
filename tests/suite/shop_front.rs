//! What the pages of a shop front ask, each in one request: a cart with its products, and products by their ids.

use devstack::fault_proxy::{Access, Call, Consumed};
use shop::engine::{Feature, lacks};
use shop::openapi;
use shop::orders::lines_of;
use shop::seed;

use crate::prelude::*;

const CART: &str = "/customers/ada/cart";

/// A shop with its consumers, the customer ada and these products, in the order of their ids.
async fn selling(products: impl IntoIterator<Item = usize>) -> Shop {
    let shop = Shop::open_counted().await;
    shop.sign_up("ada").await;
    for at in products {
        shop.create(&format!("p{at:03}"), json!({ "stock": 50, "price": eur(100 + at as u64) })).await;
    }
    shop
}

fn line(at: usize, quantity: u64) -> Value {
    json!({ "productId": format!("p{at:03}"), "quantity": quantity })
}

async fn put(shop: &Shop, lines: Vec<Value>) -> Value {
    shop.customer("ada").put(CART, json!({ "lines": lines })).await.expect(200)
}

/// The products with these ids, in one request.
async fn by_ids(shop: &Shop, ids: &[&str]) -> Vec<Value> {
    let found = shop.nobody().get(&format!("/products?ids={}", ids.join(","))).await.expect(200);
    assert_eq!(found["next"], Value::Null);
    found["items"].as_array().expect("items").clone()
}

/// Changes a product, and waits until lists say what its stock says.
async fn change(shop: &Shop, id: &str, changes: Value) {
    shop.admin().patch(&format!("/products/{id}"), "*", changes).await.expect(200);
    shop.settle_payments().await;
}

/// What `whenAdded` may have of a product: what it has now.
fn offer(product: &Value) -> Value {
    let listed = product["listed"].as_bool().unwrap_or(true);
    json!({ "unitPrice": product["price"], "availability": product["availability"], "listed": listed })
}

#[tokio::test(flavor = "multi_thread")]
async fn a_line_of_a_cart_has_all_that_its_row_shows() {
    let shop = selling(0..2).await;
    let image = shop.uploaded("p000").await;
    shop.confirm_image("p000", &image).await.expect(200);
    shop.say_of_image("p000", &image, json!({ "alt": "A pot", "width": 640, "height": 480 })).await.expect(200);
    let cart = put(&shop, vec![line(0, 3), line(1, 1)]).await;
    let [first, second] = &cart["lines"].as_array().expect("lines")[..] else { panic!("{cart}") };
    let thumbnail = shop.nobody().get("/products/p000").await.expect(200)["images"][0].clone();
    assert_eq!((&thumbnail["alt"], &thumbnail["width"]), (&json!("A pot"), &json!(640)));
    let expected = json!({
        "productId": "p000", "quantity": 3, "name": "The p000", "unitPrice": eur(100), "amount": eur(300),
        "availability": "inStock", "thumbnail": thumbnail,
    });
    assert_eq!(first, &expected);
    assert_eq!((second.get("thumbnail"), &cart["subtotal"]), (None, &eur(401)));
    assert_eq!(shop.customer("ada").get(CART).await.expect(200), cart);

    // Prices of several currencies have no sum.
    let other = json!({ "amount": 100, "currency": "USD" });
    shop.create("dollars", json!({ "price": other })).await;
    let mixed = put(&shop, vec![line(0, 1), json!({ "productId": "dollars", "quantity": 1 })]).await;
    assert_eq!((mixed.get("subtotal"), &mixed["lines"][1]["amount"]), (None, &other));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cart_says_what_has_changed_since_its_products_were_added() {
    let shop = selling(0..2).await;
    put(&shop, vec![line(0, 1)]).await;
    change(&shop, "p000", json!({ "price": eur(120) })).await;
    let past = async || shop.customer("ada").get(CART).await.expect(200)["lines"][0]["whenAdded"].clone();
    assert_eq!(past().await, json!({ "unitPrice": eur(100) }));
    change(&shop, "p000", json!({ "recalled": true, "listed": false })).await;
    let all = json!({ "unitPrice": eur(100), "availability": "inStock", "listed": true });
    assert_eq!(past().await, all);
    let line_now = shop.customer("ada").get(CART).await.expect(200)["lines"][0].clone();
    assert_eq!(["availability", "listed"].map(|name| line_now[name].clone()), [json!("soldOut"), json!(false)]);
    // Another quantity and another line leave it so. A product that was taken out is added anew.
    let cart = put(&shop, vec![line(1, 1), line(0, 2)]).await;
    assert_eq!((cart["lines"][0].get("whenAdded"), &cart["lines"][1]["whenAdded"]), (None, &all));
    put(&shop, vec![line(1, 1)]).await;
    put(&shop, vec![line(0, 2)]).await;
    assert_eq!(past().await, Value::Null);
    change(&shop, "p000", json!({ "recalled": false, "listed": true, "price": eur(100) })).await;
    assert_eq!(past().await, json!({ "unitPrice": eur(120), "availability": "soldOut", "listed": false }));
    // An expired cart is none that the next one continues.
    shop.set("c#ada", "cart", "expiresAt", json!({ "N": "1" })).await;
    put(&shop, vec![line(0, 2)]).await;
    assert_eq!(past().await, Value::Null);
}

/// What lists said of each product of the cart when it was added, and the products that are recalled.
#[derive(Default)]
struct Expected {
    added: BTreeMap<String, Value>,
    recalled: BTreeSet<String>,
}

impl Expected {
    async fn put(&mut self, shop: &Shop, lines: Vec<Value>) {
        let cart = put(shop, lines.clone()).await;
        assert_eq!(lines_of(&cart), json!(lines));
        let kept = std::mem::take(&mut self.added);
        for line in lines {
            let id = line["productId"].as_str().expect("an id").to_owned();
            let now = offer(&shop.nobody().get(&format!("/products/{id}")).await.expect(200));
            let when_added = kept.get(&id).cloned().unwrap_or(now);
            self.added.insert(id, when_added);
        }
    }

    async fn recall(&mut self, shop: &Shop, id: &str, recalled: bool) {
        change(shop, id, json!({ "recalled": recalled })).await;
        if recalled {
            self.recalled.insert(id.to_owned())
        } else {
            self.recalled.remove(id)
        };
    }

    /// Compares the cart with its products and with what was expected, and with its quote if it can be ordered.
    async fn check(&self, shop: &Shop) {
        let ada = shop.customer("ada");
        let cart = ada.get(CART).await.expect(200);
        let lines = cart["lines"].as_array().expect("lines");
        assert_eq!(lines.len(), self.added.len());
        let mut is_sold_out = lines.is_empty();
        for line in lines {
            let id = line["productId"].as_str().expect("an id");
            let product = shop.nobody().get(&format!("/products/{id}")).await.expect(200);
            let now = [&line["name"], &line["unitPrice"], &line["availability"], &line["listed"]];
            let itself = [&product["name"], &product["price"], &product["availability"], &product["listed"]];
            assert_eq!(now, itself, "{id}");
            assert_eq!(line["availability"] == "soldOut", self.recalled.contains(id), "{line}");
            let mut past = offer(&product);
            past.as_object_mut().expect("an offer").extend(line["whenAdded"].as_object().cloned().unwrap_or_default());
            assert_eq!(past, self.added[id], "{id}");
            is_sold_out |= self.recalled.contains(id);
        }
        if is_sold_out {
            return;
        }
        let quote = ada.post("/quotes", json!({ "lines": lines_of(&cart), "cart": cart["version"] })).await.expect(200);
        assert_eq!(quote["subtotal"], cart["subtotal"]);
        let amounts =
            |of: &Value| of["lines"].as_array().expect("lines").iter().map(|it| it["amount"].clone()).collect();
        let (quoted, shown): (Vec<Value>, Vec<Value>) = (amounts(&quote), amounts(&cart));
        assert_eq!(quoted, shown);
    }
}

/// **Law: once nothing changes any more, a cart says of each product what the product says itself, and what it said when it was
/// added; and the sum is that of the quote**, whatever was changed and put.
#[tokio::test(flavor = "multi_thread")]
async fn a_cart_agrees_with_its_products_and_with_the_quote() {
    let (shop, mut expected, mut random) = (selling(0..6).await, Expected::default(), seed::random());
    for _ in 0..25 {
        let id = format!("p{:03}", random.usize(..6));
        match random.u8(..7) {
            0 => change(&shop, &id, json!({ "price": eur(random.u64(1..500)), "listed": random.bool() })).await,
            1 => expected.recall(&shop, &id, random.u8(..3) > 0).await,
            2 => {
                let left = shop.available(&id).await;
                let delta = if left > 9 { 4 - i64::try_from(left).expect("few") } else { 46 };
                shop.admin()
                    .post_if(&format!("/products/{id}/stock"), "*", json!({ "delta": delta }))
                    .await
                    .expect(200);
                shop.settle_payments().await;
            }
            _ => {
                let lines = (0..6).filter(|_| random.bool()).map(|at| line(at, 1 + at as u64 % 3));
                expected.put(&shop, lines.collect()).await;
            }
        }
        expected.check(&shop).await;
    }
    for id in expected.recalled.clone() {
        expected.recall(&shop, &id, false).await;
    }
    expected.put(&shop, (0..6).map(|at| line(at, 1)).collect()).await;
    expected.check(&shop).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn products_by_id_are_those_of_the_list_in_the_order_of_the_request() {
    let shop = selling(0..100).await;
    shop.uploaded("p001").await;
    let listed = shop.nobody().walk("/products?category=things", 100).await;
    let of_list = |id: &str| listed.iter().find(|product| product["productId"] == id).expect("a product").clone();
    let found = by_ids(&shop, &["p007", "none", "p001", "p002", "p007", "p000"]).await;
    assert_eq!(found, ["p007", "p001", "p002", "p000"].map(of_list));
    let all: Vec<_> = (0..100).rev().map(|at| format!("p{at:03}")).collect();
    let all: Vec<_> = all.iter().map(String::as_str).collect();
    let found = by_ids(&shop, &all).await;
    assert_eq!(found, listed.iter().rev().cloned().collect::<Vec<_>>());
    assert_eq!(by_ids(&shop, &["none"]).await, Vec::<Value>::new());
    // Variants are in no list, and in carts.
    change(&shop, "p002", json!({ "listed": false })).await;
    assert_eq!(by_ids(&shop, &["p002"]).await[0]["productId"], "p002");
    change(&shop, "p002", json!({ "listed": true })).await;

    // Keys that DynamoDB leaves unprocessed are asked for again.
    shop.fault_proxy().inject(Match::action("BatchGetItem"), Fault::Unprocessed(60), 1);
    assert_eq!(by_ids(&shop, &all).await.len(), 100);
    assert_eq!(shop.fault_proxy().pending(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn ids_that_are_malformed_or_too_many_or_beside_another_parameter_are_refused() {
    let shop = Shop::open().await;
    let many = vec!["p"; 101].join(",");
    for (query, detail) in [
        ("ids=", "`ids`: productId must be 1 to 64 characters of A-Z, a-z, 0-9, _ and -"),
        ("ids=a,,b", "`ids`: productId must be 1 to 64 characters of A-Z, a-z, 0-9, _ and -"),
        ("ids=a,b%20", "`ids`: productId must be 1 to 64 characters of A-Z, a-z, 0-9, _ and -"),
        (&format!("ids={many}"), "`ids` has at most 100 ids"),
        ("ids=a&ids=b", "`ids` has no parameter beside it, and is not repeated"),
        ("ids=a&category=things", "`ids` has no parameter beside it, and is not repeated"),
        ("available=false&ids=a", "`ids` has no parameter beside it, and is not repeated"),
        ("ids=a&limit=1", "`ids` has no parameter beside it, and is not repeated"),
        ("ids=a&cursor=AAAA", "`ids` has no parameter beside it, and is not repeated"),
        ("id=a", "unknown parameter `id`, expected one of category, available, limit, cursor, ids"),
    ] {
        let problem = shop.nobody().get(&format!("/products?{query}")).await.problem(Kind::Validation);
        assert_eq!(problem["detail"], format!("query string: {detail}"), "{query}");
    }
    // A list of no products by id knows no ids.
    let problem = shop.nobody().get("/categories?ids=a").await.problem(Kind::Validation);
    assert_eq!(problem["detail"], "query string: unknown parameter `ids`, expected one of limit, cursor");
}

#[tokio::test(flavor = "multi_thread")]
async fn each_page_of_a_shop_front_takes_one_request_and_so_many_units() {
    let shop = selling(0..20).await;
    shop.settle_payments().await;
    let ada = shop.customer("ada");
    let ids: Vec<_> = (0..20).map(|at| format!("p{at:03}")).collect();
    let (ids, lines) = (ids.join(","), json!({ "lines": (0..5).map(|at| line(at, 1)).collect::<Vec<_>>() }));
    let is_of = |call: &Call, path: &str| path == CART || call.action != "UpdateItem";
    for (path, body, actions, expected) in [
        ("/products?category=things&limit=20", None, &["Query"][..], (0.5, 0.0)),
        (&format!("/products?ids={ids}"), None, &["BatchGetItem"], (10.0, 0.0)),
        (CART, None, &["Query"], (1.0, 0.0)),
        (CART, Some(&lines), &["BatchGetItem", "PutItem"], (3.0, 1.0)),
        (CART, Some(&lines), &["BatchGetItem", "PutItem"], (3.0, 1.0)),
        (CART, None, &["Query", "BatchGetItem"], (3.5, 0.0)),
        (CART, Some(&json!({ "lines": [] })), &["PutItem"], (0.0, 1.0)),
    ] {
        shop.fault_proxy().take_calls();
        match body {
            Some(body) => ada.put(path, body.clone()).await.expect(200),
            None => ada.get(path).await.expect(200),
        };
        let calls: Vec<_> = shop.fault_proxy().take_calls().into_iter().filter(|call| is_of(call, path)).collect();
        assert_eq!(calls.iter().map(|call| call.action.as_str()).collect::<Vec<_>>(), actions, "{path}");
        if !lacks(Feature::CapacityFigures) {
            let units = |access: Access| -> f64 {
                let consumed = calls.iter().flat_map(|call| &call.consumed);
                consumed.filter(|consumed| consumed.access == access).map(Consumed::units).sum()
            };
            assert_eq!((units(Access::Read), units(Access::Write)), expected, "{path}");
        }
    }
}

/// The common rules of the firewall block a query string of more than 2,048 bytes, and CloudFront a URL of more than 8,192.
#[test]
fn the_edge_lets_the_longest_query_string_pass() {
    let mut longest = 0;
    for operations in openapi::document()["paths"].as_object().expect("paths").values() {
        let parameters = operations["get"]["parameters"].as_array().into_iter().flatten();
        let bytes = parameters.filter(|parameter| parameter["in"] == "query").map(|parameter| {
            let schema = &parameter["schema"];
            // An id has at most 64 bytes, and a comma.
            schema["maxLength"].as_u64().or(schema["maxItems"].as_u64().map(|items| items * 65)).unwrap_or_default()
        });
        longest = longest.max(bytes.max().unwrap_or_default());
    }
    assert!((2048..8000).contains(&longest), "{longest}");
    let firewall = shop::read("stacks/firewall.yaml");
    assert!(firewall.contains("{ Name: SizeRestrictions_QUERYSTRING, ActionToUse: { Count: {} } }"), "{longest}");
}
