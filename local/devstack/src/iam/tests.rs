//! Tests of the authorisation requests of calls, and of the decisions of policies.

use serde_json::{Value, json};

use super::*;

const TABLE: &str = "arn:aws:dynamodb:us-east-1:000000000000:table/notes";

fn guard(statements: &Value) -> Guard {
    let template = json!({ "Resources": {
        "Table": { "Type": "AWS::DynamoDB::Table", "Properties": {
            "TableName": "notes",
            "AttributeDefinitions": [{ "AttributeName": "PK", "AttributeType": "S" }],
            "KeySchema": [{ "AttributeName": "PK", "KeyType": "HASH" }, { "AttributeName": "SK", "KeyType": "RANGE" }],
            "GlobalSecondaryIndexes": [{
                "IndexName": "GSI1", "KeySchema": [{ "AttributeName": "GSI1PK", "KeyType": "HASH" }],
                "Projection": { "ProjectionType": "ALL" },
            }],
        } },
        "Role": { "Type": "AWS::IAM::Role", "Properties": {
            "Policies": [{ "PolicyDocument": { "Version": "2012-10-17", "Statement": statements } }],
        } },
        "GetNote": {
            "Type": "AWS::Serverless::Function",
            "Properties": { "Handler": "get-note", "Role": { "Fn::GetAtt": ["Role", "Arn"] } },
        },
    } });
    Guard::new(&crate::Template::parse(&template.to_string()).unwrap(), true)
}

/// A guard with one statement of this effect and condition, about reading the table.
fn reading(condition: &Value) -> Guard {
    guard(&json!({ "Effect": "Allow", "Action": "dynamodb:*", "Resource": TABLE, "Condition": condition }))
}

fn allows(guard: &Guard, action: &str, request: &Value) -> bool {
    guard.check_dynamodb(Some("GetNote"), &format!("DynamoDB_20120810.{action}"), request).is_ok()
}

fn get(key: &str) -> Value {
    json!({ "TableName": "notes", "Key": { "PK": { "S": key }, "SK": { "S": "x" } } })
}

fn batch(keys: &[&str]) -> Value {
    let keys: Vec<_> = keys.iter().map(|key| get(key)["Key"].clone()).collect();
    json!({ "RequestItems": { "notes": { "Keys": keys } } })
}

fn asks(action: &str, request: &Value) -> Vec<Ask> {
    guard(&json!({ "Effect": "Deny", "Action": "*", "Resource": "*" })).dynamodb_asks(action, request)
}

#[test]
fn a_star_stands_for_any_text_and_a_question_mark_for_one_character() {
    let cases = [
        ("", "", true),
        ("*", "", true),
        ("o#*", "o#", true),
        ("o#*", "o#1#2", true),
        ("o#*", "xo#1", false),
        ("o", "o#1", false),
        ("*b*d", "abcbd", true),
        ("*b*d", "abcbe", false),
        ("a?c", "aäc", true),
        ("a?c", "ac", false),
    ];
    for (pattern, text, expected) in cases {
        assert_eq!(wildcard::matches(pattern, text), expected, "{pattern} {text}");
    }
}

#[test]
fn a_wildcard_stays_in_its_part_of_an_arn() {
    assert!(wildcard::matches_arn("*", TABLE));
    assert!(wildcard::matches_arn("arn:aws:dynamodb:*:*:table/no*", TABLE));
    assert!(!wildcard::matches_arn("arn:aws:dynamodb:*", TABLE));
    assert!(!wildcard::matches_arn("arn:aws:*:table/notes", TABLE));
    assert!(!wildcard::matches_arn(TABLE, &format!("{TABLE}/index/GSI1")));
}

#[test]
fn for_all_values_needs_every_value_to_match_and_holds_without_values() {
    let guard = reading(&json!({ "ForAllValues:StringLike": { "dynamodb:LeadingKeys": ["o#*", "p#*"] } }));
    assert!(allows(&guard, "GetItem", &get("o#1")));
    assert!(allows(&guard, "BatchGetItem", &batch(&["o#1", "p#2"])));
    assert!(!allows(&guard, "BatchGetItem", &batch(&["o#1", "c#2"])), "one foreign key is enough");
    assert!(allows(&guard, "Scan", &json!({ "TableName": "notes" })), "that is why the template has Null, too");

    let named = json!({ "dynamodb:LeadingKeys": "false" });
    let guard = reading(&json!({ "ForAllValues:StringLike": { "dynamodb:LeadingKeys": "o#*" }, "Null": named }));
    assert!(allows(&guard, "GetItem", &get("o#1")));
    assert!(!allows(&guard, "Scan", &json!({ "TableName": "notes" })));
    let missing = reading(&json!({ "Null": { "dynamodb:LeadingKeys": "true" } }));
    assert!(!allows(&missing, "GetItem", &get("o#1")));
    assert!(allows(&missing, "Scan", &json!({ "TableName": "notes" })));
}

#[test]
fn for_any_value_needs_one_value_to_match_and_fails_without_values() {
    let within = json!({ "dynamodb:EnclosingOperation": ["TransactWriteItems", "TransactGetItems"] });
    let guard = reading(&json!({ "ForAnyValue:StringEquals": within }));
    assert!(!allows(&guard, "GetItem", &get("o#1")));
    assert!(allows(&guard, "TransactGetItems", &json!({ "TransactItems": [{ "Get": get("o#1") }] })));
    assert!(!allows(&guard, "TransactGetItemsX", &json!({ "TableName": "notes" })));
    let only = reading(&json!({ "StringEquals": within }));
    assert!(allows(&only, "TransactGetItems", &json!({ "TransactItems": [{ "Get": get("o#1") }] })));
    assert!(!allows(&only, "GetItem", &get("o#1")));
    let some = reading(&json!({ "ForAnyValue:StringLike": { "DYNAMODB:leadingkeys": "o#*" } }));
    assert!(allows(&some, "BatchGetItem", &batch(&["c#1", "o#1"])), "the names of keys have no case");
    assert!(!allows(&some, "BatchGetItem", &batch(&["c#1", "c#2"])));
}

#[test]
fn if_exists_holds_without_a_value_and_otherwise_compares() {
    let guard = reading(&json!({ "StringEqualsIfExists": { "dynamodb:Select": "SPECIFIC_ATTRIBUTES" } }));
    let mut batch = batch(&["o#1"]);
    assert!(!allows(&guard, "BatchGetItem", &batch), "a read without names is one of all attributes");
    batch["RequestItems"]["notes"]["ProjectionExpression"] = json!("PK");
    assert!(allows(&guard, "BatchGetItem", &batch));
    let within = reading(&json!({ "StringLikeIfExists": { "dynamodb:EnclosingOperation": "TransactGet*" } }));
    assert!(allows(&within, "GetItem", &get("o#1")), "it is in no transaction");
}

#[test]
fn a_call_that_is_denied_or_not_allowed_is_refused() {
    let allow = json!({ "Effect": "Allow", "Action": "dynamodb:*Item", "Resource": "*" });
    let deny = json!({ "Effect": "Deny", "Action": ["DynamoDB:deleteitem"], "Resource": TABLE });
    let guard = guard(&json!([allow, deny]));
    assert!(allows(&guard, "GetItem", &get("o#1")));
    assert!(!allows(&guard, "DeleteItem", &get("o#1")));
    assert!(!allows(&guard, "Query", &json!({ "TableName": "notes" })));
    let denied: Vec<_> = guard.take_denials().iter().map(ToString::to_string).collect();
    let expected = format!(r#"GetNote may not dynamodb:DeleteItem on {TABLE}, dynamodb:LeadingKeys ["o#1"]"#);
    let query = format!(r#"GetNote may not dynamodb:Query on {TABLE}, dynamodb:Select ["ALL_ATTRIBUTES"]"#);
    assert_eq!(denied, [expected, query]);
    assert_eq!((guard.take_denials().len(), guard.rulings().len()), (0, 1));
}

#[test]
fn a_caller_that_is_not_a_function_may_do_anything() {
    let guard = guard(&json!({ "Effect": "Deny", "Action": "*", "Resource": "*" }));
    for caller in [None, Some("local"), Some("")] {
        assert!(guard.check_dynamodb(caller, "DynamoDB_20120810.DeleteTable", &Value::Null).is_ok(), "{caller:?}");
    }
    let Err(Denial(message)) = guard.check_sqs(Some("GetNote"), "PurgeQueue", &json!({ "QueueUrl": "h/1/writes" }))
    else {
        panic!("it is denied")
    };
    let arn = "arn:aws:sqs:us-east-1:000000000000:writes";
    let user = "arn:aws:sts::000000000000:assumed-role/Role/GetNote";
    let why = "because no identity-based policy allows the sqs:purgequeue action";
    assert_eq!(message, format!("User: {user} is not authorized to perform: sqs:purgequeue on resource: {arn} {why}"));
}

#[test]
fn a_transaction_is_authorised_item_by_item() {
    let item = json!({ "TableName": "notes", "Item": { "PK": { "S": "o#2" }, "SK": { "S": "x" } } });
    let items =
        json!([{ "Put": item }, { "Update": get("o#3") }, { "Delete": get("o#4") }, { "ConditionCheck": get("o#5") }]);
    let asked = asks("TransactWriteItems", &json!({ "TransactItems": items }));
    let actions: Vec<_> = asked.iter().map(|ask| ask.action.as_str()).collect();
    assert_eq!(
        actions,
        ["PutItem", "UpdateItem", "DeleteItem", "ConditionCheckItem"].map(|it| format!("dynamodb:{it}"))
    );
    for (ask, key) in asked.iter().zip(["o#2", "o#3", "o#4", "o#5"]) {
        assert_eq!(ask.resource, TABLE);
        assert_eq!(ask.values("dynamodb:LeadingKeys"), [key]);
        assert_eq!(ask.values("dynamodb:EnclosingOperation"), ["TransactWriteItems"]);
    }
}

#[test]
fn a_batch_is_authorised_with_all_its_keys() {
    let put = json!({ "PutRequest": { "Item": { "PK": { "S": "o#1" }, "a": { "N": "1" } } } });
    let writes = json!([put, { "DeleteRequest": { "Key": { "PK": { "S": "c#2" } } } }]);
    let asked = asks("BatchWriteItem", &json!({ "RequestItems": { "notes": writes, "theirs": [] } }));
    let [ours, theirs] = asked.as_slice() else { panic!("{asked:?}") };
    assert_eq!(ours.values("dynamodb:LeadingKeys"), ["o#1", "c#2"]);
    assert_eq!(ours.values("dynamodb:Attributes"), ["PK", "a"]);
    assert_eq!(theirs.resource, TABLE.replace("notes", "theirs"));
    assert_eq!(asks("BatchGetItem", &batch(&["o#1", "c#2"]))[0].values("dynamodb:LeadingKeys"), ["o#1", "c#2"]);
}

#[test]
fn the_leading_key_of_an_index_query_is_the_index_s_partition_key() {
    let query = json!({
        "TableName": TABLE, "IndexName": "GSI1", "Select": "COUNT", "ReturnConsumedCapacity": "TOTAL",
        "KeyConditionExpression": "#p = :p AND begins_with(GSI1SK, :s)",
        "FilterExpression": "size(#n.deep) > :s AND NOT attribute_exists(flag) AND kind IN (:p)",
        "ExpressionAttributeNames": { "#p": "GSI1PK", "#n": "nested" },
        "ExpressionAttributeValues": { ":p": { "S": "p#1" }, ":s": { "S": "2026" } },
    });
    let asked = asks("Query", &query);
    assert_eq!(asked[0].resource, format!("{TABLE}/index/GSI1"));
    assert_eq!(asked[0].values("dynamodb:LeadingKeys"), ["p#1"]);
    assert_eq!(asked[0].values("dynamodb:Attributes"), ["GSI1PK", "GSI1SK", "flag", "kind", "nested"]);
    assert_eq!(asked[0].values("dynamodb:Select"), ["COUNT"]);
    assert_eq!(asked[0].values("dynamodb:ReturnConsumedCapacity"), ["TOTAL"]);
    let mut elsewhere = query.clone();
    elsewhere["KeyConditionExpression"] = json!("PK = :p");
    assert!(asks("Query", &elsewhere)[0].values("dynamodb:LeadingKeys").is_empty());
    elsewhere.as_object_mut().unwrap().remove("IndexName");
    elsewhere["KeyConditionExpression"] = json!(":p=PK");
    assert_eq!(asks("Query", &elsewhere)[0].values("dynamodb:LeadingKeys"), ["p#1"]);
}

#[test]
fn an_update_names_the_attributes_that_it_sets_and_returns() {
    let mut update = get("o#1");
    update["UpdateExpression"] = json!("SET #a = if_not_exists(b, :x) + :x, c[0].d = :x REMOVE e ADD f :x");
    update["ExpressionAttributeNames"] = json!({ "#a": "first" });
    update["ReturnValuesOnConditionCheckFailure"] = json!("ALL_OLD");
    let asked = asks("UpdateItem", &update);
    assert_eq!(asked[0].values("dynamodb:Attributes"), ["PK", "SK", "b", "c", "e", "f", "first"]);
    assert_eq!(asked[0].values("dynamodb:ReturnValues"), ["ALL_OLD"]);
}

/// Two tables whose partition keys have other names.
fn guard_of_two_tables() -> Guard {
    let table = |name: &str, key: &str| {
        json!({ "Type": "AWS::DynamoDB::Table", "Properties": {
            "TableName": name,
            "AttributeDefinitions": [{ "AttributeName": key, "AttributeType": "S" }],
            "KeySchema": [{ "AttributeName": key, "KeyType": "HASH" }],
        } })
    };
    let statement = json!({
        "Effect": "Allow", "Action": ["dynamodb:PutItem", "dynamodb:GetRecords"],
        "Resource": [TABLE, format!("{TABLE}/stream/local")],
    });
    let template = json!({ "Resources": {
        "Notes": table("notes", "PK"),
        "Others": table("others", "key"),
        "Role": { "Type": "AWS::IAM::Role", "Properties": {
            "Policies": [{ "PolicyDocument": { "Version": "2012-10-17", "Statement": statement } }],
        } },
        "GetNote": {
            "Type": "AWS::Serverless::Function",
            "Properties": { "Handler": "get-note", "Role": { "Fn::GetAtt": ["Role", "Arn"] } },
        },
    } });
    Guard::new(&crate::Template::parse(&template.to_string()).unwrap(), true)
}

#[test]
fn each_item_of_a_transaction_is_authorised_on_its_own_table_by_that_tables_key() {
    let guard = guard_of_two_tables();
    let put = |table: &str| {
        let item = json!({ "PK": { "S": "one" }, "key": { "S": "two" } });
        json!({ "Put": { "TableName": table, "Item": item } })
    };
    let request = json!({ "TransactItems": [put("notes"), put("others")] });
    let asks = guard.dynamodb_asks("TransactWriteItems", &request);
    let resources: Vec<_> = asks.iter().map(|ask| ask.resource.as_str()).collect();
    assert_eq!(resources, [TABLE, &TABLE.replace("notes", "others")]);
    assert_eq!([asks[0].values("dynamodb:LeadingKeys"), asks[1].values("dynamodb:LeadingKeys")], [["one"], ["two"]]);
    assert!(!allows(&guard, "TransactWriteItems", &request));
    assert!(allows(&guard, "TransactWriteItems", &json!({ "TransactItems": [put("notes")] })));
}

#[test]
fn a_shard_iterator_is_authorised_on_the_stream_that_it_names() {
    use base64::Engine as _;
    use base64::prelude::BASE64_STANDARD;

    let guard = guard_of_two_tables();
    let reads = |iterator: &str| {
        let request = json!({ "ShardIterator": iterator });
        guard.check_dynamodb(Some("GetNote"), "DynamoDBStreams_20120810.GetRecords", &request).is_ok()
    };
    let embedded = |table: &str| {
        BASE64_STANDARD.encode(json!({ "table_name": table, "shard_id": "shard", "position": 0 }).to_string())
    };
    assert!(reads(&embedded("notes")) && reads(&format!("{TABLE}/stream/2026-11-22T00:00:00.000|1|AAAA")));
    assert!(!reads(&embedded("others")));
    assert!(!reads("opaque"), "it may belong to any stream");
}
