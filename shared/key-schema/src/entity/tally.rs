//! Items of counters.
//!
//! `ADD` changes a number where it lies, without reading it, and only at the top level of an item. So every sum is
//! an attribute of its own: `revenue:EUR` beside `revenue:USD`. No other attribute of any item holds a colon.

use std::collections::{BTreeMap, BTreeSet};

use crate::value::{Currency, Money};

use super::{CustomerStats, DayTotals, ProductStats};

/// An item of counters, and as well the amounts to add to one.
pub trait Tally {
    /// Adds the amounts of `other`, which is of the same item.
    fn add(&mut self, other: &Self);

    /// What to add so that each number lies between its least and its most. All are of the same item.
    #[must_use]
    fn deficit(&self, least: &Self, most: &Self) -> Self;

    /// Whether adding this changes nothing.
    fn is_zero(&self) -> bool;
}

macro_rules! tallies {
    ($($entity:ident: $($number:ident)+, $($sums:ident)+;)+) => {$(
        impl Tally for $entity {
            fn add(&mut self, other: &Self) {
                $(self.$number = self.$number.saturating_add(other.$number);)+
                $(self.$sums.add_all(&other.$sums);)+
            }

            fn deficit(&self, least: &Self, most: &Self) -> Self {
                let mut deficit = self.clone();
                $(deficit.$number = lacking(self.$number, least.$number, most.$number);)+
                $(deficit.$sums = self.$sums.deficit(&least.$sums, &most.$sums);)+
                deficit
            }

            fn is_zero(&self) -> bool {
                [$(self.$number),+] == [$(stringify!($number)),+].map(|_| 0) $(&& self.$sums.is_zero())+
            }
        }
    )+};
}

tallies! {
    CustomerStats: orders, spent;
    ProductStats: orders units, revenue;
    DayTotals: orders units, revenue statuses;
}

fn lacking(number: i64, least: i64, most: i64) -> i64 {
    number.max(least).min(most.max(least)).saturating_sub(number)
}

/// One sum for each of several things. What was never counted is zero, and a sum of zero is as good as none.
///
/// A sum may pass below zero: a change that is counted before what it undoes, from another shard of the stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sums<K>(BTreeMap<K, i64>);

impl<K> Default for Sums<K> {
    fn default() -> Self {
        Self(BTreeMap::new())
    }
}

impl<K: Ord + Copy> Sums<K> {
    /// Adds to one sum.
    pub fn add(&mut self, of: K, amount: i64) {
        let sum = self.0.entry(of).or_default();
        *sum = sum.saturating_add(amount);
        if *sum == 0 {
            self.0.remove(&of);
        }
    }

    /// Adds to every sum its counterpart.
    pub fn add_all(&mut self, other: &Self) {
        other.iter().for_each(|(of, amount)| self.add(of, amount));
    }

    /// What to add so that each sum lies between its least and its most.
    fn deficit(&self, least: &Self, most: &Self) -> Self {
        let of = |sums: &Self, of| sums.0.get(&of).copied().unwrap_or_default();
        let every = self.0.keys().chain(least.0.keys()).chain(most.0.keys()).collect::<BTreeSet<_>>();
        every.into_iter().map(|&key| (key, lacking(of(self, key), of(least, key), of(most, key)))).collect()
    }

    /// Every sum but those of zero.
    pub fn iter(&self) -> impl Iterator<Item = (K, i64)> {
        self.0.iter().map(|(of, sum)| (*of, *sum))
    }

    /// Whether all sums are zero.
    pub fn is_zero(&self) -> bool {
        self.0.is_empty()
    }
}

impl<K: Ord + Copy> FromIterator<(K, i64)> for Sums<K> {
    fn from_iter<I: IntoIterator<Item = (K, i64)>>(amounts: I) -> Self {
        let mut sums = Self::default();
        amounts.into_iter().for_each(|(of, amount)| sums.add(of, amount));
        sums
    }
}

impl Sums<Currency> {
    /// The sums above zero, as money. One beyond the greatest amount of money, 2^53 - 1, is shown as that.
    pub fn money(&self) -> Vec<Money> {
        self.iter().filter(|(_, sum)| sum.is_positive()).map(|(currency, sum)| Money::nearest(sum, currency)).collect()
    }
}

macro_rules! attributes {
    ($($module:ident = $prefix:literal)+) => {$(
        /// Sums as attributes of the item, each named by its prefix and what it is of.
        pub(super) mod $module {
            use std::fmt::Display;

            use serde::de::{DeserializeOwned, Deserializer};
            use serde::ser::Serializer;

            use super::{Named, Sums};

            pub(in super::super) fn serialize<K, S>(sums: &Sums<K>, serializer: S) -> Result<S::Ok, S::Error>
            where
                K: Display + Ord + Copy,
                S: Serializer,
            {
                serializer.collect_map(sums.iter().map(|(of, sum)| (format!(concat!($prefix, "{}"), of), sum)))
            }

            pub(in super::super) fn deserialize<'de, K, D>(deserializer: D) -> Result<Sums<K>, D::Error>
            where
                K: DeserializeOwned + Ord + Copy,
                D: Deserializer<'de>,
            {
                deserializer.deserialize_map(Named::new($prefix))
            }
        }
    )+};
}

attributes! {
    spent = "spent:"
    revenue = "revenue:"
    status = "status:"
}

/// A count as it is read: DynamoDB adds up to 38 digits, and one that no `i64` holds is the nearest that one does. So a
/// counter that ran away, whatever made it, is shown and compared, and takes nothing else with it.
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

            #[expect(clippy::cast_possible_truncation, reason = "beyond an i64 the cast gives the nearest one")]
            fn visit_f64<E>(self, number: f64) -> Result<Saturated, E> {
                Ok(Saturated(number as i64))
            }
        }

        deserializer.deserialize_any(Number)
    }
}

/// Reads a [`Saturated`] count.
pub(super) fn saturated<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<i64, D::Error> {
    serde::Deserialize::deserialize(deserializer).map(|Saturated(number)| number)
}

/// Reads the attributes that begin with a prefix, and passes over all others.
struct Named<K> {
    prefix: &'static str,
    of: std::marker::PhantomData<K>,
}

impl<K> Named<K> {
    fn new(prefix: &'static str) -> Self {
        Self { prefix, of: std::marker::PhantomData }
    }
}

impl<'de, K: serde::de::DeserializeOwned + Ord + Copy> serde::de::Visitor<'de> for Named<K> {
    type Value = Sums<K>;

    fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "an item")
    }

    fn visit_map<A: serde::de::MapAccess<'de>>(self, mut item: A) -> Result<Sums<K>, A::Error> {
        use serde::de::IntoDeserializer as _;
        let mut sums = Sums::default();
        while let Some(name) = item.next_key::<String>()? {
            match name.strip_prefix(self.prefix) {
                Some(of) => {
                    let of: serde::de::value::StrDeserializer<'_, A::Error> = of.into_deserializer();
                    let Saturated(sum) = item.next_value()?;
                    sums.add(K::deserialize(of)?, sum);
                }
                None => _ = item.next_value::<serde::de::IgnoredAny>()?,
            }
        }
        Ok(sums)
    }
}
