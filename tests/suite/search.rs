//! Search: what is found, in which order, and that the index follows the table.
//!
//! `.ci/search` runs these tests over OpenSearch. There they run one after the other.

mod following;
mod rebuilding;

use crate::prelude::*;

/// Id, name, description, category, price in euro cents.
const PRODUCTS: [(&str, &str, &str, &str, u64); 8] = [
    ("creme-dish", "Crème brûlée dish", "Stoneware, for the oven", "kitchen", 1250),
    ("espresso-beans", "Espresso beans", "Dark roast, 1 kg", "coffee", 1899),
    ("espresso-cup", "Espresso cup", "Stoneware, 80 ml", "kitchen", 999),
    ("filter-beans", "Filter beans", "Light roast, 1 kg, not for espresso", "coffee", 2150),
    ("hand-grinder", "Hand grinder", "Conical steel burrs", "equipment", 8900),
    ("kettle", "Kettle", "0.9 l, with thermometer", "equipment", 5450),
    ("machine", "Espresso machine", "Two boilers", "equipment", 129_900),
    ("teapot", "Teapot", "Stoneware, 1 l", "kitchen", 5450),
];

async fn stocked() -> Shop {
    let shop = Shop::open_searchable().await;
    for (id, name, description, category, price) in PRODUCTS {
        create(
            &shop,
            json!({
                "productId": id, "name": name, "description": description, "category": category, "price": eur(price),
            }),
        )
        .await;
    }
    let foreign = json!({
        "productId": "mug", "name": "Mug", "description": "From abroad", "category": "kitchen",
        "price": { "amount": 1500, "currency": "USD" },
    });
    create(&shop, foreign).await;
    shop.search_until("", |found| found["total"] == 9).await;
    shop
}

async fn create(shop: &Shop, product: Value) {
    shop.admin().post("/products", product).await.expect(201);
}

fn ids(found: &Value) -> Vec<&str> {
    found["items"].as_array().expect("items").iter().map(|item| item["productId"].as_str().expect("an id")).collect()
}

async fn found(shop: &Shop, query: &str) -> Value {
    shop.nobody().get(&format!("/search?{query}")).await.expect(200)
}

#[tokio::test(flavor = "multi_thread")]
async fn words_of_names_descriptions_and_categories_are_found() {
    let shop = stocked().await;
    let cases: [(&str, &[&str]); 12] = [
        // Names count more than descriptions.
        ("espresso", &["espresso-beans", "espresso-cup", "machine", "filter-beans"]),
        ("ESPRESSO+beans", &["espresso-beans", "filter-beans"]),
        ("beans+espresso", &["espresso-beans", "filter-beans"]),
        ("creme+brulee", &["creme-dish"]),
        ("Cr%C3%A8me", &["creme-dish"]),
        // The last word may be a beginning, the others may not.
        ("esp", &["espresso-beans", "espresso-cup", "machine"]),
        ("esp+beans", &[]),
        ("stoneware+c", &["creme-dish", "espresso-cup"]),
        ("coffee", &["espresso-beans", "filter-beans"]),
        ("stoneware,+%26+teapot", &["teapot"]),
        ("nothing", &[]),
        ("hand-grinder", &["hand-grinder"]),
    ];
    for (words, expected) in cases {
        let found = found(&shop, &format!("q={words}")).await;
        let mut got = ids(&found);
        if words == "espresso" {
            assert_eq!(got.last(), Some(&"filter-beans"), "its name has another word: {got:?}");
        }
        got.sort_unstable();
        let mut wanted = expected.to_vec();
        wanted.sort_unstable();
        assert_eq!(got, wanted, "{words}");
        assert_eq!(found["total"], wanted.len(), "{words}");
    }
    // An item is as in the lists of products.
    let listed = shop.nobody().get("/products?category=coffee").await.expect(200);
    assert_eq!(found(&shop, "category=coffee").await["items"], listed["items"]);
}

/// The number of products for each bucket of a facet, computed from the products.
fn expected_categories(is_in: impl Fn(&(&str, &str, &str, &str, u64)) -> bool) -> Vec<Value> {
    let mut counts = std::collections::BTreeMap::<&str, u64>::new();
    for product in PRODUCTS.iter().filter(|product| is_in(product)) {
        *counts.entry(product.3).or_default() += 1;
    }
    let mut counts: Vec<_> = counts.into_iter().collect();
    counts.sort_by_key(|(category, count)| (std::cmp::Reverse(*count), *category));
    counts.into_iter().map(|(category, products)| json!({ "category": category, "products": products })).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn filters_and_facets_count_what_is_there() {
    let shop = stocked().await;
    for (from, to) in [(0, 1_000_000), (999, 1000), (1000, 5450), (5450, 5451), (2000, 130_000), (999_999, 1_000_000)] {
        let is_in = |product: &(&str, &str, &str, &str, u64)| (from..to).contains(&product.4);
        let answer = found(&shop, &format!("currency=EUR&from={from}&to={to}&sort=name&limit=100")).await;
        let mut expected: Vec<_> = PRODUCTS.iter().filter(|product| is_in(product)).map(|product| product.0).collect();
        expected.sort_unstable();
        let mut got = ids(&answer);
        got.sort_unstable();
        assert_eq!(got, expected, "{from} to {to}");
        assert_eq!(answer["facets"]["categories"], json!(expected_categories(is_in)), "{from} to {to}");
        // The category's own filter does not narrow its facet.
        let narrow = found(&shop, &format!("currency=EUR&from={from}&to={to}&category=kitchen")).await;
        assert_eq!(narrow["facets"]["categories"], answer["facets"]["categories"]);
        assert!(narrow["items"].as_array().expect("items").iter().all(|item| item["category"] == "kitchen"));
        // Nor do the prices narrow theirs.
        assert_eq!(answer["facets"]["prices"], found(&shop, "").await["facets"]["prices"]);
    }
    let prices = found(&shop, "category=kitchen").await["facets"]["prices"].clone();
    let euros = [(0, Some(1000), 1), (1000, Some(2500), 1), (5000, Some(10_000), 1)];
    let range = |currency: &str, (from, to, products): (u64, Option<u64>, u64)| match to {
        Some(to) => json!({ "currency": currency, "from": from, "to": to, "products": products }),
        None => json!({ "currency": currency, "from": from, "products": products }),
    };
    let mut expected: Vec<_> = euros.into_iter().map(|euros| range("EUR", euros)).collect();
    expected.push(range("USD", (1000, Some(2500), 1)));
    assert_eq!(prices, json!(expected));
    let dear = found(&shop, "q=machine").await["facets"]["prices"].clone();
    assert_eq!(dear, json!([range("EUR", (25_000, None, 1))]));
}

#[tokio::test(flavor = "multi_thread")]
async fn with_any_order_and_limit_a_walk_has_every_product_once_and_in_order() {
    let shop = stocked().await;
    for sort in ["relevance", "price-asc", "price-desc", "name"] {
        for query in ["currency=EUR", "q=stoneware&currency=EUR", "q=e&currency=EUR"] {
            let path = format!("/search?{query}&sort={sort}");
            let whole = shop.nobody().walk(&path, 100).await;
            for limit in [1, 2, 3, 8] {
                assert_eq!(shop.nobody().walk(&path, limit).await, whole, "{path} {limit}");
            }
            let key =
                |item: &Value| (item["price"]["amount"].as_i64().expect("a price"), item["productId"].to_string());
            match sort {
                "price-asc" => assert!(whole.is_sorted_by_key(key), "{whole:?}"),
                "price-desc" => assert!(whole.is_sorted_by_key(|item| (-key(item).0, key(item).1)), "{whole:?}"),
                "name" => assert!(whole.is_sorted_by_key(|item| item["name"].to_string().to_lowercase()), "{whole:?}"),
                _ => {}
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cursor_is_valid_for_its_own_search_only() {
    let shop = stocked().await;
    let page = found(&shop, "q=stoneware&limit=1").await;
    let cursor = page["next"].as_str().expect("a cursor");
    found(&shop, &format!("q=stoneware&limit=2&cursor={cursor}")).await;
    for other in ["q=stone", "q=stoneware&category=kitchen", "q=stoneware&sort=name", "sort=name"] {
        shop.nobody().get(&format!("/search?{other}&cursor={cursor}")).await.problem(Kind::Validation);
    }
    for at in 0..cursor.len() {
        let with = if &cursor[at..=at] == "A" { "B" } else { "A" };
        let forged = format!("{}{with}{}", &cursor[..at], &cursor[at + 1..]);
        shop.nobody().get(&format!("/search?q=stoneware&cursor={forged}")).await.problem(Kind::Validation);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_searched_is_refused() {
    let shop = Shop::open().await;
    let many = "a+".repeat(21);
    let long = "a".repeat(201);
    for query in [
        "q=",
        "q=%26%26",
        "q=+",
        &format!("q={many}"),
        &format!("q={long}"),
        "category=a%20b",
        "currency=euro",
        "from=1",
        "to=1",
        "sort=price-asc",
        "sort=best",
        "currency=EUR&from=2&to=2",
        "currency=EUR&from=-1",
        "currency=EUR&to=1000000000001",
        "currency=EUR&from=1.5",
        "limit=0",
        "limit=101",
        "cursor=AAAA",
        "colour=red",
    ] {
        let problem = shop.nobody().get(&format!("/search?{query}")).await.problem(Kind::Validation);
        assert!(problem["detail"].is_string(), "{query}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_shop_without_search_says_so_and_one_whose_search_fails_too() {
    let off = Shop::open_where(&[("SEARCH_URL", "")]).await;
    off.nobody().get("/search?q=cup").await.problem(Kind::SearchOff);

    let mut shop = Shop::open().await;
    let unavailable = async |shop: &Shop| {
        let answer = shop.nobody().get("/search?q=cup").await;
        assert_eq!(answer.header("retry-after"), Some("2"));
        answer.problem(Kind::SearchUnavailable)
    };
    if std::env::var("TILL_SEARCH_URL").is_err() {
        unavailable(&shop).await;
        shop.end_search();
        unavailable(&shop).await;
    }
    // Everything else works.
    shop.nobody().get("/products").await.expect(200);
}
