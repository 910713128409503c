//! The work of get-product, in the style of the runtime's examples:
//! <https://github.com/awslabs/aws-lambda-rust-runtime/tree/main/examples/http-dynamodb>.

use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::types::AttributeValue;
use lambda_http::{Body, Error, Request, RequestExt, Response, run, service_fn, tracing};
use serde_json::{Value, json};

#[tokio::main]
async fn main() -> Result<(), Error> {
    tracing::init_default_subscriber();
    let config = aws_config::load_from_env().await;
    let client = Client::new(&config);
    let table = std::env::var("TABLE_NAME")?;
    run(service_fn(|request: Request| handle(&client, &table, request))).await
}

async fn handle(client: &Client, table: &str, request: Request) -> Result<Response<Body>, Error> {
    let parameters = request.path_parameters();
    let id = parameters.first("productId").unwrap_or_default();
    let found = client
        .query()
        .table_name(table)
        .key_condition_expression("PK = :pk")
        .expression_attribute_values(":pk", AttributeValue::S(format!("p#{id}")))
        .send()
        .await?;
    let (mut product, mut available) = (json!({ "productId": id }), Value::Null);
    for item in found.items() {
        let text = |name: &str| item.get(name).and_then(|value| value.as_s().ok()).cloned();
        match text("EntityType").as_deref() {
            Some("product") => {
                for name in ["name", "description", "category"] {
                    product[name] = json!(text(name));
                }
                let price = item.get("price").and_then(|price| price.as_m().ok());
                let amount = price.and_then(|price| price.get("amount")?.as_n().ok()?.parse::<u64>().ok());
                let currency = price.and_then(|price| price.get("currency")?.as_s().ok());
                product["price"] = json!({ "amount": amount, "currency": currency });
                let version = item.get("version").and_then(|version| version.as_n().ok()?.parse::<u64>().ok());
                product["version"] = json!(version);
            }
            Some("stock") => available = json!(item.get("available").and_then(|n| n.as_n().ok()?.parse::<u64>().ok())),
            _ => {}
        }
    }
    product["available"] = available;
    tracing::info!(product = id, "answered");
    Ok(Response::builder().header("content-type", "application/json").body(product.to_string().into())?)
}
