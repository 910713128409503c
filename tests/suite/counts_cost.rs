//! The cost of counting, compared with two other ways to count exactly. Each is run on the engine.

use devstack::fault_proxy::{Call, Consumed};
use shop::engine::{Feature, lacks};
use shop::stream::{Tail, is_wanted};

use crate::prelude::*;

/// The units of each way to count.
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
            counter(shop::stream::batch(&format!("shardId-{size}"), batch, &json!({}))).await.expect("an answer");
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

#[tokio::test(flavor = "multi_thread")]
async fn counting_by_batches_costs_less_than_a_marker_for_each_record_and_less_than_counting_inline() {
    let costs = measure(40, &[1, 8, 40]).await;
    if lacks(Feature::CapacityFigures) {
        return;
    }
    let first = costs.batches.first().expect("a size").1;
    let last = costs.batches.last().expect("a size").1;
    assert!(last < 0.6 * costs.inline && costs.inline < costs.markers, "{last}, {}, {}", costs.inline, costs.markers);
    // A batch of one order costs as much as inline counting plus a checkpoint.
    assert!(first < costs.markers, "{first}, {}", costs.markers);
}
