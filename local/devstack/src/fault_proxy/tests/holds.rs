use std::time::Duration;

use super::*;

const A_WHILE: Duration = Duration::from_millis(300);

fn reading(key: &str) -> Value {
    json!({ "TransactItems": [{ "Get": { "TableName": TABLE, "Key": { "PK": { "S": key } } } }] })
}

#[tokio::test]
async fn a_write_to_an_item_that_a_transaction_holds_is_a_conflict() {
    let bench = Bench::start().await;
    bench.proxy.hold_items(A_WHILE);
    let others = async {
        tokio::time::sleep(A_WHILE / 3).await;
        let codes = |body: &Value| body["CancellationReasons"].to_string();
        let (status, body) = bench.call("TransactWriteItems", transaction(&["c", "b"])).await.unwrap();
        assert_eq!((status, codes(&body).contains("TransactionConflict")), (400, true), "{body}");
        assert_eq!(body["CancellationReasons"][0]["Code"], "None", "{body}");
        let (status, body) = bench.call("TransactGetItems", reading("a")).await.unwrap();
        assert_eq!((status, codes(&body).contains("TransactionConflict")), (400, true), "{body}");
        let (status, body) = bench.call("PutItem", put("a")).await.unwrap();
        assert_eq!(status, 400);
        assert!(body["__type"].as_str().unwrap().ends_with("#TransactionConflictException"), "{body}");

        assert!(!bench.exists("a").await, "an ordinary read is not in its way");
        assert_eq!(bench.call("TransactGetItems", reading("c")).await.unwrap().0, 200);
        assert_eq!(bench.call("PutItem", put("c")).await.unwrap().0, 200);
    };
    let (first, ()) = tokio::join!(bench.call("TransactWriteItems", transaction(&["a", "b"])), others);
    assert_eq!(first.unwrap().0, 200);
    assert!(bench.exists("a").await);
    // The transaction has ended and holds no item.
    assert_eq!(bench.call("TransactWriteItems", transaction(&["b", "c"])).await.unwrap().0, 200);
    assert_eq!(bench.call("PutItem", put("a")).await.unwrap().0, 200);
}

#[tokio::test]
async fn a_failed_transaction_holds_no_item_afterwards() {
    let bench = Bench::start().await;
    bench.proxy.hold_items(Duration::from_millis(1));
    let mut fails = transaction(&["a"]);
    fails["TransactItems"][0]["Put"]["ConditionExpression"] = json!("attribute_exists(PK)");
    assert_eq!(bench.call("TransactWriteItems", fails).await.unwrap().0, 400);
    assert_eq!(bench.call("TransactWriteItems", transaction(&["a"])).await.unwrap().0, 200);
    bench.proxy.hold_items(Duration::ZERO);
    assert_eq!(bench.call("TransactWriteItems", transaction(&["a"])).await.unwrap().0, 200);
}
