//! The floor: the runtime's own first example, on one thread. `cargo measure functions` measures Till against it.

use lambda_runtime::{Error, LambdaEvent, run, service_fn};
use serde_json::{Value, json};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    run(service_fn(hello)).await
}

async fn hello(_: LambdaEvent<Value>) -> Result<Value, Error> {
    Ok(json!({ "statusCode": 200, "body": "hello" }))
}
