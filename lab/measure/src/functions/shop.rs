//! The shop for the measured functions: the laptop stack's demo, with enough units of one product.

use anyhow::{Context, Result, ensure};
use devstack::Stack;
use local::demo;
use serde_json::{Value, json};

use crate::workspace;

/// The product that is ordered repeatedly.
pub(super) const ORDERED: &str = "endless";

/// Four full pages of the sample event of list-orders, so that each shard has more orders than a page asks it for.
const ORDERS: u32 = 200;

pub(super) struct Shop {
    pub(super) stack: Stack,
    /// An order of ada's.
    pub(super) order: String,
}

impl Shop {
    pub(super) async fn open() -> Result<Self> {
        let mut template = workspace::template()?;
        // Other consumers would conflict with the measured function.
        template.stream_sources.clear();
        template.queue_sources.clear();
        let stack = workspace::stack_with(local::options(template)).await?;
        demo::create(&stack).await?;
        let product = json!({
            "productId": ORDERED, "name": "Endless", "description": "There is always another one", "category": "kitchen",
            "price": { "amount": 1999, "currency": "EUR" }, "stock": 1_000_000,
        });
        post(&stack, http_api::ADMIN_SCOPE, "/products", "measured", &product).await?;
        let order = json!({ "lines": [{ "productId": ORDERED, "quantity": 1 }] });
        let mut last = Value::Null;
        for n in 0..ORDERS {
            last = post(&stack, http_api::SHOP_SCOPE, "/orders", &format!("measured-{n}"), &order).await?;
        }
        let order = last["orderId"].as_str().context("an order without an id")?.to_owned();
        Ok(Self { stack, order })
    }
}

async fn post(stack: &Stack, scope: &str, path: &str, key: &str, body: &Value) -> Result<Value> {
    let client = reqwest::Client::builder().no_proxy().build()?;
    let request = client.post(format!("{}{path}", stack.url())).bearer_auth(stack.token(demo::CUSTOMER, scope)?);
    let response = request.header("Idempotency-Key", key).json(body).send().await?;
    let status = response.status();
    ensure!(status.is_success(), "POST {path} was answered {status}: {}", response.text().await?);
    Ok(response.json().await?)
}
