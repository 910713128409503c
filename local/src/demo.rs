//! A small demo shop, created through the HTTP API.

use anyhow::{Context, Result, ensure};
use devstack::Stack;
use reqwest::{RequestBuilder, StatusCode};
use serde_json::{Value, json};

use crate::functions;

/// The demo's customer.
pub const CUSTOMER: &str = "ada";

/// Id, name, description, category, price in euro cents, stock.
const PRODUCTS: [(&str, &str, &str, &str, u32, u32); 8] = [
    ("espresso-beans", "Espresso beans", "Dark roast, 1 kg", "coffee", 1899, 120),
    ("filter-beans", "Filter beans", "Light roast, 1 kg", "coffee", 2150, 80),
    ("decaf-beans", "Decaf beans", "Swiss water process, 500 g", "coffee", 1290, 40),
    ("hand-grinder", "Hand grinder", "Conical steel burrs", "equipment", 8900, 15),
    ("gooseneck-kettle", "Gooseneck kettle", "0.9 l, with thermometer", "equipment", 5450, 20),
    // The sample events are about this one.
    ("espresso-cup", "Espresso cup", "Stoneware, 80 ml", "kitchen", 1999, 10),
    ("paper-filters", "Paper filters", "Size 2, 100 pieces", "equipment", 450, 500),
    ("moka-pot", "Moka pot", "Aluminium, 3 cups", "equipment", 2990, 0),
];

/// Creates the shop. Products and codes of an earlier run over the same data stay as they are.
pub async fn create(stack: &Stack) -> Result<()> {
    let shop = Shop {
        client: reqwest::Client::builder().no_proxy().build()?,
        url: stack.url(),
        admin: stack.token("demo", http_api::ADMIN_SCOPE)?,
    };
    for (id, name, description, category, cents, stock) in PRODUCTS {
        let product = json!({
            "productId": id,
            "name": name,
            "description": description,
            "category": category,
            "price": euros(cents),
            "stock": stock,
            "attributes": if id == "filter-beans" { json!({ "size": "1 kg" }) } else { json!({}) },
        });
        shop.create("/products", &product).await?;
    }
    for (size, cents) in [("250 g", 690), ("500 g", 1190)] {
        let variant = json!({
            "productId": format!("filter-beans-{}", size.replace(' ', "")), "name": format!("Filter beans, {size}"),
            "description": "Light roast", "category": "coffee", "price": euros(cents), "stock": 30,
            "listed": false, "variantOf": "filter-beans", "attributes": { "size": size },
        });
        shop.create("/products", &variant).await?;
    }
    let customer =
        json!({ "customerId": CUSTOMER, "username": CUSTOMER, "email": "ada@example.com", "name": "Ada Lovelace" });
    shop.create("/customers", &customer).await?;
    // The rates of the sample event, which can be written again.
    let rates = functions::routes().find_map(|it| it.route.example.body.filter(|_| it.route.path == "/shipping"));
    shop.put_first("/shipping", rates.context("demo shop: no route has rates")?).await?;
    shop.create("/discounts", &json!({ "code": "WELCOME10", "percent": 10 })).await?;
    shop.create("/gift-cards", &json!({ "code": "GIFT-50-7QKX-M2TD", "balance": euros(5000) })).await
}

/// Three commands to try on the demo shop.
pub fn commands(url: &str) -> String {
    let order = json!({
        "lines": [
            { "productId": "espresso-beans", "quantity": 2 },
            { "productId": "hand-grinder", "quantity": 1 },
        ],
        "discountCode": "WELCOME10",
        "giftCards": ["GIFT-50-7QKX-M2TD"],
    });
    format!(
        r#"  curl '{url}/products?category=coffee'
  curl '{url}/search?q=roast+be'
  curl '{url}/orders' -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' \
       -H 'Idempotency-Key: my-first-order' -d '{order}'
  curl '{url}/customers/{CUSTOMER}/orders' -H "Authorization: Bearer $TOKEN""#
    )
}

fn euros(cents: u32) -> Value {
    json!({ "amount": cents, "currency": "EUR" })
}

struct Shop<'a> {
    client: reqwest::Client,
    url: &'a str,
    admin: String,
}

impl Shop<'_> {
    async fn create(&self, path: &str, body: &Value) -> Result<()> {
        self.send(self.client.post(format!("{}{path}", self.url)).json(body), path).await
    }

    /// Writes what nobody has written yet.
    async fn put_first(&self, path: &str, body: &'static str) -> Result<()> {
        let put = self.client.put(format!("{}{path}", self.url)).header("if-match", "\"0\"").body(body);
        self.send(put.header("content-type", "application/json"), path).await
    }

    async fn send(&self, request: RequestBuilder, path: &str) -> Result<()> {
        let response = request.bearer_auth(&self.admin).send().await;
        let response = response.with_context(|| format!("demo shop: {path} got no answer"))?;
        let status = response.status();
        ensure!(
            status.is_success() || [StatusCode::CONFLICT, StatusCode::PRECONDITION_FAILED].contains(&status),
            "demo shop: {path} answered {status}: {} (start with --empty to do without)",
            response.text().await.unwrap_or_default()
        );
        Ok(())
    }
}
