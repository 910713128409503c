//! For tests of event sources: a stack with one consumer, which the test provides.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use crate::aws_json::local_client;
use crate::gateway::Invoke;
use crate::sqs::Sqs;
use crate::template::{Queue, Redrive, StreamSource};
use crate::wait::until;
use crate::{Functions, Options, Stack, StartConsumer, Template};

/// The beginning of every template here. Its last resource is the table, whose properties may continue.
const ROLE_AND_TABLE: &str = r"
Resources:
  Role:
    Type: AWS::IAM::Role
    Properties:
      Policies:
        - PolicyDocument:
            Version: '2012-10-17'
            Statement: [{ Effect: Allow, Action: ['sqs:*', 'dynamodb:*', 's3:*'], Resource: '*' }]
  Table:
    Type: AWS::DynamoDB::Table
    Properties:
      KeySchema: [{ AttributeName: PK, KeyType: HASH }]
      AttributeDefinitions: [{ AttributeName: PK, AttributeType: S }]
";

const QUEUE: &str = r"
  ImportQueue:
    Type: AWS::SQS::Queue
    Properties:
      QueueName: writes
      RedrivePolicy: { deadLetterTargetArn: !GetAtt DeadLetters.Arn, maxReceiveCount: 5 }
  DeadLetters: { Type: AWS::SQS::Queue, Properties: { QueueName: dead } }
  ImportNotes:
    Type: AWS::Serverless::Function
    Properties:
      Handler: import-notes
      Role: !GetAtt Role.Arn
      Timeout: 1
      Events:
        Queue:
          Type: SQS
          Properties:
            Queue: !GetAtt ImportQueue.Arn
            FunctionResponseTypes: [ReportBatchItemFailures]
";

/// The rest of a template whose consumer reads the table's stream.
const STREAM: &str = r"
      StreamSpecification: { StreamViewType: NEW_AND_OLD_IMAGES }
  GivenUp: { Type: AWS::SQS::Queue, Properties: { QueueName: given-up } }
  CountNotes:
    Type: AWS::Serverless::Function
    Properties:
      Handler: count-notes
      Role: !GetAtt Role.Arn
      Timeout: 5
  NotesStream:
    Type: AWS::Lambda::EventSourceMapping
    Properties:
      FunctionName: !Ref CountNotes
      EventSourceArn: !GetAtt Table.StreamArn
      StartingPosition: TRIM_HORIZON
      MaximumRetryAttempts: 2
      MaximumRecordAgeInSeconds: 60
      FunctionResponseTypes: [ReportBatchItemFailures]
      DestinationConfig: { OnFailure: { Destination: !GetAtt GivenUp.Arn } }
";

/// The destination is a bucket, which tells the queue of each object.
const KEPT: &str = r"
  Kept:
    Type: AWS::S3::Bucket
    Properties:
      BucketName: kept
      NotificationConfiguration: { EventBridgeConfiguration: { EventBridgeEnabled: true } }
  SomethingIsKept:
    Type: AWS::Events::Rule
    Properties:
      EventPattern:
        source: [aws.s3]
        detail-type: [Object Created]
        detail: { bucket: { name: [!Ref Kept] } }
      Targets: [{ Id: GivenUp, Arn: !GetAtt GivenUp.Arn }]
";

/// A template with one poller and a visibility timeout of one second. AWS would accept neither.
pub(crate) fn template(change: impl FnOnce(&mut Template)) -> Template {
    let mut template = Template::parse(&format!("{ROLE_AND_TABLE}{QUEUE}")).unwrap();
    template.queue_sources[0].maximum_concurrency = 1;
    queue(&mut template).visibility_timeout_seconds = 1;
    change(&mut template);
    template
}

pub(crate) fn stream_template(change: impl FnOnce(&mut StreamSource)) -> Template {
    let mut template = Template::parse(&format!("{ROLE_AND_TABLE}{STREAM}")).unwrap();
    change(&mut template.stream_sources[0]);
    template
}

/// The same, with a bucket as the destination of what is given up.
pub(crate) fn keeping_template(change: impl FnOnce(&mut StreamSource)) -> Template {
    let text = format!("{ROLE_AND_TABLE}{STREAM}{KEPT}").replace("!GetAtt GivenUp.Arn } }\n", "!GetAtt Kept.Arn } }\n");
    let mut template = Template::parse(&text).unwrap();
    change(&mut template.stream_sources[0]);
    template
}

pub(crate) fn queue(template: &mut Template) -> &mut Queue {
    template.queues.iter_mut().find(|queue| queue.name == "writes").unwrap()
}

pub(crate) fn dies_after(template: &mut Template, receives: u64) {
    queue(template).redrive = Some(Redrive { dead_letters: "dead".to_owned(), max_receive_count: receives });
}

/// A stack whose only consumer the test provides. It records the invocations.
pub(crate) struct Bench {
    pub(crate) stack: Stack,
    pub(crate) sqs: Sqs,
    calls: Arc<Mutex<Vec<Call>>>,
}

/// One invocation.
#[derive(Clone)]
pub(crate) struct Call {
    /// The number of environments started before the one that ran this call.
    pub(crate) environment: usize,
    pub(crate) event: Value,
}

impl Call {
    pub(crate) fn bodies(&self) -> Vec<&str> {
        let records = self.event["Records"].as_array().unwrap();
        records.iter().map(|record| record["body"].as_str().unwrap()).collect()
    }

    pub(crate) fn failing(&self, bodies: &[&str]) -> Value {
        let records = self.event["Records"].as_array().unwrap().iter();
        let failed = records.filter(|record| bodies.contains(&record["body"].as_str().unwrap()));
        let failed: Vec<_> = failed.map(|record| json!({ "itemIdentifier": record["messageId"] })).collect();
        json!({ "batchItemFailures": failed })
    }
}

impl Bench {
    pub(crate) async fn start<F>(template: Template, body: impl Fn(Call) -> F + Clone + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Result<Value, String>> + Send + 'static,
    {
        Self::start_with(Options::new(template), body).await
    }

    pub(crate) async fn start_with<F>(
        options: Options,
        body: impl Fn(Call) -> F + Clone + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Result<Value, String>> + Send + 'static,
    {
        let calls = Arc::new(Mutex::new(Vec::new()));
        let (heard, started) = (Arc::clone(&calls), AtomicUsize::new(0));
        let start: StartConsumer = Arc::new(move || {
            let environment = started.fetch_add(1, Ordering::Relaxed);
            let (heard, body) = (Arc::clone(&heard), body.clone());
            let invoke: Invoke = Arc::new(move |event| {
                let call = Call { environment, event };
                heard.lock().unwrap().push(call.clone());
                Box::pin(body(call))
            });
            Ok(invoke)
        });
        // The template has one of the two.
        let consumers = ["import-notes", "count-notes"].map(|name| (name.to_owned(), Arc::clone(&start))).to_vec();
        let functions = Functions { consumers, ..Functions::default() };
        let stack = Stack::start(options, |_, _| Ok(functions)).await.unwrap();
        let sqs = Sqs::new(stack.sqs_url(), &stack.template().queues).unwrap();
        Self { stack, sqs, calls }
    }

    pub(crate) async fn send(&self, bodies: &[&str]) {
        for body in bodies {
            self.sqs.send("writes", &json!(body), &Value::Null).await.unwrap();
        }
    }

    pub(crate) fn calls(&self) -> Vec<Call> {
        self.calls.lock().unwrap().clone()
    }

    /// Waits for this many calls, and returns them.
    pub(crate) async fn after(&self, calls: usize) -> Vec<Call> {
        self.until(|| async { self.calls().len() >= calls }).await;
        self.calls()
    }

    /// Waits until the queues have this many messages, in any state.
    pub(crate) async fn until_there_are(&self, writes: u64, dead: u64) {
        self.until(|| async {
            let counts = self.sqs.counts().await.unwrap();
            let all = |name: &str| counts[name].visible + counts[name].in_flight + counts[name].delayed;
            (all("writes"), all("dead")) == (writes, dead)
        })
        .await;
    }

    async fn until<F: Future<Output = bool>>(&self, holds: impl Fn() -> F) {
        until("it happens", async || holds().await).await;
    }

    /// The answer of one of the stack's `/_local` routes.
    pub(crate) async fn local(&self, method: reqwest::Method, path: &str) -> Value {
        let request = local_client().unwrap().request(method, format!("{}/_local/{path}", self.stack.url()));
        request.send().await.unwrap().error_for_status().unwrap().json().await.unwrap()
    }
}
