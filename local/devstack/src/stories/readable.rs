//! What a call asks, as text that a person can read.

use serde_json::{Map, Value};

/// The most characters of a value.
const LONGEST: usize = 160;

/// An expression with the names and values of its request in place of their placeholders.
pub(super) fn expression(text: &str, request: &Value) -> String {
    let (names, values) = (&request["ExpressionAttributeNames"], &request["ExpressionAttributeValues"]);
    let (mut readable, mut rest) = (String::new(), text);
    while let Some(at) = rest.find(['#', ':']) {
        let (before, from) = rest.split_at(at);
        let is_of_word = |character: char| character.is_alphanumeric() || character == '_';
        let end = from.char_indices().skip(1).find(|(_, character)| !is_of_word(*character));
        let (word, behind) = from.split_at(end.map_or(from.len(), |(end, _)| end));
        readable.push_str(before);
        match (names[word].as_str(), values.get(word)) {
            (Some(name), _) => readable.push_str(name),
            (None, Some(put_in)) => readable.push_str(&value(put_in)),
            (None, None) => readable.push_str(word),
        }
        rest = behind;
    }
    readable + rest
}

/// The expression of this name in a request.
pub(super) fn expression_of(request: &Value, name: &str) -> Option<String> {
    request[name].as_str().map(|text| expression(text, request))
}

/// A value of an attribute: a text in quotation marks, a number as it is.
pub(super) fn value(attribute: &Value) -> String {
    shortened(match attribute.as_object().and_then(|tagged| tagged.iter().next()) {
        Some((kind, inner)) => match (kind.as_str(), inner) {
            ("N", Value::String(number)) => number.clone(),
            ("NULL", _) => "null".to_owned(),
            ("M", Value::Object(fields)) => map(fields),
            ("L", Value::Array(items)) => format!("[{}]", items.iter().map(value).collect::<Vec<_>>().join(", ")),
            (_, inner) => inner.to_string(),
        },
        None => attribute.to_string(),
    })
}

fn map(fields: &Map<String, Value>) -> String {
    let fields: Vec<_> = fields.iter().map(|(name, field)| format!("{name}: {}", value(field))).collect();
    format!("{{{}}}", fields.join(", "))
}

/// At most [`LONGEST`] characters of a text.
pub(super) fn shortened(mut text: String) -> String {
    if let Some((end, _)) = text.char_indices().nth(LONGEST) {
        text.truncate(end);
        text.push('…');
    }
    text
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn names_and_values_stand_in_place_of_their_placeholders() {
        let request = json!({
            "ExpressionAttributeNames": { "#p": "PK", "#p1": "units" },
            "ExpressionAttributeValues": {
                ":p": { "S": "o#1" }, ":p1": { "N": "7" }, ":m": { "M": { "a": { "L": [{ "BOOL": true }] } } },
            },
        });
        let text = expression("#p = :p AND #p1>=:p1 AND begins_with(SK,:none) AND x = :m", &request);
        assert_eq!(text, r#"PK = "o#1" AND units>=7 AND begins_with(SK,:none) AND x = {a: [true]}"#);
        assert_eq!(value(&json!({ "S": "ü".repeat(500) })).chars().count(), LONGEST + 1);
    }
}
