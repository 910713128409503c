use crate::template::tests::error_with;
use crate::template::{Destination, Pattern, StreamSource, Template};

const SOUND: &str = r#"
Resources:
  Role: { Type: AWS::IAM::Role, Properties: {} }
  Table:
    Type: AWS::DynamoDB::Table
    Properties:
      KeySchema: [{ AttributeName: PK, KeyType: HASH }]
      AttributeDefinitions: [{ AttributeName: PK, AttributeType: S }]
      StreamSpecification: { StreamViewType: NEW_AND_OLD_IMAGES }
  GivenUp: { Type: AWS::SQS::Queue, Properties: { QueueName: given-up } }
  CountNotes:
    Type: AWS::Serverless::Function
    Properties:
      Handler: count-notes
      Role: !GetAtt Role.Arn
  NotesStream:
    Type: AWS::Lambda::EventSourceMapping
    Properties:
      FunctionName: !Ref CountNotes
      EventSourceArn: !GetAtt Table.StreamArn
      StartingPosition: TRIM_HORIZON
      MaximumRetryAttempts: 5
      MaximumRecordAgeInSeconds: 3600
      BatchSize: 200
      MaximumBatchingWindowInSeconds: 1
      TumblingWindowInSeconds: 30
      ParallelizationFactor: 1
      BisectBatchOnFunctionError: true
      FunctionResponseTypes: [ReportBatchItemFailures]
      DestinationConfig: { OnFailure: { Type: SQS, Destination: !GetAtt GivenUp.Arn } }
      FilterCriteria: { Filters: [{ Pattern: '{ "eventName": ["INSERT"] }' }] }
"#;

/// Asserts that the change is refused with this message about the event.
fn refused(from: &str, to: &str, expected: &str) {
    assert_eq!(error_with(SOUND, from, to), format!("NotesStream: {expected}"));
}

#[test]
fn a_stream_event_comes_with_its_settings() {
    let expected = StreamSource {
        function: "CountNotes".to_owned(),
        table: "devstack-table".to_owned(),
        batch_size: 200,
        batching_window_seconds: 1,
        tumbling_window_seconds: 30,
        maximum_retry_attempts: Some(5),
        maximum_record_age_seconds: 3600,
        bisects_batches: true,
        reports_item_failures: true,
        on_failure: Some(Destination::Queue("given-up".to_owned())),
        filters: vec![Pattern::parse(r#"{ "eventName": ["INSERT"] }"#).unwrap()],
        enabled: true,
    };
    assert_eq!(Template::parse(SOUND).unwrap().stream_sources, [expected]);
}

#[test]
fn a_minimal_stream_event_has_lambdas_defaults() {
    let (head, _) = SOUND.split_once("      BatchSize").unwrap();
    let text = format!("{head}      Enabled: false\n");
    let expected = StreamSource {
        function: "CountNotes".to_owned(),
        table: "devstack-table".to_owned(),
        batch_size: 100,
        batching_window_seconds: 0,
        tumbling_window_seconds: 0,
        maximum_retry_attempts: Some(5),
        maximum_record_age_seconds: 3600,
        bisects_batches: false,
        reports_item_failures: false,
        on_failure: None,
        filters: Vec::new(),
        enabled: false,
    };
    assert_eq!(Template::parse(&text).unwrap().stream_sources, [expected]);
}

#[test]
fn only_the_stream_of_a_table_is_a_source_of_a_function() {
    refused(
        "FunctionName: !Ref CountNotes",
        "FunctionName: count",
        "FunctionName: count is no function of this template",
    );
    refused(
        "!GetAtt Table.StreamArn",
        "arn:of:another",
        "EventSourceArn: arn:of:another is not the stream of a table of this template",
    );
    refused(
        "StreamSpecification: { StreamViewType: NEW_AND_OLD_IMAGES }",
        "BillingMode: PAY_PER_REQUEST",
        "EventSourceArn: the table Table has no StreamSpecification",
    );
}

#[test]
fn an_unlimited_record_age_is_refused_and_unlimited_retries_are_not() {
    let missing = "MaximumRecordAgeInSeconds is missing or -1, with which a batch that fails blocks its shard for 24 hours: set it";
    let age = "      MaximumRecordAgeInSeconds: 3600\n";
    refused(age, "", missing);
    refused(age, &age.replace("3600", "-1"), missing);
    for retries in ["", "      MaximumRetryAttempts: -1\n"] {
        let text = SOUND.replacen("      MaximumRetryAttempts: 5\n", retries, 1);
        let template = Template::parse(&text).unwrap();
        assert_eq!(template.stream_sources[0].maximum_retry_attempts, None);
    }
}

#[test]
fn concurrent_batches_of_one_shard_are_refused() {
    refused(
        "ParallelizationFactor: 1",
        "ParallelizationFactor: 2",
        "ParallelizationFactor: 2 is not 1, the only one that the laptop stack knows",
    );
}

#[test]
fn a_stream_event_that_lambda_would_refuse_is_refused() {
    refused(
        "Attempts: 5",
        "Attempts: some",
        "MaximumRetryAttempts: some is not a whole number: invalid digit found in string",
    );
    refused(
        "TRIM_HORIZON",
        "LATEST",
        "StartingPosition: LATEST is not TRIM_HORIZON, the only one that the laptop stack knows",
    );
    refused("StartingPosition: TRIM_HORIZON", "Enabled: true", "StartingPosition is missing");
    refused(
        "[ReportBatchItemFailures]",
        "[ReportBatchItemFailure]",
        "FunctionResponseTypes: ReportBatchItemFailure is not ReportBatchItemFailures, the only one there is",
    );
}

#[test]
fn a_destination_is_a_queue_or_a_bucket_of_the_template() {
    let kept = "  GivenUp: { Type: AWS::S3::Bucket, Properties: { BucketName: given-up } }";
    let queue = "  GivenUp: { Type: AWS::SQS::Queue, Properties: { QueueName: given-up } }";
    let template = Template::parse(&SOUND.replacen(queue, kept, 1)).unwrap();
    assert_eq!(template.stream_sources[0].on_failure, Some(Destination::Bucket("given-up".to_owned())));
    refused(
        "Destination: !GetAtt GivenUp.Arn",
        "Destination: arn:of:a:topic",
        "DestinationConfig: OnFailure: Destination: arn:of:a:topic is no queue and no bucket of this template",
    );
}

#[test]
fn an_unknown_filter_is_named() {
    refused(
        r#"["INSERT"]"#,
        r#"[{ "cidr": "10.0.0.0/24" }]"#,
        "FilterCriteria: Filters[0]: Pattern: eventName: cidr is not known to the laptop stack: it knows exists alone",
    );
    refused("Filters: [", "Filter: [", "FilterCriteria: Filters is missing or not a list");
}
