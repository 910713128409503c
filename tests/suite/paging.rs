//! Paging: with any limit, every list has every item once in the same order, and a cursor is valid for its own list
//! only.

use crate::prelude::*;

const ORDERS: usize = 25;
const LARGEST: usize = 40;

/// Lists whose items have different times.
const DATED: [&str; 4] =
    ["/customers/ada/invoices", "/customers/ada/products", "/products/pot/orders", "/products/cup/orders"];

/// A list and the number of its items.
#[derive(Clone)]
struct List {
    client: Client,
    path: String,
    length: usize,
}

impl List {
    fn with(&self, parameters: &str) -> String {
        format!("{}{}{parameters}", self.path, if self.path.contains('?') { '&' } else { '?' })
    }

    /// The cursor after this many items.
    async fn cursor(&self, after: usize) -> String {
        let page = self.client.get(&self.with(&format!("limit={after}"))).await.expect(200);
        page["next"].as_str().unwrap_or_else(|| panic!("{} goes on", self.path)).to_owned()
    }

    /// Panics unless the cursor is refused and no item is shown.
    async fn refuses(&self, cursor: &str) {
        let problem = self.client.get(&self.with(&format!("cursor={cursor}"))).await.problem(Kind::Validation);
        let detail = "cursor must be the `next` of an earlier page of this list and range";
        assert_eq!((&problem["detail"], problem.get("items")), (&json!(detail), None), "{} {cursor}", self.path);
    }
}

/// A shop in which ada placed 25 orders of a pot and a cup, and bob one order of every product, with all of its lists
/// that have more than one page.
async fn full_shop() -> (Shop, Vec<List>) {
    let shop = Shop::with_ada().await;
    shop.sign_up("bob").await;
    let mut products = vec!["cup".to_owned(), "pot".to_owned()];
    products.extend((2..LARGEST).map(|at| format!("thing-{at}")));
    for product in &products {
        shop.product(product, 100, 1000).await;
    }
    shop.create("lone", json!({ "category": "others" })).await;
    let body = |products: &[String]| {
        let line = |product| json!({ "productId": product, "quantity": 1 });
        json!({ "lines": products.iter().map(line).collect::<Vec<Value>>() })
    };
    shop.customer("bob").order("all", body(&products)).await.expect(201);
    shop.customer("bob").order("two", body(&products[..2])).await.expect(201);

    at_once(0..5, async |worker| {
        let ada = shop.customer("ada");
        let body = body(&products[..2]);
        for at in 0..ORDERS / 5 {
            ada.order(&format!("k{worker}-{at}"), body.clone()).await.expect(201);
        }
    })
    .await;
    let list = |client: Client, path: &str, length| List { client, path: path.to_owned(), length };
    let lists = vec![
        list(shop.customer("ada"), "/customers/ada/invoices", ORDERS),
        list(shop.customer("ada"), "/customers/ada/products", 2 * ORDERS),
        list(shop.customer("bob"), "/customers/bob/invoices", 2),
        list(shop.customer("bob"), "/customers/bob/products", LARGEST + 2),
        list(shop.admin(), "/products/pot/orders", ORDERS + 2),
        list(shop.admin(), "/products/cup/orders", ORDERS + 2),
        list(shop.nobody(), "/products?category=things", LARGEST),
        list(shop.nobody(), "/products", LARGEST + 1),
        list(shop.nobody(), "/categories", 2),
    ];
    (shop, lists)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_walk_with_any_limit_has_every_item_once_and_in_order() {
    let (_shop, lists) = full_shop().await;
    let mut wholes = Vec::new();
    for list in &lists {
        let page = list.client.get(&list.with("limit=100")).await.expect(200);
        let items = page["items"].as_array().expect("items").clone();
        assert_eq!((items.len(), &page["next"]), (list.length, &Value::Null), "{}", list.path);
        let first = list.client.get(&list.path).await.expect(200);
        assert_eq!(first["items"], json!(items[..list.length.min(25)]), "25 is the default limit");
        wholes.push(items);
    }

    // The bounds, a limit with a full last page, and any others.
    let others = std::iter::repeat_with(|| fastrand::usize(1..=100)).take(12);
    for limit in [1, 2, ORDERS, LARGEST].into_iter().chain(others) {
        for (list, whole) in lists.iter().zip(&wholes) {
            assert_eq!(&list.client.walk(&list.path, limit).await, whole, "{} at {limit}", list.path);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_page_but_the_last_is_full_and_the_next_begins_where_it_ends() {
    let (_shop, lists) = full_shop().await;
    for list in lists {
        let whole = list.client.walk(&list.path, 100).await;
        let (mut at, mut cursor) = (0, String::new());
        loop {
            let page = list.client.get(&list.with(&format!("limit=7{cursor}"))).await.expect(200);
            assert_eq!(page["items"], json!(whole[at..list.length.min(at + 7)]), "{}", list.path);
            at += 7;
            let Some(next) = page["next"].as_str() else { break };
            cursor = format!("&cursor={next}");
        }
        assert!(at >= list.length, "{}", list.path);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_walk_within_a_time_range_stays_in_it() {
    let (_shop, lists) = full_shop().await;
    for list in lists.iter().filter(|list| DATED.contains(&list.path.as_str())) {
        let whole = list.client.walk(&list.path, 100).await;
        let moment =
            |item: &Value| item.get("placedAt").unwrap_or(&item["issuedAt"]).as_str().expect("a time").to_owned();
        let (from, to) = (moment(&whole[list.length * 2 / 5]), moment(&whole[list.length * 4 / 5]));
        let within = |item: &&Value| (from.as_str()..to.as_str()).contains(&moment(item).as_str());
        let expected: Vec<_> = whole.iter().filter(within).cloned().collect();
        assert!(expected.len() > 2 && expected.len() < list.length / 2);
        let path = list.with(&format!("from={from}&to={to}"));
        assert_eq!(list.client.walk(&path, 2).await, expected, "{path}");

        // Cursors before or after the range are not valid in it.
        let ranged = List { path: list.with(&format!("from={from}")), ..list.clone() };
        ranged.refuses(&list.cursor(1).await).await;
        let ranged = List { path: list.with(&format!("to={from}")), ..list.clone() };
        ranged.refuses(&list.cursor(whole.len() - 1).await).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cursor_is_refused_by_every_other_list() {
    let (_shop, lists) = full_shop().await;
    for (at, list) in lists.iter().enumerate() {
        let cursor = list.cursor(1).await;
        for (_, other) in lists.iter().enumerate().filter(|(other, _)| *other != at) {
            other.refuses(&cursor).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn another_customer_s_cursor_is_refused() {
    let (shop, lists) = full_shop().await;
    for list in lists.iter().filter(|list| list.path.starts_with("/customers")) {
        let eve = List { client: shop.customer("eve"), ..list.clone() };
        let cursor = list.cursor(1).await;
        let page = eve.client.get(&eve.with(&format!("cursor={cursor}"))).await;
        assert_eq!(page.problem(Kind::NotFound).get("items"), None, "{}", list.path);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_manipulated_cursor_is_refused() {
    let (_shop, lists) = full_shop().await;
    for list in lists {
        let cursor = list.cursor(1).await;
        for at in 0..cursor.len() {
            let other = if &cursor[at..=at] == "A" { "B" } else { "A" };
            list.refuses(&format!("{}{other}{}", &cursor[..at], &cursor[at + 1..])).await;
        }
        for at in [0, 1, 7, 8, 9, cursor.len() / 2, cursor.len() - 2, cursor.len() - 1] {
            list.refuses(&cursor[..at]).await;
        }
        for more in ["A", "AAAA", "%3D", "%00", "%20"] {
            list.refuses(&format!("{cursor}{more}")).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_payments_of_an_invoice_are_always_a_single_page() {
    let shop = Shop::selling("cup", 1000, 1).await;
    let cards = ["G1", "G2", "G3", "G4"];
    for card in cards {
        shop.gift_card(card, 100).await;
    }
    let body = json!({ "lines": [{ "productId": "cup", "quantity": 1 }], "giftCards": cards });
    let invoice = shop.customer("ada").order("k", body).await.expect(201)["invoice"].clone();
    let path = format!("/invoices/{}/payments", invoice["invoiceId"].as_str().expect("an id"));
    let page = shop.customer("ada").get(&path).await.expect(200);
    assert_eq!(page, json!({ "items": invoice["payments"], "next": null }));
    assert_eq!(invoice["payments"].as_array().map(Vec::len), Some(5));
    for parameter in ["limit=1", "cursor=AAAA"] {
        let problem = shop.customer("ada").get(&format!("{path}?{parameter}")).await.problem(Kind::Validation);
        let name = parameter.split('=').next().expect("a name");
        assert_eq!(problem["detail"], format!("query string: unknown parameter `{name}`, expected none"));
    }
}
