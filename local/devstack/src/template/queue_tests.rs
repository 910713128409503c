use crate::template::tests::error_with;
use crate::template::{Queue, QueueSource, Redrive, Template};

const SOUND: &str = r"
Resources:
  Role: { Type: AWS::IAM::Role, Properties: {} }
  Table:
    Type: AWS::DynamoDB::Table
    Properties:
      KeySchema: [{ AttributeName: PK, KeyType: HASH }]
      AttributeDefinitions: [{ AttributeName: PK, AttributeType: S }]
  ImportQueue:
    Type: AWS::SQS::Queue
    Properties:
      VisibilityTimeout: 95
      ReceiveMessageWaitTimeSeconds: 20
      DelaySeconds: 1
      RedrivePolicy: { deadLetterTargetArn: !GetAtt DeadLetters.Arn, maxReceiveCount: 5 }
  DeadLetters:
    Type: AWS::SQS::Queue
    Properties: { QueueName: dead, MessageRetentionPeriod: 1209600 }
  AddNote:
    Type: AWS::Serverless::Function
    Properties:
      Handler: add-note
      Role: !GetAtt Role.Arn
      Environment:
        Variables:
          URL: !Ref ImportQueue
          ARN: !GetAtt ImportQueue.Arn
          NAME: !Sub '${ImportQueue.QueueName}'
  ImportNotes:
    Type: AWS::Serverless::Function
    Properties:
      Handler: import-notes
      Role: !GetAtt Role.Arn
      Timeout: 15
      Events:
        Queue:
          Type: SQS
          Properties:
            Queue: !GetAtt ImportQueue.Arn
            BatchSize: 20
            MaximumBatchingWindowInSeconds: 5
            ScalingConfig: { MaximumConcurrency: 2 }
            FunctionResponseTypes: [ReportBatchItemFailures]
";

#[test]
fn queues_come_with_their_attributes_dead_letters_first() {
    let expected = [
        Queue {
            logical_id: "DeadLetters".to_owned(),
            name: "dead".to_owned(),
            visibility_timeout_seconds: 30,
            retention_seconds: 1_209_600,
            receive_wait_seconds: 0,
            delay_seconds: 0,
            redrive: None,
        },
        Queue {
            logical_id: "ImportQueue".to_owned(),
            name: "devstack-import-queue".to_owned(),
            visibility_timeout_seconds: 95,
            retention_seconds: 345_600,
            receive_wait_seconds: 20,
            delay_seconds: 1,
            redrive: Some(Redrive { dead_letters: "dead".to_owned(), max_receive_count: 5 }),
        },
    ];
    assert_eq!(Template::parse(SOUND).unwrap().queues, expected);
}

#[test]
fn an_sqs_event_comes_with_its_settings() {
    let expected = QueueSource {
        function: "ImportNotes".to_owned(),
        queue: "devstack-import-queue".to_owned(),
        batch_size: 20,
        batching_window_seconds: 5,
        maximum_concurrency: 2,
        reports_item_failures: true,
        enabled: true,
    };
    assert_eq!(Template::parse(SOUND).unwrap().queue_sources, [expected]);
}

#[test]
fn an_sqs_event_that_says_little_is_what_lambda_makes_of_it() {
    let (head, _) = SOUND.split_once("            BatchSize").unwrap();
    let source = &Template::parse(&format!("{head}            Enabled: false\n")).unwrap().queue_sources[0];
    assert_eq!((source.batch_size, source.batching_window_seconds, source.maximum_concurrency), (10, 0, 5));
    assert!(!source.reports_item_failures && !source.enabled);
}

#[test]
fn references_to_a_queue_are_its_url_its_arn_and_its_name() {
    let template = Template::parse(SOUND).unwrap();
    let environment = &template.function("AddNote").unwrap().environment;
    assert_eq!(environment["URL"], "https://sqs.us-east-1.amazonaws.com/000000000000/devstack-import-queue");
    assert_eq!(environment["ARN"], "arn:aws:sqs:us-east-1:000000000000:devstack-import-queue");
    assert_eq!(environment["NAME"], "devstack-import-queue");
}

#[test]
fn what_a_queue_cannot_be_is_named() {
    let second = "  SecondQueue:
    Type: AWS::SQS::Queue
    Properties: { RedrivePolicy: { deadLetterTargetArn: !GetAtt DeadLetters.Arn, maxReceiveCount: 5 } }
  DeadLetters:";
    for (from, to, error) in [
        (
            "${ImportQueue.QueueName}",
            "${ImportQueue.Name}",
            "AddNote: Environment.Variables.NAME: ImportQueue: a queue has no attribute Name: it has Arn, QueueName and \
             QueueUrl",
        ),
        (
            "VisibilityTimeout: 95",
            "VisibilityTimeout: long",
            "ImportQueue: VisibilityTimeout: \"long\" is not a whole number",
        ),
        (
            "!GetAtt DeadLetters.Arn",
            "arn:aws:sqs:us-east-1:1:gone",
            "ImportQueue: RedrivePolicy: deadLetterTargetArn: arn:aws:sqs:us-east-1:1:gone is no queue here",
        ),
        (", maxReceiveCount: 5", "", "ImportQueue: RedrivePolicy: maxReceiveCount is missing"),
        (
            "  DeadLetters:",
            second,
            "SecondQueue: RedrivePolicy: dead has the dead letters of ImportQueue already, and the laptop stack redrives \
             to one queue",
        ),
    ] {
        assert_eq!(error_with(SOUND, from, to), error);
    }
}

#[test]
fn an_sqs_event_that_lambda_would_refuse_or_that_loses_messages_is_refused() {
    for (from, to, error) in [
        (
            "Queue: !GetAtt ImportQueue.Arn\n",
            "Queue: arn:of:another\n",
            "Queue: arn:of:another is no queue of this template",
        ),
        (
            "VisibilityTimeout: 95",
            "VisibilityTimeout: 94",
            "Queue: VisibilityTimeout of ImportQueue is 94 s, below 95 s, which is 6 times the function's timeout and the \
             batching window",
        ),
        (
            "maxReceiveCount: 5",
            "maxReceiveCount: 4",
            "Queue: maxReceiveCount of ImportQueue is 4: below 5, messages die although nothing is wrong with them",
        ),
        (
            "MaximumBatchingWindowInSeconds: 5",
            "MaximumBatchingWindowInSeconds: 0",
            "BatchSize: 20 is above 10 and needs MaximumBatchingWindowInSeconds of at least 1",
        ),
        (
            "[ReportBatchItemFailures]",
            "[ReportBatchItemFailure]",
            "FunctionResponseTypes: ReportBatchItemFailure is not ReportBatchItemFailures, the only one there is",
        ),
    ] {
        assert_eq!(error_with(SOUND, from, to), format!("ImportNotes: Events.Queue: {error}"));
    }
}
