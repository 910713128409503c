//! JSON bodies, read strictly and explained in the terms of JSON.
//!
//! The deserializers that serde derives are lenient: a struct may also come as an array of its fields, and an enum as
//! an object. Such a body is no request of this API, so every struct is read as an object here and every enum as a
//! string, at every depth and for all types alike. What is wrong is said in the words of JSON, not in those of Rust.

mod expect;
mod strict;

use serde::de::DeserializeOwned;

use self::strict::Strict;

/// Reads one JSON value, and says where and why if it is not what the type needs.
pub(crate) fn read<T: DeserializeOwned>(text: &[u8]) -> Result<T, String> {
    let mut json = serde_json::Deserializer::from_slice(text);
    let value = serde_path_to_error::deserialize(Strict(&mut json)).map_err(|error| {
        let (path, error) = (error.path().to_string(), error.into_inner());
        explained(&path, &error)
    })?;
    json.end().map_err(|error| format!("body: {error}"))?;
    Ok(value)
}

/// The path says where, better than line and column do. Text that is not JSON has no path.
fn explained(path: &str, error: &serde_json::Error) -> String {
    let message = error.to_string();
    if !error.is_data() {
        return format!("body: {message}");
    }
    let message = message.split(" at line ").next().unwrap_or(&message);
    // Where serde_json finds another kind of value by itself, it names that and what was expected.
    let message = match message.split_once(", expected must be ") {
        Some((_, kind)) => format!("must be {kind}"),
        None => message.to_owned(),
    };
    if path == "." { format!("body: {message}") } else { format!("{path}: {message}") }
}

#[cfg(test)]
mod tests;
