//! The progress of counting each shard of the stream. It is read only by key.

use crate::entity::StreamCheckpoint;
use crate::value::ShardId;

use super::{Key, Place, PlaceText, Stored, Template};

const SHARD: Template<ShardId> = Template::new("shard#{shardId}");
const CHECKPOINT: Place<ShardId, ShardId> = Place::table(SHARD, SHARD);

impl Stored for StreamCheckpoint {
    const PLACES: &'static [PlaceText] = &[CHECKPOINT.text()];

    fn key(&self) -> Key {
        Self::key_of(&self.shard_id)
    }
}

impl StreamCheckpoint {
    /// The key of a shard's checkpoint.
    pub fn key_of(shard: &ShardId) -> Key {
        CHECKPOINT.key(shard, shard)
    }

    /// The key of the checkpoint of repairs.
    pub fn key_of_repairs() -> Key {
        Self::key_of(&ShardId::of_repairs())
    }
}
