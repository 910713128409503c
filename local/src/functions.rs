//! The functions, linked in: the same handlers that run on Lambda.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result};
use edge::{Answer, Description, Request, Route};
use lambda::{Environment, FromEnvironment};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::gateway::Invoke;
use crate::sandbox::StartConsumer;
use crate::template::Template;

/// Where the functions find AWS.
#[derive(Debug, Clone)]
pub struct Endpoints {
    /// DynamoDB's base URL.
    pub dynamodb: String,
    /// The base URL of SQS.
    pub sqs: String,
    /// The base URL of EventBridge.
    pub eventbridge: String,
}

/// What runs in a stack, named by the binaries.
#[derive(Default)]
pub struct Functions {
    /// What answers routes, started.
    pub handlers: Vec<(String, Invoke)>,
    /// What consumes events, started once for every execution environment.
    pub consumers: Vec<(String, StartConsumer)>,
}

/// A function that answers a route.
pub struct Function {
    crate_name: &'static str,
    /// The route, as the code declares it.
    pub route: Route,
    /// The route's description.
    pub describe: fn() -> Description,
    start: fn(&Environment, Duration) -> Result<Invoke>,
}

impl Function {
    /// The function's name: its folder, its binary, and its event file.
    pub fn name(&self) -> String {
        self.crate_name.replace('_', "-")
    }
}

/// A function that consumes events: it answers no route.
pub struct Consumer {
    /// The function's name: its folder, its binary, and its event file.
    pub name: &'static str,
    /// Starts it in a fresh execution environment, with the time that one invocation may take.
    pub start: fn(&Environment, Duration) -> Result<Invoke>,
}

macro_rules! consumers {
    ($($function:ident = $name:literal)+) => {
        /// Every function that consumes events, by name.
        pub const CONSUMERS: &[Consumer] = &[$(Consumer {
            name: $name,
            start: |environment, timeout| consume($function::handle, environment, timeout),
        }),+];
    };
}

consumers! {
    count_orders = "count-orders"
    drain_writes = "drain-writes"
    expire_orders = "expire-orders"
    publish_order_events = "publish-order-events"
    reconcile_counts = "reconcile-counts"
}

macro_rules! functions {
    ($($function:ident)+) => {
        /// Every function that answers a route, by name.
        pub const FUNCTIONS: &[Function] = &[$(Function {
            crate_name: stringify!($function),
            route: $function::ROUTE,
            describe: $function::describe,
            start: |environment, timeout| start($function::ROUTE, $function::handle, environment, timeout),
        }),+];
    };
}

functions! {
    adjust_stock
    cancel_order
    capture_payment
    change_order_status
    confirm_refund
    create_customer
    create_discount
    create_gift_card
    create_product
    delete_cart
    find_customer
    flag_order
    get_cart
    get_customer
    get_customer_overview
    get_discount
    get_gift_card
    get_invoice
    get_order
    get_order_invoice
    get_product
    get_product_stats
    list_customer_invoices
    list_customer_orders
    list_customer_products
    list_flagged_orders
    list_invoice_payments
    list_order_products
    list_orders
    list_product_orders
    list_products
    list_totals
    place_order
    put_cart
    record_view
    unflag_order
    update_customer
    update_product
}

/// Starts every function of the template with the environment it has there, against these endpoints. A consumer
/// waits for its event sources, but is started once here, so that what its environment lacks is known now.
///
/// # Errors
/// The template names a function that this build does not have, or lacks a variable that one needs.
pub fn start_all(endpoints: &Endpoints, template: &Template) -> Result<Functions> {
    let process = [
        ("AWS_REGION", "us-east-1"),
        ("AWS_SECRET_ACCESS_KEY", "local"),
        ("AWS_ENDPOINT_URL_DYNAMODB", endpoints.dynamodb.as_str()),
        ("AWS_ENDPOINT_URL_SQS", endpoints.sqs.as_str()),
        ("AWS_ENDPOINT_URL_EVENTBRIDGE", endpoints.eventbridge.as_str()),
    ];
    let process = process.map(|(name, value)| (name.to_owned(), value.to_owned()));
    // One client for all of them: on Lambda each has its own, here they share a process.
    let environment = Environment::of(process);

    let mut functions = Functions::default();
    for declared in &template.functions {
        let name = &declared.binary;
        // What Lambda has of the function's role: whoever is called knows by it which function calls.
        let credentials = [("AWS_ACCESS_KEY_ID".to_owned(), declared.logical_id.clone())];
        let environment = environment.clone().with(credentials).with(declared.environment.clone());
        let timeout = Duration::from_secs(declared.timeout_seconds);
        let misfit = || format!("template.yaml: the environment of {}", declared.logical_id);

        if let Some(function) = FUNCTIONS.iter().find(|function| function.name() == *name) {
            let invoke = (function.start)(&environment, timeout).with_context(misfit)?;
            functions.handlers.push((name.clone(), invoke));
        } else {
            let consumer = CONSUMERS.iter().find(|consumer| consumer.name == name);
            let start = consumer.with_context(|| format!("template.yaml: {name} is not in this build"))?.start;
            start(&environment, timeout).with_context(misfit)?;
            functions.consumers.push((name.clone(), Arc::new(move || start(&environment, timeout))));
        }
    }
    Ok(functions)
}

/// The API's description, as JSON.
pub fn open_api() -> Result<String> {
    let named: Vec<_> = FUNCTIONS.iter().map(|function| (function.name(), (function.describe)())).collect();
    let open_api = events::describe(edge::open_api(named));
    Ok(open_api.to_pretty_json()?)
}

fn start<D, F, Fut>(route: Route, handle: F, environment: &Environment, timeout: Duration) -> Result<Invoke>
where
    D: FromEnvironment + Clone + Send + Sync + 'static,
    F: Fn(D, Request) -> Fut + Copy + Send + Sync + 'static,
    Fut: Future<Output = Answer> + Send,
{
    let deps = D::from_environment(environment)?;
    Ok(Arc::new(move |event| {
        let (route, deps) = (route.clone(), deps.clone());
        Box::pin(async move {
            let response = edge::invoke(&route, &deps, &handle, event, timeout).await;
            response.map_err(|error| error.to_string())
        })
    }))
}

fn consume<D, E, R, F, Fut>(handle: F, environment: &Environment, timeout: Duration) -> Result<Invoke>
where
    D: FromEnvironment + Clone + Send + Sync + 'static,
    E: DeserializeOwned + Send,
    R: Serialize + Send,
    F: Fn(D, E, Duration) -> Fut + Copy + Send + Sync + 'static,
    Fut: Future<Output = Result<R, lambda::Error>> + Send,
{
    let deps = D::from_environment(environment)?;
    Ok(Arc::new(move |event| {
        let deps = deps.clone();
        Box::pin(async move {
            let answer = lambda::invoke(&deps, &handle, event, timeout).await;
            answer.map_err(|error| error.to_string())
        })
    }))
}
