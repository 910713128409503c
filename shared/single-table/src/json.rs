//! Items in DynamoDB's JSON, such as `{"name": {"S": "Cup"}, "stock": {"N": "3"}}`.
//!
//! An item is read from the text of an answer straight into its entity. Each attribute is an object with one key, the tag
//! of its type, and JSON's own deserializer reads such an object as an enum: so all that is left to do here is to look at
//! the tag before the entity looks at the value.

use std::fmt;

use serde::de::{
    Deserialize, DeserializeSeed, Deserializer, EnumAccess, Error, IgnoredAny, MapAccess, SeqAccess, VariantAccess,
    Visitor,
};
use serde::forward_to_deserialize_any;

/// Reads an item as an entity, or as an enum of entities.
///
/// # Errors
/// The item is not DynamoDB's JSON, or not such an entity.
pub fn read<'de, T: Deserialize<'de>>(item: &'de str) -> serde_json::Result<T> {
    T::deserialize(Value { tag: Tag::M, json: &mut serde_json::Deserializer::from_str(item) })
}

/// The values of these attributes, all of them texts. `None` if the item lacks one.
pub fn texts<const N: usize>(item: &str, names: [&str; N]) -> Option<[String; N]> {
    #[derive(serde::Deserialize)]
    struct Text {
        #[serde(rename = "S")]
        text: String,
    }
    let mut texts = [const { None }; N];
    let mut parts = Parts { json: item, at: 0 };
    parts.open()?;
    while texts.iter().any(Option::is_none) {
        let name = parts.next().filter(|name| !name.is_empty())?;
        let value = parts.next()?;
        if let Some(at) = names.iter().position(|sought| *sought == name.trim_matches('"')) {
            texts[at] = Some(serde_json::from_str::<Text>(value).ok()?.text);
        }
    }
    Some(texts.map(Option::unwrap_or_default))
}

/// The answer to a Query or a BatchGetItem without its items, and the items. `None` if the answer is cut off.
///
/// This only looks for the ends of values, at a third of what a parser costs: the items are parsed when they are read.
pub fn split(answer: &str) -> Option<(String, Vec<&str>)> {
    let (mut rest, mut items) = (String::from("{"), Vec::new());
    let mut parts = Parts { json: answer, at: 0 };
    parts.open()?;
    loop {
        match parts.next()? {
            "" => break,
            "\"Items\"" => parts.list(&mut items)?,
            "\"Responses\"" => {
                parts.open()?;
                while !parts.next()?.is_empty() {
                    parts.list(&mut items)?;
                }
            }
            name => {
                let comma = if rest.len() > 1 { "," } else { "" };
                rest.extend([comma, name, ":", parts.next()?]);
            }
        }
    }
    rest.push('}');
    Some((rest, items))
}

/// A walk over the elements of lists, and the names and values of objects.
struct Parts<'a> {
    json: &'a str,
    at: usize,
}

impl<'a> Parts<'a> {
    /// Enters a list or an object.
    fn open(&mut self) -> Option<()> {
        self.skip_separators()?;
        let is_open = matches!(self.json.as_bytes().get(self.at)?, b'{' | b'[');
        self.at += 1;
        is_open.then_some(())
    }

    /// Adds all elements of a list.
    fn list(&mut self, elements: &mut Vec<&'a str>) -> Option<()> {
        self.open()?;
        loop {
            match self.next()? {
                "" => return Some(()),
                element => elements.push(element),
            }
        }
    }

    /// The next part; at the end of the list or object, an empty one. `None` if the text is cut off.
    fn next(&mut self) -> Option<&'a str> {
        self.skip_separators()?;
        let bytes = self.json.as_bytes();
        let (start, mut depth) = (self.at, 0_u32);
        loop {
            match bytes.get(self.at)? {
                b'}' | b']' | b',' | b':' | b' ' | b'\t' | b'\r' | b'\n' if depth == 0 => break,
                b'{' | b'[' => depth += 1,
                b'}' | b']' => depth -= 1,
                b'"' => self.skip_string()?,
                _ => {}
            }
            self.at += 1;
        }
        let part = &self.json[start..self.at];
        // The bracket at the end of a list or an object.
        self.at += usize::from(part.is_empty());
        Some(part)
    }

    /// Goes from a string's first quotation mark to its last one.
    fn skip_string(&mut self) -> Option<()> {
        let bytes = self.json.as_bytes();
        self.at += 1;
        loop {
            match bytes.get(self.at)? {
                b'"' => return Some(()),
                b'\\' => self.at += 2,
                _ => self.at += 1,
            }
        }
    }

    fn skip_separators(&mut self) -> Option<()> {
        let after = self.json.as_bytes().get(self.at..)?;
        self.at += after.iter().position(|byte| !matches!(byte, b' ' | b'\t' | b'\r' | b'\n' | b',' | b':'))?;
        Some(())
    }
}

/// The type of an attribute.
#[derive(Clone, Copy, serde::Deserialize)]
#[serde(variant_identifier, rename_all = "UPPERCASE")]
enum Tag {
    S,
    N,
    Bool,
    Null,
    M,
    L,
    Ss,
    Ns,
    B,
    Bs,
}

const TAGS: &[&str] = &["S", "N", "BOOL", "NULL", "M", "L", "SS", "NS", "B", "BS"];

/// A value whose tag has been read.
struct Value<D> {
    tag: Tag,
    json: D,
}

impl<'de, D: Deserializer<'de>> Deserializer<'de> for Value<D> {
    type Error = D::Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        match self.tag {
            Tag::N => self.json.deserialize_str(Number(visitor)),
            Tag::Bool => self.json.deserialize_bool(visitor),
            Tag::Null => IgnoredAny::deserialize(self.json).and_then(|_| visitor.visit_unit()),
            Tag::M => self.json.deserialize_map(Tagged(visitor)),
            Tag::L => self.json.deserialize_seq(Tagged(visitor)),
            // No entity has bytes, or numbers in a set. In attributes that it does not know, they are texts.
            Tag::S | Tag::B => self.json.deserialize_str(visitor),
            Tag::Ss | Tag::Ns | Tag::Bs => self.json.deserialize_seq(visitor),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        match self.tag {
            Tag::Null => IgnoredAny::deserialize(self.json).and_then(|_| visitor.visit_none()),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        match self.tag {
            Tag::S => self.json.deserialize_enum(name, variants, visitor),
            _ => self.deserialize_any(visitor),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, D::Error> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        self.json.deserialize_ignored_any(visitor)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct seq tuple
        tuple_struct map struct identifier
    }
}

/// Each of its values has a tag.
struct Tagged<T>(T);

impl<'de, V: Visitor<'de>> Visitor<'de> for Tagged<V> {
    type Value = V::Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.expecting(formatter)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<V::Value, A::Error> {
        self.0.visit_map(Tagged(map))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<V::Value, A::Error> {
        self.0.visit_seq(Tagged(list))
    }
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for Tagged<A> {
    type Error = A::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, A::Error> {
        self.0.next_key_seed(seed)
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, A::Error> {
        self.0.next_value_seed(Open(seed))
    }
}

impl<'de, A: SeqAccess<'de>> SeqAccess<'de> for Tagged<A> {
    type Error = A::Error;

    fn next_element_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, A::Error> {
        self.0.next_element_seed(Open(seed))
    }
}

/// Reads the tag, and after it the value.
struct Open<S>(S);

impl<'de, S: DeserializeSeed<'de>> DeserializeSeed<'de> for Open<S> {
    type Value = S::Value;

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<S::Value, D::Error> {
        json.deserialize_enum("attribute", TAGS, self)
    }
}

impl<'de, S: DeserializeSeed<'de>> Visitor<'de> for Open<S> {
    type Value = S::Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a value with the tag of its type")
    }

    fn visit_enum<A: EnumAccess<'de>>(self, attribute: A) -> Result<S::Value, A::Error> {
        let (tag, value) = attribute.variant()?;
        value.newtype_variant_seed(Opened { tag, seed: self.0 })
    }
}

struct Opened<S> {
    tag: Tag,
    seed: S,
}

impl<'de, S: DeserializeSeed<'de>> DeserializeSeed<'de> for Opened<S> {
    type Value = S::Value;

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<S::Value, D::Error> {
        self.seed.deserialize(Value { tag: self.tag, json })
    }
}

/// Gives the visitor the number that a text spells.
struct Number<V>(V);

impl<'de, V: Visitor<'de>> Visitor<'de> for Number<V> {
    type Value = V::Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.expecting(formatter)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<V::Value, E> {
        if let Ok(number) = text.parse() {
            return self.0.visit_i64(number);
        }
        match (text.parse(), text.parse()) {
            (Ok(number), _) => self.0.visit_u64(number),
            (_, Ok(number)) => self.0.visit_f64(number),
            (_, Err(error)) => Err(E::custom(error)),
        }
    }
}
