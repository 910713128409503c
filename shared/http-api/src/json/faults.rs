//! All faults of a body, of which serde tells the first.

use std::collections::BTreeMap;
use std::iter;
use std::marker::PhantomData;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_path_to_error::{Path, Segment};
use utoipa::ToSchema;
use utoipa::openapi::schema::{ArrayItems, Object, Schema};
use utoipa::openapi::{Ref, RefOr};

use super::{message, strict::Strict};

/// The bounds of the search: the values that are looked at, how deep, and the faults that are told. A body of a stranger
/// may have any form.
const MOST_VALUES: usize = 500;
const MOST_STEPS: usize = 8;
const MOST_FAULTS: usize = 100;

/// A fault of a body, for a form that shows it beside its field.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, ToSchema)]
pub(crate) struct Fault {
    /// The value, or the missing one: a JSON pointer (RFC 6901) as a fragment, such as `#/lines/0/quantity`.
    pub(crate) pointer: String,
    /// What is wrong, for people.
    detail: String,
    /// What is wrong, for programs.
    pub(crate) code: Code,
}

/// What is wrong with a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = FaultCode)]
pub(crate) enum Code {
    /// It is not there.
    Missing,
    /// No such field exists.
    Unknown,
    /// It has another JSON type, or is out of bounds.
    Invalid,
}

/// The faults of a body that cannot be read as a `T`, sorted by their places, but with what is missing behind what is there.
/// Empty if it is not JSON.
///
/// Each value is read alone: in a body that has only this value, at its place. What is wrong with the value is told before
/// what is missing around it. Which fields an object needs, the schema of `T` tells.
pub(crate) fn faults<T: DeserializeOwned + ToSchema>(body: &[u8]) -> Vec<Fault> {
    let Ok(body) = serde_json::from_slice::<Value>(body) else { return Vec::new() };
    let mut schemas = Vec::new();
    T::schemas(&mut schemas);
    let schemas = Schemas(schemas.into_iter().collect());
    let mut search = Search::<T> { steps: Vec::new(), values: 0, faults: Vec::new(), body: PhantomData };
    search.look(&schemas, &body, &schemas.plain(&T::schema(), &body));
    search.faults.truncate(MOST_FAULTS);
    search.faults
}

struct Search<T> {
    /// The way to the value that is looked at.
    steps: Vec<Step>,
    values: usize,
    faults: Vec<Fault>,
    body: PhantomData<T>,
}

#[derive(Clone, Debug)]
enum Step {
    Member(String),
    Element(usize),
}

impl<T: DeserializeOwned> Search<T> {
    fn look(&mut self, schemas: &Schemas, value: &Value, is: &[&Schema]) {
        self.values += 1;
        if self.values > MOST_VALUES || self.steps.len() > MOST_STEPS || self.faults.len() >= MOST_FAULTS {
            return;
        }
        let known = self.faults.len();
        match value {
            Value::Object(members) => {
                for (name, member) in members {
                    let of_member = objects(is).filter_map(|object| object.properties.get(name));
                    let is: Vec<_> = of_member.flat_map(|schema| schemas.plain(schema, member)).collect();
                    self.step(Step::Member(name.clone()), |search| search.look(schemas, member, &is));
                }
                let required = objects(is).flat_map(|object| &object.required);
                for name in required.filter(|name| !members.contains_key(*name)) {
                    self.step(Step::Member(name.clone()), Self::is_missing);
                }
            }
            Value::Array(elements) => {
                let of_elements = is.iter().filter_map(|schema| match schema {
                    Schema::Array(array) => Some(&array.items),
                    _ => None,
                });
                let of_elements: Vec<_> = of_elements.collect();
                for (at, element) in elements.iter().enumerate() {
                    let is: Vec<_> = of_elements.iter().flat_map(|items| schemas.of_items(items, element)).collect();
                    self.step(Step::Element(at), |search| search.look(schemas, element, &is));
                }
            }
            _ => {}
        }
        if self.faults.len() == known {
            self.read_alone(value);
        }
    }

    fn step(&mut self, step: Step, look: impl FnOnce(&mut Self)) {
        self.steps.push(step);
        look(self);
        self.steps.pop();
    }

    fn read_alone(&mut self, value: &Value) {
        let body = self.steps.iter().rfold(value.clone(), |inner, step| match step {
            Step::Member(name) => Value::Object(iter::once((name.clone(), inner)).collect()),
            Step::Element(_) => Value::Array(vec![inner]),
        });
        let Err(error) = serde_path_to_error::deserialize::<_, T>(Strict(&body)) else { return };
        let alone = self.steps.iter().map(|step| match step {
            Step::Member(name) => Step::Member(name.clone()),
            Step::Element(_) => Step::Element(0),
        });
        if pointer(alone) != pointer(steps(error.path())) {
            return;
        }
        let detail = message(error.inner());
        if let Some(name) = detail.strip_prefix("missing field `").and_then(|rest| rest.strip_suffix('`')) {
            return self.step(Step::Member(name.to_owned()), Self::is_missing);
        }
        let code = if detail.starts_with("unknown field") { Code::Unknown } else { Code::Invalid };
        // What is only wrong beside the rest of its object, such as a postal code of another country.
        let of_member = detail.split([' ', ':']).next().filter(|name| value.get(name).is_some());
        let member = of_member.map(|name| Step::Member(name.to_owned()));
        self.faults.push(Fault { pointer: pointer(self.steps.iter().cloned().chain(member)), detail, code });
    }

    fn is_missing(&mut self) {
        let pointer = pointer(self.steps.iter().cloned());
        self.faults.push(Fault { pointer, detail: "is missing".to_owned(), code: Code::Missing });
    }
}

/// The way of an error to its value.
fn steps(path: &Path) -> impl Iterator<Item = Step> + '_ {
    path.iter().filter_map(|segment| match segment {
        Segment::Seq { index } => Some(Step::Element(*index)),
        Segment::Map { key } => Some(Step::Member(key.clone())),
        Segment::Enum { .. } | Segment::Unknown => None,
    })
}

fn pointer(steps: impl Iterator<Item = Step>) -> String {
    let step = |step| match step {
        Step::Member(name) => name.replace('~', "~0").replace('/', "~1"),
        Step::Element(at) => at.to_string(),
    };
    iter::once("#".to_owned()).chain(steps.map(step)).collect::<Vec<_>>().join("/")
}

fn objects<'a>(schemas: &'a [&Schema]) -> impl Iterator<Item = &'a Object> {
    schemas.iter().filter_map(|schema| match schema {
        Schema::Object(object) => Some(object),
        _ => None,
    })
}

/// Schemas by name.
struct Schemas(BTreeMap<String, RefOr<Schema>>);

impl Schemas {
    /// The schemas that this value is to have all at once, without references. Of several alternatives, the one that has most
    /// of the value's members.
    fn plain<'a>(&'a self, schema: &'a RefOr<Schema>, value: &Value) -> Vec<&'a Schema> {
        match schema {
            RefOr::Ref(Ref { ref_location, .. }) => {
                let name = ref_location.rsplit('/').next().unwrap_or_default();
                self.0.get(name).map(|schema| self.plain(schema, value)).unwrap_or_default()
            }
            RefOr::T(Schema::AllOf(all)) => all.items.iter().flat_map(|part| self.plain(part, value)).collect(),
            RefOr::T(Schema::OneOf(one)) => {
                let known = |is: &Vec<&Schema>| {
                    let names = || objects(is).flat_map(|object| object.properties.keys());
                    (names().filter(|name| value.get(name).is_some()).count(), names().count())
                };
                let alternatives = one.items.iter().map(|alternative| self.plain(alternative, value));
                alternatives.max_by_key(known).unwrap_or_default()
            }
            RefOr::T(schema) => vec![schema],
        }
    }

    fn of_items<'a>(&'a self, items: &'a ArrayItems, element: &Value) -> Vec<&'a Schema> {
        match items {
            ArrayItems::RefOrSchema(schema) => self.plain(schema, element),
            ArrayItems::False => Vec::new(),
        }
    }
}
