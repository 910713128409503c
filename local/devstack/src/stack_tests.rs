//! Tests of a stack with two tables.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};
use tokio::task::JoinSet;

use super::*;
use crate::aws_json::Service;
use crate::deployment::Deployment;
use crate::template::Table;
use crate::test_stack::Bench;
use crate::wait::PATIENCE;

const TEMPLATE: &str = r"
Parameters:
  Tables: { Type: String, Default: both, AllowedValues: [both, old, new] }
Conditions:
  HasOld: !Not [!Equals [!Ref Tables, new]]
  HasNew: !Not [!Equals [!Ref Tables, old]]
Resources:
  Old:
    Type: AWS::DynamoDB::Table
    Condition: HasOld
    Properties: &notes
      KeySchema: [{ AttributeName: PK, KeyType: HASH }]
      AttributeDefinitions: [{ AttributeName: PK, AttributeType: S }]
      StreamSpecification: { StreamViewType: NEW_AND_OLD_IMAGES }
  NewTable:
    Type: AWS::DynamoDB::Table
    Condition: HasNew
    Properties: *notes
  Role:
    Type: AWS::IAM::Role
    Properties:
      Policies:
        - !If
          - HasOld
          - PolicyDocument:
              Version: '2012-10-17'
              Statement:
                - Effect: Allow
                  Action: [dynamodb:DescribeStream, dynamodb:GetRecords, dynamodb:GetShardIterator]
                  Resource: !GetAtt Old.StreamArn
                - { Effect: Allow, Action: dynamodb:ListStreams, Resource: !Sub '${Old.Arn}/stream/*' }
          - !Ref AWS::NoValue
        - !If
          - HasNew
          - PolicyDocument:
              Version: '2012-10-17'
              Statement:
                - Effect: Allow
                  Action: [dynamodb:DescribeStream, dynamodb:GetRecords, dynamodb:GetShardIterator]
                  Resource: !GetAtt NewTable.StreamArn
                - { Effect: Allow, Action: dynamodb:ListStreams, Resource: !Sub '${NewTable.Arn}/stream/*' }
          - !Ref AWS::NoValue
  CountNotes:
    Type: AWS::Serverless::Function
    Properties:
      Handler: count-notes
      Role: !GetAtt Role.Arn
      Timeout: 5
      Environment:
        Variables:
          TABLE: !If [HasOld, !Ref Old, !Ref NewTable]
          OLD: !If [HasOld, !Ref Old, !Ref AWS::NoValue]
  OldNotes:
    Type: AWS::Lambda::EventSourceMapping
    Condition: HasOld
    Properties: { FunctionName: !Ref CountNotes, EventSourceArn: !GetAtt Old.StreamArn, StartingPosition: TRIM_HORIZON, MaximumRecordAgeInSeconds: 60 }
  NewNotes:
    Type: AWS::Lambda::EventSourceMapping
    Condition: HasNew
    Properties: { FunctionName: !Ref CountNotes, EventSourceArn: !GetAtt NewTable.StreamArn, StartingPosition: TRIM_HORIZON, MaximumRecordAgeInSeconds: 60 }
";

const OLD: &str = "devstack-table";
const NEW: &str = "devstack-table-new-table";

fn deployed(text: &str, tables: &str) -> Result<Template> {
    let parameters = [("Tables".to_owned(), tables.to_owned())].into();
    Template::parse_for(text, &Deployment { parameters, ..Deployment::default() })
}

async fn open() -> Bench {
    Bench::start(deployed(TEMPLATE, "both").unwrap(), |_| async { Ok(Value::Null) }).await
}

fn names(template: &Template) -> Vec<&str> {
    template.tables.iter().map(Table::name).collect()
}

fn key(table: &str, key: &str) -> Value {
    json!({ "TableName": table, "Key": { "PK": { "S": key } } })
}

fn put(table: &str, key: &str, condition: Option<&str>) -> Value {
    let mut put = json!({ "TableName": table, "Item": { "PK": { "S": key }, "n": { "N": "1" } } });
    if let Some(condition) = condition {
        put["ConditionExpression"] = json!(condition);
        put["ReturnValuesOnConditionCheckFailure"] = json!("ALL_OLD");
    }
    json!({ "Put": put })
}

fn add_one(table: &str, name: &str) -> Value {
    let mut update = key(table, name);
    update["UpdateExpression"] = json!("ADD n :one");
    update["ExpressionAttributeValues"] = json!({ ":one": { "N": "1" } });
    json!({ "Update": update })
}

fn reads(tables: [&str; 2], name: &str) -> Value {
    json!({ "TransactItems": tables.map(|table| json!({ "Get": key(table, name) })) })
}

impl Bench {
    fn dynamodb(&self) -> Service {
        Service::dynamodb(self.stack.dynamodb_url()).unwrap()
    }

    /// The names of the tables whose records reached the consumer, in sequence of delivery.
    fn told(&self) -> Vec<String> {
        let calls = self.calls();
        let records = calls.iter().flat_map(|call| call.event["Records"].as_array().unwrap());
        let arns = records.map(|record| record["eventSourceARN"].as_str().unwrap());
        arns.map(|arn| arn.split_once(":table/").unwrap().1.split('/').next().unwrap().to_owned()).collect()
    }
}

#[test]
fn a_deployment_has_the_tables_whose_condition_holds_under_names_that_stay() {
    for (tables, expected, sources, table) in
        [("both", &[OLD, NEW][..], &[OLD, NEW][..], OLD), ("old", &[OLD], &[OLD], OLD), ("new", &[NEW], &[NEW], NEW)]
    {
        let template = deployed(TEMPLATE, tables).unwrap();
        assert_eq!(names(&template), expected, "{tables}");
        let streams: Vec<_> = template.stream_sources.iter().map(|source| source.table.as_str()).collect();
        assert_eq!(streams, sources, "{tables}");
        let function = template.function("CountNotes").unwrap();
        assert_eq!(function.environment["TABLE"], table, "{tables}");
        assert_eq!(function.environment.contains_key("OLD"), tables != "new", "{tables}: no value, no variable");
        assert_eq!(function.role.policies.len(), expected.len(), "{tables}");
    }
}

#[test]
fn a_reference_to_a_resource_whose_condition_is_false_is_named() {
    let text = TEMPLATE.replacen("!If [HasOld, !Ref Old, !Ref NewTable]", "!Ref Old", 1);
    let error = format!("{:#}", deployed(&text, "new").unwrap_err());
    let expected = "Old is not in this deployment: its Condition is false";
    assert_eq!(error, format!("CountNotes: Environment.Variables.TABLE: {expected}"));

    let error = format!("{:#}", deployed(TEMPLATE, "none").unwrap_err());
    assert_eq!(error, "Old: condition HasOld: parameter Tables: none is not one of both, old, new");

    let text = TEMPLATE.replacen("Condition: HasNew", "Condition: HasNothing", 1);
    let error = format!("{:#}", deployed(&text, "both").unwrap_err());
    assert_eq!(error, "NewTable: there is no condition HasNothing");
}

#[test]
fn two_tables_with_one_name_are_named() {
    let named = "Properties:\n      TableName: notes\n      KeySchema: [{ AttributeName: PK, KeyType: HASH }]\n      AttributeDefinitions: []";
    let text = TEMPLATE.replacen("Properties: *notes", named, 1);
    let text = text.replacen("Properties: &notes", "Properties:\n      TableName: notes", 1);
    let error = format!("{:#}", deployed(&text, "both").unwrap_err());
    assert_eq!(error, "NewTable: TableName: notes is already the name of another table");
}

#[test]
fn an_event_source_mapping_needs_a_function_and_a_stream_of_the_template() {
    for (from, to, expected) in [
        ("FunctionName: !Ref CountNotes", "FunctionName: count", "FunctionName: count is no function of this template"),
        (
            "EventSourceArn: !GetAtt Old.StreamArn",
            "EventSourceArn: arn:of:another",
            "EventSourceArn: arn:of:another is not the stream of a table of this template",
        ),
    ] {
        let error = format!("{:#}", deployed(&TEMPLATE.replacen(from, to, 1), "both").unwrap_err());
        assert_eq!(error, format!("OldNotes: {expected}"));
    }
}

#[tokio::test]
async fn the_streams_of_both_tables_reach_the_consumer() {
    let bench = open().await;
    let listed = bench.dynamodb().succeed("ListTables", &json!({})).await.unwrap();
    assert_eq!(listed["TableNames"], json!([OLD, NEW]));
    for (table, expected) in [(NEW, vec![NEW]), (OLD, vec![NEW, OLD])] {
        bench.dynamodb().succeed("PutItem", &put(table, "a", None)["Put"]).await.unwrap();
        bench.stack.settle(PATIENCE).await.unwrap();
        assert_eq!(bench.told(), expected);
    }
    let environments: Vec<_> = bench.calls().iter().map(|call| call.environment).collect();
    assert_ne!(environments[0], environments[1], "each stream has its own execution environment");
}

#[tokio::test]
async fn a_role_that_may_not_read_one_of_the_streams_is_named() {
    let text = TEMPLATE.replacen("Resource: !GetAtt NewTable.StreamArn", "Resource: !GetAtt Old.StreamArn", 1);
    let options = Options::new(deployed(&text, "both").unwrap());
    let consumer: crate::StartConsumer = Arc::new(|| Ok(Arc::new(|_| Box::pin(async { Ok(Value::Null) }))));
    let functions = Functions { consumers: vec![("count-notes".to_owned(), consumer)], ..Functions::default() };
    let error = format!("{:#}", Stack::start(options, |_, _| Ok(functions)).await.err().unwrap());
    assert!(error.contains("dynamodb:DescribeStream") && error.contains(NEW), "{error}");
}

#[tokio::test]
async fn a_page_shows_the_items_of_the_chosen_table() {
    let bench = open().await;
    for (table, name) in [(OLD, "in the old"), (NEW, "in the new")] {
        bench.dynamodb().succeed("PutItem", &put(table, name, None)["Put"]).await.unwrap();
    }
    for (query, shown, hidden) in [
        ("", "in the old", "in the new"),
        ("?table=devstack-table", "in the old", "in the new"),
        ("?table=devstack-table-new-table&index=&partition=", "in the new", "in the old"),
    ] {
        let page = reqwest::get(format!("{}/_local/table{query}", bench.stack.url())).await.unwrap();
        let page = page.text().await.unwrap();
        assert!(page.contains(shown) && !page.contains(hidden), "{query}: {page}");
        assert!(page.contains(OLD) && page.contains(NEW), "both tables can be chosen");
    }
}

#[tokio::test]
async fn a_transaction_over_two_tables_is_written_whole_or_not_at_all() {
    let bench = open().await;
    let dynamodb = bench.dynamodb();
    // The same key in two tables is two items.
    let both =
        json!({ "TransactItems": [put(OLD, "a", None), put(NEW, "a", None)], "ReturnConsumedCapacity": "INDEXES" });
    let written = dynamodb.succeed("TransactWriteItems", &both).await.unwrap();
    let consumed = written["ConsumedCapacity"].as_array().unwrap();
    let mut of_tables: Vec<_> = consumed.iter().map(|one| one["TableName"].as_str().unwrap()).collect();
    of_tables.sort_unstable();
    assert_eq!(of_tables, [OLD, NEW]);

    let absent = "attribute_not_exists(PK)";
    let mut check = key(OLD, "a");
    check["ConditionExpression"] = json!(absent);
    let actions = [
        put(OLD, "b", Some(absent)),
        put(NEW, "a", Some(absent)),
        json!({ "ConditionCheck": check }),
        add_one(NEW, "b"),
    ];
    let refusal = dynamodb.call("TransactWriteItems", &json!({ "TransactItems": actions })).await.unwrap().unwrap_err();
    assert!(refusal.is("TransactionCanceledException"));
    let reasons = refusal.0["CancellationReasons"].as_array().unwrap().clone();
    let codes: Vec<_> = reasons.iter().map(|reason| reason["Code"].as_str().unwrap()).collect();
    assert_eq!(codes, ["None", "ConditionalCheckFailed", "ConditionalCheckFailed", "None"]);
    assert_eq!(reasons[1]["Item"]["PK"]["S"], "a");
    let read = dynamodb.succeed("TransactGetItems", &reads([OLD, NEW], "b")).await.unwrap();
    assert_eq!(read["Responses"], json!([{}, {}]), "nothing was written in either table");
}

#[tokio::test]
async fn a_transaction_over_two_tables_has_at_most_a_hundred_actions() {
    let bench = open().await;
    let of_table = |table: &'static str, count: usize| (0..count).map(move |at| put(table, &at.to_string(), None));
    for (new, is_written) in [(50, true), (51, false)] {
        let actions: Vec<_> = of_table(OLD, 50).chain(of_table(NEW, new)).collect();
        let answer = bench.dynamodb().call("TransactWriteItems", &json!({ "TransactItems": actions })).await.unwrap();
        assert_eq!(answer.is_ok(), is_written, "50 and {new}");
    }
}

#[tokio::test]
async fn a_transaction_over_two_tables_with_a_token_is_carried_out_once() {
    let bench = open().await;
    let dynamodb = bench.dynamodb();
    let once = json!({ "TransactItems": [add_one(OLD, "a"), add_one(NEW, "a")], "ClientRequestToken": "token" });
    for _ in 0..3 {
        dynamodb.succeed("TransactWriteItems", &once).await.unwrap();
    }
    let read = dynamodb.succeed("TransactGetItems", &reads([OLD, NEW], "a")).await.unwrap();
    let item = json!({ "Item": { "PK": { "S": "a" }, "n": { "N": "1" } } });
    assert_eq!(read["Responses"], json!([item, item]));

    // The same actions, with the tables exchanged.
    let other = json!({ "TransactItems": [add_one(NEW, "a"), add_one(OLD, "a")], "ClientRequestToken": "token" });
    let refusal = dynamodb.call("TransactWriteItems", &other).await.unwrap().unwrap_err();
    assert!(refusal.is("IdempotentParameterMismatchException"), "{:?}", refusal.0);
}

/// Readers of both tables never see a transaction half, and no increment is lost.
#[tokio::test(flavor = "multi_thread")]
async fn transactions_over_two_tables_are_serializable() {
    const WRITERS: usize = 4;
    const EACH: usize = 40;
    let bench = open().await;
    let done = Arc::new(AtomicBool::new(false));
    let mut readers = JoinSet::new();
    for tables in [[OLD, NEW], [NEW, OLD]] {
        let (dynamodb, done) = (bench.dynamodb(), Arc::clone(&done));
        readers.spawn(async move {
            let mut snapshots = 0;
            while !done.load(Ordering::Relaxed) {
                // A read that meets a write may be cancelled.
                let Ok(read) = dynamodb.call("TransactGetItems", &reads(tables, "a")).await.unwrap() else { continue };
                assert_eq!(read["Responses"][0], read["Responses"][1]);
                snapshots += 1;
            }
            snapshots
        });
    }
    let mut writers = JoinSet::new();
    for writer in 0..WRITERS {
        let dynamodb = bench.dynamodb();
        writers.spawn(async move {
            for at in 0..EACH {
                let tables = if (writer + at) % 2 == 0 { [OLD, NEW] } else { [NEW, OLD] };
                let write = json!({ "TransactItems": tables.map(|table| add_one(table, "a")) });
                while let Err(refusal) = dynamodb.call("TransactWriteItems", &write).await.unwrap() {
                    assert!(refusal.is("TransactionCanceledException"), "{:?}", refusal.0);
                }
            }
        });
    }
    while let Some(written) = writers.join_next().await {
        written.unwrap();
    }
    done.store(true, Ordering::Relaxed);
    while let Some(snapshots) = readers.join_next().await {
        assert!(snapshots.unwrap() > 0);
    }
    let read = bench.dynamodb().succeed("TransactGetItems", &reads([OLD, NEW], "a")).await.unwrap();
    assert_eq!(read["Responses"][0]["Item"]["n"]["N"], (WRITERS * EACH).to_string());
    assert_eq!(read["Responses"][0], read["Responses"][1]);
}
