//! The JSON Schema of a line.

use serde_json::{Map, Value, json};
use utoipa::{PartialSchema, ToSchema};

use super::code_records::{DiscountRecord, GiftCardRecord};
use super::order_record::OrderRecord;
use super::record::{CustomerRecord, GuestRecord, ProductRecord};

/// The JSON Schema of a line of NDJSON, made from the types that read it.
///
/// # Errors
/// A schema is no JSON object.
pub fn json_schema() -> serde_json::Result<Value> {
    let mut parts = Vec::new();
    let kinds = [
        of::<CustomerRecord>("customer", &mut parts)?,
        of::<GuestRecord>("guest", &mut parts)?,
        of::<ProductRecord>("product", &mut parts)?,
        of::<DiscountRecord>("discount", &mut parts)?,
        of::<GiftCardRecord>("giftCard", &mut parts)?,
        of::<OrderRecord>("order", &mut parts)?,
    ];
    let mut schemas = Map::new();
    for (name, schema) in parts {
        schemas.insert(name, serde_json::to_value(schema)?);
    }
    let mut schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A line of a file of history",
        "oneOf": kinds,
        "components": { "schemas": schemas },
    });
    without_null(&mut schema);
    Ok(schema)
}

/// Takes null out of the types of a schema: what a record does not have is absent.
fn without_null(schema: &mut Value) {
    match schema {
        Value::Array(all) => all.iter_mut().for_each(without_null),
        Value::Object(fields) => {
            fields.values_mut().for_each(without_null);
            if let Some(types) = fields.get_mut("type")
                && let Some([one, _]) = types.as_array_mut().map(Vec::as_mut_slice)
            {
                *types = one.take();
            }
            let of = fields.get_mut("oneOf").and_then(Value::as_array_mut);
            if let Some([one, null]) = of.map(Vec::as_mut_slice)
                && null["type"] == "null"
            {
                *schema = one.take();
            }
        }
        _ => {}
    }
}

type Part = (String, utoipa::openapi::RefOr<utoipa::openapi::schema::Schema>);

/// The schema of one kind of record, with its `type`.
fn of<T: PartialSchema + ToSchema>(kind: &str, parts: &mut Vec<Part>) -> serde_json::Result<Value> {
    T::schemas(parts);
    let mut schema = serde_json::to_value(T::schema())?;
    schema["properties"]["type"] = json!({ "const": kind });
    if let Some(required) = schema["required"].as_array_mut() {
        required.insert(0, json!("type"));
    }
    Ok(schema)
}
