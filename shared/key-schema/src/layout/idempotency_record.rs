//! Stored answers to requests with an idempotency key. They are read only by key.

use crate::entity::IdempotencyRecord;
use crate::value::IdempotencyRecordId;

use super::{Key, Place, PlaceText, Stored, Template};

const RECORD: Template<IdempotencyRecordId> = Template::new("idempotency#{recordId}");
const PLACE: Place<IdempotencyRecordId, IdempotencyRecordId> = Place::table(RECORD, RECORD);

impl Stored for IdempotencyRecord {
    const PLACES: &'static [PlaceText] = &[PLACE.text()];

    fn key(&self) -> Key {
        Self::key_of(&self.record_id)
    }
}

impl IdempotencyRecord {
    /// The key of a record.
    pub fn key_of(id: &IdempotencyRecordId) -> Key {
        PLACE.key(id, id)
    }
}
