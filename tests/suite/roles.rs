//! What the functions may not do: their roles allow what the template declares, for the keys that it declares, and
//! nothing else.

use std::collections::BTreeSet;

use edge::Kind;
use key_schema::layout::{ENTITIES, Index};
use local::iam::{Guard, permit};
use serde_json::{Value, json};
use serde_yaml_ng::Value as Yaml;

use crate::completeness::template;
use crate::shop::{Shop, template_text};
use crate::shop_queue::{DEAD_LETTERS, QUEUE};

/// A statement about the table as its text says it, read without what enforces it.
struct Declared {
    function: String,
    actions: Vec<String>,
    /// The index, if it is one.
    index: Option<String>,
    /// `o#*`, or a whole key.
    keys: BTreeSet<String>,
    in_transactions_only: bool,
}

fn list(value: &Yaml) -> Vec<String> {
    let texts = value.as_sequence().map_or(std::slice::from_ref(value), Vec::as_slice);
    texts.iter().map(|text| text.as_str().expect("a text").to_owned()).collect()
}

fn declared() -> Vec<Declared> {
    let text: Yaml = serde_yaml_ng::from_str(&template_text()).expect("YAML");
    let mut all = Vec::new();
    for function in template().functions {
        let role = &text["Resources"][format!("{}Role", function.logical_id).as_str()]["Properties"];
        for statement in role["Policies"][0]["PolicyDocument"]["Statement"].as_sequence().expect("statements") {
            let Yaml::Tagged(resource) = &statement["Resource"] else { panic!("{statement:?}") };
            let index = match resource.value.as_str().expect("a text") {
                "Table.Arn" => None,
                other => match other.strip_prefix("${Table.Arn}/index/") {
                    None => continue,
                    Some(index) => Some(index.to_owned()),
                },
            };
            let condition = &statement["Condition"];
            assert_eq!(condition["Null"]["dynamodb:LeadingKeys"], "false", "ForAllValues holds of no keys, too");
            let keys = list(&condition["ForAllValues:StringLike"]["dynamodb:LeadingKeys"]);
            all.push(Declared {
                function: function.logical_id.clone(),
                actions: list(&statement["Action"]),
                index,
                keys: keys.into_iter().collect(),
                in_transactions_only: !condition["ForAnyValue:StringEquals"].is_null(),
            });
        }
    }
    all
}

/// The beginning of every partition key of the schema, as a pattern: `o#*`.
fn patterns() -> BTreeSet<String> {
    let places = ENTITIES.iter().flat_map(|(_, places)| places.iter());
    let patterns = places.map(|place| match place.partition.split_once('{') {
        None => place.partition.to_owned(),
        Some((prefix, _)) => format!("{prefix}*"),
    });
    patterns.collect()
}

fn key(pattern: &str) -> String {
    pattern.replace('*', "1")
}

/// Asks for an item, or a partition, of each of these keys.
type Ask = fn(&str, &[String]) -> Value;

/// Every way to reach items by their keys: the action that a role needs for it, the action that the client calls, and
/// whether that is a transaction.
const WAYS: [(&str, &str, bool, Ask); 12] = [
    ("Query", "Query", false, |table, keys| query(table, None, &keys[0])),
    ("GetItem", "GetItem", false, |table, keys| item(table, &keys[0])),
    ("PutItem", "PutItem", false, |table, keys| put(table, &keys[0])),
    ("UpdateItem", "UpdateItem", false, |table, keys| item(table, &keys[0])),
    ("DeleteItem", "DeleteItem", false, |table, keys| item(table, &keys[0])),
    ("GetItem", "TransactGetItems", true, |table, keys| transaction("Get", table, keys)),
    (
        "PutItem",
        "TransactWriteItems",
        true,
        |table, keys| json!({ "TransactItems": keys.iter().map(|key| json!({ "Put": put(table, key) })).collect::<Vec<_>>() }),
    ),
    ("UpdateItem", "TransactWriteItems", true, |table, keys| transaction("Update", table, keys)),
    ("DeleteItem", "TransactWriteItems", true, |table, keys| transaction("Delete", table, keys)),
    ("ConditionCheckItem", "TransactWriteItems", true, |table, keys| transaction("ConditionCheck", table, keys)),
    ("BatchGetItem", "BatchGetItem", false, |table, keys| {
        let keys: Vec<_> = keys.iter().map(|key| item(table, key)["Key"].clone()).collect();
        json!({ "RequestItems": { table: { "Keys": keys } } })
    }),
    ("BatchWriteItem", "BatchWriteItem", false, |table, keys| {
        let writes = keys.iter().map(|key| json!({ "PutRequest": { "Item": put(table, key)["Item"] } }));
        json!({ "RequestItems": { table: writes.collect::<Vec<_>>() } })
    }),
];

fn item(table: &str, key: &str) -> Value {
    json!({ "TableName": table, "Key": { "PK": { "S": key }, "SK": { "S": key } } })
}

fn put(table: &str, key: &str) -> Value {
    json!({ "TableName": table, "Item": { "PK": { "S": key }, "SK": { "S": key }, "GSI1PK": { "S": key } } })
}

fn transaction(kind: &str, table: &str, keys: &[String]) -> Value {
    json!({ "TransactItems": keys.iter().map(|key| json!({ kind: item(table, key) })).collect::<Vec<_>>() })
}

fn query(table: &str, index: Option<&str>, key: &str) -> Value {
    let mut query = json!({
        "TableName": table, "KeyConditionExpression": "#pk = :pk",
        "ExpressionAttributeNames": { "#pk": index.map_or("PK".to_owned(), |index| format!("{index}PK")) },
        "ExpressionAttributeValues": { ":pk": { "S": key } },
    });
    if let Some(index) = index {
        query["IndexName"] = json!(index);
    }
    query
}

/// Calls that need no key, and that nobody needs.
fn sweeping(table: &str) -> Vec<(&'static str, Value)> {
    let named = json!({ "TableName": table });
    let index = |index: Index| json!({ "TableName": table, "IndexName": index.name().expect("an index") });
    let by = |verb: &str| json!({ "Statement": format!("{verb} \"{table}\" WHERE PK = 'o#1'") });
    vec![
        ("Scan", named.clone()),
        ("Scan", index(Index::Gsi1)),
        ("Scan", index(Index::Gsi2)),
        ("Query", named.clone()),
        ("Query", index(Index::Gsi1)),
        ("ExecuteStatement", by("SELECT * FROM")),
        ("ExecuteStatement", by("DELETE FROM")),
        ("BatchExecuteStatement", json!({ "Statements": [by("SELECT * FROM")] })),
        ("ExecuteTransaction", json!({ "TransactStatements": [by("DELETE FROM")] })),
        ("DeleteTable", named.clone()),
        ("UpdateTable", named.clone()),
        ("DescribeTable", named.clone()),
        ("UpdateTimeToLive", named.clone()),
        ("ListTables", json!({})),
    ]
}

/// For every function, every action, the table and each index, and every kind of key: what the declaration says is
/// what is enforced.
#[test]
fn a_role_allows_exactly_what_the_template_declares() {
    let template = template();
    let (guard, declared, table) = (Guard::new(&template, false), declared(), template.table_name());
    let allowed = |function: &str, action: &str, request: &Value| {
        let policies = guard.policies(function).expect("a role");
        guard.dynamodb_asks(action, request).iter().all(|ask| permit(policies, ask))
    };
    let says = |function: &str, needed: &str, in_transaction: bool, index: Option<&str>, keys: &[&String]| {
        declared.iter().any(|statement| {
            statement.function == function
                && statement.actions.contains(&format!("dynamodb:{needed}"))
                && statement.index.as_deref() == index
                && keys.iter().all(|key| statement.keys.contains(*key))
                && (in_transaction || !statement.in_transactions_only)
        })
    };

    let (patterns, mut checked, mut granted) = (patterns(), 0, 0);
    let mut check = |says: bool, is: bool, what: &dyn Fn() -> String| {
        assert_eq!(is, says, "enforced and declared: {}", what());
        (checked, granted) = (checked + 1, granted + usize::from(is));
    };
    for function in template.functions.iter().map(|function| function.logical_id.as_str()) {
        for (needed, action, in_transaction, ask) in WAYS {
            for one in &patterns {
                let is = allowed(function, action, &ask(table, &[key(one)]));
                check(says(function, needed, in_transaction, None, &[one]), is, &|| {
                    format!("{function} {action} {one}")
                });
                if !action.contains("Items") && !action.starts_with("Batch") {
                    continue;
                }
                for other in &patterns {
                    let is = allowed(function, action, &ask(table, &[key(one), key(other)]));
                    // A batch is one question about all of its keys, a transaction one about each item.
                    let says = if in_transaction {
                        [one, other].iter().all(|key| says(function, needed, true, None, &[key]))
                    } else {
                        says(function, needed, false, None, &[one, other])
                    };
                    check(says, is, &|| format!("{function} {action} {one} {other}"));
                }
            }
        }
        for index in ["GSI1", "GSI2"] {
            for one in &patterns {
                let is = allowed(function, "Query", &query(table, Some(index), &key(one)));
                check(says(function, "Query", false, Some(index), &[one]), is, &|| format!("{function} {index} {one}"));
            }
        }
        for (action, request) in sweeping(table).into_iter().chain(sweeping("theirs")) {
            check(false, allowed(function, action, &request), &|| format!("{function} {action} {request}"));
        }
        for (_, action, _, ask) in WAYS {
            for one in &patterns {
                let theirs = ask("theirs", &[key(one)]);
                check(false, allowed(function, action, &theirs), &|| format!("{function} {action} theirs"));
            }
        }
    }
    // Not everything is refused, and nearly everything is.
    assert!(granted > 100 && checked > 100 * granted, "{granted} of {checked}");
}

#[test]
fn no_role_allows_everything_of_anything() {
    for function in template().functions {
        for statement in function.role.policies.iter().flat_map(|policy| &policy.statements) {
            let name = &function.logical_id;
            for action in &statement.actions {
                assert!(!action.contains('*') && !action.ends_with(":Scan"), "{name}: {action}");
            }
            for resource in &statement.resources {
                assert!(!resource.contains('*') || resource.ends_with("/stream/*"), "{name}: {resource}");
            }
        }
        assert_eq!(function.role.name, format!("{}Role", function.logical_id), "a role has one function");
    }
}

/// One of each kind of overreach, as it would look if somebody had a function's credentials.
#[tokio::test(flavor = "multi_thread")]
async fn what_a_function_has_no_business_with_is_refused() {
    let shop = Shop::with_ada().await;
    shop.product("thing", 1000, 10).await;
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
    shop.wire().take_calls();
    assert_eq!(shop.dump().await, before);
}

#[tokio::test(flavor = "multi_thread")]
async fn queues_and_the_bus_refuse_whom_they_do_not_know() {
    let shop = Shop::open_with(|template| template.queue_sources[0].enabled = false).await;
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

/// As it would be if somebody forgot it in the template.
#[tokio::test(flavor = "multi_thread")]
async fn a_route_whose_statement_is_taken_away_fails_and_changes_nothing() {
    let shop = Shop::open_from(|text| {
        let (before, role) = text.split_once("\n  PlaceOrderRole:").expect("a role");
        let start =
            role.find("              - Effect: Allow\n                Action: dynamodb:UpdateItem").expect("one");
        let end = start + 1 + role[start + 1..].find("              - Effect: Allow").expect("another");
        format!("{before}\n  PlaceOrderRole:{}{}", &role[..start], &role[end..])
    })
    .await;
    shop.sign_up("ada").await;
    shop.product("thing", 1000, 10).await;
    let before = shop.dump().await;
    let body = json!({ "lines": [{ "productId": "thing", "quantity": 1 }] });
    shop.customer("ada").order("k", body).await.problem(Kind::Internal);
    assert_eq!(shop.dump().await, before);
    let denials = shop.denials();
    let [denial] = denials.as_slice() else { panic!("{denials:?}") };
    assert!(denial.starts_with("PlaceOrder may not dynamodb:UpdateItem on "), "{denial}");
    assert!(denial.contains("p#thing") && denial.contains("TransactWriteItems"), "{denial}");
}
