//! The names in DynamoDB's expressions.

use serde_json::Value;

/// Keywords that can stand where a name could.
const KEYWORDS: [&str; 8] = ["SET", "REMOVE", "ADD", "DELETE", "AND", "OR", "NOT", "BETWEEN"];

/// The top-level attributes that an expression names, with placeholders resolved.
pub(super) fn attributes(request: &Value, expression: &str) -> Vec<String> {
    let tokens = tokens(expression);
    let names = tokens.iter().enumerate().filter(|(at, token)| {
        let is_name = token.starts_with(|first: char| first.is_alphabetic() || first == '_' || first == '#');
        let is_nested = at.checked_sub(1).is_some_and(|before| tokens[before] == ".");
        let is_function = tokens.get(at + 1).is_some_and(|next| next == "(");
        let is_keyword = KEYWORDS.iter().any(|word| word.eq_ignore_ascii_case(token));
        // `IN` has a parenthesis behind it, as a function has.
        is_name && !is_nested && !is_function && !is_keyword
    });
    names.map(|(_, name)| resolve(request, name)).collect()
}

/// The value that a key condition requires of this attribute, as text.
pub(super) fn demanded(request: &Value, attribute: &str) -> Option<String> {
    let tokens = tokens(request["KeyConditionExpression"].as_str()?);
    tokens.windows(3).find_map(|window| {
        let (name, value) = match window {
            [name, equals, value] if equals == "=" && value.starts_with(':') => (name, value),
            [value, equals, name] if equals == "=" && value.starts_with(':') => (name, value),
            _ => return None,
        };
        let value = &request["ExpressionAttributeValues"][value.as_str()];
        (resolve(request, name) == attribute).then(|| text(value)).flatten()
    })
}

/// The value of a key attribute as text: a string, a number or base64.
pub(super) fn text(value: &Value) -> Option<String> {
    ["S", "N", "B"].iter().find_map(|kind| value[*kind].as_str()).map(str::to_owned)
}

fn resolve(request: &Value, name: &str) -> String {
    let resolved = request["ExpressionAttributeNames"][name].as_str().unwrap_or(name);
    resolved.to_owned()
}

/// The tokens of an expression: words with their `#` or `:`, and every other character by itself.
fn tokens(expression: &str) -> Vec<String> {
    let mut tokens: Vec<String> = Vec::new();
    let mut in_word = false;
    for character in expression.chars() {
        let continues = character.is_alphanumeric() || character == '_';
        match tokens.last_mut() {
            Some(word) if in_word && continues => word.push(character),
            _ if character.is_whitespace() => {}
            _ => tokens.push(character.to_string()),
        }
        in_word = continues || character == '#' || character == ':';
    }
    tokens
}
