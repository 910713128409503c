//! The cost of counting, compared with two other ways to count exactly. Each is run on the engine.
//!
//! `UPDATE_DOCS=1 cargo test -p tests counts_cost` counts 1,000 orders and writes docs/cost-of-counting.md.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use devstack::fault_proxy::{Call, Consumed};
use serde_json::{Value, json};
use shop::Shop;
use shop::engine::{Feature, lacks};
use shop::stream::{Tail, is_wanted};

/// The units of each way to count, in the order of the table.
struct Costs {
    /// The units for each batch size, in orders.
    batches: Vec<(usize, f64)>,
    markers: f64,
    inline: f64,
}

/// Places orders of two lines each, by a fifth as many customers, of a twentieth as many products.
async fn place(shop: &Shop, orders: usize) {
    let (customers, products) = (orders / 5, orders / 20);
    for customer in 0..customers {
        shop.sign_up(&format!("c{customer}")).await;
    }
    for product in 0..products {
        shop.product(&format!("p{product}"), 100, 1_000_000).await;
    }
    for order in 0..orders {
        let lines = [order, order + 1].map(|at| json!({ "productId": format!("p{}", at % products), "quantity": 1 }));
        let customer = shop.customer(&format!("c{}", order % customers));
        customer.order(&format!("k{order}"), json!({ "lines": lines })).await.expect(201);
    }
}

fn units(calls: &[Call]) -> f64 {
    calls.iter().flat_map(|call| &call.consumed).map(Consumed::units).sum()
}

/// Runs one transaction with these puts and additions, and returns the units that it consumed.
async fn transaction(shop: &Shop, marker: Option<String>, counters: Vec<String>) -> f64 {
    let key = |name: String| json!({ "PK": { "S": name }, "SK": { "S": "counted" } });
    let marker = marker.map(|name| {
        json!({ "Put": {
            "TableName": shop.table(), "Item": key(name), "ConditionExpression": "attribute_not_exists(PK)",
        } })
    });
    let additions = counters.into_iter().map(|name| {
        json!({ "Update": {
            "TableName": shop.table(), "Key": key(name), "UpdateExpression": "ADD orders :one, units :one",
            "ExpressionAttributeValues": { ":one": { "N": "1" } },
        } })
    });
    let items: Vec<_> = marker.into_iter().chain(additions).collect();
    let ask = json!({ "TransactItems": items, "ReturnConsumedCapacity": "TOTAL" });
    let answer = shop.dynamodb("TransactWriteItems", &ask).await;
    let consumed = answer["ConsumedCapacity"].as_array().expect("what it consumed").iter();
    consumed.map(|consumed| consumed["CapacityUnits"].as_f64().expect("units")).sum()
}

/// The counters that a record changes.
fn counters(record: &Value) -> Vec<String> {
    let image = &record["dynamodb"]["NewImage"];
    let of = |attribute: &str| image[attribute]["S"].as_str().expect("a text").to_owned();
    let mover = if image["EntityType"]["S"] == "order" { of("customerId") } else { of("productId") };
    vec![format!("counter#{mover}"), format!("counter#{}", &of("placedAt")[..10])]
}

async fn measure(orders: usize, sizes: &[usize]) -> Costs {
    let shop = Shop::open().await;
    place(&shop, orders).await;
    let mut records = Tail::default().new_records(&shop).await;
    records.retain(is_wanted);
    assert_eq!(records.len(), 3 * orders, "a header and two lines each");

    let mut batches = Vec::new();
    for size in sizes {
        shop.fault_proxy().take_calls();
        let counter = shop.counter();
        for batch in records.chunks(3 * size) {
            let shard = format!("shardId-{size}");
            counter(shop::stream::batch(&shard, batch, &json!({}))).await.expect("an answer");
        }
        batches.push((*size, units(&shop.fault_proxy().take_calls())));
    }

    let (mut markers, mut inline) = (0.0, 0.0);
    for (at, record) in records.iter().enumerate() {
        markers += transaction(&shop, Some(format!("marker#{at}")), counters(record)).await;
    }
    // Within the order's own transaction, each counter once. The transaction already has the conditions.
    for order in records.chunks(3) {
        let mut counters: Vec<_> = order.iter().flat_map(counters).collect();
        counters.sort();
        counters.dedup();
        inline += transaction(&shop, None, counters).await;
    }
    Costs { batches, markers, inline }
}

#[tokio::test]
async fn counting_by_batches_costs_less_than_a_marker_for_each_record_and_less_than_counting_inline() {
    let is_full = std::env::var_os("UPDATE_DOCS").is_some();
    let (orders, sizes): (usize, &[usize]) = if is_full { (1000, &[1, 10, 100, 333]) } else { (100, &[1, 20, 100]) };
    let costs = measure(orders, sizes).await;
    if lacks(Feature::CapacityFigures) {
        return;
    }
    let first = costs.batches.first().expect("a size").1;
    let last = costs.batches.last().expect("a size").1;
    assert!(last < 0.6 * costs.inline && costs.inline < costs.markers, "{last}, {}, {}", costs.inline, costs.markers);
    // A batch of one order costs as much as inline counting plus a checkpoint.
    assert!(first < costs.markers, "{first}, {}", costs.markers);
    if is_full {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/cost-of-counting.md");
        fs::write(file, table(&costs)).expect("the table is written");
    }
}

fn table(costs: &Costs) -> String {
    let mut text =
        "# What counting costs\n\nCapacity units to count 1,000 orders of two lines each, by 200 customers, of \
                    50 products, on one day: customers, products and the day. The embedded engine, which implements \
                    DynamoDB's rules, reports the units. Measured by `UPDATE_DOCS=1 cargo test -p tests \
                    counts_cost`.\n\n| way | units |\n|---|---|\n"
            .to_owned();
    for (size, units) in &costs.batches {
        let orders = if *size == 1 { "order" } else { "orders" };
        // Writing to a text cannot fail.
        _ = writeln!(text, "| count-orders, batches of {size} {orders} | {units} |");
    }
    _ = writeln!(text, "| counters in the order's own transaction | {} |", costs.inline);
    _ = writeln!(text, "| a transaction with a marker for each record of the stream | {} |", costs.markers);
    text.push_str(
        "\nA batch pays two units for its checkpoint and two for each counter that it changes, for any number of orders. In \
         the order's own transaction, each order pays for its counters, and all orders of a product, or of a day, would \
         conflict. A marker for each record costs its own units, and an item for as long as the record may be delivered \
         again.\n",
    );
    text
}
