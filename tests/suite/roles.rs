//! The functions' roles: they allow exactly the actions and keys that the template declares, and every permission is
//! needed.

mod calls;
mod card_payments;
mod carts;
mod catalogue;
mod counters;
mod day;
mod declared;
mod erasures;
mod needed;
mod races;

use shop::queue::{DEAD_LETTERS, QUEUE};

use self::calls::WAYS;
pub use self::calls::{item, put, query, sweeping};
pub use self::day::eventful_day;
pub use self::needed::in_vain;
use crate::prelude::*;

/// One call of each forbidden kind, as somebody with a function's credentials could make it.
#[tokio::test(flavor = "multi_thread")]
async fn calls_beyond_a_function_s_task_are_refused() {
    let shop = Shop::selling("thing", 1000, 10).await;
    let (before, table) = (shop.dump().await, shop.table().to_owned());
    let way = |kind: usize, keys: &[&str]| {
        let keys: Vec<_> = keys.iter().map(|&key| key.to_owned()).collect();
        let (_, action, _, ask) = WAYS[kind];
        (action, ask(&table, &keys))
    };
    let mut overreach = vec![
        ("GetOrder", "Query", query(&table, None, "c#ada")),
        ("GetOrder", "Query", query(&table, Some("GSI1"), "p#thing")),
        ("GetOrder", "GetItem", item(&table, "o#1")),
        ("GetInvoice", "Query", query(&table, Some("GSI2"), "c#ada")),
        ("ListProducts", "Query", query(&table, Some("GSI1"), "p#thing")),
        ("DeleteCart", "PutItem", put(&table, "c#ada")),
        ("FlagOrder", "DeleteItem", item(&table, "o#1")),
    ];
    for (function, (action, request)) in [
        ("CreateCustomer", way(2, &["c#eve"])),
        ("CreateCustomer", way(6, &["c#eve", "p#thing"])),
        ("PlaceOrder", way(3, &["p#thing"])),
        ("PlaceOrder", way(10, &["p#thing", "email#ada@example.com"])),
        ("PlaceOrder", way(1, &["o#1"])),
        ("UpdateCustomer", way(8, &["c#ada"])),
        ("ListTotals", way(10, &["day#2026-11-21", "c#ada"])),
        ("CountOrders", way(3, &["c#ada"])),
        ("ReconcileCounts", way(2, &["day#2026-11-21"])),
        ("GetProduct", way(11, &["p#thing"])),
        // It may only look whether the product exists.
        ("RecordViews", way(10, &["p#thing"])),
    ] {
        overreach.push((function, action, request));
    }
    let functions: Vec<_> = shop.template().functions.iter().map(|function| function.logical_id.clone()).collect();
    for function in &functions {
        overreach.extend(sweeping(&table).into_iter().map(|(action, request)| (function.as_str(), action, request)));
        overreach.push((function, "GetItem", item("theirs", "o#1")));
    }
    for (function, action, request) in &overreach {
        let (status, body) = shop.dynamodb_as(function, action, request).await;
        assert_eq!(status, 400, "{function} {action} {request}: {body}");
        assert_eq!(body["__type"], "com.amazon.coral.service#AccessDeniedException", "{function} {action}: {body}");
        let message = body["Message"].as_str().expect("a message");
        let user = format!("User: arn:aws:sts::000000000000:assumed-role/{function}Role/{function} is not authorized");
        assert!(message.starts_with(&user) && message.contains("no identity-based policy allows"), "{message}");
    }
    assert!(shop.denials().len() >= overreach.len());
    shop.fault_proxy().take_calls();
    assert_eq!(shop.dump().await, before);
}

/// An update of an item that the function changes, but of an attribute that it never changes.
#[tokio::test(flavor = "multi_thread")]
async fn attributes_beyond_a_function_s_task_are_refused() {
    let shop = Shop::selling("thing", 1000, 10).await;
    let order = shop.customer("ada").order("k", basket("thing", 1)).await;
    let order = format!("o#{}", order.expect(201)["orderId"].as_str().expect("an id"));
    let (before, table) = (shop.dump().await, shop.table().to_owned());
    let update = |key: &str, expression: &str, condition: Option<&str>| {
        let mut update = item(&table, key);
        update["UpdateExpression"] = json!(expression);
        update["ExpressionAttributeNames"] = json!({ "#n": "name" });
        update["ExpressionAttributeValues"] = json!({ ":x": { "S": "x" } });
        if let Some(condition) = condition {
            update["ConditionExpression"] = json!(condition);
        }
        update
    };
    let in_transaction = |update: &Value| json!({ "TransactItems": [{ "Update": update }] });
    let of_order = |expression: &str| in_transaction(&update(&order, expression, None));
    let forbidden = [
        // A customer's name, by the function that counts the customer's orders.
        ("CountOrders", "TransactWriteItems", in_transaction(&update("c#ada", "SET #n = :x", None))),
        ("CountOrders", "TransactWriteItems", in_transaction(&update("c#ada", "SET spent = :x", Some("email = :x")))),
        ("ReconcileCounts", "UpdateItem", update("p#thing", "SET description = :x", None)),
        // A product's texts, by functions that take its units.
        ("PlaceOrder", "TransactWriteItems", in_transaction(&update("p#thing", "SET #n = :x", None))),
        ("AdjustStock", "TransactWriteItems", in_transaction(&update("p#thing", "REMOVE initialStock", None))),
        // Whose order it is, and how much it costs.
        ("CancelOrder", "TransactWriteItems", of_order("SET customerId = :x")),
        ("CapturePayment", "TransactWriteItems", of_order("SET total.amount = :x")),
        ("ChangeOrderStatus", "UpdateItem", update(&order, "SET GSI2PK = :x", None)),
        ("SettlePayments", "UpdateItem", update(&order, "SET lines = :x", None)),
        ("FlagOrder", "TransactWriteItems", of_order("SET #s = :x REMOVE version")),
        ("RecordView", "UpdateItem", update("v#thing#0", "SET productId = :x", None)),
        ("UpdateCustomer", "UpdateItem", update("c#ada", "SET createdAt = :x", None)),
    ];
    for (function, action, request) in &forbidden {
        let (status, body) = shop.dynamodb_as(function, action, request).await;
        assert_eq!(status, 400, "{function} {action} {request}: {body}");
        assert_eq!(body["__type"], "com.amazon.coral.service#AccessDeniedException", "{function} {action}: {body}");
    }
    assert_eq!(shop.denials().len(), forbidden.len());
    shop.fault_proxy().take_calls();
    assert_eq!(shop.dump().await, before);
}

#[tokio::test(flavor = "multi_thread")]
async fn queues_and_the_bus_refuse_functions_without_permission() {
    let shop = Shop::open_undrained().await;
    let lost = "till-local-lost-counts";
    for (function, action, queue) in [
        ("PlaceOrder", "SendMessage", DEAD_LETTERS),
        ("PlaceOrder", "ReceiveMessage", QUEUE),
        ("DrainWrites", "PurgeQueue", QUEUE),
        ("DrainWrites", "DeleteQueue", QUEUE),
        ("DrainWrites", "ReceiveMessage", DEAD_LETTERS),
        ("CountOrders", "SendMessage", QUEUE),
        ("CountOrders", "ReceiveMessage", lost),
        ("PublishOrderEvents", "SendMessageBatch", lost),
        ("GetOrder", "SendMessage", QUEUE),
    ] {
        let (status, body) = shop.sqs_as(function, action, queue, json!({ "MessageBody": "{}" })).await;
        assert_eq!((status, &body["__type"]), (403, &json!("AccessDenied")), "{function} {action} {queue}: {body}");
    }
    assert_eq!((shop.messages_in(QUEUE).await, shop.messages_in(DEAD_LETTERS).await), (0, 0));
    for (function, bus, source) in [
        ("PublishOrderEvents", "default", "till.orders"),
        ("PublishOrderEvents", "till-local-orders", "aws.health"),
        ("PlaceOrder", "till-local-orders", "till.orders"),
    ] {
        let (status, body) = shop.put_event_as(function, bus, source).await;
        assert_eq!((status, &body["__type"]), (400, &json!("AccessDeniedException")), "{function} {bus}: {body}");
    }
    assert_eq!(shop.put_event_as("PublishOrderEvents", "till-local-orders", "till.orders").await.0, 200);
    assert_eq!((shop.denials().len(), shop.bus().events().len()), (12, 1));
}

/// Like a template in which a statement was forgotten.
#[tokio::test(flavor = "multi_thread")]
async fn a_route_without_its_statement_fails_and_changes_nothing() {
    let shop = Shop::open_with(|template| {
        let function = template.functions.iter_mut().find(|function| function.logical_id == "PlaceOrder");
        let statements = &mut function.expect("the function").role.policies[0].statements;
        let first = statements.iter().position(|statement| statement.actions == ["dynamodb:UpdateItem"]);
        statements.remove(first.expect("one"));
    })
    .await;
    shop.sign_up("ada").await;
    shop.product("thing", 1000, 10).await;
    let before = shop.dump().await;
    shop.customer("ada").order("k", basket("thing", 1)).await.problem(Kind::Internal);
    assert_eq!(shop.dump().await, before);
    let denials = shop.denials();
    let [denial] = denials.as_slice() else { panic!("{denials:?}") };
    assert!(denial.starts_with("PlaceOrder may not dynamodb:UpdateItem on "), "{denial}");
    assert!(denial.contains("p#thing") && denial.contains("TransactWriteItems"), "{denial}");
}
