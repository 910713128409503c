//! Entities: the kinds of items, and their keys.

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::{Key, PlaceText};

/// A kind of item. All of them are in the list of [`items!`](crate::items).
pub trait Entity {
    /// The entity's name: the value of the item's attribute `EntityType`.
    const TYPE: &'static str;
}

/// An entity with its keys.
pub trait Stored: Entity + Serialize + DeserializeOwned {
    /// The entity's places: in the table first, then in the indexes that have an entry of it.
    const PLACES: &'static [PlaceText];

    /// Other places in the indexes: while an item has a key in one of them, it has none in the place of [`Self::PLACES`] in
    /// the same index.
    const INSTEAD: &'static [PlaceText] = &[];

    /// The key of the item itself.
    fn key(&self) -> Key;

    /// The keys of the item's index entries.
    fn index_keys(&self) -> Vec<Key> {
        Vec::new()
    }

    /// All of its keys, that of the item itself first.
    fn keys(&self) -> Vec<Key> {
        std::iter::once(self.key()).chain(self.index_keys()).collect()
    }
}

/// The type of the items in an answer: an entity, or an enum of several.
pub trait Kinds {
    /// The kinds of the items.
    const KINDS: &'static [&'static str];
}

impl<One: Entity> Kinds for One {
    const KINDS: &'static [&'static str] = &[One::TYPE];
}

/// Lists every entity of a table, each with its name, which is that of its type in camel case. Implements [`Entity`] for
/// each, and makes the enum `Item` and the list `ENTITIES` of names and places. A kind that is added has to be handled by
/// each `match` on `Item`. The caller needs `serde`.
#[macro_export]
macro_rules! items {
    ($($kind:ident = $name:literal)+) => {
        $(impl $crate::Entity for $kind {
            const TYPE: &'static str = $name;
        })+

        /// An item of any kind, read by its attribute `EntityType`.
        #[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
        #[allow(clippy::large_enum_variant, reason = "an item is read, used and dropped")]
        #[serde(tag = "EntityType")]
        pub enum Item {
            $(#[serde(rename = $name)] $kind($kind),)+
        }

        /// Every stored entity, with its places.
        pub const ENTITIES: &[(&str, &[$crate::PlaceText])] =
            &[$(($name, <$kind as $crate::Stored>::PLACES)),+];

        impl Item {
            /// The value of the attribute `EntityType`.
            pub fn kind(&self) -> &'static str {
                match self { $(Self::$kind(_) => $name),+ }
            }

            /// [`Stored::PLACES`]($crate::Stored::PLACES).
            pub fn places(&self) -> &'static [$crate::PlaceText] {
                match self { $(Self::$kind(_) => <$kind as $crate::Stored>::PLACES),+ }
            }

            /// [`Stored::INSTEAD`]($crate::Stored::INSTEAD).
            pub fn instead(&self) -> &'static [$crate::PlaceText] {
                match self { $(Self::$kind(_) => <$kind as $crate::Stored>::INSTEAD),+ }
            }

            /// The key in the table, then the keys in the indexes.
            pub fn keys(&self) -> Vec<$crate::Key> {
                match self { $(Self::$kind(one) => $crate::Stored::keys(one)),+ }
            }
        }

        $(impl From<$kind> for Item {
            fn from(one: $kind) -> Self {
                Self::$kind(one)
            }
        })+
    };
}

/// Declares the items of one answer: an enum of some of the kinds, so that a reader is compiled for no other.
#[macro_export]
macro_rules! collection {
    ($(#[$meta:meta])* $name:ident { $($(#[$doc:meta])* $kind:ident)+ }) => {
        $(#[$meta])*
        #[allow(clippy::large_enum_variant, reason = "an item is read, used and dropped")]
        #[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
        #[serde(tag = "EntityType", rename_all = "camelCase")]
        pub enum $name {
            $($(#[$doc])* $kind($kind),)+
            /// An item that a newer release wrote.
            #[serde(other)]
            Unknown,
        }

        impl $crate::Kinds for $name {
            const KINDS: &'static [&'static str] = &[$(<$kind as $crate::Entity>::TYPE),+];
        }
    };
}
