//! The numbers of invoices: 1, 2, 3 and so on, each once.

use crate::prelude::*;

pub async fn shop(series: &str) -> Shop {
    let shop = Shop::open_where(&[("INVOICE_SERIES", series)]).await;
    shop.sign_up("ada").await;
    shop.product("thing", 1000, 1000).await;
    shop
}

/// An order whose invoice is issued in this second of January 1.
pub async fn order(shop: &Shop, second: u32) -> Value {
    let order = shop.customer("ada").order(&format!("k{second}"), basket("thing", 1)).await.expect(201);
    let (minutes, seconds) = (second / 60, second % 60);
    shop.age_invoice(&order, &format!("2026-01-01T00:{minutes:02}:{seconds:02}.000Z")).await;
    order
}

async fn orders(shop: &Shop, count: u32) -> Vec<Value> {
    let mut orders = Vec::new();
    for second in 0..count {
        orders.push(order(shop, second).await);
    }
    orders
}

fn path_of(order: &Value) -> String {
    format!("/invoices/{}", invoice_id(order))
}

/// The number of each order's invoice; null if it has none.
async fn numbers(shop: &Shop, orders: &[Value]) -> Vec<Value> {
    let mut numbers = Vec::new();
    for order in orders {
        numbers.push(shop.admin().get(&path_of(order)).await.expect(200)["number"].clone());
    }
    numbers
}

fn first(count: usize, series: &str) -> Vec<Value> {
    (1..=count).map(|place| json!(format!("{series}-{place}"))).collect()
}

fn is_all_of(mut numbers: Vec<Value>, series: &str) {
    let mut expected = first(numbers.len(), series);
    numbers.sort_by_key(ToString::to_string);
    expected.sort_by_key(ToString::to_string);
    assert_eq!(numbers, expected);
}

#[tokio::test(flavor = "multi_thread")]
async fn invoices_get_the_numbers_of_the_series_in_the_order_of_their_time() {
    let shop = shop("2026").await;
    // More than one transaction, and more than one page.
    let orders = orders(&shop, 120).await;
    let body = basket("thing", 1);
    let young = shop.customer("ada").order("young", body).await.expect(201);
    assert_eq!(young["invoice"].get("number"), None);

    let report = shop.number().await;
    assert_eq!((&report["numbered"], &report["done"]), (&json!(120), &json!(true)));
    assert_eq!(numbers(&shop, &orders).await, first(120, "2026"));
    assert_eq!(numbers(&shop, &[young]).await, [Value::Null], "a young invoice waits");
    assert_eq!(shop.number().await["numbered"], 0);
    let path = format!("/orders/{}", order_id(&orders[6]));
    let ada = shop.customer("ada");
    assert_eq!(ada.read(&orders[6]).await["invoice"]["number"], "2026-7");
    let page = ada.get(&format!("{path}/invoice/page")).await;
    assert!(page.body.as_str().expect("a page").contains("<dt>Number</dt><dd>2026-7</dd>"));
    invariants::hold(&shop).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancelled_order_keeps_its_invoice_and_its_number() {
    let shop = shop("R").await;
    let orders = orders(&shop, 2).await;
    let id = |order: &Value| order_id(order).to_owned();
    let cancel = async |order: &Value| {
        shop.admin().post(&format!("/orders/{}/cancellation", id(order)), json!({})).await.expect(200);
    };
    // One is cancelled while it waits for its number, the other afterwards.
    cancel(&orders[0]).await;
    shop.number().await;
    cancel(&orders[1]).await;
    assert_eq!(numbers(&shop, &orders).await, first(2, "R"));
    invariants::hold(&shop).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn runs_beside_each_other_and_beside_captures_give_each_number_once() {
    let shop = shop("2026").await;
    let orders = orders(&shop, 60).await;
    // Two transactions are done, but not answered.
    shop.fault_proxy().inject(commit(), Fault::CutAfter, 2);
    let mut happening = JoinSet::new();
    for _ in 0..2 {
        let number = shop.consumer("number-invoices", &shop.endpoints());
        happening.spawn(async move { _ = number(json!({})).await });
    }
    for order in orders.iter().step_by(7) {
        let (admin, path) = (shop.admin(), format!("{}/payments", path_of(order)));
        happening.spawn(async move {
            admin.post(&path, json!({ "reference": "bank-1" })).await.expect(200);
        });
    }
    happening.join_all().await;
    shop.fault_proxy().heal();
    shop.number().await;
    is_all_of(numbers(&shop, &orders).await, "2026");
    invariants::hold(&shop).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_invoice_that_waits_no_longer_leaves_no_gap() {
    let shop = shop("2026").await;
    let orders = orders(&shop, 3).await;
    // The second invoice fails its condition, as if the index listed it although it has a number.
    let fault = Fault::Cancel { item: 2, code: "ConditionalCheckFailed", message: "no" };
    shop.fault_proxy().inject(commit(), fault, 1);
    assert_eq!(shop.number().await["numbered"], 2);
    shop.number().await;
    assert_eq!(numbers(&shop, &orders).await, [json!("2026-1"), json!("2026-3"), json!("2026-2")]);
    invariants::hold(&shop).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn invoices_that_conflict_with_others_get_their_numbers_in_smaller_transactions() {
    let shop = shop("2026").await;
    let orders = orders(&shop, 5).await;
    let fault = Fault::Cancel { item: 2, code: "TransactionConflict", message: "no" };
    shop.fault_proxy().inject(commit(), fault, 1);
    shop.fault_proxy().take_calls();
    assert_eq!(shop.number().await["numbered"], 5);
    let calls = shop.fault_proxy().take_calls();
    let sizes = calls.iter().filter_map(|call| call.request["TransactItems"].as_array().map(Vec::len));
    // The counter is one of them.
    assert_eq!(sizes.collect::<Vec<_>>(), [6, 4, 3]);
    assert_eq!(numbers(&shop, &orders).await, first(5, "2026"));
    invariants::hold(&shop).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_shop_without_a_series_writes_what_it_wrote_before() {
    let written = async |series: &str| {
        let shop = shop(series).await;
        let body = basket("thing", 1);
        shop.fault_proxy().take_calls();
        let order = shop.customer("ada").order("k1", body).await.expect(201);
        let calls: Vec<_> = shop.fault_proxy().take_calls().iter().map(|call| call.action.clone()).collect();
        let [id, invoice] = [&order["orderId"], &order["invoice"]["invoiceId"]].map(|id| id.as_str().unwrap());
        let item = shop.item(&format!("o#{id}"), &format!("i#{invoice}")).await;
        let item: BTreeMap<String, Value> = serde_json::from_value(item).expect("an item");
        assert_eq!(shop.number().await["numbered"], 0);
        (calls, item)
    };
    let (calls, plain) = written("").await;
    assert_eq!(plain["GSI1PK"]["S"], plain["SK"]["S"]);
    assert!(!plain.contains_key("unnumbered") && !plain.contains_key("number"));
    let (with_series, waiting) = written("2026").await;
    assert_eq!(with_series, calls, "a series costs an order no request");
    assert!(waiting["GSI1PK"]["S"].as_str().is_some_and(|key| key.starts_with("unnumbered#")));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_invoice_that_cannot_be_read_holds_up_no_other_and_leaves_no_gap() {
    let shop = shop("2026").await;
    let orders = orders(&shop, 3).await;
    let (order, invoice) = (&orders[1]["orderId"], &orders[1]["invoice"]["invoiceId"]);
    let [order, invoice] =
        [("o", order), ("i", invoice)].map(|(kind, id)| format!("{kind}#{}", id.as_str().expect("an id")));
    shop.set(&order, &invoice, "issuedAt", json!({ "S": "once" })).await;
    let failed = shop.consumer("number-invoices", &shop.endpoints())(json!({})).await.expect_err("it tells");
    assert!(failed.contains("cannot be read and get no number: 1"), "{failed}");
    let readable = [orders[0].clone(), orders[2].clone()];
    assert_eq!(numbers(&shop, &readable).await, first(2, "2026"));

    shop.set(&order, &invoice, "issuedAt", json!({ "S": "2026-01-01T00:00:01.000Z" })).await;
    assert_eq!(shop.number().await["numbered"], 1);
    assert_eq!(numbers(&shop, &orders).await, [json!("2026-1"), json!("2026-3"), json!("2026-2")]);
    invariants::hold(&shop).await;
}
