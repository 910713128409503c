//! The parameters of an operation, each with a schema that is as strict as the parser of its value, if possible.

use utoipa::openapi::path::{Parameter, ParameterBuilder, ParameterIn, ParameterStyle};
use utoipa::openapi::schema::{ArrayBuilder, ObjectBuilder, Schema, SchemaType, Type};
use utoipa::openapi::{RefOr, Required};

use crate::query::MOST_IDS;

/// `*` or a list of entity tags.
const ENTITY_TAGS: &str = "^(\\*|[ \\t,]*(W/)?\"[!#-~]*\"([ \\t]*,[ \\t]*((W/)?\"[!#-~]*\")?)*)$";

/// A path parameter: an id or a code. All have the same pattern.
pub(super) fn path(name: &str) -> Parameter {
    let builder = ParameterBuilder::new().name(name).parameter_in(ParameterIn::Path).required(Required::True);
    builder.schema(Some(id())).build()
}

/// The ids of the items to answer, in the query string.
pub(super) fn ids() -> Parameter {
    let what = "The ids of the items, separated by commas, with no other parameter beside them. The items are answered in this \
                order. Those that a list would not have are left out.";
    let ids = ArrayBuilder::new().items(id()).min_items(Some(1)).max_items(Some(MOST_IDS));
    let builder = ParameterBuilder::new().name("ids").parameter_in(ParameterIn::Query).required(Required::False);
    let builder = builder.description(Some(what)).style(Some(ParameterStyle::Form)).explode(Some(false));
    builder.schema(Some(ids)).build()
}

/// A parameter of the query string. The schema that utoipa derives from an `Option` allows null, but a parameter is
/// never null: it is either present or absent.
pub(super) fn of_query(mut parameter: Parameter) -> Parameter {
    if let Some(RefOr::T(Schema::Object(object))) = &mut parameter.schema
        && let SchemaType::Array(types) = &mut object.schema_type
    {
        types.retain(|kind| *kind != Type::Null);
        if let [only] = types.as_slice() {
            object.schema_type = SchemaType::Type(only.clone());
        }
    }
    if let Some(RefOr::T(Schema::OneOf(union))) = &parameter.schema {
        let named = union.items.iter().find(|choice| matches!(choice, RefOr::Ref(_))).cloned();
        parameter.schema = named.or(parameter.schema);
    }
    parameter
}

pub(super) fn idempotency_key(required: bool, what: &str) -> Parameter {
    // The pattern begins and ends with a visible character: spaces around a header's value are not part of it.
    header("Idempotency-Key", required, what, "^[!-~]([ -~]{0,253}[!-~])?$")
}

pub(super) fn guest_secret() -> Parameter {
    // The last of the 43 characters has four bits of the secret, and two that are zero.
    let what =
        "The guest's secret: 32 random bytes in base64url. The client draws it, and the guest's id is its SHA-256.";
    header("Guest-Secret", true, what, "^[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]$")
}

pub(super) fn if_match(required: bool, without_it: &str) -> Parameter {
    let what = format!("The ETag that was read, or * for any version.{without_it}");
    header("If-Match", required, &what, ENTITY_TAGS)
}

/// `If-None-Match`. The pattern allows every value, because the API ignores those that are no `ETags`.
pub(super) fn if_none_match() -> Parameter {
    let what =
        "The ETags of the answers that the client has. If the answer is one of them, it is a 304 without a body.";
    header("If-None-Match", false, what, "^.*$")
}

/// `Prefer`. The pattern allows every preference, because the API ignores those that it does not know.
pub(super) fn prefer() -> Parameter {
    let what = "respond-async: the order is accepted now, and placed when there is capacity, at the prices of that \
                time. With expectedTotal, it is only placed at that total.";
    header("Prefer", false, what, "^[!-~]([ -~]*[!-~])?$")
}

/// The signature of a webhook, as Stripe spells it.
pub(super) fn stripe_signature() -> Parameter {
    let what = "The time and the signature: t=1795340160,v1=5257a869e7ec...";
    header("Stripe-Signature", true, what, "^t=[0-9]+(,[a-z0-9]+=[0-9a-f]+)+$")
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

fn id() -> ObjectBuilder {
    text().pattern(Some("^[A-Za-z0-9_-]{1,64}$"))
}

fn text() -> ObjectBuilder {
    ObjectBuilder::new().schema_type(Type::String)
}
