//! The shop that tests run in: a stack with an empty table.
//!
//! A fault proxy between the functions and the engine records every call and injects faults. When a [`Shop`] is
//! dropped, it checks that no function but the one that may scanned a table, and that no role refused a call of its function.
#![allow(
    clippy::expect_used,
    clippy::missing_panics_doc,
    clippy::panic,
    clippy::unwrap_used,
    reason = "helpers of tests fail by panicking"
)]

pub mod accesses;
pub mod aws_json;
pub mod bus;
pub mod cells;
pub mod client;
pub mod customer_view;
pub mod demo;
pub mod deployed;
pub mod edge;
pub mod engine;
pub mod events;
pub mod expiry;
pub mod faults;
mod goods;
mod guests;
pub mod images;
pub mod imported;
pub mod invocations;
pub mod kills;
pub mod log;
pub mod numbering;
pub mod openapi;
pub mod orders;
pub mod pattern;
pub mod payment_laws;
pub mod payment_script;
pub mod payments;
pub mod provider;
pub mod queue;
pub mod reconcile;
pub mod roles;
pub mod searching;
pub mod seed;
pub mod stream;
pub mod tables;
pub mod tax_engine;
pub mod wire;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use devstack::gateway::Invoke;
use devstack::iam::Guard;
use devstack::stories::Stories;
pub use devstack::wait::{PATIENCE, until, until_some};
use devstack::{Bus, Endpoints, FaultProxy, Functions, Options, Stack, StartConsumer, Template};
use futures_util::future::join_all;
use http_api::{ADMIN_SCOPE, SHOP_SCOPE};
use key_schema::layout::{ENTITY_TYPE, Stored};
use lambda::Environment;
use local::functions;
use reqwest::Client as Http;
use serde_dynamo::Item;
use serde_json::{Map, Value, json};

use crate::aws_json::OPERATOR;
pub use crate::client::{Client, Reply};
pub use crate::deployed::set_everywhere;
use crate::deployed::{deployed, deployed_from, limit_time, set_variable};
use crate::engine::{Engine, table_name};
pub use crate::goods::{every_change, every_removal, goods};
pub use crate::guests::{guest_id, limit};
pub use crate::orders::{basket, invoice_id, order_id, things};
use crate::payments::Payments;
use crate::queue::drain_source;
use crate::searching::Searching;

/// A running stack of its own, with an empty table.
pub struct Shop {
    stack: Stack,
    /// The proxy to an external engine, if the tests run on one. It stops with the shop.
    #[allow(dead_code, reason = "dropping it ends the proxy")]
    engine: Option<FaultProxy>,
    http: Http,
    /// The pretend payment provider, if the shop takes card payments there.
    payments: Option<Payments>,
    search: Searching,
}

/// A file of the project, by its path from the root.
pub fn read(path: &str) -> String {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path);
    std::fs::read_to_string(file).unwrap_or_else(|error| panic!("{path}: {error}"))
}

pub fn template_text() -> String {
    read("template.yaml")
}

pub fn eur(amount: u64) -> Value {
    json!({ "amount": amount, "currency": "EUR" })
}

/// Does this work for each of these at the same time, and returns the results in their order.
pub async fn at_once<T, U>(all: impl IntoIterator<Item = T>, work: impl AsyncFn(T) -> U) -> Vec<U> {
    join_all(all.into_iter().map(|one| work(one))).await
}

/// Removes the stream's consumers from the template.
fn uncounted(mut template: Template) -> Template {
    template.stream_sources.iter_mut().for_each(|source| source.enabled = false);
    template
}

impl Shop {
    pub async fn open() -> Self {
        Self::open_from(|template| template).await
    }

    /// A shop deployed from a changed template.
    pub async fn open_from(change: impl FnOnce(String) -> String) -> Self {
        Self::start(uncounted(deployed_from(change(template_text()), table_name(), &[]))).await
    }

    /// The same shop with at most so many seconds for each request. It is filled through this one: beside other work, a
    /// short time may be too short for a request without faults.
    pub async fn hurried(&self, seconds: u64) -> Self {
        self.beside(|template| limit_time(template, seconds)).await
    }

    /// The same shop with a changed template, beside this one, which must outlive it.
    pub async fn beside(&self, change: impl FnOnce(&mut Template)) -> Self {
        let mut template = uncounted(deployed_from(template_text(), self.table().to_owned(), &[]));
        change(&mut template);
        Self::start_at(Some(self.dynamodb_url().to_owned()), template, BTreeMap::new(), |functions| functions).await
    }

    /// A shop whose template is changed after parsing, so the change may break rules of AWS. Its stream has no
    /// consumers unless the change adds them, so the table contains only what the routes write.
    pub async fn open_with(change: impl FnOnce(&mut Template)) -> Self {
        let mut template = uncounted(deployed(&[]));
        change(&mut template);
        Self::start(template).await
    }

    /// A shop whose functions have these variables.
    pub async fn open_where(variables: &[(&str, &str)]) -> Self {
        Self::open_with(|template| variables.iter().for_each(|(name, value)| set_everywhere(template, name, value)))
            .await
    }

    /// A shop whose queued orders are placed only by the test.
    pub async fn open_undrained() -> Self {
        Self::open_with(|template| drain_source(template).enabled = false).await
    }

    /// A shop with the template's consumers of the stream.
    pub async fn open_counted() -> Self {
        Self::start(deployed(&[])).await
    }

    /// Waits until the stream's consumers have processed everything.
    pub async fn settle(&self) {
        self.stack.settle_streams(PATIENCE).await.expect("the stream is counted");
    }

    async fn start(template: Template) -> Self {
        Self::start_with(template, BTreeMap::new(), |functions| functions).await
    }

    /// Starts a shop with these secrets, by ARN, whose functions are changed.
    async fn start_with(
        template: Template,
        secrets: BTreeMap<String, String>,
        change: impl FnOnce(Functions) -> Functions,
    ) -> Self {
        let engine = Engine::of_this_run().open().await;
        let dynamodb_endpoint = engine.as_ref().map(|engine| engine.url().to_owned());
        let mut shop = Self::start_at(dynamodb_endpoint, template, secrets, change).await;
        shop.engine = engine;
        shop
    }

    /// The same, on the tables of the engine at this base URL.
    async fn start_at(
        dynamodb_endpoint: Option<String>,
        mut template: Template,
        mut secrets: BTreeMap<String, String>,
        change: impl FnOnce(Functions) -> Functions,
    ) -> Self {
        let search = Searching::start().await;
        set_variable(&mut template, "SEARCH_URL", search.url());
        secrets.extend(search.secret());
        let options = local::options(template);
        let options = Options { inject_faults: true, dynamodb_endpoint, secrets, ..options };
        let functions =
            |endpoints: &Endpoints, template: &Template| functions::start_all(endpoints, template).map(change);
        let stack = Stack::start(options, functions).await.expect("the stack starts");
        Self { stack, engine: None, http: Http::new(), payments: None, search }
    }

    /// A shop with the customer ada.
    pub async fn with_ada() -> Self {
        let shop = Self::open().await;
        shop.sign_up("ada").await;
        shop
    }

    /// The gateway's base URL.
    pub fn url(&self) -> &str {
        self.stack.url()
    }

    pub fn template(&self) -> &Template {
        self.stack.template()
    }

    /// Ends every running invocation of a consumer, as a crash does.
    pub fn kill(&self, consumer: &str) {
        self.stack.kill(consumer).expect("it consumes something");
    }

    /// The name of the table that the functions use while no migration is under way.
    pub fn table(&self) -> &str {
        tables::first(self.template())
    }

    pub fn nobody(&self) -> Client {
        Client::new(self.http.clone(), self.stack.url())
    }

    pub fn customer(&self, id: &str) -> Client {
        self.nobody().with_token(&self.stack.token(id, SHOP_SCOPE).expect("a token"))
    }

    /// A customer whose token proves this address, as a gateway passes it: all claims are texts.
    pub fn customer_at(&self, id: &str, email: &str) -> Client {
        self.customer_with(id, &json!({ "email": email, "email_verified": "true" }))
    }

    /// A customer whose token has these claims, too.
    pub fn customer_with(&self, id: &str, claims: &Value) -> Client {
        let token = self.stack.token(id, SHOP_SCOPE).expect("a token");
        let payload = BASE64_URL_SAFE_NO_PAD.decode(token.split('.').nth(1).expect("a payload")).expect("base64");
        let mut all: Map<String, Value> = serde_json::from_slice(&payload).expect("claims");
        all.extend(claims.as_object().expect("claims").clone());
        self.nobody().with_token(&self.stack.sign(&all.into()).expect("a token"))
    }

    pub fn admin(&self) -> Client {
        self.nobody().with_token(&self.stack.token("boss", ADMIN_SCOPE).expect("a token"))
    }

    /// The embedded engine's base URL for programs outside the stack.
    pub fn dynamodb_url(&self) -> &str {
        self.stack.dynamodb_url()
    }

    /// A token with any claims, signed by the stack.
    pub fn sign(&self, claims: &Value) -> String {
        self.stack.sign(claims).expect("claims")
    }

    pub fn sqs_url(&self) -> &str {
        self.stack.sqs_url()
    }

    pub fn bus(&self) -> &Bus {
        self.stack.bus()
    }

    /// The AWS endpoints of this shop's functions.
    pub fn endpoints(&self) -> Endpoints {
        let [queues, bus] = self.service_proxies();
        let services = [self.fault_proxy().url(), queues.url(), bus.url(), self.stack.secrets_url()];
        let [dynamodb, sqs, eventbridge, secretsmanager] = services.map(str::to_owned);
        Endpoints { dynamodb, sqs, eventbridge, secretsmanager, s3: self.s3_url().map(str::to_owned) }
    }

    /// The base URL of S3, if the shop's template has buckets.
    pub fn s3_url(&self) -> Option<&str> {
        self.stack.s3_url()
    }

    /// The environment of an operator, who may read the whole table and bypasses the fault proxy.
    pub fn operator(&self) -> Environment {
        let variables = [
            ("AWS_REGION", "us-east-1"),
            ("AWS_ACCESS_KEY_ID", OPERATOR),
            ("AWS_SECRET_ACCESS_KEY", OPERATOR),
            ("AWS_ENDPOINT_URL_DYNAMODB", self.stack.dynamodb_url()),
        ];
        let counts = self.template().functions.iter().find_map(|function| function.environment.get("TIME_ZONE"));
        let zone = ("TIME_ZONE".to_owned(), counts.cloned().unwrap_or_default());
        Environment::of(variables.map(|(name, value)| (name.to_owned(), value.to_owned()))).with([zone])
    }

    /// The variable with which an operator's calls go through the fault proxy.
    pub fn operator_through_the_proxy(&self) -> [(String, String); 1] {
        [("AWS_ENDPOINT_URL_DYNAMODB".to_owned(), self.fault_proxy().url().to_owned())]
    }

    /// Starts a consumer in a new execution environment.
    pub fn consumer(&self, name: &str, endpoints: &Endpoints) -> Invoke {
        self.starter(name, endpoints)().expect("it starts")
    }

    /// A consumer, which gets a new execution environment with each start.
    pub(crate) fn starter(&self, name: &str, endpoints: &Endpoints) -> StartConsumer {
        let declared = self.template().functions.iter().filter(|function| function.handler == name);
        let functions = functions::start(endpoints, declared).expect("the function starts");
        functions.consumers.into_iter().next().expect("it consumes events").1
    }

    /// What the newest requests did.
    pub fn stories(&self) -> &Stories {
        self.stack.stories()
    }

    /// The guard that enforces the roles.
    pub fn guard(&self) -> &Guard {
        self.stack.guard()
    }

    /// The denied calls since this was last called. If a shop is dropped with denials left, its test fails.
    pub fn denials(&self) -> Vec<String> {
        self.guard().take_denials().iter().map(ToString::to_string).collect()
    }

    /// The fault proxy between the functions and DynamoDB.
    pub fn fault_proxy(&self) -> &FaultProxy {
        self.stack.fault_proxy().expect("the shop was opened with a fault proxy")
    }

    /// The fault proxies in front of SQS and EventBridge, in that order.
    pub fn service_proxies(&self) -> &[FaultProxy; 2] {
        self.stack.service_proxies().expect("the shop was opened with fault proxies")
    }

    pub async fn sign_up(&self, id: &str) -> Value {
        let body = json!({ "username": id, "email": format!("{id}@example.com"), "name": id });
        self.customer(id).post("/customers", body).await.expect(201)
    }

    /// Every item of the table, read directly from the engine, sorted by key.
    pub async fn dump(&self) -> Vec<Value> {
        self.dump_of(self.table()).await
    }

    pub async fn put<T: Stored>(&self, entity: &T) {
        let item: Item = serde_dynamo::to_item(entity).expect("an item");
        let mut item = serde_json::to_value(item).expect("JSON");
        item[ENTITY_TYPE] = json!({ "S": T::TYPE });
        for key in entity.keys() {
            let (partition, sort) = key.index.attributes();
            (item[partition], item[sort]) = (json!({ "S": key.partition }), json!({ "S": key.sort }));
        }
        self.dynamodb("PutItem", &json!({ "TableName": self.table(), "Item": item })).await;
    }

    /// One item of the table, read directly from the engine.
    pub async fn item(&self, pk: &str, sk: &str) -> Value {
        let key = json!({ "PK": { "S": pk }, "SK": { "S": sk } });
        let get = json!({ "TableName": self.table(), "Key": key, "ConsistentRead": true });
        self.dynamodb("GetItem", &get).await["Item"].clone()
    }

    /// Changes an item directly in the table.
    pub async fn update(&self, pk: &str, sk: &str, expression: &str, values: &Value) {
        let mut update = json!({
            "TableName": self.table(), "Key": { "PK": { "S": pk }, "SK": { "S": sk } }, "UpdateExpression": expression,
        });
        if !values.is_null() {
            update["ExpressionAttributeValues"] = values.clone();
        }
        self.dynamodb("UpdateItem", &update).await;
    }
}

impl Drop for Shop {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            let rulings = self.guard().rulings();
            let scans = rulings.iter().filter(|ruling| ruling.ask.action == "dynamodb:Scan");
            let callers: BTreeSet<_> = scans.map(|ruling| ruling.caller.as_str()).collect();
            assert!(
                callers.iter().all(|caller| *caller == "CopyItems"),
                "these functions scanned a table: {callers:?}"
            );
            // A denial fails the test even if the test expected the resulting error.
            let denied = self.denials();
            assert!(denied.is_empty(), "template.yaml does not allow what a function does:\n{}", denied.join("\n"));
        }
    }
}
