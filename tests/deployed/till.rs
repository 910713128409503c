//! A Till that is running: one that was deployed, if the environment tells of it, or else the laptop's stack.

use std::env;
use std::time::{Duration, Instant};

use http_api::{ADMIN_SCOPE, SHOP_SCOPE};
use local::{Options, Stack, Template, functions};
use reqwest::{Client as Http, Url};
use serde_json::{Value, json};

use crate::aws::{Aws, SQS};
use crate::client::Client;
use crate::sign_in::{SignIn, subject};

/// How long anything in the background may take.
const PATIENCE: Duration = Duration::from_mins(2);

/// What the story is told about.
pub struct Till {
    nobody: Client,
    people: People,
    aws: Aws,
    /// The names of the queues of orders that wait, and of those that never will be placed.
    queue: String,
    dead_letters: String,
}

/// Where people get their tokens.
enum People {
    Laptop(Box<Stack>),
    Cognito(Box<SignIn>),
}

/// Somebody with a token.
pub struct Person {
    pub id: String,
    pub client: Client,
}

/// A variable that a story about a deployed Till needs.
pub fn variable(name: &str) -> String {
    env::var(name).unwrap_or_else(|_| panic!("{name} is not set: docs/third-party.md tells what the story needs"))
}

/// Asks until there is an answer.
pub async fn until<T>(what: &str, mut ask: impl AsyncFnMut() -> Option<T>) -> T {
    let begin = Instant::now();
    loop {
        if let Some(answer) = ask().await {
            return answer;
        }
        assert!(begin.elapsed() < PATIENCE, "after {} s, not yet: {what}", PATIENCE.as_secs());
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

impl Till {
    /// The one that `TILL_API_URL` and the other variables of docs/third-party.md tell of.
    pub async fn open() -> Self {
        match env::var("TILL_API_URL") {
            Ok(url) => Self::deployed(&url),
            Err(_) => Self::on_this_machine().await,
        }
    }

    fn deployed(url: &str) -> Self {
        let url: Url = url.parse().expect("TILL_API_URL is a URL");
        let mut http = Http::builder();
        // Names that end so are this machine's (RFC 6761, section 6.3), whatever its resolver makes of them.
        if let Some(host) = url.host_str().filter(|host| host.ends_with(".localhost")) {
            http = http.resolve(host, ([127, 0, 0, 1], 0).into());
        }
        let http = http.build().expect("a client");
        let [queue, dead_letters] = ["TILL_WRITE_QUEUE_ARN", "TILL_DEAD_LETTERS_ARN"].map(|arn| {
            let arn = variable(arn);
            arn.rsplit(':').next().expect("a name").to_owned()
        });
        Self {
            nobody: Client::new(http.clone(), url.as_str().trim_end_matches('/')).behind_api_gateway(),
            people: People::Cognito(Box::new(SignIn::from_environment())),
            aws: Aws::from_environment(http),
            queue,
            dead_letters,
        }
    }

    async fn on_this_machine() -> Self {
        let text = include_str!("../../template.yaml");
        let template = Template::parse(text).expect("template.yaml is valid");
        let openapi = functions::open_api().expect("the API is described");
        let options = Options { openapi, ..Options::new(template) };
        let stack = Stack::start(options, functions::start_all).await.expect("the stack starts");
        let http = Http::new();
        let queue = |id: &str| {
            let queue = stack.template().queues.iter().find(|queue| queue.logical_id == id);
            queue.expect("a queue of the template").name.clone()
        };
        let (waiting, dead_letters) = (queue("WriteQueue"), queue("DeadLetters"));
        Self {
            nobody: Client::new(http.clone(), stack.url()),
            aws: Aws::local(http, stack.sqs_url()),
            people: People::Laptop(Box::new(stack)),
            queue: waiting,
            dead_letters,
        }
    }

    /// Whoever has no token.
    pub fn nobody(&self) -> Client {
        self.nobody.clone()
    }

    /// Somebody who was not known before, signed in.
    pub async fn new_customer(&self, name: &str) -> Person {
        let token = match &self.people {
            People::Laptop(stack) => stack.token(name, SHOP_SCOPE).expect("a token"),
            People::Cognito(sign_in) => {
                let password = sign_in.sign_up(&self.aws, &format!("{name}@example.com")).await;
                sign_in.customer_token(&password).await
            }
        };
        Person { id: subject(&token), client: self.nobody.with_token(&token) }
    }

    /// The back office.
    pub async fn admin(&self) -> Client {
        let token = match &self.people {
            People::Laptop(stack) => stack.token("boss", ADMIN_SCOPE).expect("a token"),
            People::Cognito(sign_in) => sign_in.back_office_token().await,
        };
        self.nobody.with_token(&token)
    }

    /// Puts a message among the orders that wait.
    pub async fn send_to_queue(&self, body: &str) {
        let url = self.queue_url(&self.queue).await;
        self.aws.call(SQS, "SendMessage", &json!({ "QueueUrl": url, "MessageBody": body })).await;
    }

    /// Takes the message with this body out of the dead letters, once it is there, and leaves the others.
    pub async fn take_dead_letter(&self, body: &str) -> Value {
        let url = self.queue_url(&self.dead_letters).await;
        let letter = until("the message is a dead letter", async || {
            let ask = json!({
                "QueueUrl": url, "MaxNumberOfMessages": 10, "VisibilityTimeout": 2, "WaitTimeSeconds": 1,
                "MessageAttributeNames": ["All"],
            });
            let answer = self.aws.call(SQS, "ReceiveMessage", &ask).await;
            answer["Messages"].as_array()?.iter().find(|message| message["Body"] == body).cloned()
        });
        let letter = letter.await;
        let done = json!({ "QueueUrl": url, "ReceiptHandle": letter["ReceiptHandle"] });
        self.aws.call(SQS, "DeleteMessage", &done).await;
        letter
    }

    async fn queue_url(&self, name: &str) -> Value {
        self.aws.call(SQS, "GetQueueUrl", &json!({ "QueueName": name })).await["QueueUrl"].clone()
    }
}
