//! Access patterns as forms: their parameters by name, and the question that texts for them ask.

use std::fmt;

use crate::{Bound, Chosen, Declaration, Given, Key, KeyPart, Question, Reads};

/// A parameter of an access pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    /// The name of its placeholder: `orderId`.
    pub name: &'static str,
    /// Whether it gives a range, whose ends may be absent.
    pub is_range: bool,
    /// Whether it may have several values, with commas between them: each of them makes a key of a batch.
    pub is_list: bool,
}

/// What is wrong with a text that fills a [`Field`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoPart(String);

impl fmt::Display for NoPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for NoPart {}

/// A part of a key as text, as a key spells it.
struct Text(String);

impl KeyPart for Text {
    fn write_to(&self, key: &mut String) {
        key.push_str(&self.0);
    }
}

impl Text {
    fn new(name: &str, text: &str) -> Result<Self, NoPart> {
        match text.trim() {
            "" => Err(NoPart(format!("{name} is missing"))),
            text if text.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'#') => Ok(Self(text.to_owned())),
            text => Err(NoPart(format!("{name}: {text:?} is no part of a key: no spaces, no #, ASCII alone"))),
        }
    }

    fn end(name: &str, text: &str) -> Result<Option<Self>, NoPart> {
        if text.trim().is_empty() { Ok(None) } else { Self::new(name, text).map(Some) }
    }
}

/// The names of a template's placeholders.
fn placeholders(template: &'static str) -> impl Iterator<Item = &'static str> {
    let names = template.split('{').skip(1).filter_map(|rest| rest.split('}').next());
    names.map(|name| name.trim_start_matches('#'))
}

impl Declaration {
    /// The parameters: the parts of the partition key, and what is [`chosen`](Self::chosen) of the sort key.
    pub fn fields(&self) -> Vec<Field> {
        let field = |name| Field { name, is_range: false, is_list: self.is_batch };
        let mut fields: Vec<_> = placeholders(self.place.partition).map(field).collect();
        let first = placeholders(self.place.sort).next();
        fields.extend(
            first
                .filter(|_| self.chosen != Chosen::Nothing)
                .map(|name| Field { is_range: self.chosen == Chosen::Range, ..field(name) }),
        );
        fields
    }

    /// The question for these texts: those of a field, by its name. A range has two, its two ends, and an absent end is
    /// empty.
    ///
    /// # Errors
    /// A text is missing, or no part of a key.
    pub fn ask(&self, text: impl Fn(Field) -> [String; 2]) -> Result<Question, NoPart> {
        let fields = self.fields();
        if self.is_batch {
            return Ok(Question { declared: *self, reads: Reads::Batch(self.batch(&fields, text)?) });
        }
        let mut parts = Vec::new();
        for field in &fields {
            let [from, to] = text(*field);
            parts.push(if field.is_range {
                [Text::end(field.name, &from)?, Text::end(field.name, &to)?]
            } else {
                [Some(Text::new(field.name, &from)?), None]
            });
        }
        let (partition, range) = self.keys(|take| {
            for (field, [first, second]) in fields.iter().zip(&parts) {
                let ends = [first, second].map(|end| end.as_ref().map(|end| end as &dyn KeyPart));
                match (field.is_range, ends) {
                    (false, [Some(part), _]) => take(Given::Part(part)),
                    _ => take(Given::Between(ends)),
                }
            }
        });
        Ok(Question { declared: *self, reads: Reads::Range { partition, range } })
    }

    /// A key for each combination of the fields' values.
    fn batch(&self, fields: &[Field], text: impl Fn(Field) -> [String; 2]) -> Result<Vec<Key>, NoPart> {
        let mut keys = vec![[self.place.partition, self.place.sort].map(str::to_owned)];
        for field in fields {
            let [list, _] = text(*field);
            let values = list.split(',').map(|value| Text::new(field.name, value)).collect::<Result<Vec<_>, _>>()?;
            let placeholder = format!("{{{}}}", field.name);
            let fill = |[partition, sort]: &[String; 2], Text(value): &Text| {
                [partition.replace(&placeholder, value), sort.replace(&placeholder, value)]
            };
            keys = keys.iter().flat_map(|key| values.iter().map(|value| fill(key, value))).collect();
        }
        match self.bound {
            Bound::AtMost(most) if keys.len() > usize::from(most) => {
                Err(NoPart(format!("{} keys are more than the {most} of this pattern", keys.len())))
            }
            _ => {
                let index = self.place.index;
                Ok(keys.into_iter().map(|[partition, sort]| Key { index, partition, sort }).collect())
            }
        }
    }
}
