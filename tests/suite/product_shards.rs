//! The lines of a hot product in several shards, written before and after the number of shards was raised.

use devstack::Template;
use devstack::gateway::Invoke;
use key_schema::value::OrderId;
use local::functions;
use shop::events::event;
use shop::reconcile::{ask, reconciled};
use shop::set_everywhere;
use shop::stream::{Tail, is_wanted};

use crate::prelude::*;

const SHARDS: u8 = 8;
/// The number of orders from before the raise: more than the comparison of counts reads at a time.
const BEFORE: usize = 30;
/// A rate at which a page has 25 orders.
const READ_UNITS: u32 = 250;

/// A shop with the raised number of shards, and functions from before, with one shard, over the same table.
struct Raised {
    shop: Shop,
    before: Template,
}

fn with_shards(template: &mut Template, shards: u8) {
    set_everywhere(template, "PRODUCT_SHARDS", &shards.to_string());
}

impl Raised {
    /// Opens the shop with the orders from before.
    async fn open() -> Self {
        let shop = Shop::open_with(|template| {
            with_shards(template, SHARDS);
            reconciled(template, 0, READ_UNITS);
            for function in template.functions.iter_mut().filter(|function| function.handler == "reconcile-counts") {
                // Time for only one step.
                function.timeout_seconds = 1;
            }
        })
        .await;
        let mut before = shop.template().clone();
        with_shards(&mut before, 1);
        shop.sign_up("ada").await;
        for product in ["hot", "cold"] {
            shop.product(product, 100, 1_000_000).await;
        }
        let raised = Self { shop, before };
        for number in 0..BEFORE {
            let mut place = event("place-order");
            place["requestContext"]["authorizer"]["jwt"]["claims"]["sub"] = json!("ada");
            place["headers"]["idempotency-key"] = json!(format!("before-{number}"));
            place["body"] = json!(order(number).to_string());
            let answer = raised.function("place-order")(place).await.expect("an answer");
            assert_eq!(answer["statusCode"], 201, "{answer}");
        }
        raised
    }

    fn function(&self, name: &str) -> Invoke {
        let all = functions::start_all(&self.shop.endpoints(), &self.before).expect("the functions start");
        all.handlers.into_iter().find(|(known, _)| known == name).expect("it answers a route").1
    }

    /// `reconcile-counts` with the old number of shards.
    fn reconciler(&self) -> Invoke {
        let all = functions::start_all(&self.shop.endpoints(), &self.before).expect("the functions start");
        all.consumers.into_iter().find(|(known, _)| known == "reconcile-counts").expect("it is there").1()
            .expect("it starts")
    }

    /// Places more orders, with the raised number.
    async fn order_more(&self, orders: usize) {
        for number in 0..orders {
            self.shop.customer("ada").order(&format!("after-{number}"), order(number)).await.expect(201);
        }
    }

    /// The expected list of orders of a product, in order of time.
    async fn listed(&self, product: &str) -> Vec<String> {
        let is_of = |item: &&Value| item["EntityType"]["S"] == "orderItem" && item["productId"]["S"] == product;
        let text = |item: &Value, name: &str| item[name]["S"].as_str().expect("a text").to_owned();
        let items = self.shop.dump().await;
        let mut all: Vec<_> =
            items.iter().filter(is_of).map(|item| (text(item, "placedAt"), text(item, "orderId"))).collect();
        all.sort_unstable();
        all.into_iter().map(|(_, id)| id).collect()
    }

    /// Compares all counts with the orders step by step. Each step is invoked on the next of these functions.
    async fn reconcile(&self, mut event: Value, by: &[Invoke]) -> Value {
        for (steps, reconciler) in by.iter().cycle().enumerate() {
            let answer = reconciler(event).await.expect("an answer");
            if answer["done"] == true {
                assert!(steps > 8, "{steps} steps");
                return answer;
            }
            event = json!({ "resume": answer["resume"] });
        }
        unreachable!("a cycle has no end")
    }
}

/// One order in ten has a second line.
fn order(number: usize) -> Value {
    let mut lines = vec![json!({ "productId": "hot", "quantity": 1 })];
    if number.is_multiple_of(10) {
        lines.push(json!({ "productId": "cold", "quantity": 2 }));
    }
    json!({ "lines": lines })
}

fn ids(items: &[Value]) -> Vec<&str> {
    items.iter().map(order_id).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn with_any_limit_every_line_is_listed_once_in_order_of_time_before_and_after_the_raise() {
    let raised = Raised::open().await;
    // A walk that begins before the raise and continues after it.
    let mut first = event("list-product-orders");
    first["pathParameters"]["productId"] = json!("hot");
    first["queryStringParameters"] = json!({ "limit": "7" });
    first["rawQueryString"] = json!("limit=7");
    let page = raised.function("list-product-orders")(first).await.expect("an answer");
    let page: Value = serde_json::from_str(page["body"].as_str().expect("a body")).expect("JSON");
    raised.order_more(30).await;

    let admin = raised.shop.admin();
    for (product, length) in [("hot", 60), ("cold", 6)] {
        let expected = raised.listed(product).await;
        assert_eq!(expected.len(), length);
        for limit in [1, 7, 8, 9, 25, 100] {
            let found = admin.walk(&format!("/products/{product}/orders"), limit).await;
            assert_eq!(ids(&found), expected, "{product} at {limit}");
            assert!(found.iter().all(|line| line.get("shard").is_none()), "the shard of a line is an internal field");
        }
    }

    let expected = raised.listed("hot").await;
    assert_eq!(ids(page["items"].as_array().expect("items")), expected[..7]);
    let next = format!("/products/hot/orders?limit=50&cursor={}", page["next"].as_str().expect("a cursor"));
    let rest = admin.get(&next).await.expect(200);
    assert_eq!(ids(rest["items"].as_array().expect("items")), expected[7..57]);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_lines_of_a_hot_product_are_distributed_evenly_over_the_shards() {
    let raised = Raised::open().await;
    raised.order_more(120).await;
    let (mut old, mut spread) = (0, BTreeMap::<u8, usize>::new());
    for line in raised.shop.dump().await.iter().filter(|item| item["EntityType"]["S"] == "orderItem") {
        let (product, id) =
            (line["productId"]["S"].as_str().expect("an id"), line["orderId"]["S"].as_str().expect("an id"));
        let shard: u8 = line["shard"]["N"].as_str().expect("a number").parse().expect("a shard");
        let expected = if shard == 0 { format!("p#{product}") } else { format!("p#{product}#{shard}") };
        assert_eq!(line["GSI1PK"]["S"], expected);
        let own = id.parse::<OrderId>().expect("an id").spread(SHARDS);
        if product == "hot" && shard == own {
            *spread.entry(shard).or_default() += 1;
        } else if product == "hot" {
            assert_eq!(shard, 0, "written when there was one");
            old += 1;
        }
    }
    // Some of the old lines would be in the first shard anyway.
    assert!((BEFORE / 2..=BEFORE).contains(&old), "{old} of {BEFORE}");
    assert_eq!(spread.values().sum::<usize>(), BEFORE + 120 - old);
    let even = 120 / usize::from(SHARDS);
    assert!((0..SHARDS).all(|shard| (even / 2..=even * 2).contains(&spread[&shard])), "{spread:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_comparison_reads_the_lines_of_every_shard_even_if_the_number_is_raised_meanwhile() {
    let raised = Raised::open().await;
    let shop = &raised.shop;
    let mut tail = Tail::default();
    let mut count = async || {
        let mut records = tail.new_records(shop).await;
        records.retain(is_wanted);
        for batch in records.chunks(50) {
            assert_eq!(shop.count("shardId-0", batch).await["batchItemFailures"], json!([]));
        }
    };
    let compare = async |by: &[Invoke]| {
        let answer = raised.reconcile(ask(true), by).await;
        ["checked", "drifted", "repaired", "unsettled", "busy"].map(|name| answer[name].as_u64().expect("a number"))
    };
    let orders = async |product: &str| shop.item(&format!("p#{product}"), "stats").await["orders"]["N"].clone();

    // Two days, a customer and two products. One of the products has wrong counts.
    count().await;
    shop.add("p#hot", "stats", "orders", 3).await;
    let (before, after) = (raised.reconciler(), shop.reconciler());
    assert_eq!(compare(&[before, after.clone()]).await, [5, 1, 1, 0, 0]);
    assert_eq!(orders("hot").await, "30");

    raised.order_more(30).await;
    count().await;
    shop.add("p#cold", "stats", "orders", -1).await;
    assert_eq!(compare(&[after]).await, [5, 1, 1, 0, 0]);
    assert_eq!([orders("hot").await, orders("cold").await], ["60", "6"]);
}
