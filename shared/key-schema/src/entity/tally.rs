//! Items with counters.
//!
//! DynamoDB's `ADD` changes a number without reading it, but only at the top level of an item. So every sum is an
//! attribute of its own, such as `revenue:EUR` and `revenue:USD`. No other attribute's name contains a colon.

use std::collections::{BTreeMap, BTreeSet};

use crate::value::{Currency, Money};

/// A sum for each key. A missing sum is zero, and sums of zero are not stored.
///
/// A sum may be negative for a while: a cancellation may be counted before the order, if the two are in different
/// shards of the stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sums<K>(BTreeMap<K, i64>);

impl<K> Default for Sums<K> {
    fn default() -> Self {
        Self(BTreeMap::new())
    }
}

impl<K: Ord + Copy> Sums<K> {
    /// Adds an amount to one sum.
    pub fn add(&mut self, key: K, amount: i64) {
        let sum = self.0.entry(key).or_default();
        *sum = sum.saturating_add(amount);
        if *sum == 0 {
            self.0.remove(&key);
        }
    }

    /// Adds each sum of `other`.
    pub fn add_all(&mut self, other: &Self) {
        other.iter().for_each(|(key, amount)| self.add(key, amount));
    }

    /// The amounts to add so that each sum lies between `least` and `most`.
    #[must_use]
    pub fn deficit(&self, least: &Self, most: &Self) -> Self {
        let keys = self.0.keys().chain(least.0.keys()).chain(most.0.keys()).collect::<BTreeSet<_>>();
        keys.into_iter().map(|&key| (key, amount_to_bounds(self.of(key), least.of(key), most.of(key)))).collect()
    }

    /// The sum for this key.
    pub fn of(&self, key: K) -> i64 {
        self.0.get(&key).copied().unwrap_or_default()
    }

    /// The sums that are not zero.
    pub fn iter(&self) -> impl Iterator<Item = (K, i64)> {
        self.0.iter().map(|(key, sum)| (*key, *sum))
    }

    /// Whether all sums are zero.
    pub fn is_zero(&self) -> bool {
        self.0.is_empty()
    }
}

impl<K: Ord + Copy> FromIterator<(K, i64)> for Sums<K> {
    fn from_iter<I: IntoIterator<Item = (K, i64)>>(amounts: I) -> Self {
        let mut sums = Self::default();
        amounts.into_iter().for_each(|(key, amount)| sums.add(key, amount));
        sums
    }
}

impl Sums<Currency> {
    /// The positive sums as money. A sum over the greatest amount of money, 2^53 - 1, becomes that amount.
    pub fn money(&self) -> Vec<Money> {
        self.iter().filter(|(_, sum)| sum.is_positive()).map(|(currency, sum)| Money::nearest(sum, currency)).collect()
    }
}

fn amount_to_bounds(number: i64, least: i64, most: i64) -> i64 {
    number.max(least).min(most.max(least)).saturating_sub(number)
}

macro_rules! attributes {
    ($($module:ident = $prefix:literal)+) => {$(
        /// Serializes sums as attributes of the item, each named by the prefix and its key.
        pub(super) mod $module {
            use std::fmt::Display;

            use serde::de::{DeserializeOwned, Deserializer};
            use serde::ser::Serializer;

            use super::{PrefixVisitor, Sums};

            pub(in super::super) fn serialize<K, S>(sums: &Sums<K>, serializer: S) -> Result<S::Ok, S::Error>
            where
                K: Display + Ord + Copy,
                S: Serializer,
            {
                serializer.collect_map(sums.iter().map(|(key, sum)| (format!(concat!($prefix, "{}"), key), sum)))
            }

            pub(in super::super) fn deserialize<'de, K, D>(deserializer: D) -> Result<Sums<K>, D::Error>
            where
                K: DeserializeOwned + Ord + Copy,
                D: Deserializer<'de>,
            {
                deserializer.deserialize_map(PrefixVisitor::new($prefix))
            }
        }
    )+};
}

attributes! {
    spent = "spent:"
    revenue = "revenue:"
    status = "status:"
}

/// A counter as it is read. DynamoDB's numbers have up to 38 digits; a number that exceeds an `i64` becomes the nearest
/// `i64`. So an item with an absurd counter can still be read and repaired.
struct Saturated(i64);

impl<'de> serde::Deserialize<'de> for Saturated {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Number;

        impl serde::de::Visitor<'_> for Number {
            type Value = Saturated;

            fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(formatter, "a number")
            }

            fn visit_i64<E>(self, number: i64) -> Result<Saturated, E> {
                Ok(Saturated(number))
            }

            fn visit_u64<E>(self, number: u64) -> Result<Saturated, E> {
                Ok(Saturated(i64::try_from(number).unwrap_or(i64::MAX)))
            }

            #[expect(clippy::cast_possible_truncation, reason = "the cast saturates")]
            fn visit_f64<E>(self, number: f64) -> Result<Saturated, E> {
                Ok(Saturated(number as i64))
            }
        }

        deserializer.deserialize_any(Number)
    }
}

/// Deserializes a [`Saturated`] counter.
pub(super) fn saturated<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<i64, D::Error> {
    serde::Deserialize::deserialize(deserializer).map(|Saturated(number)| number)
}

/// Reads the attributes whose names begin with a prefix, and ignores all others.
struct PrefixVisitor<K> {
    prefix: &'static str,
    key: std::marker::PhantomData<K>,
}

impl<K> PrefixVisitor<K> {
    fn new(prefix: &'static str) -> Self {
        Self { prefix, key: std::marker::PhantomData }
    }
}

impl<'de, K: serde::de::DeserializeOwned + Ord + Copy> serde::de::Visitor<'de> for PrefixVisitor<K> {
    type Value = Sums<K>;

    fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "an item")
    }

    fn visit_map<A: serde::de::MapAccess<'de>>(self, mut item: A) -> Result<Sums<K>, A::Error> {
        use serde::de::IntoDeserializer as _;
        let mut sums = Sums::default();
        while let Some(name) = item.next_key::<String>()? {
            match name.strip_prefix(self.prefix) {
                Some(key) => {
                    let key: serde::de::value::StrDeserializer<'_, A::Error> = key.into_deserializer();
                    let Saturated(sum) = item.next_value()?;
                    sums.add(K::deserialize(key)?, sum);
                }
                None => _ = item.next_value::<serde::de::IgnoredAny>()?,
            }
        }
        Ok(sums)
    }
}
