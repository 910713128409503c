//! Long descriptions: whatever is written by whom, one request shows the description last written, whole, and everything
//! else of the product costs what it costs with a short one.

use devstack::fault_proxy::Consumed;
use key_schema::entity::{Product, ProductDescription};
use key_schema::value::TextHash;
use serde_dynamo::{Item, from_item};
use shop::images::PICTURE;
use shop::seed::seeds;

use crate::history::{copied, imported, open};
use crate::prelude::*;

/// The longest description: 5,000 characters of four bytes.
fn longest() -> String {
    "\u{1F375}".repeat(5000)
}

/// A text with this end, that begins like every other one.
fn ending(end: &str) -> String {
    format!("{}{end}", "A cup of stoneware. ".repeat(100))
}

fn product(id: &str, description: &str) -> Value {
    json!({
        "productId": id, "name": id, "description": description, "category": "things", "price": eur(100), "stock": 100,
    })
}

async fn create(shop: &Shop, id: &str, description: &str) -> Reply {
    shop.admin().post("/products", product(id, description)).await
}

async fn patch(shop: &Shop, id: &str, change: Value) -> Reply {
    shop.admin().patch(&format!("/products/{id}"), "*", change).await
}

async fn adjust(shop: &Shop, id: &str) -> Value {
    let delta = json!({ "delta": 1 });
    shop.admin().post_if(&format!("/products/{id}/stock"), "*", delta.clone()).await.expect(200)
}

async fn read(shop: &Shop, id: &str) -> Value {
    shop.nobody().get(&format!("/products/{id}")).await.expect(200)
}

async fn listed(shop: &Shop, id: &str) -> Value {
    let all = shop.nobody().walk("/products?category=things", 100).await;
    all.into_iter().find(|product| product["productId"] == id).expect("it is listed")
}

async fn item<T: serde::de::DeserializeOwned>(shop: &Shop, id: &str, sort: &str) -> Option<T> {
    let item = shop.item(&format!("p#{id}"), sort).await;
    let item: Item = serde_json::from_value(item).ok()?;
    from_item(item).ok()
}

async fn stored(shop: &Shop, id: &str) -> Product {
    item(shop, id, &format!("p#{id}")).await.expect("a product")
}

async fn long(shop: &Shop, id: &str) -> Option<ProductDescription> {
    item(shop, id, "description").await
}

/// Panics unless one product shows this description, whole, and the list of products shows it or its beginning.
async fn expect(shop: &Shop, id: &str, text: &str, steps: &[String]) {
    let seen = read(shop, id).await;
    assert_eq!(seen["description"], text, "{steps:?}");
    assert_eq!(seen["descriptionContinues"], Value::Null, "{steps:?}");
    let listed = listed(shop, id).await;
    assert_eq!(listed["version"], seen["version"], "{steps:?}");
    let shown = listed["description"].as_str().expect("a text");
    if listed["descriptionContinues"] == true {
        let beginning = shown.strip_suffix('\u{2026}').expect("an ellipsis");
        assert!(shown.len() <= 940 && text.starts_with(beginning), "{steps:?}");
    } else {
        assert_eq!(shown, text, "{steps:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_product_shows_the_description_last_written() {
    let texts = [
        String::new(),
        "A cup".to_owned(),
        "x".repeat(1000),
        "x".repeat(1001),
        format!("{}\u{2026}", "y".repeat(900)),
        ending("Dishwasher-safe."),
        ending("Not dishwasher-safe."),
        longest(),
    ];
    let seeds: Vec<_> = seeds(4).collect();
    for seeds in seeds.chunks(4) {
        let mut working = JoinSet::new();
        let shop = std::sync::Arc::new(Shop::open().await);
        for seed in seeds.iter().copied() {
            let (shop, texts) = (shop.clone(), texts.clone());
            working.spawn(async move {
                let mut random = fastrand::Rng::with_seed(seed);
                let id = format!("p{seed}");
                let mut text = random.choice(&texts).expect("a text").clone();
                create(&shop, &id, &text).await.expect(201);
                let mut steps = vec![format!("create {}", text.len())];
                expect(&shop, &id, &text, &steps).await;
                for _ in 0..25 {
                    let next = random.choice(&texts).expect("a text").clone();
                    let step = random.usize(0..5);
                    steps.push(format!("{step} {}", next.len()));
                    match step {
                        0 | 1 => {
                            patch(&shop, &id, json!({ "description": next, "price": eur(random.u64(1..99)) }))
                                .await
                                .expect(200);
                            text = next;
                        }
                        2 => {
                            _ = patch(&shop, &id, json!({ "name": format!("cup {}", random.u8(..)) }))
                                .await
                                .expect(200);
                        }
                        3 => _ = adjust(&shop, &id).await,
                        // What a client sends back that read the list changes nothing.
                        _ => {
                            let shown = listed(&shop, &id).await["description"].clone();
                            patch(&shop, &id, json!({ "description": shown, "name": "A cup" })).await.expect(200);
                        }
                    }
                    expect(&shop, &id, &text, &steps).await;
                }
            });
        }
        working.join_all().await;
    }
}

/// The units of the calls since the last time.
fn units(shop: &Shop) -> f64 {
    shop.fault_proxy().take_calls().iter().flat_map(|call| &call.consumed).map(Consumed::units).sum()
}

/// The units of each thing that is done with a product of this description.
async fn costs(shop: &Shop, id: &str, description: &str) -> BTreeMap<&'static str, f64> {
    units(shop);
    create(shop, id, description).await.expect(201);
    let mut costs = BTreeMap::from([("create", units(shop))]);
    adjust(shop, id).await;
    costs.insert("adjust the stock", units(shop));
    let keyed = [("idempotency-key", id)];
    let body = || Some(json!({ "delta": 1 }).to_string());
    shop.admin().send(Method::POST, &format!("/products/{id}/stock"), &keyed, body()).await.expect(200);
    costs.insert("adjust the stock, with a key", units(shop));
    patch(shop, id, json!({ "price": eur(200) })).await.expect(200);
    costs.insert("another price", units(shop));
    patch(shop, id, json!({ "name": "x".repeat(id.len()) })).await.expect(200);
    costs.insert("another name", units(shop));
    let signed = shop.signed_upload(id).await;
    shop.upload(&signed, PICTURE).await;
    units(shop);
    shop.confirm_image(id, signed["imageId"].as_str().expect("an id")).await.expect(200);
    costs.insert("another image", units(shop));
    shop.nobody().get("/products?category=things").await.expect(200);
    costs.insert("list", units(shop));
    read(shop, id).await;
    costs.insert("read", units(shop));
    let other: String = ['y'].into_iter().chain(description.chars().skip(1)).collect();
    patch(shop, id, json!({ "description": other })).await.expect(200);
    costs.insert("another description", units(shop));
    costs
}

#[tokio::test(flavor = "multi_thread")]
async fn only_reading_and_writing_a_description_costs_more_if_it_is_long() {
    let (short, long) = (Shop::open().await, Shop::open().await);
    let short = costs(&short, "cup", &"x".repeat(Product::LONGEST_INSIDE)).await;
    let long = costs(&long, "cup", &longest()).await;
    let dearer: Vec<_> = long.iter().filter(|(what, units)| short[*what] < **units).map(|(what, _)| *what).collect();
    assert_eq!(dearer, ["another description", "create", "read"]);
    let same =
        ["adjust the stock", "adjust the stock, with a key", "another image", "another name", "another price", "list"];
    for what in same {
        assert!((short[what] - long[what]).abs() < f64::EPSILON, "{what}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn only_one_product_shows_a_long_description_whole() {
    let shop = Shop::open().await;
    let text = ending("The end.");
    let created = create(&shop, "cup", &text).await.expect(201);
    let adjusted = adjust(&shop, "cup").await;
    let renamed = patch(&shop, "cup", json!({ "name": "Cup" })).await.expect(200);
    let described = patch(&shop, "cup", json!({ "description": ending("Another end.") })).await.expect(200);
    let batch = json!({ "products": [{ "create": product("saucer", &text) }] });
    let results = shop.admin().post("/products/batch", batch).await.expect(200);
    for seen in [created, adjusted, renamed, described, listed(&shop, "cup").await, listed(&shop, "saucer").await] {
        assert_eq!(seen["descriptionContinues"], true, "{seen}");
        assert!(seen["description"].as_str().expect("a text").len() <= 940, "{seen}");
    }
    assert!(!results.to_string().contains("The end."), "{results}");
    assert_eq!(read(&shop, "cup").await["description"], ending("Another end."));
    assert_eq!(read(&shop, "saucer").await["description"], text);
    // A short one stays in the product's item, and leaves nothing behind.
    patch(&shop, "cup", json!({ "description": "A cup" })).await.expect(200);
    assert_eq!((long(&shop, "cup").await, stored(&shop, "cup").await.whole_description), (None, None));
    assert_eq!(listed(&shop, "cup").await["descriptionContinues"], Value::Null);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_repeated_creation_is_known_by_the_whole_description() {
    let shop = Shop::open().await;
    create(&shop, "cup", &ending("One end.")).await.expect(201);
    create(&shop, "cup", &ending("One end.")).await.expect(201);
    create(&shop, "cup", &ending("Another.")).await.problem(Kind::AlreadyExists);
    assert_eq!(read(&shop, "cup").await["description"], ending("One end."));
}

/// Panics unless the product's item and the one with its description agree.
async fn expect_agreement(shop: &Shop, id: &str) {
    let (product, long) = (stored(shop, id).await, long(shop, id).await);
    assert_eq!(product.whole_description, long.as_ref().map(|long| TextHash::of(&long.text)));
    assert!(product.whole_description(long).is_some());
}

#[tokio::test(flavor = "multi_thread")]
async fn readers_never_see_the_description_of_another_version() {
    let shop = std::sync::Arc::new(Shop::open().await);
    create(&shop, "cup", &ending("0")).await.expect(201);
    let mut working = JoinSet::new();
    for worker in 0..3 {
        let shop = shop.clone();
        working.spawn(async move {
            let mut written = Vec::new();
            for at in 0..12 {
                let text = if at % 4 == 3 { format!("{worker} {at}") } else { ending(&format!("{worker} {at}")) };
                let done = patch(&shop, "cup", json!({ "description": text })).await;
                written.push((done.version().expect("a version"), text));
            }
            written
        });
    }
    let mut seen = Vec::new();
    while seen.len() < 60 {
        let product = read(&shop, "cup").await;
        assert_eq!(product["descriptionContinues"], Value::Null);
        let version = product["version"].as_u64().expect("a number");
        seen.push((version, product["description"].as_str().expect("a text").to_owned()));
    }
    let mut written: BTreeMap<_, _> = working.join_all().await.into_iter().flatten().collect();
    written.insert(1, ending("0"));
    assert_eq!(written.len(), 37, "each change made a version");
    for (version, text) in seen {
        assert_eq!(written[&version], text, "version {version}");
    }
    expect_agreement(&shop, "cup").await;
}

/// An eventually consistent Query may see one item of a transaction and not yet the other.
#[tokio::test(flavor = "multi_thread")]
async fn a_description_that_is_half_visible_is_read_again_in_a_snapshot() {
    let shop = Shop::open().await;
    create(&shop, "cup", &ending("One.")).await.expect(201);
    shop.fault_proxy().take_calls();
    read(&shop, "cup").await;
    assert_eq!(shop.fault_proxy().take_calls().len(), 1);
    // The item of another version.
    let other = ProductDescription { product_id: "cup".parse().expect("an id"), text: ending("Two.") };
    shop.put(&other).await;
    shop.fault_proxy().take_calls();
    let seen = read(&shop, "cup").await;
    let calls: Vec<_> = shop.fault_proxy().take_calls().into_iter().map(|call| call.action).collect();
    assert_eq!(calls, ["Query", "TransactGetItems"]);
    // Even a snapshot has another text than the product's, so only its beginning is known.
    assert_eq!(seen["descriptionContinues"], true);
    assert!(!seen.to_string().contains("Two."), "{seen}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_product_is_found_by_the_last_word_of_a_long_description() {
    let shop = Shop::open_searchable().await;
    create(&shop, "cup", &ending("Dishwasher-proof, from Limoges")).await.expect(201);
    create(&shop, "saucer", &ending("Dishwasher-proof, from Meissen")).await.expect(201);
    shop.search_until("q=limoges", |found| found["total"] == 1).await;
    let found = shop.nobody().get("/search?q=limoges").await.expect(200)["items"][0].clone();
    assert_eq!((&found["productId"], &found["descriptionContinues"]), (&json!("cup"), &json!(true)));
    assert!(!found.to_string().contains("Limoges"), "{found}");
    // The beginning is the same.
    patch(&shop, "saucer", json!({ "description": ending("From Limoges as well") })).await.expect(200);
    shop.search_until("q=limoges", |found| found["total"] == 2).await;
    patch(&shop, "cup", json!({ "description": "Short" })).await.expect(200);
    shop.search_until("q=limoges", |found| found["total"] == 1).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_export_has_whole_descriptions_and_an_import_writes_them_as_the_routes_do() {
    let (shop, other) = (Shop::open().await, Shop::open().await);
    let texts = [("short", "A cup".to_owned()), ("long", longest())];
    for (id, text) in &texts {
        create(&shop, id, text).await.expect(201);
    }
    let source = copied(&shop, &other).await;
    assert_eq!(imported(&other, &source, &open()).await.0.same, 2);
    for (id, text) in &texts {
        expect(&other, id, text, &[]).await;
        expect_agreement(&other, id).await;
    }
}
