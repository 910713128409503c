//! Templates, which spell keys.

use std::marker::PhantomData;

use crate::value::KeyPart;

/// The spelling of a key, with a `{placeholder}` for each typed part: `i#{issuedAt}#{invoiceId}`. The number of a shard can
/// be `{#shard}`: the part with a `#` before it, and nothing for shard 0. So the key of the only shard names none.
///
/// `Parts` is the tuple of the parts' types. A template with all parts is the key of an item. A template with only the
/// leading parts is a prefix of such keys.
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

impl<Parts: Arity> Template<Parts> {
    /// A template with one placeholder for each of `Parts`.
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
        assert!(placeholders == Parts::COUNT, "a template needs one placeholder for each of its parts");
        Self { text, parts: PhantomData }
    }

    /// The template as text.
    pub const fn text(&self) -> &'static str {
        self.text
    }

    /// The key of an item with these parts.
    pub fn fill(&self, parts: impl Full<Parts>) -> String {
        self.prefix(parts)
    }

    /// The prefix of all keys with these leading parts: the template up to the first placeholder without a part.
    pub fn prefix(&self, leading: impl Prefix<Parts>) -> String {
        let mut key = String::with_capacity(96);
        let mut rest = self.text;
        leading.each(&mut |part| {
            // `new` and the trait bounds guarantee that there is a placeholder for each part.
            if let Some((before, after)) = rest.split_once('{') {
                key.push_str(before);
                let end = key.len();
                let is_of_shard = after.starts_with('#');
                if is_of_shard {
                    key.push('#');
                }
                part.write_to(&mut key);
                if is_of_shard && &key[end..] == "#0" {
                    key.truncate(end);
                }
                rest = after.split_once('}').map_or("", |(_, after)| after);
            }
        });
        key.push_str(rest.split('{').next().unwrap_or_default());
        key
    }
}

/// Whether some parts fill this template to this key.
pub fn spells(template: &str, key: &str) -> bool {
    let Some((literal, rest)) = template.split_once('{') else { return template == key };
    let (name, rest) = rest.split_once('}').unwrap_or((rest, ""));
    let of_part = |key: &str| {
        let (part, key) = key.split_at(key.find('#').unwrap_or(key.len()));
        !part.is_empty() && spells(rest, key)
    };
    key.strip_prefix(literal).is_some_and(|key| match name.strip_prefix('#') {
        None => of_part(key),
        Some(_) => spells(rest, key) || key.strip_prefix('#').is_some_and(of_part),
    })
}

/// A tuple of part types.
pub trait Arity {
    /// The number of parts.
    const COUNT: usize;
}

/// References to the leading parts of a template: to none, some or all of them.
pub trait Prefix<Parts> {
    /// Calls `write` with each part, in order.
    fn each(self, write: &mut dyn FnMut(&dyn KeyPart));
}

/// References to all parts of a template.
pub trait Full<Parts>: Prefix<Parts> {}

macro_rules! full {
    ($(($($part:ident)*))+) => {$(
        impl<$($part,)*> Arity for ($($part,)*) {
            const COUNT: usize = <[&str]>::len(&[$(stringify!($part)),*]);
        }

        impl<$($part: KeyPart,)*> Full<($($part,)*)> for ($(&$part,)*) {}
    )+};
}

macro_rules! prefix {
    ($(($($given:ident)*) of ($($part:ident)*))+) => {$(
        impl<$($part: KeyPart,)*> Prefix<($($part,)*)> for ($(&$given,)*) {
            #[allow(non_snake_case, reason = "the parts are named as their types")]
            #[allow(unused_variables, reason = "the empty prefix writes nothing")]
            fn each(self, write: &mut dyn FnMut(&dyn KeyPart)) {
                let ($($given,)*) = self;
                $(write($given);)*
            }
        }
    )+};
}

full! { () (A) (A B) (A B C) }

prefix! {
    () of ()
    () of (A)
    (A) of (A)
    () of (A B)
    (A) of (A B)
    (A B) of (A B)
    () of (A B C)
    (A) of (A B C)
    (A B) of (A B C)
    (A B C) of (A B C)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shard_0_is_not_in_the_key_of_a_template_that_leaves_it_out() {
        const LEFT_OUT: Template<(u8, u8)> = Template::new("p#{cell}{#shard}");
        const SPELLED: Template<(u8, u8)> = Template::new("p#{cell}#{shard}");
        for (parts, left_out, spelled) in
            [((0, 0), "p#0", "p#0#0"), ((7, 1), "p#7#1", "p#7#1"), ((7, 10), "p#7#10", "p#7#10")]
        {
            let (cell, shard) = parts;
            assert_eq!([LEFT_OUT, SPELLED].map(|it| it.fill((&cell, &shard))), [left_out, spelled]);
            assert!(spells(LEFT_OUT.text(), left_out) && spells(SPELLED.text(), spelled));
        }
        for other in ["p#", "p##1", "p#7#", "p#7#1#2"] {
            assert!(!spells(LEFT_OUT.text(), other), "{other}");
        }
        assert!(!spells(SPELLED.text(), "p#7"));
    }
}
