//! A running Till: the deployment that the environment variables name, or else the laptop's stack.

use std::env;

use devstack::Stack;
use http_api::{ADMIN_SCOPE, SHOP_SCOPE};
use local::functions;
use reqwest::{Client as Http, Url};
use serde_json::{Value, json};
use shop::client::Client;
use shop::until_some;

use crate::aws::{Aws, SQS};
use crate::sign_in::{SignIn, subject};

/// The Till under test.
pub struct Till {
    nobody: Client,
    people: People,
    aws: Aws,
    /// The names of the queue of waiting orders, and of its dead-letter queue.
    queue: String,
    dead_letters: String,
}

/// The source of people's tokens.
enum People {
    Laptop(Box<Stack>),
    Cognito(Box<SignIn>),
}

pub struct Person {
    pub id: String,
    pub client: Client,
}

pub fn variable(name: &str) -> String {
    env::var(name).unwrap_or_else(|_| panic!("{name} is not set: .ci/story sets the variables"))
}

impl Till {
    /// The deployment that `TILL_API_URL` and the other variables of .ci/story name.
    pub async fn open() -> Self {
        match env::var("TILL_API_URL") {
            Ok(url) => Self::deployed(&url),
            Err(_) => Self::on_this_machine().await,
        }
    }

    fn deployed(url: &str) -> Self {
        let url: Url = url.parse().expect("TILL_API_URL is a URL");
        let mut http = Http::builder();
        // Names under .localhost are this machine's (RFC 6761, section 6.3), but not every resolver knows that.
        if let Some(host) = url.host_str().filter(|host| host.ends_with(".localhost")) {
            http = http.resolve(host, ([127, 0, 0, 1], 0).into());
        }
        let http = http.build().expect("a client");
        let [queue, dead_letters] = ["TILL_WRITE_QUEUE_ARN", "TILL_DEAD_LETTERS_ARN"].map(|arn| {
            let arn = variable(arn);
            arn.rsplit(':').next().expect("a name").to_owned()
        });
        let client = Client::new(http.clone(), url.as_str().trim_end_matches('/'));
        let names_requests = env::var("TILL_GATEWAY").is_err();
        Self {
            nobody: if names_requests { client } else { client.without_names_of_requests() },
            people: People::Cognito(Box::new(SignIn::from_environment())),
            aws: Aws::from_environment(http),
            queue,
            dead_letters,
        }
    }

    async fn on_this_machine() -> Self {
        let text = include_str!("../../template.yaml");
        let template = local::template(text).expect("template.yaml is valid");
        let options = local::options(template);
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

    /// A client without a token.
    pub fn nobody(&self) -> Client {
        self.nobody.clone()
    }

    /// A new customer, signed in.
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

    /// A client of the back office.
    pub async fn admin(&self) -> Client {
        let token = match &self.people {
            People::Laptop(stack) => stack.token("boss", ADMIN_SCOPE).expect("a token"),
            People::Cognito(sign_in) => sign_in.back_office_token().await,
        };
        self.nobody.with_token(&token)
    }

    pub async fn send_to_queue(&self, body: &str) {
        let url = self.queue_url(&self.queue).await;
        self.aws.call(SQS, "SendMessage", &json!({ "QueueUrl": url, "MessageBody": body })).await;
    }

    /// Waits for the dead letter with this body, and deletes it. Other dead letters stay.
    pub async fn take_dead_letter(&self, body: &str) -> Value {
        let url = self.queue_url(&self.dead_letters).await;
        let letter = until_some("the message is a dead letter", async || {
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
