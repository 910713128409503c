//! What API Gateway answers itself, before a function runs or in place of one. Its bodies are no problem documents, and
//! nobody can make them so: <https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-troubleshooting.html>.

use utoipa::openapi::schema::{ObjectBuilder, Schema, Type};

use super::Description;
use crate::{Kind, Scope};

/// The name of the schema of these bodies.
pub(super) const SCHEMA: &str = "GatewayMessage";

/// The statuses that the gateway itself may answer a request of this route with.
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

/// A body of the gateway's own.
pub(super) fn schema() -> Schema {
    ObjectBuilder::new()
        .description(Some("What the gateway answers itself, before a function runs or in place of one."))
        .property("message", ObjectBuilder::new().schema_type(Type::String))
        .required("message")
        .into()
}
