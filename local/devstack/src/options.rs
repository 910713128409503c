//! How a stack is started.

use std::collections::BTreeMap;
use std::path::PathBuf;

use axum::Router;

use crate::stories::Prices;
use crate::template::Template;
use crate::token::Issuer;

/// Options for starting a stack. If a value cannot be used on this machine, the error is an
/// [`OptionError`](crate::OptionError).
#[derive(Debug, Clone)]
pub struct Options {
    /// Source of the routes, scopes, queues and tables.
    pub template: Template,
    /// The gateway's port on 127.0.0.1; 0 takes a free one.
    pub port: u16,
    /// The embedded DynamoDB's port on 127.0.0.1; 0 takes a free one.
    pub dynamodb_port: u16,
    /// The embedded SQS's port on 127.0.0.1; 0 takes a free one.
    pub sqs_port: u16,
    /// The embedded EventBridge's port on 127.0.0.1; 0 takes a free one.
    pub eventbridge_port: u16,
    /// The embedded S3's port on 127.0.0.1; 0 takes a free one.
    pub s3_port: u16,
    /// Directory for the tables, the queued messages, the objects of buckets and the token secret. `None` keeps all of it
    /// in memory, and objects in a directory that ends with the stack.
    pub data: Option<PathBuf>,
    /// Base URL of another DynamoDB, used instead of the embedded one.
    pub dynamodb_endpoint: Option<String>,
    /// Base URL of another SQS, used instead of the embedded one.
    pub sqs_endpoint: Option<String>,
    /// The values of secrets, by ARN.
    pub secrets: BTreeMap<String, String>,
    /// Lets tests record and fail calls: [`Stack::fault_proxy`](crate::Stack::fault_proxy) and
    /// [`Stack::service_proxies`](crate::Stack::service_proxies) exist, the [`Guard`](crate::iam::Guard) remembers its
    /// rulings, and the [`Bus`](crate::Bus) all events.
    pub inject_faults: bool,
    /// Body of `GET /openapi.json`.
    pub openapi: &'static str,
    /// The program's pages: they answer what no route of the template and none of the stack's own answers, such as `/`.
    /// Browsers are guarded as they are on the stack's own routes, and a page runs and loads nothing from elsewhere
    /// unless its own `Content-Security-Policy` allows more.
    pub pages: Router,
    /// Who issues the tokens of routes with a scope.
    pub issuer: Issuer,
    /// Whether the stack remembers what its newest requests did.
    pub stories: bool,
    /// What units cost.
    pub prices: Option<Prices>,
}

impl Options {
    /// Options for a stack in memory, on free ports, without fault injection.
    pub fn new(template: Template) -> Self {
        Self {
            template,
            port: 0,
            dynamodb_port: 0,
            sqs_port: 0,
            eventbridge_port: 0,
            s3_port: 0,
            data: None,
            dynamodb_endpoint: None,
            sqs_endpoint: None,
            secrets: BTreeMap::new(),
            inject_faults: false,
            openapi: "{}",
            pages: Router::new(),
            issuer: Issuer::Stack { name: "devstack".to_owned(), audience: "devstack".to_owned() },
            stories: true,
            prices: None,
        }
    }
}
