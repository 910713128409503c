//! Tests of a stack with two tables.

use std::sync::Arc;

use serde_json::Value;

use super::*;
use crate::deployment::Deployment;
use crate::template::Table;

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

fn names(template: &Template) -> Vec<&str> {
    template.tables.iter().map(Table::name).collect()
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

#[tokio::test]
async fn a_role_that_may_not_read_one_of_the_streams_is_named() {
    let text = TEMPLATE.replacen("Resource: !GetAtt NewTable.StreamArn", "Resource: !GetAtt Old.StreamArn", 1);
    let options = Options::new(deployed(&text, "both").unwrap());
    let consumer: crate::StartConsumer = Arc::new(|| Ok(Arc::new(|_| Box::pin(async { Ok(Value::Null) }))));
    let functions = Functions { consumers: vec![("count-notes".to_owned(), consumer)], ..Functions::default() };
    let error = format!("{:#}", Stack::start(options, |_, _| Ok(functions)).await.err().unwrap());
    assert!(error.contains("dynamodb:DescribeStream") && error.contains(NEW), "{error}");
}
