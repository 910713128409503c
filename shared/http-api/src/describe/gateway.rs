//! The error responses of API Gateway itself, sent before a function runs or in place of one. Their bodies are not
//! problem documents, and an HTTP API cannot change them:
//! <https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-troubleshooting.html>.

use utoipa::openapi::schema::{ObjectBuilder, Schema, Type};

use super::Description;
use crate::{Kind, Scope};

/// The name of the schema of these responses' bodies.
pub(super) const SCHEMA: &str = "GatewayMessage";

/// The statuses of the gateway's own error responses to a request of this route.
pub(super) fn statuses(description: &Description) -> Vec<u16> {
    let mut statuses = vec![429, 500, 503];
    if description.route.scope != Scope::Public {
        statuses.extend([401, 403]);
    }
    if description.route.path_parameters().next().is_some() {
        statuses.push(404);
    }
    if description.problems.contains(&Kind::TooLarge) {
        statuses.push(413);
    }
    statuses
}

/// The schema of these responses' bodies.
pub(super) fn schema() -> Schema {
    ObjectBuilder::new()
        .description(Some("An error of API Gateway itself, sent before a function runs or in place of one."))
        .property("message", ObjectBuilder::new().schema_type(Type::String))
        .required("message")
        .into()
}
