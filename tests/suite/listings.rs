//! Lists of orders: by customer, by status over the shards, and the overview.

use crate::prelude::*;

async fn shop() -> Shop {
    Shop::selling("thing", 100, 1_000_000).await
}

async fn place(client: &Client, key: &str) -> Value {
    let order = basket("thing", 1);
    client.order(key, order).await.expect(201)
}

fn ids(orders: &[Value]) -> Vec<&str> {
    orders.iter().map(order_id).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn with_any_limit_every_order_of_a_status_is_listed_once_in_order_of_time() {
    let shop = shop().await;
    let mut placed = Vec::new();
    for at in 0..24 {
        placed.push(place(&shop.customer("ada"), &format!("k{at}")).await);
    }
    placed.sort_by_key(|order| format!("{} {}", order["placedAt"], order["orderId"]));
    for limit in [1, 3, 8, 23, 24, 25, 100] {
        let found = shop.admin().walk("/orders?status=PENDING", limit).await;
        assert_eq!(ids(&found), ids(&placed), "limit {limit}");
    }
    assert!(shop.admin().walk("/orders?status=PAID", 10).await.is_empty());
    let first = &placed[0];
    for absent in ["lines", "invoice", "flag"] {
        assert!(shop.admin().walk("/orders?status=PENDING", 1).await[0][absent].is_null());
    }
    assert_eq!(shop.admin().walk("/orders?status=PENDING", 1).await[0]["total"], first["total"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_walk_lists_all_orders_that_existed_at_its_start_while_new_ones_arrive() {
    let shop = shop().await;
    let mut before = Vec::new();
    for at in 0..20 {
        before.push(place(&shop.customer("ada"), &format!("before{at}")).await);
    }
    for limit in [1, 4, 9] {
        let mut placing = JoinSet::new();
        for at in 0..3 {
            let client = shop.customer("ada");
            placing.spawn(async move {
                for more in 0..8 {
                    place(&client, &format!("during-{limit}-{at}-{more}")).await;
                }
            });
        }
        let found = shop.admin().walk("/orders?status=PENDING", limit).await;
        placing.join_all().await;
        let mut seen = ids(&found);
        let times: Vec<_> = found.iter().map(|order| order["placedAt"].as_str().expect("a time")).collect();
        assert!(times.is_sorted(), "in order of time");
        seen.sort_unstable();
        let all = seen.len();
        seen.dedup();
        assert_eq!(seen.len(), all, "each once");
        for order in ids(&before) {
            assert!(seen.contains(&order), "{order} is missing");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_order_is_listed_in_its_status_and_in_no_other() {
    let shop = shop().await;
    let admin = shop.admin();
    let order = place(&shop.customer("ada"), "k").await;
    let (order_id, invoice_id) = (order_id(&order), invoice_id(&order));
    let listed = async |expected: &str| {
        for status in ["PENDING", "PAID", "SHIPPED", "DELIVERED", "CANCELLED"] {
            let found = admin.walk(&format!("/orders?status={status}"), 10).await;
            assert_eq!(found.len(), usize::from(status == expected), "{status}, not {expected}");
        }
    };
    listed("PENDING").await;
    admin.post(&format!("/invoices/{invoice_id}/payments"), json!({ "reference": "r" })).await.expect(200);
    listed("PAID").await;
    admin.post(&format!("/orders/{order_id}/status"), json!({ "status": "SHIPPED" })).await.expect(200);
    listed("SHIPPED").await;
    admin.get("/orders").await.problem(Kind::Validation);
    admin.get("/orders?status=paid").await.problem(Kind::Validation);
}

#[tokio::test(flavor = "multi_thread")]
async fn january_includes_the_last_millisecond_of_the_31st() {
    let shop = shop().await;
    let admin = shop.admin();
    for (key, at) in [
        ("first", "2026-01-01T00:00:00.000Z"),
        ("last", "2026-01-31T23:59:59.999Z"),
        ("next", "2026-02-01T00:00:00.000Z"),
    ] {
        let order = place(&shop.customer("ada"), key).await;
        let id = order_id(&order);
        // Moves the order into the past, directly in the table.
        shop.update(
            &format!("o#{id}"),
            &format!("o#{id}"),
            "SET placedAt = :at, GSI1SK = :status, GSI2SK = :customer",
            &json!({
                ":at": { "S": at },
                ":status": { "S": format!("{at}#{id}") },
                ":customer": { "S": format!("o#{at}#{id}") },
            }),
        )
        .await;
    }
    let times = |orders: Vec<Value>| orders.into_iter().map(|order| order["placedAt"].clone()).collect::<Vec<_>>();
    let january = "from=2026-01-01&to=2026-02-01";
    let by_status = admin.walk(&format!("/orders?status=PENDING&{january}"), 1).await;
    assert_eq!(times(by_status), ["2026-01-01T00:00:00.000Z", "2026-01-31T23:59:59.999Z"]);
    let by_customer = admin.walk(&format!("/customers/ada/orders?{january}"), 1).await;
    assert_eq!(times(by_customer), ["2026-01-31T23:59:59.999Z", "2026-01-01T00:00:00.000Z"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_customers_orders_are_listed_newest_first_and_the_overview_has_ten_in_one_request() {
    let shop = shop().await;
    shop.sign_up("bob").await;
    place(&shop.customer("bob"), "k").await;
    let mut placed = Vec::new();
    for at in 0..13 {
        placed.push(place(&shop.customer("ada"), &format!("k{at}")).await);
    }
    placed.sort_by_key(|order| format!("{} {}", order["placedAt"], order["orderId"]));
    placed.reverse();
    for limit in [1, 5, 13, 100] {
        let found = shop.customer("ada").walk("/customers/ada/orders", limit).await;
        assert_eq!(ids(&found), ids(&placed), "limit {limit}");
    }

    shop.fault_proxy().take_calls();
    let overview = shop.customer("ada").get("/customers/ada/overview").await.expect(200);
    assert_eq!(shop.fault_proxy().take_calls().len(), 1);
    assert_eq!(overview["customer"]["username"], "ada");
    assert_eq!(ids(overview["orders"].as_array().expect("orders")), ids(&placed[..10]));

    let empty = shop.customer("bob").get("/customers/bob/overview").await.expect(200);
    assert_eq!(empty["orders"].as_array().expect("orders").len(), 1);
    shop.admin().get("/customers/nobody/overview").await.problem(Kind::NotFound);
    shop.customer("bob").get("/customers/ada/overview").await.problem(Kind::NotFound);
    shop.customer("bob").get("/customers/ada/orders").await.problem(Kind::NotFound);
}
