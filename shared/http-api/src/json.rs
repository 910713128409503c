//! Strict reading of JSON bodies, with errors that name JSON types.
//!
//! The deserializers that serde derives are lenient: they also accept an array of the fields for a struct, and an
//! object for an enum. Here, a struct must be an object and an enum a string, at every depth and for all types. Errors
//! are for authors of clients, so they name types of JSON, not of Rust.

mod expect;
mod faults;
mod strict;

use serde::de::DeserializeOwned;

use crate::card_number;

pub(crate) use self::expect::Expect;
pub(crate) use self::faults::{Code, Fault, faults};
use self::strict::Strict;

/// Reads one JSON value. The error names the invalid field and what the field must be.
pub(crate) fn read<T: DeserializeOwned>(text: &[u8]) -> Result<T, String> {
    let mut json = serde_json::Deserializer::from_slice(text);
    let value = serde_path_to_error::deserialize(Strict(&mut json)).map_err(|error| {
        let (path, error) = (error.path().to_string(), error.into_inner());
        explained(&path, &error)
    })?;
    json.end().map_err(|error| format!("body: {error}"))?;
    Ok(value)
}

/// Reads a JSON value that comes by another door than a request, by the rules of a request's body: it has no payment card
/// number, and no field of another type.
///
/// # Errors
/// The value is refused. The error names the field.
pub fn read_document<T: DeserializeOwned>(text: &[u8]) -> Result<T, String> {
    match card_number::in_json(text)? {
        Some(path) => Err(format!("{path}: looks like a payment card number, which no request could name")),
        None => read(text),
    }
}

/// The error as a text for clients, with the path of the field. Text that is not JSON has no path, so its error keeps
/// line and column.
fn explained(path: &str, error: &serde_json::Error) -> String {
    if !error.is_data() {
        return format!("body: {error}");
    }
    let message = message(error);
    if path == "." { format!("body: {message}") } else { format!("{path}: {message}") }
}

/// What is wrong with a value.
fn message(error: &serde_json::Error) -> String {
    let message = error.to_string();
    let message = message.split(" at line ").next().unwrap_or(&message);
    // If serde_json itself finds a value of another type, its message also names that type.
    match message.split_once(", expected must be ") {
        Some((_, kind)) => format!("must be {kind}"),
        None => message.to_owned(),
    }
}

#[cfg(test)]
mod tests;
