//! The shop with the rush: its functions, over the simulated services.

use std::sync::Arc;

use anyhow::{Context, Result};
use aws_smithy_runtime_api::client::http::SharedHttpConnector;
use devstack::Template;
use devstack::template::Function as Declared;
use dynoxide::Database;
use key_schema::entity::Customer;
use key_schema::value::Timestamp;
use lambda::{Environment, Invoke};
use serde_json::{Value, json};
use table::{AttributeValue, write_item};
use tokio::sync::Semaphore;

use super::wire::{Services, Wire};
use crate::workspace::{sample, template_with};

/// The product that everybody wants.
const PRODUCT: &str = "thing";

/// The customers, each of whom orders several times.
pub(super) const CUSTOMERS: u32 = 2_000;

/// The environments that the account has for `place-order`.
const ENVIRONMENTS: usize = 1_000;

/// How the shop is prepared for the rush.
#[derive(Clone, Copy, Debug)]
pub(super) struct Plan {
    pub(super) cells: u32,
    pub(super) has_waiting_room: bool,
    pub(super) drains: u32,
}

/// The shop.
pub(super) struct Shop {
    pub(super) services: Arc<Services>,
    place_order: Invoke,
    change_product: Invoke,
    adjust_stock: Invoke,
    create_product: Invoke,
    pub(super) drains: Vec<Invoke>,
    environments: Semaphore,
}

/// An answer of a route.
#[derive(Debug)]
pub(super) struct Reply {
    pub(super) status: u64,
    pub(super) retry_after: u64,
    pub(super) body: Value,
}

impl Reply {
    /// API Gateway's answer if no environment is free.
    fn no_environment() -> Self {
        Self { status: 503, retry_after: 1, body: Value::Null }
    }

    fn of(answer: &Value) -> Self {
        let body = answer["body"].as_str().and_then(|body| serde_json::from_str(body).ok());
        Self {
            status: answer["statusCode"].as_u64().unwrap_or(500),
            retry_after: answer["headers"]["retry-after"].as_str().and_then(|text| text.parse().ok()).unwrap_or(1),
            body: body.unwrap_or_default(),
        }
    }
}

impl Shop {
    /// A shop with this stock of the product.
    pub(super) async fn open(plan: Plan, price: i64, stock: u64) -> Result<Self> {
        let template = template_with(&[
            ("ProductShards", "16"),
            ("StatusShards", "32"),
            ("MaxOpenUnits", "0"),
            ("WaitingRoomOrders", if plan.has_waiting_room { "1000" } else { "0" }),
            ("DrainWriteUnits", "1000000"),
            ("DrainConcurrency", &plan.drains.to_string()),
        ])?;
        let database = Database::memory()?;
        let table = template.tables.first().context("the template has a table")?;
        database.create_table(serde_json::from_value(table.creation.clone())?)?;
        let services = Arc::new(Services::new(database));
        let connector = SharedHttpConnector::new(Wire(Arc::clone(&services)));
        let process = [
            ("AWS_REGION", "us-east-1"),
            ("AWS_ACCESS_KEY_ID", "simulated"),
            ("AWS_SECRET_ACCESS_KEY", "simulated"),
            ("AWS_ENDPOINT_URL", "http://simulated"),
        ];
        let process = process.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let environment = Environment::of(process).connected_by(connector);
        let start = |name: &str| start(&template, &environment, name);
        let shop = Self {
            place_order: start("place-order")?,
            change_product: start("update-product")?,
            adjust_stock: start("adjust-stock")?,
            create_product: start("create-product")?,
            drains: (0..plan.drains).map(|_| start("drain-writes")).collect::<Result<_>>()?,
            environments: Semaphore::new(ENVIRONMENTS),
            services,
        };
        shop.sign_up(table.name())?;
        let body = json!({
            "productId": PRODUCT, "name": "Thing", "description": "", "category": "things", "price": eur(price),
            "stock": stock, "cells": plan.cells,
        });
        let created = invoke(&shop.create_product, with_body(sample("create-product")?, &body)).await;
        anyhow::ensure!(created.status == 201, "no product: {created:?}");
        Ok(shop)
    }

    /// Writes the customers' profiles directly.
    fn sign_up(&self, table: &str) -> Result<()> {
        for number in 0..CUSTOMERS {
            let customer = Customer {
                customer_id: customer(number).parse()?,
                username: format!("user-{number}").try_into()?,
                email: format!("user-{number}@example.com").try_into()?,
                name: "A customer".to_owned(),
                created_at: Timestamp::now(),
                version: 1,
                erased_at: None,
                guests: Vec::new(),
            };
            let attributes = write_item(&customer)?.into_iter().map(|(name, value)| {
                let value = match value {
                    AttributeValue::S(text) => json!({ "S": text }),
                    AttributeValue::N(digits) => json!({ "N": digits }),
                    other => anyhow::bail!("a profile has {other:?}"),
                };
                Ok((name, value))
            });
            let item: serde_json::Map<String, Value> = attributes.collect::<Result<_>>()?;
            self.services.database.put_item(serde_json::from_value(json!({ "TableName": table, "Item": item }))?)?;
        }
        Ok(())
    }

    /// Orders one unit.
    pub(super) async fn order(&self, number: u32, key: &str, expected_total: Option<i64>) -> Result<Reply> {
        let mut event = sample("place-order")?;
        event["requestContext"]["authorizer"]["jwt"]["claims"]["sub"] = json!(customer(number % CUSTOMERS));
        event["headers"]["idempotency-key"] = json!(key);
        let mut body = json!({ "lines": [{ "productId": PRODUCT, "quantity": 1 }] });
        if let Some(total) = expected_total {
            body["expectedTotal"] = eur(total);
        }
        let Ok(_environment) = self.environments.try_acquire() else { return Ok(Reply::no_environment()) };
        Ok(invoke(&self.place_order, with_body(event, &body)).await)
    }

    /// Changes the price.
    pub(super) async fn reprice(&self, price: i64) -> Result<Reply> {
        let mut event = sample("update-product")?;
        event["pathParameters"]["productId"] = json!(PRODUCT);
        event["headers"]["if-match"] = json!("*");
        Ok(invoke(&self.change_product, with_body(event, &json!({ "price": eur(price) }))).await)
    }

    /// Adds units to the stock, once for each key.
    pub(super) async fn restock(&self, units: u64, key: &str) -> Result<Reply> {
        let mut event = sample("adjust-stock")?;
        event["pathParameters"]["productId"] = json!(PRODUCT);
        event["headers"]["if-match"] = json!("*");
        event["headers"]["idempotency-key"] = json!(key);
        Ok(invoke(&self.adjust_stock, with_body(event, &json!({ "delta": units }))).await)
    }
}

fn start(template: &Template, environment: &Environment, name: &str) -> Result<Invoke> {
    let is_meant = |declared: &&Declared| declared.handler == name;
    let declared = template.functions.iter().find(is_meant).with_context(|| format!("the template has no {name}"))?;
    let function = local::functions::all().find(|function| function.name() == name).context("it is in this build")?;
    let environment = environment.clone().with(declared.environment.clone());
    Ok(function.start(&environment, std::time::Duration::from_secs(declared.timeout_seconds))?)
}

async fn invoke(function: &Invoke, event: Value) -> Reply {
    // A function that crashes or times out is answered 500.
    Reply::of(&function(event).await.unwrap_or_default())
}

fn with_body(mut event: Value, body: &Value) -> Value {
    event["body"] = json!(body.to_string());
    event
}

fn customer(number: u32) -> String {
    format!("customer-{number}")
}

fn eur(amount: i64) -> Value {
    json!({ "amount": amount, "currency": "EUR" })
}
