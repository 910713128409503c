//! The engine's port for programs outside the stack.
//!
//! The engine answers web pages of every origin (`Access-Control-Allow-Origin: *`) and lacks seven actions that only
//! describe an account. This front refuses web pages, answers the seven actions, describes tables at a lower cost, and
//! forwards everything else byte for byte.

use std::sync::Arc;

use anyhow::Result;
use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{DefaultBodyLimit, State};
use axum::http::request::Parts;
use axum::http::{Request, Response, StatusCode};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::aws_json::{Refusal, Service, local_client};
use crate::browser_guard::BrowserGuard;
use crate::forward::forward;
use crate::problem::answer;

struct Front {
    client: reqwest::Client,
    engine: Service,
    /// The name of the engine's database for `SQLite`.
    database: String,
    /// The host and port that programs see.
    address: String,
}

/// Serves this listener until it is stopped.
pub(super) fn serve(
    listener: TcpListener,
    engine_url: &str,
    database: String,
    stopped: oneshot::Receiver<()>,
) -> Result<JoinHandle<std::io::Result<()>>> {
    let guard = BrowserGuard::of(&listener)?;
    let address = listener.local_addr()?.to_string();
    let front = Front { client: local_client()?, engine: Service::dynamodb(engine_url)?, database, address };
    // The engine has its own limit, and its own error message.
    let router = Router::new().fallback(handle).layer(DefaultBodyLimit::disable()).with_state(Arc::new(front));
    let server = axum::serve(listener, guard.protect(router)).with_graceful_shutdown(async { _ = stopped.await });
    Ok(tokio::spawn(server.into_future()))
}

async fn handle(State(front): State<Arc<Front>>, request: Request<Body>) -> Response<Body> {
    let (head, body) = request.into_parts();
    // Incomplete if the client hung up.
    let Ok(body) = axum::body::to_bytes(body, usize::MAX).await else {
        return refusal("SerializationException", "The body of the call was cut off.");
    };
    let target = head.headers.get("x-amz-target").and_then(|target| target.to_str().ok()).unwrap_or_default();
    let action = target.strip_prefix("DynamoDB_20120810.").unwrap_or_default();
    let outcome = match front.described(action, &body).await {
        Ok(None) => front.pass(&head, body).await,
        Ok(Some(description)) => Ok(description),
        Err(error) => Err(error),
    };
    outcome.unwrap_or_else(|error| {
        tracing::error!("{error:#}");
        let body = json!({ "__type": "InternalServerError", "message": "The engine does not answer." });
        answer(StatusCode::INTERNAL_SERVER_ERROR, "application/x-amz-json-1.0", body.to_string())
    })
}

impl Front {
    /// The answer to an action that describes an account. `None`: the engine answers.
    async fn described(&self, action: &str, body: &[u8]) -> Result<Option<Response<Body>>> {
        let description = match action {
            "DescribeTable" => return self.table(body).await,
            "DescribeContinuousBackups" => return self.continuous_backups(body).await.map(Some),
            // Limits of a new account: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/ServiceQuotas.html
            "DescribeLimits" => json!({
                "AccountMaxReadCapacityUnits": 80_000, "AccountMaxWriteCapacityUnits": 80_000,
                "TableMaxReadCapacityUnits": 40_000, "TableMaxWriteCapacityUnits": 40_000,
            }),
            "DescribeEndpoints" => {
                json!({ "Endpoints": [{ "Address": self.address, "CachePeriodInMinutes": 1440 }] })
            }
            "ListBackups" => json!({ "BackupSummaries": [] }),
            "ListGlobalTables" => json!({ "GlobalTables": [] }),
            "ListExports" => json!({ "ExportSummaries": [] }),
            "ListImports" => json!({ "ImportSummaryList": [] }),
            _ => return Ok(None),
        };
        Ok(Some(answer(StatusCode::OK, "application/x-amz-json-1.0", description.to_string())))
    }

    /// The description of a table. `None`: there is none of this name, and the engine refuses.
    async fn table(&self, body: &[u8]) -> Result<Option<Response<Body>>> {
        let request: Value = serde_json::from_slice(body).unwrap_or_default();
        let Some(table) = request["TableName"].as_str().map(str::to_owned) else { return Ok(None) };
        let database = self.database.clone();
        let described = tokio::task::spawn_blocking(move || super::describe::describe(&database, &table)).await??;
        Ok(described.map(|it| answer(StatusCode::OK, "application/x-amz-json-1.0", it.to_string())))
    }

    /// The answer for a table without point-in-time recovery, if the table exists.
    async fn continuous_backups(&self, body: &[u8]) -> Result<Response<Body>> {
        let request: Value = serde_json::from_slice(body).unwrap_or_default();
        let Some(table) = request["TableName"].as_str() else {
            return Ok(refusal("ValidationException", "TableName is missing."));
        };
        match self.engine.call("DescribeTable", &json!({ "TableName": table })).await? {
            Ok(_) => {
                let recovery = json!({ "PointInTimeRecoveryStatus": "DISABLED" });
                let description =
                    json!({ "ContinuousBackupsStatus": "ENABLED", "PointInTimeRecoveryDescription": recovery });
                let body = json!({ "ContinuousBackupsDescription": description }).to_string();
                Ok(answer(StatusCode::OK, "application/x-amz-json-1.0", body))
            }
            Err(refused) if refused.is("ResourceNotFoundException") => {
                Ok(refusal("TableNotFoundException", &format!("Table not found: {table}")))
            }
            Err(Refusal(body)) => Ok(answer(StatusCode::BAD_REQUEST, "application/x-amz-json-1.0", body.to_string())),
        }
    }

    async fn pass(&self, head: &Parts, body: Bytes) -> Result<Response<Body>> {
        let path = head.uri.path_and_query().map_or("/", |path| path.as_str());
        let url = format!("{}{path}", self.engine.url());
        Ok(forward(&self.client, head.method.clone(), url, &head.headers, body).await?.map(Body::from))
    }
}

fn refusal(code: &str, message: &str) -> Response<Body> {
    let body = json!({ "__type": format!("com.amazonaws.dynamodb.v20120810#{code}"), "message": message });
    answer(StatusCode::BAD_REQUEST, "application/x-amz-json-1.0", body.to_string())
}
