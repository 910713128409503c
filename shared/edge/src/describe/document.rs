//! The whole description, of all routes.

use std::collections::BTreeMap;

use lambda_http::http::Method;
use utoipa::openapi::content::ContentBuilder;
use utoipa::openapi::header::{Header, HeaderBuilder};
use utoipa::openapi::path::HttpMethod;
use utoipa::openapi::schema::{AdditionalProperties, ComponentsBuilder, ObjectBuilder, Schema, Type};
use utoipa::openapi::security::{Http, HttpAuthScheme, SecurityScheme};
use utoipa::openapi::{InfoBuilder, OpenApi, OpenApiBuilder, Paths, Ref, ResponseBuilder};

use super::Description;
use crate::Kind;

const OUTCOME: &str = "Of 500 and 503: none if this request has written nothing and will not; unknown if it may have. \
    The same request again finds out.";

/// The description of the API that these functions make, each with its name.
pub fn open_api(functions: impl IntoIterator<Item = (String, Description)>) -> OpenApi {
    let mut paths = Paths::new();
    let mut components_by_name = BTreeMap::new();
    let components = ComponentsBuilder::new().security_scheme(
        "token",
        SecurityScheme::Http(Http::builder().scheme(HttpAuthScheme::Bearer).bearer_format("JWT").build()),
    );
    for (name, Description { route, mut operation, answers, headers, schemas, problems }) in functions {
        for answer in answers {
            let mut response = ResponseBuilder::new().description(answer.what);
            if let Some(schema) = answer.body {
                response = response.content("application/json", ContentBuilder::new().schema(Some(schema)).build());
            }
            for name in answer.headers.iter().chain(&headers) {
                response = response.header(*name, text_header());
            }
            operation = operation.response(answer.status, response.build());
        }
        let mut by_status: BTreeMap<u16, Vec<&str>> = BTreeMap::new();
        for kind in problems {
            by_status.entry(kind.status().as_u16()).or_default().push(kind.slug());
        }
        for (status, slugs) in by_status {
            let content = ContentBuilder::new().schema(Some(Ref::from_schema_name("Problem"))).build();
            let mut response = ResponseBuilder::new().description(slugs.join(", "));
            if slugs.contains(&Kind::Throttled.slug()) {
                response = response.header("Retry-After", text_header());
            }
            let response = response.content("application/problem+json", content).build();
            operation = operation.response(status.to_string(), response);
        }
        paths.add_path_operation(route.path, vec![http_method(&route.method)], operation.operation_id(Some(name)));
        for (name, schema) in schemas {
            // Two types of one name would describe one of them with the other's fields.
            let known = components_by_name.entry(name.clone()).or_insert_with(|| schema.clone());
            debug_assert!(*known == schema, "two schemas are called {name}");
        }
    }
    OpenApiBuilder::new()
        .info(InfoBuilder::new().title("Till").version(env!("CARGO_PKG_VERSION")).description(Some(
            "An order backend for a shop. Money is in minor units, times are UTC, lists are paged with a cursor.",
        )))
        .paths(paths)
        .components(Some(components.schemas_from_iter(components_by_name).schema("Problem", problem_schema()).build()))
        .build()
}

fn text_header() -> Header {
    HeaderBuilder::new().schema(Some(ObjectBuilder::new().schema_type(Type::String))).build()
}

fn problem_schema() -> Schema {
    let text = || ObjectBuilder::new().schema_type(Type::String);
    let types = Kind::ALL.iter().map(|kind| format!("/problems/{}", kind.slug()));
    ObjectBuilder::new()
        .description(Some("RFC 9457. Some kinds have members of their own, such as the product at fault."))
        .property("type", text().enum_values(Some(types)))
        .required("type")
        .property("title", text())
        .required("title")
        .property("status", ObjectBuilder::new().schema_type(Type::Integer))
        .required("status")
        .property("detail", text())
        .required("detail")
        .property("outcome", text().enum_values(Some(["none", "unknown"])).description(Some(OUTCOME)))
        .additional_properties(Some(AdditionalProperties::FreeForm(true)))
        .into()
}

fn http_method(method: &Method) -> HttpMethod {
    match *method {
        Method::POST => HttpMethod::Post,
        Method::PUT => HttpMethod::Put,
        Method::PATCH => HttpMethod::Patch,
        Method::DELETE => HttpMethod::Delete,
        _ => HttpMethod::Get,
    }
}
