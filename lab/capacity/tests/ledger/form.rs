//! Requests by their forms, with the parts of each.

use std::collections::BTreeMap;

use capacity::ledger::{Request, Several, Write};
use key_schema::layout::{Consistency, Declaration};
use sample_items::Kind;

/// What is read or written of one item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    Read(Kind),
    Written(Write),
}

/// A request without its items.
#[derive(Clone, Copy, Debug)]
pub enum Form {
    Query(Declaration),
    Keys(Declaration),
    Batch(Consistency),
    ReadTransaction,
    Write,
    Transaction,
    Failed,
    Cancelled,
    Repeated,
}

#[derive(Clone, Debug)]
pub struct Requests {
    pub form: Form,
    pub times: u32,
    /// The parts of each request; of several Queries, the parts of all of them together.
    pub parts: Vec<(Part, u32)>,
}

impl Form {
    /// The form in words, which is the same for requests that can be compared.
    pub fn name(&self) -> String {
        match self {
            Self::Query(pattern) | Self::Keys(pattern) => {
                let form = if matches!(self, Self::Query(_)) { "Query" } else { "Keys" };
                format!("{form} {:?} {}", pattern.consistency, pattern.question)
            }
            other => format!("{other:?}"),
        }
    }
}

impl Requests {
    pub fn request(form: Form, parts: &[Several<Part>]) -> Request {
        let read = |parts: &[Several<Part>]| -> Vec<Several<Kind>> {
            let kind = |part: &Several<Part>| match part.of {
                Part::Read(of) => Several { many: part.many, of },
                Part::Written(_) => panic!("a read that writes"),
            };
            parts.iter().map(kind).collect()
        };
        let written = |parts: &[Several<Part>]| -> Vec<Several<Write>> {
            let write = |part: &Several<Part>| match part.of {
                Part::Written(of) => Several { many: part.many, of },
                Part::Read(_) => panic!("a write that reads"),
            };
            parts.iter().map(write).collect()
        };
        match form {
            Form::Query(pattern) => Request::Query(pattern, read(parts)),
            Form::Keys(pattern) => Request::Keys(pattern, read(parts)),
            Form::Batch(consistency) => Request::Batch(consistency, read(parts)),
            Form::ReadTransaction => Request::ReadTransaction(read(parts)),
            Form::Write => Request::Write(written(parts)[0].of),
            Form::Failed => Request::Failed(written(parts)[0].of),
            Form::Transaction => Request::Transaction(written(parts)),
            Form::Cancelled => Request::Cancelled(written(parts)),
            Form::Repeated => Request::Repeated(written(parts)),
        }
    }
}

/// Adds a request to those of the same form. Queries share what they find; other requests must be alike.
pub fn add(all: &mut Vec<Requests>, request: Requests) {
    let is_query = matches!(request.form, Form::Query(_));
    let name = request.form.name();
    let alike = all.iter_mut().find(|known| known.form.name() == name && (is_query || known.parts == request.parts));
    let Some(known) = alike else { return all.push(request) };
    known.times += 1;
    if is_query {
        let mut sums: BTreeMap<String, (Part, u32)> = BTreeMap::new();
        for (part, times) in known.parts.iter().chain(&request.parts) {
            sums.entry(format!("{part:?}")).or_insert((*part, 0)).1 += times;
        }
        known.parts = sums.into_values().collect();
    }
}
