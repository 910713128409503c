//! A deserializer that wraps another one, and refuses a value if its JSON type is not the one that was requested.

use std::fmt;

use serde::de::value::StrDeserializer;
use serde::de::{DeserializeSeed, Deserializer, Error, IntoDeserializer as _, MapAccess, SeqAccess, Visitor};

use super::expect::Expect;

/// A wrapper of a deserializer, of the access to the elements of a value, or of the seed of an element.
pub(crate) struct Strict<T>(pub(crate) T);

/// A visitor that accepts values of only one JSON type.
struct Only<V> {
    expect: Expect,
    visitor: V,
}

macro_rules! expecting {
    ($($method:ident($($argument:ident: $type:ty),*) $expect:expr;)+) => {$(
        fn $method<V: Visitor<'de>>(self, $($argument: $type,)* visitor: V) -> Result<V::Value, D::Error> {
            self.0.$method($($argument,)* Only { expect: $expect, visitor })
        }
    )+};
}

macro_rules! whole {
    ($($method:ident $type:ty;)+) => {
        expecting! { $($method() Expect::Whole(i128::from(<$type>::MIN), i128::from(<$type>::MAX));)+ }
    };
}

impl<'de, D: Deserializer<'de>> Deserializer<'de> for Strict<D> {
    type Error = D::Error;

    whole! {
        deserialize_i8 i8;
        deserialize_i16 i16;
        deserialize_i32 i32;
        deserialize_i64 i64;
        deserialize_u8 u8;
        deserialize_u16 u16;
        deserialize_u32 u32;
        deserialize_u64 u64;
    }

    expecting! {
        deserialize_any() Expect::Anything;
        deserialize_bool() Expect::Truth;
        deserialize_f32() Expect::Number;
        deserialize_f64() Expect::Number;
        deserialize_char() Expect::Text;
        deserialize_str() Expect::Text;
        deserialize_string() Expect::Text;
        deserialize_bytes() Expect::Text;
        deserialize_byte_buf() Expect::Text;
        deserialize_identifier() Expect::Text;
        deserialize_option() Expect::Anything;
        deserialize_unit() Expect::Anything;
        deserialize_unit_struct(name: &'static str) Expect::Anything;
        deserialize_newtype_struct(name: &'static str) Expect::Anything;
        deserialize_seq() Expect::Array;
        deserialize_tuple(length: usize) Expect::Array;
        deserialize_tuple_struct(name: &'static str, length: usize) Expect::Array;
        deserialize_map() Expect::Object;
        deserialize_struct(name: &'static str, fields: &'static [&'static str]) Expect::Object;
        deserialize_ignored_any() Expect::Anything;
    }

    /// Accepts the name of a variant as a string. serde itself would also accept an object.
    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        names: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        self.0.deserialize_str(Only { expect: Expect::Text, visitor: Named { names, visitor } })
    }
}

/// A visitor of a string that names a variant of an enum.
struct Named<V> {
    names: &'static [&'static str],
    visitor: V,
}

impl<'de, V: Visitor<'de>> Visitor<'de> for Named<V> {
    type Value = V::Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.visitor.expecting(f)
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<V::Value, E> {
        if !self.names.contains(&name) {
            return Err(E::custom(format_args!("must be one of {}", self.names.join(", "))));
        }
        let name: StrDeserializer<'_, E> = name.into_deserializer();
        self.visitor.visit_enum(name)
    }
}

impl<V> Only<V> {
    fn refuse<T, E: Error>(self) -> Result<T, E> {
        Err(E::custom(self.expect))
    }
}

macro_rules! visits {
    ($($method:ident $type:ty: $kind:ident;)+) => {$(
        fn $method<E: Error>(self, value: $type) -> Result<V::Value, E> {
            match self.expect {
                Expect::$kind | Expect::Anything => self.visitor.$method(value),
                _ => self.refuse(),
            }
        }
    )+};
}

impl<'de, V: Visitor<'de>> Visitor<'de> for Only<V> {
    type Value = V::Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.expect {
            Expect::Anything => self.visitor.expecting(f),
            expect => write!(f, "{expect}"),
        }
    }

    visits! {
        visit_bool bool: Truth;
        visit_str &str: Text;
        visit_borrowed_str &'de str: Text;
        visit_string String: Text;
        visit_bytes &[u8]: Text;
        visit_borrowed_bytes &'de [u8]: Text;
        visit_byte_buf Vec<u8>: Text;
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<V::Value, E> {
        match self.expect {
            Expect::Whole(least, most) if (least..=most).contains(&number.into()) => self.visitor.visit_i64(number),
            Expect::Number | Expect::Anything => self.visitor.visit_i64(number),
            _ => self.refuse(),
        }
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<V::Value, E> {
        match self.expect {
            Expect::Whole(least, most) if (least..=most).contains(&number.into()) => self.visitor.visit_u64(number),
            Expect::Number | Expect::Anything => self.visitor.visit_u64(number),
            _ => self.refuse(),
        }
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<V::Value, E> {
        match (self.expect, Expect::whole(number)) {
            (Expect::Whole(..), Some(whole)) => self.visit_i64(whole),
            (Expect::Number | Expect::Anything, _) => self.visitor.visit_f64(number),
            _ => self.refuse(),
        }
    }

    fn visit_unit<E: Error>(self) -> Result<V::Value, E> {
        match self.expect {
            Expect::Anything => self.visitor.visit_unit(),
            _ => self.refuse(),
        }
    }

    fn visit_none<E: Error>(self) -> Result<V::Value, E> {
        self.visitor.visit_none()
    }

    fn visit_some<D: Deserializer<'de>>(self, value: D) -> Result<V::Value, D::Error> {
        self.visitor.visit_some(Strict(value))
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, value: D) -> Result<V::Value, D::Error> {
        self.visitor.visit_newtype_struct(Strict(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, elements: A) -> Result<V::Value, A::Error> {
        match self.expect {
            Expect::Array | Expect::Anything => self.visitor.visit_seq(Strict(elements)),
            _ => self.refuse(),
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, members: A) -> Result<V::Value, A::Error> {
        match self.expect {
            Expect::Object | Expect::Anything => self.visitor.visit_map(Strict(members)),
            _ => self.refuse(),
        }
    }
}

impl<'de, A: SeqAccess<'de>> SeqAccess<'de> for Strict<A> {
    type Error = A::Error;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, A::Error> {
        self.0.next_element_seed(Strict(seed))
    }

    fn size_hint(&self) -> Option<usize> {
        self.0.size_hint()
    }
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for Strict<A> {
    type Error = A::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, A::Error> {
        self.0.next_key_seed(Strict(seed))
    }

    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value, A::Error> {
        self.0.next_value_seed(Strict(seed))
    }

    fn size_hint(&self) -> Option<usize> {
        self.0.size_hint()
    }
}

impl<'de, T: DeserializeSeed<'de>> DeserializeSeed<'de> for Strict<T> {
    type Value = T::Value;

    fn deserialize<D: Deserializer<'de>>(self, value: D) -> Result<T::Value, D::Error> {
        self.0.deserialize(Strict(value))
    }
}
