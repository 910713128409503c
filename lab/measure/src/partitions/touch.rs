//! The reads and writes of an order, by key.

use key_schema::layout::{Key, PlaceText, Stored};

use super::design::Watched;
use super::units::{plain, transactional};

/// The reads and writes of one order under one key.
pub(super) struct Touch {
    pub(super) key: Key,
    /// The key's place in the schema.
    pub(super) place: PlaceText,
    /// Write units.
    pub(super) written: f64,
    /// Read units.
    pub(super) read: f64,
}

/// The reads and writes of one order under all keys, or under the watched ones.
pub(super) struct Touches {
    watched: Option<Watched>,
    pub(super) all: Vec<Touch>,
}

impl Touches {
    /// An empty collection for the watched keys, or for all keys.
    pub(super) fn of(watched: Option<Watched>) -> Self {
        Self { watched, all: Vec::new() }
    }

    /// Whether a key of this entity is watched.
    pub(super) fn want<T: Stored>(&self) -> bool {
        T::PLACES.iter().any(|place| self.watches(place))
    }

    fn watches(&self, place: &PlaceText) -> bool {
        self.watched.is_none_or(|watched| watched.contains(place))
    }

    /// Adds a new item, written in a transaction, with its index entries.
    pub(super) fn put<T: Stored>(&mut self, entity: &T) {
        if self.want::<T>() {
            self.add::<T>(entity.key(), transactional(), 0.0);
            entity.index_keys().into_iter().for_each(|key| self.add::<T>(key, plain(), 0.0));
        }
    }

    /// Adds a write without index entries.
    pub(super) fn write<T: Stored>(&mut self, entity: &T, units: f64) {
        self.add::<T>(entity.key(), units, 0.0);
    }

    /// Adds a read.
    pub(super) fn read<T: Stored>(&mut self, key: Key, units: f64) {
        self.add::<T>(key, 0.0, units);
    }

    /// Adds units under one key.
    pub(super) fn add<T: Stored>(&mut self, key: Key, written: f64, read: f64) {
        // An entity has at most one key in each index.
        let place = T::PLACES.iter().find(|place| place.index == key.index);
        if let Some(&place) = place.filter(|place| self.watches(place)) {
            self.all.push(Touch { key, place, written, read });
        }
    }
}
