//! The parameters of an operation: what they look like, as exactly as a schema can say.

use utoipa::openapi::path::{Parameter, ParameterBuilder, ParameterIn};
use utoipa::openapi::schema::{ObjectBuilder, Schema, SchemaType, Type};
use utoipa::openapi::{RefOr, Required};

/// An identifier or a code in the path. All of them have one form.
pub(super) fn path(name: &str) -> Parameter {
    let id = text().pattern(Some("^[A-Za-z0-9_-]{1,64}$"));
    ParameterBuilder::new().name(name).parameter_in(ParameterIn::Path).required(Required::True).schema(Some(id)).build()
}

/// A parameter of the query string. It is there or not: it is never null.
pub(super) fn of_query(mut parameter: Parameter) -> Parameter {
    if let Some(RefOr::T(Schema::Object(object))) = &mut parameter.schema
        && let SchemaType::Array(types) = &mut object.schema_type
    {
        types.retain(|kind| *kind != Type::Null);
        if let [only] = types.as_slice() {
            object.schema_type = SchemaType::Type(only.clone());
        }
    }
    parameter
}

/// `Idempotency-Key`.
pub(super) fn idempotency_key(required: bool, what: &str) -> Parameter {
    // Spaces around the value of a header are not part of it.
    header("Idempotency-Key", required, what, "^[!-~]([ -~]{0,253}[!-~])?$")
}

/// `If-Match`.
pub(super) fn if_match(required: bool, without_it: &str) -> Parameter {
    let what = format!("The ETag of what was read, or * for whatever is there.{without_it}");
    header("If-Match", required, &what, "^(\\*|[ \\t,]*(W/)?\"[!#-~]*\"([ \\t]*,[ \\t]*((W/)?\"[!#-~]*\")?)*)$")
}

/// `Prefer`. Preferences that are not known are left alone.
pub(super) fn prefer() -> Parameter {
    let what = "respond-async: accept the order now and place it when there is capacity for it, at the prices of that \
                time. Send expectedTotal to be charged that and nothing else.";
    header("Prefer", false, what, "^[!-~]([ -~]*[!-~])?$")
}

fn header(name: &str, required: bool, what: &str, pattern: &str) -> Parameter {
    ParameterBuilder::new()
        .name(name)
        .parameter_in(ParameterIn::Header)
        .required(if required { Required::True } else { Required::False })
        .description(Some(what))
        .schema(Some(text().pattern(Some(pattern))))
        .build()
}

fn text() -> ObjectBuilder {
    ObjectBuilder::new().schema_type(Type::String)
}
