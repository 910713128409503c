//! Templates, which spell keys.

use std::marker::PhantomData;

/// A value that can be a part of a key, between two `#`.
///
/// An implementation must never write a `#`, and must write different texts for different values. Otherwise two items
/// could have the same key.
pub trait KeyPart {
    /// Appends this part to a key.
    fn write_to(&self, key: &mut String);
}

/// A small number, such as that of a shard. It has no leading zeros, so it does not sort as a number does.
impl KeyPart for u8 {
    fn write_to(&self, key: &mut String) {
        key.push_str(&self.to_string());
    }
}

/// A parameter of a question: a part of a key, or a range of such parts.
pub trait Parameter {
    /// The part that the parameter gives, or of which it gives a range.
    type Part: KeyPart;

    /// Whether the parameter gives a range.
    const IS_RANGE: bool = false;

    /// The part or the range.
    fn given(&self) -> Given<'_>;
}

impl<Part: KeyPart> Parameter for Part {
    type Part = Self;

    fn given(&self) -> Given<'_> {
        Given::Part(self)
    }
}

/// What a parameter gives.
pub enum Given<'a> {
    /// A part of a key.
    Part(&'a dyn KeyPart),
    /// The parts from the first one, included, to the second one, excluded. Without an end, the range has all parts on
    /// that side, of which each has to begin with a digit.
    Between([Option<&'a dyn KeyPart>; 2]),
}

/// The spelling of a key, with a `{placeholder}` for each typed part: `i#{issuedAt}#{invoiceId}`. The number of a shard can
/// be `{#shard}`: the part with a `#` before it, and nothing for shard 0. So the key of the only shard names none.
///
/// `Parts` is the type of the only part, or the tuple of the parts' types.
pub struct Template<Parts> {
    text: &'static str,
    parts: PhantomData<fn(Parts)>,
}

impl<Parts> Clone for Template<Parts> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<Parts> Copy for Template<Parts> {}

impl<Of: Parts> Template<Of> {
    /// A template with one placeholder for each part.
    ///
    /// # Panics
    /// The number of placeholders is another one. All templates are constants, so the panic is a compile error.
    pub const fn new(text: &'static str) -> Self {
        let (bytes, mut at, mut placeholders) = (text.as_bytes(), 0, 0);
        while at < bytes.len() {
            if bytes[at] == b'{' {
                placeholders += 1;
            }
            at += 1;
        }
        assert!(placeholders == Of::COUNT, "a template needs one placeholder for each of its parts");
        Self { text, parts: PhantomData }
    }

    /// The template as text.
    pub const fn text(&self) -> &'static str {
        self.text
    }

    /// The key of an item with these parts.
    pub fn fill(&self, parts: impl Values<Of>) -> String {
        let mut spelling = Spelling::new(self.text);
        parts.each(&mut |given| {
            if let Given::Part(part) = given {
                spelling.add(part);
            }
        });
        spelling.key
    }

    /// The beginning of all keys: the template up to the first placeholder.
    pub fn literal(&self) -> &'static str {
        self.text.split('{').next().unwrap_or_default()
    }
}

/// A template that is being filled, up to the first placeholder without a part.
#[derive(Clone)]
pub(crate) struct Spelling {
    pub(crate) key: String,
    rest: &'static str,
}

impl Spelling {
    pub(crate) fn new(text: &'static str) -> Self {
        let mut key = String::with_capacity(96);
        let (literal, rest) = text.split_at(text.find('{').unwrap_or(text.len()));
        key.push_str(literal);
        Self { key, rest }
    }

    /// Whether every placeholder has its part.
    pub(crate) fn is_complete(&self) -> bool {
        self.rest.is_empty()
    }

    /// Fills the next placeholder. The types guarantee that there is one for each part.
    pub(crate) fn add(&mut self, part: &dyn KeyPart) {
        let Some((name, rest)) = self.rest.split_once('}') else { return };
        let end = self.key.len();
        let is_of_shard = name.starts_with("{#");
        if is_of_shard {
            self.key.push('#');
        }
        part.write_to(&mut self.key);
        if is_of_shard && &self.key[end..] == "#0" {
            self.key.truncate(end);
        }
        let (literal, rest) = rest.split_at(rest.find('{').unwrap_or(rest.len()));
        self.key.push_str(literal);
        self.rest = rest;
    }
}

/// Whether some parts fill this template to this key.
pub fn spells(template: &str, key: &str) -> bool {
    parts(template, key).is_some()
}

/// The parts that fill this template to this key, each after the name of its placeholder. A shard that is left out is `0`.
pub fn parts<'a>(template: &'a str, key: &'a str) -> Option<Vec<(&'a str, &'a str)>> {
    let Some((literal, rest)) = template.split_once('{') else { return (template == key).then(Vec::new) };
    let (name, rest) = rest.split_once('}').unwrap_or((rest, ""));
    let with = |name, part, key| {
        let mut parts = parts(rest, key)?;
        parts.insert(0, (name, part));
        Some(parts)
    };
    let of_part = |name: &'a str, key: &'a str| {
        let (part, key) = key.split_at(key.find('#').unwrap_or(key.len()));
        if part.is_empty() { None } else { with(name, part, key) }
    };
    let key = key.strip_prefix(literal)?;
    match name.strip_prefix('#') {
        None => of_part(name, key),
        Some(name) => with(name, "0", key).or_else(|| of_part(name, key.strip_prefix('#')?)),
    }
}

/// The types of a template's parts: none, the only one, or a tuple.
pub trait Parts {
    /// The number of parts.
    const COUNT: usize;
    /// The first part.
    type First;
}

/// References to values of these types, in their order.
pub trait Values<Types> {
    /// Calls `take` with each value.
    fn each(self, take: &mut dyn FnMut(Given<'_>));
}

impl Parts for () {
    const COUNT: usize = 0;
    type First = ();
}

impl Values<()> for () {
    fn each(self, _: &mut dyn FnMut(Given<'_>)) {}
}

impl<Part: KeyPart> Parts for Part {
    const COUNT: usize = 1;
    type First = Part;
}

impl<A: Parameter> Values<A> for &A {
    fn each(self, take: &mut dyn FnMut(Given<'_>)) {
        take(self.given());
    }
}

macro_rules! tuples {
    ($(($count:literal: $first:ident $($part:ident)+))+) => {$(
        impl<$first: KeyPart, $($part: KeyPart,)+> Parts for ($first, $($part,)+) {
            const COUNT: usize = $count;
            type First = $first;
        }

        impl<$first: Parameter, $($part: Parameter,)+> Values<($first, $($part,)+)> for (&$first, $(&$part,)+) {
            #[allow(non_snake_case, reason = "the values are named as their types")]
            fn each(self, take: &mut dyn FnMut(Given<'_>)) {
                let ($first, $($part,)+) = self;
                take($first.given());
                $(take($part.given());)+
            }
        }
    )+};
}

tuples! { (2: A B) (3: A B C) (4: A B C D) }

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shard_0_is_not_in_the_key_of_a_template_that_leaves_it_out() {
        const LEFT_OUT: Template<(u8, u8)> = Template::new("p#{cell}{#shard}");
        const SPELLED: Template<(u8, u8)> = Template::new("p#{cell}#{shard}");
        for (values, left_out, spelled) in
            [((0, 0), "p#0", "p#0#0"), ((7, 1), "p#7#1", "p#7#1"), ((7, 10), "p#7#10", "p#7#10")]
        {
            let (cell, shard) = values;
            assert_eq!([LEFT_OUT, SPELLED].map(|it| it.fill((&cell, &shard))), [left_out, spelled]);
            let (cell, shard) = (cell.to_string(), shard.to_string());
            let named = Some(vec![("cell", &*cell), ("shard", &*shard)]);
            assert_eq!((parts(LEFT_OUT.text(), left_out), parts(SPELLED.text(), spelled)), (named.clone(), named));
        }
        for other in ["p#", "p##1", "p#7#", "p#7#1#2"] {
            assert!(!spells(LEFT_OUT.text(), other), "{other}");
        }
        assert!(!spells(SPELLED.text(), "p#7"));
    }
}
