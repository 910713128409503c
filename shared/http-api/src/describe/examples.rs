//! The example of a route, in the description of its operation.

use std::borrow::Cow;

use utoipa::openapi::RefOr;
use utoipa::openapi::path::{Operation, Parameter, ParameterBuilder};
use utoipa::openapi::schema::{Schema, SchemaType, Type};

use crate::Route;

/// Adds the route's example to the parameters and to the body.
pub(super) fn add(route: &Route, operation: &mut Operation) {
    let example = route.example;
    let in_path = route.path_parameters().zip(example.path.split('/'));
    let headers = example.headers.iter().flatten().copied();
    let in_query = form_urlencoded::parse(example.query.as_bytes());
    let mut values: Vec<(Cow<'_, str>, Cow<'_, str>)> = in_query.collect();
    values.extend(in_path.chain(headers).map(|(name, value)| (name.into(), value.into())));
    for parameter in operation.parameters.iter_mut().flatten() {
        let RefOr::T(parameter) = parameter else { continue };
        let named = values.iter().find(|(name, _)| name.eq_ignore_ascii_case(&parameter.name));
        let example = named.and_then(|(_, value)| {
            if is_text(parameter) { Some(value.as_ref().into()) } else { serde_json::from_str(value).ok() }
        });
        *parameter = ParameterBuilder::from(parameter.clone()).example(example).build();
    }
    if let (Some(RefOr::T(body)), Some(text)) = (&mut operation.request_body, example.body) {
        for content in body.content.values_mut() {
            if let RefOr::T(content) = content {
                content.example = serde_json::from_str(text).ok();
            }
        }
    }
}

/// Whether the parameter is no number and no truth value.
fn is_text(parameter: &Parameter) -> bool {
    !matches!(&parameter.schema, Some(RefOr::T(Schema::Object(object)))
        if matches!(object.schema_type, SchemaType::Type(Type::Integer | Type::Boolean)))
}
