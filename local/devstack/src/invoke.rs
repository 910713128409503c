//! Functions, as the stack calls them.

use std::pin::Pin;
use std::sync::Arc;

use serde_json::Value;

/// A function: an event in, its answer or an error message out.
///
/// # An example
///
/// A handler for `lambda_runtime` takes a typed event, and a handler for `lambda_http` takes an HTTP request. Each
/// becomes an `Invoke`:
///
/// ```
/// use std::sync::Arc;
///
/// use devstack::gateway::Invoke;
/// use lambda_http::{Body, Context, Error, LambdaEvent, Request, RequestExt, Response};
/// use serde::Serialize;
/// use serde::de::DeserializeOwned;
/// use serde_json::{Value, json};
///
/// async fn import_notes(event: LambdaEvent<Value>) -> Result<Value, Error> {
///     println!("imported {}", event.payload["Records"]);
///     Ok(json!({ "batchItemFailures": [] }))
/// }
///
/// async fn get_note(request: Request) -> Result<Response<Body>, Error> {
///     let parameters = request.path_parameters();
///     let note = json!({ "noteId": parameters.first("noteId") });
///     Ok(Response::builder().header("content-type", "application/json").body(note.to_string().into())?)
/// }
///
/// /// A handler for `lambda_runtime` as an `Invoke`.
/// fn of_events<E, A, F, Fut>(handler: F) -> Invoke
/// where
///     E: DeserializeOwned + Send,
///     A: Serialize,
///     F: Fn(LambdaEvent<E>) -> Fut + Clone + Send + Sync + 'static,
///     Fut: Future<Output = Result<A, Error>> + Send,
/// {
///     Arc::new(move |event| {
///         let handler = handler.clone();
///         Box::pin(async move {
///             let payload = serde_json::from_value(event).map_err(|error| error.to_string())?;
///             let answer = handler(LambdaEvent::new(payload, Context::default())).await;
///             let answer = answer.map_err(|error| error.to_string())?;
///             serde_json::to_value(answer).map_err(|error| error.to_string())
///         })
///     })
/// }
///
/// /// A handler for `lambda_http` as an `Invoke`.
/// fn of_requests<F, Fut>(handler: F) -> Invoke
/// where
///     F: Fn(Request) -> Fut + Clone + Send + Sync + 'static,
///     Fut: Future<Output = Result<Response<Body>, Error>> + Send,
/// {
///     of_events(move |event: LambdaEvent<Value>| {
///         let handler = handler.clone();
///         async move {
///             let request = lambda_http::request::from_str(&event.payload.to_string())?;
///             let (head, body) = handler(request.with_lambda_context(event.context)).await?.into_parts();
///             let mut headers = serde_json::Map::new();
///             for (name, value) in &head.headers {
///                 headers.insert(name.to_string(), value.to_str()?.into());
///             }
///             let body = std::str::from_utf8(&body)?;
///             Ok(json!({ "statusCode": head.status.as_u16(), "headers": headers, "body": body }))
///         }
///     })
/// }
///
/// # #[tokio::main]
/// # async fn main() -> Result<(), String> {
/// let imported = of_events(import_notes)(json!({ "Records": [] })).await?;
/// assert_eq!(imported["batchItemFailures"], json!([]));
///
/// let event = json!({
///     "version": "2.0", "routeKey": "GET /notes/{noteId}", "rawPath": "/notes/7", "rawQueryString": "",
///     "headers": { "host": "localhost" }, "pathParameters": { "noteId": "7" }, "isBase64Encoded": false,
///     "requestContext": { "http": { "method": "GET", "path": "/notes/7" }, "stage": "$default", "timeEpoch": 0 },
/// });
/// let answer = of_requests(get_note)(event).await?;
/// assert_eq!((&answer["statusCode"], &answer["body"]), (&json!(200), &json!(r#"{"noteId":"7"}"#)));
/// # Ok(())
/// # }
/// ```
pub type Invoke = Arc<dyn Fn(Value) -> Pin<Box<dyn Future<Output = Result<Value, String>> + Send>> + Send + Sync>;
