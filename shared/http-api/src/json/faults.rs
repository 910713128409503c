//! All faults of a body, of which serde tells the first.

use std::collections::BTreeMap;
use std::marker::PhantomData;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use serde_path_to_error::{Path, Segment};
use utoipa::ToSchema;
use utoipa::openapi::schema::{ArrayItems, Object, Schema};
use utoipa::openapi::{Ref, RefOr};

use super::{message, strict::Strict};

/// The most values of a body that are looked at, and the most faults that are told.
const MOST_VALUES: usize = 10_000;
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

/// The faults of a body that cannot be read as a `T`, in the order of the body. Empty if it is not JSON.
///
/// Each value is read alone: in a body that has only this value, at its place. What is wrong with the value is told before
/// what is missing around it. Which fields an object needs, the schema of `T` tells.
pub(crate) fn faults<T: DeserializeOwned + ToSchema>(body: &[u8]) -> Vec<Fault> {
    let Ok(body) = serde_json::from_slice::<Value>(body) else { return Vec::new() };
    let mut schemas = Vec::new();
    T::schemas(&mut schemas);
    let schemas = Schemas(schemas.into_iter().collect());
    let mut search = Search::<T> { steps: Vec::new(), values: 0, faults: Vec::new(), body: PhantomData };
    search.look(&schemas, &body, &schemas.plain(&T::schema()));
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
        if self.values > MOST_VALUES {
            return;
        }
        let known = self.faults.len();
        match value {
            Value::Object(members) => {
                for (name, member) in members {
                    let of_member = objects(is).filter_map(|object| object.properties.get(name));
                    let is: Vec<_> = of_member.flat_map(|schema| schemas.plain(schema)).collect();
                    self.step(Step::Member(name.clone()), |search| search.look(schemas, member, &is));
                }
                let required = objects(is).flat_map(|object| &object.required);
                for name in required.filter(|name| !members.contains_key(*name)) {
                    self.step(Step::Member(name.clone()), |search| search.is_missing());
                }
            }
            Value::Array(elements) => {
                let of_elements = is.iter().filter_map(|schema| match schema {
                    Schema::Array(array) => Some(&array.items),
                    _ => None,
                });
                let is: Vec<_> = of_elements.flat_map(|items| schemas.of_items(items)).collect();
                for (at, element) in elements.iter().enumerate() {
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
            Step::Member(name) => json!({ name: inner }),
            Step::Element(_) => json!([inner]),
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
            return self.step(Step::Member(name.to_owned()), |search| search.is_missing());
        }
        let code = if detail.starts_with("unknown field") { Code::Unknown } else { Code::Invalid };
        self.faults.push(Fault { pointer: pointer(self.steps.iter().cloned()), detail, code });
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
    steps.fold("#".to_owned(), |pointer, step| match step {
        Step::Member(name) => format!("{pointer}/{}", name.replace('~', "~0").replace('/', "~1")),
        Step::Element(at) => format!("{pointer}/{at}"),
    })
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
    /// The schemas that a value has all at once, without references. None of a value that may be one of several things.
    fn plain<'a>(&'a self, schema: &'a RefOr<Schema>) -> Vec<&'a Schema> {
        match schema {
            RefOr::Ref(Ref { ref_location, .. }) => {
                let name = ref_location.rsplit('/').next().unwrap_or_default();
                self.0.get(name).map(|schema| self.plain(schema)).unwrap_or_default()
            }
            RefOr::T(Schema::AllOf(all)) => all.items.iter().flat_map(|part| self.plain(part)).collect(),
            // A value that may be null.
            RefOr::T(Schema::OneOf(one)) => match &one.items[..] {
                [RefOr::T(_), other @ RefOr::Ref(_)] | [other @ RefOr::Ref(_), RefOr::T(_)] => self.plain(other),
                _ => Vec::new(),
            },
            RefOr::T(schema) => vec![schema],
        }
    }

    fn of_items<'a>(&'a self, items: &'a ArrayItems) -> Vec<&'a Schema> {
        match items {
            ArrayItems::RefOrSchema(schema) => self.plain(schema),
            ArrayItems::False => Vec::new(),
        }
    }
}
