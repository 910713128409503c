//! The events as a part of the API's OpenAPI description.

use utoipa::openapi::content::ContentBuilder;
use utoipa::openapi::path::{HttpMethod, OperationBuilder};
use utoipa::openapi::request_body::RequestBodyBuilder;
use utoipa::openapi::{OpenApi, Paths, Ref, Required, ResponseBuilder};

use crate::event::{KINDS, Kind, schemas};

/// Adds the events to the API's description: the schema of each detail as a component, and each event as a webhook.
#[must_use]
pub fn describe(mut api: OpenApi) -> OpenApi {
    let components = api.components.get_or_insert_default();
    for (name, schema) in schemas() {
        let known = components.schemas.entry(name.clone()).or_insert_with(|| schema.clone());
        debug_assert!(*known == schema, "two schemas are called {name}");
    }

    let mut webhooks = Paths::new();
    for Kind { source, detail_type } in KINDS {
        let content = ContentBuilder::new().schema(Some(Ref::from_schema_name(*detail_type))).build();
        let detail = RequestBodyBuilder::new().content("application/json", content).required(Some(Required::True));
        let summary =
            format!("The detail of an event on the bus, with the source {source} and the detail-type {detail_type}.");
        let operation = OperationBuilder::new()
            .operation_id(Some(*detail_type))
            .tag("events")
            .summary(Some(summary))
            .securities(Some([]))
            .request_body(Some(detail.build()))
            .response(
                "200",
                ResponseBuilder::new()
                    .description("The event was received. EventBridge expects no answer from its targets.")
                    .build(),
            );
        webhooks.add_path_operation(detail_type, vec![HttpMethod::Post], operation);
    }
    api.webhooks = Some(webhooks);
    api
}
