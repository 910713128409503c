//! What an order does to the keys of the table and its indexes.

use key_schema::layout::{Key, PlaceText, Stored};

use super::design::Watched;
use super::units::{plain, transactional};

/// What one order does to one key.
pub(super) struct Touch {
    pub(super) key: Key,
    /// Where in the schema it lies.
    pub(super) place: PlaceText,
    /// Write units.
    pub(super) written: f64,
    /// Read units.
    pub(super) read: f64,
}

/// What one order does to all keys, or to those that somebody wants to see.
pub(super) struct Touches {
    watched: Option<Watched>,
    pub(super) all: Vec<Touch>,
}

impl Touches {
    /// None yet: of the watched keys, or of all.
    pub(super) fn of(watched: Option<Watched>) -> Self {
        Self { watched, all: Vec::new() }
    }

    /// Whether anybody wants to see what is done to this kind of item.
    pub(super) fn want<T: Stored>(&self) -> bool {
        T::PLACES.iter().any(|place| self.watches(place))
    }

    fn watches(&self, place: &PlaceText) -> bool {
        self.watched.is_none_or(|watched| watched.contains(place))
    }

    /// A new item, written in a transaction, with its entries in the indexes.
    pub(super) fn put<T: Stored>(&mut self, entity: &T) {
        if self.want::<T>() {
            self.add::<T>(entity.key(), transactional(), 0.0);
            entity.index_keys().into_iter().for_each(|key| self.add::<T>(key, plain(), 0.0));
        }
    }

    /// Writes an item and no entry in an index.
    pub(super) fn write<T: Stored>(&mut self, entity: &T, units: f64) {
        self.add::<T>(entity.key(), units, 0.0);
    }

    /// Reads an item.
    pub(super) fn read<T: Stored>(&mut self, key: Key, units: f64) {
        self.add::<T>(key, 0.0, units);
    }

    /// Writes and reads under one key.
    pub(super) fn add<T: Stored>(&mut self, key: Key, written: f64, read: f64) {
        // An entity has one place in each index it is in.
        let place = T::PLACES.iter().find(|place| place.index == key.index);
        if let Some(&place) = place.filter(|place| self.watches(place)) {
            self.all.push(Touch { key, place, written, read });
        }
    }
}
