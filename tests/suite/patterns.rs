//! The lists of a shop with several customers, products and orders: each returns exactly the expected items.

use crate::prelude::*;

const CUSTOMERS: [&str; 3] = ["ada", "bob", "cleo"];
/// Product ids, one of which is a prefix of another.
const PRODUCTS: [&str; 4] = ["cup", "jug", "pot", "potato"];

/// The orders: customer, products (one unit of the first, two of the second, and so on) and gift cards. Cleo orders
/// nothing, and nobody orders a jug.
const ORDERS: [(&str, &[&str], &[&str]); 6] = [
    ("ada", &["pot", "cup"], &["SMALL"]),
    ("bob", &["cup"], &[]),
    ("ada", &["potato"], &["LARGE"]),
    ("ada", &["cup"], &[]),
    ("bob", &["potato", "cup", "pot"], &[]),
    ("ada", &["cup", "pot"], &[]),
];

/// A shop and its orders as they were answered, in the order of their placement.
struct ShopWithOrders {
    shop: Shop,
    orders: Vec<Value>,
}

/// A list with a time range.
struct Dated {
    client: Client,
    path: String,
    /// All of its items with their times, in order.
    all: Vec<(String, Value)>,
}

impl ShopWithOrders {
    async fn create() -> Self {
        let shop = Shop::open().await;
        let mut orders = Vec::new();
        for id in CUSTOMERS {
            shop.sign_up(id).await;
        }
        for id in PRODUCTS {
            shop.product(id, 1000, 100).await;
        }
        shop.gift_card("SMALL", 2500).await;
        shop.gift_card("LARGE", 2500).await;
        for (at, (customer, bought, cards)) in ORDERS.iter().enumerate() {
            let line = |(at, product)| json!({ "productId": product, "quantity": at + 1 });
            let lines: Vec<Value> = bought.iter().enumerate().map(line).collect();
            let body = json!({ "lines": lines, "giftCards": cards });
            orders.push(shop.customer(customer).order(&format!("k{at}"), body).await.expect(201));
            // Each order gets a different millisecond.
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        Self { shop, orders }
    }

    fn orders_of<'a>(&'a self, customer: &'a str) -> impl Iterator<Item = &'a Value> {
        self.orders.iter().filter(move |order| order["customerId"] == customer)
    }

    /// Every list with a time range, of every customer and every product.
    fn dated(&self) -> Vec<Dated> {
        let mut lists = Vec::new();
        for customer in CUSTOMERS {
            let list = |what, all| Dated {
                client: self.shop.customer(customer),
                path: format!("/customers/{customer}/{what}"),
                all,
            };
            let invoices = self.orders_of(customer).map(|order| (text(&order["placedAt"]), order["invoice"].clone()));
            lists.push(list("invoices", invoices.collect()));
            lists.push(list("products", self.orders_of(customer).flat_map(lines).collect()));
        }
        for product in PRODUCTS {
            let all = self.orders.iter().flat_map(lines).filter(|(_, line)| line["productId"] == product).collect();
            lists.push(Dated { client: self.shop.admin(), path: format!("/products/{product}/orders"), all });
        }
        lists
    }
}

impl Dated {
    async fn between(&self, from: Option<&str>, to: Option<&str>) -> Value {
        let ends = [("from", from), ("to", to)].into_iter().filter_map(|(name, end)| Some(format!("&{name}={}", end?)));
        let page = self.client.get(&format!("{}?limit=100{}", self.path, ends.collect::<String>())).await.expect(200);
        assert_eq!(page["next"], Value::Null);
        page["items"].clone()
    }
}

fn text(value: &Value) -> String {
    value.as_str().expect("a text").to_owned()
}

fn lines(order: &Value) -> Vec<(String, Value)> {
    let item = |line: &Value| {
        let mut line = line.clone();
        for field in ["orderId", "customerId", "placedAt"] {
            line[field] = order[field].clone();
        }
        (text(&order["placedAt"]), line)
    };
    order["lines"].as_array().expect("lines").iter().map(item).collect()
}

/// The date this many days after a time.
fn date(moment: &str, days: i64) -> String {
    let day = moment.parse::<Timestamp>().expect("a time").as_second() / 86_400 + days;
    Timestamp::from_millisecond(day * 86_400_000).expect("a time").to_string()[..10].to_owned()
}

/// The time this many milliseconds after another.
fn later(moment: &str, milliseconds: i64) -> String {
    let fraction: i64 = moment[20..23].parse().expect("three digits");
    let moment = moment.parse::<Timestamp>().expect("a time").as_second() * 1000 + fraction + milliseconds;
    Timestamp::from_millisecond(moment).expect("a time").to_string()
}

fn items(values: impl IntoIterator<Item = Value>) -> Value {
    json!({ "items": values.into_iter().collect::<Vec<_>>(), "next": null })
}

#[tokio::test(flavor = "multi_thread")]
async fn a_category_lists_exactly_its_products() {
    let shop = Shop::open().await;
    let mut made = BTreeMap::new();
    for (id, category) in [("a", "tea"), ("b", "tea-pots"), ("c", "tea"), ("d", "Tea")] {
        let mut product = shop.create(id, json!({ "category": category })).await;
        product.as_object_mut().expect("a product").retain(|field, _| field != "available" && field != "stats");
        made.insert(id, product);
    }
    for (category, expected) in [("tea", vec!["a", "c"]), ("tea-pots", vec!["b"]), ("Tea", vec!["d"]), ("te", vec![])] {
        let found = shop.nobody().get(&format!("/products?category={category}")).await.expect(200);
        assert_eq!(found, items(expected.into_iter().map(|id| made[id].clone())), "{category}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_time_range_includes_its_start_and_excludes_its_end_to_the_millisecond() {
    let fixture = ShopWithOrders::create().await;
    let placed: Vec<String> = fixture.orders.iter().map(|order| text(&order["placedAt"])).collect();
    assert!(placed.is_sorted_by(|a, b| a < b), "{placed:?}");
    let after_last = later(placed.last().expect("an order"), 1);
    let mut ends: Vec<Option<&str>> = vec![None, Some(&after_last)];
    ends.extend(placed.iter().map(|at| Some(at.as_str())));

    for list in fixture.dated() {
        for from in &ends {
            for to in ends.iter().filter(|to| from.is_none() || to.is_none() || from <= to) {
                let within = |at: &str| from.is_none_or(|from| from <= at) && to.is_none_or(|to| at < to);
                let expected: Vec<_> = list.all.iter().filter(|(at, _)| within(at)).map(|(_, item)| item).collect();
                assert_eq!(list.between(*from, *to).await, json!(expected), "{} {from:?} {to:?}", list.path);
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bound_may_be_a_date_may_have_an_offset_and_may_be_finer_than_a_millisecond() {
    let fixture = ShopWithOrders::create().await;
    let [first, .., last] = fixture.orders.as_slice() else { panic!("several orders") };
    let (first, last) = (text(&first["placedAt"]), text(&last["placedAt"]));
    let (today, tomorrow) = (date(&first, 0), date(&last, 1));
    let just_after = last.replace('Z', "0001Z");
    // The same time with an offset of an hour. In a query string a plain plus sign would be a space.
    let ahead = later(&first, 3_600_000).replace('Z', "%2B01:00");

    for list in fixture.dated() {
        let all = json!(list.all.iter().map(|(_, item)| item).collect::<Vec<_>>());
        let but_first: Vec<_> = list.all.iter().filter(|(at, _)| *at > first).map(|(_, item)| item).collect();
        let nothing = json!([]);
        for (from, to, expected) in [
            (Some(today.as_str()), None, &all),
            (Some(&today), Some(tomorrow.as_str()), &all),
            (None, Some(&today), &nothing),
            (Some(&tomorrow), None, &nothing),
            (Some(&today), Some(&today), &nothing),
            (None, Some(&just_after), &all),
            (Some(&just_after), None, &nothing),
            (Some(&ahead), None, &all),
            (Some(&later(&first, 1)), None, &json!(but_first)),
        ] {
            assert_eq!(&list.between(from, to).await, expected, "{} {from:?} {to:?}", list.path);
        }
    }
}

/// As the design of the table writes pattern 6, and without a part for the only shard.
#[tokio::test(flavor = "multi_thread")]
async fn a_query_of_the_product_s_own_key_finds_its_orders() {
    let ShopWithOrders { shop, orders, .. } = ShopWithOrders::create().await;
    let query = json!({
        "TableName": shop.table(), "IndexName": "GSI1",
        "KeyConditionExpression": "GSI1PK = :product AND GSI1SK BETWEEN :from AND :to",
        "ExpressionAttributeValues":
            { ":product": { "S": "p#cup" }, ":from": { "S": "2026-01-01" }, ":to": { "S": "3000-01-01" } },
    });
    let answer = shop.dynamodb("Query", &query).await;
    let found: Vec<_> = answer["Items"].as_array().expect("items").iter().map(|line| &line["orderId"]["S"]).collect();
    let has_cup = |order: &&Value| lines(order).iter().any(|(_, line)| line["productId"] == "cup");
    assert_eq!(found, orders.iter().filter(has_cup).map(|order| &order["orderId"]).collect::<Vec<_>>());
    assert_eq!(found.len(), 5);
}
