//! The events' ids.

use std::fmt::Display;

use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

/// The namespace of the events' ids (UUIDv5, RFC 9562). If it changed, events that are published again would have new
/// ids.
const NAMESPACE: Uuid = Uuid::from_u128(0x1b0e_7c64_52fd_4a0a_8c3b_2d96_4f1e_a7d8);

/// An event's own id: the same for every copy of the event, and for no other.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, ToSchema)]
#[serde(transparent)]
#[schema(value_type = String, format = "uuid", example = "9ea45d61-8e1e-597f-8ec9-0932f86e9492")]
pub struct EventId(String);

impl EventId {
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The id of an event of this kind, by what tells it from all others of its kind: what it is about, and a version, a
    /// time or a sum that never comes again. Of a product, which may be removed and created again with the same versions,
    /// that is also the second of the write. Ids contain no `#`, so different events have different names.
    pub(crate) fn of(kind: &str, by: &[&dyn Display]) -> Self {
        let name = by.iter().fold(kind.to_owned(), |name, part| format!("{name}#{part}"));
        Self(Uuid::new_v5(&NAMESPACE, name.as_bytes()).to_string())
    }
}
