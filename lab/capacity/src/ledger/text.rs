//! The ledger as text: `operations.txt`.
//!
//! ```text
//! put-cart: the first
//!   BatchGetItem eventual: cart-lines x Stock(First)
//!   PutItem: new Cart(First)
//! ```
//!
//! An operation is a line without indentation, and its requests follow, one a line. `5*status-shards x` before a request
//! or an item says how many there are. A quoted question is the access pattern of a read.

use std::fmt::{self, Display, Formatter};

use key_schema::layout::{Consistency, Declaration, PATTERNS, PATTERNS_OF_FUNCTIONS};
use sample_items::Kind;

use super::{Many, Operation, Request, Several, Write};

impl Display for Operation {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        writeln!(formatter, "{}: {}", self.function, self.case)?;
        self.requests.iter().try_for_each(|Several { many, of }| match *many {
            Many::ONE => writeln!(formatter, "  {of}"),
            many => writeln!(formatter, "  {many} x {of}"),
        })
    }
}

impl Display for Request {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.action())?;
        match self {
            Self::Query(pattern, kinds) | Self::Keys(pattern, kinds) => {
                write!(formatter, " {} \"{}\":{}", name_of(pattern.consistency), pattern.question, list(kinds))
            }
            Self::Batch(consistency, kinds) => write!(formatter, " {}:{}", name_of(*consistency), list(kinds)),
            Self::ReadTransaction(kinds) => write!(formatter, ":{}", list(kinds)),
            Self::Write(write) => write!(formatter, ": {write}"),
            Self::Failed(write) => write!(formatter, " failed: {write}"),
            Self::Transaction(writes) => write!(formatter, ":{}", list(writes)),
            Self::Cancelled(writes) => write!(formatter, " cancelled:{}", list(writes)),
            Self::Repeated(writes) => write!(formatter, " repeated:{}", list(writes)),
        }
    }
}

impl Display for Write {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::New(kind) => write!(formatter, "new {kind}"),
            Self::Over(before, after) => write!(formatter, "replace {before} by {after}"),
            Self::Update(before, after) => write!(formatter, "change {before} to {after}"),
            Self::Delete(kind) => write!(formatter, "delete {kind}"),
            Self::Check(kind) => write!(formatter, "check {kind}"),
        }
    }
}

fn list<T: Display>(all: &[Several<T>]) -> String {
    let texts = all.iter().map(|Several { many, of }| match *many {
        Many::ONE => format!(" {of}"),
        many => format!(" {many} x {of}"),
    });
    texts.collect::<Vec<_>>().join(",")
}

fn name_of(consistency: Consistency) -> &'static str {
    match consistency {
        Consistency::Strong => "strong",
        Consistency::Eventual => "eventual",
    }
}

pub(super) fn parse(text: &str) -> Result<Vec<Operation>, String> {
    let mut operations: Vec<Operation> = Vec::new();
    let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    for line in lines {
        if let Some(request) = line.strip_prefix("  ") {
            let operation = operations.last_mut().ok_or_else(|| format!("{line}: a request of no operation"))?;
            operation.requests.push(several(request, self::request)?);
        } else {
            let (function, case) = line.split_once(": ").ok_or_else(|| format!("{line}: neither function nor case"))?;
            operations.push(Operation { function: function.to_owned(), case: case.to_owned(), requests: Vec::new() });
        }
    }
    Ok(operations)
}

fn several<T>(text: &str, of: impl Fn(&str) -> Result<T, String>) -> Result<Several<T>, String> {
    match text.split_once(" x ").and_then(|(many, rest)| Some((many.parse().ok()?, rest))) {
        Some((many, rest)) => Ok(Several { many, of: of(rest)? }),
        None => Ok(Several { many: Many::ONE, of: of(text)? }),
    }
}

fn all<T>(list: &str, of: impl Fn(&str) -> Result<T, String>) -> Result<Vec<Several<T>>, String> {
    list.split(", ").filter(|one| !one.is_empty()).map(|one| several(one, &of)).collect()
}

fn request(text: &str) -> Result<Request, String> {
    let unknown = || format!("{text}: no such request");
    let (head, items, question) = if let Some((head, rest)) = text.split_once('"') {
        let (question, items) = rest.split_once("\":").ok_or_else(unknown)?;
        (head.trim_end(), items.trim_start(), Some(question))
    } else {
        let (head, items) = text.split_once(':').ok_or_else(unknown)?;
        (head, items.trim_start(), None)
    };
    let words: Vec<_> = head.split(' ').collect();
    let consistency = match words.last() {
        Some(&"strong") => Consistency::Strong,
        _ => Consistency::Eventual,
    };
    let pattern = || -> Result<Declaration, String> {
        let mut all = PATTERNS.iter().chain(PATTERNS_OF_FUNCTIONS);
        let pattern = all.find(|pattern| Some(pattern.question) == question).ok_or_else(unknown)?;
        Ok(Declaration { consistency, ..*pattern })
    };
    Ok(match words[..] {
        ["Query", _] => Request::Query(pattern()?, all(items, kind)?),
        ["BatchGetItem", _] if question.is_some() => Request::Keys(pattern()?, all(items, kind)?),
        ["BatchGetItem", _] => Request::Batch(consistency, all(items, kind)?),
        ["TransactGetItems"] => Request::ReadTransaction(all(items, kind)?),
        ["TransactWriteItems"] => Request::Transaction(all(items, write)?),
        ["TransactWriteItems", "cancelled"] => Request::Cancelled(all(items, write)?),
        ["TransactWriteItems", "repeated"] => Request::Repeated(all(items, write)?),
        ["PutItem" | "UpdateItem" | "DeleteItem"] => Request::Write(write(items)?),
        ["PutItem" | "UpdateItem" | "DeleteItem", "failed"] => Request::Failed(write(items)?),
        _ => return Err(unknown()),
    })
}

fn kind(text: &str) -> Result<Kind, String> {
    text.parse()
}

fn write(text: &str) -> Result<Write, String> {
    let words: Vec<_> = text.split(' ').collect();
    Ok(match words[..] {
        ["new", after] => Write::New(kind(after)?),
        ["replace", before, "by", after] => Write::Over(kind(before)?, kind(after)?),
        ["change", before, "to", after] => Write::Update(kind(before)?, kind(after)?),
        ["delete", before] => Write::Delete(kind(before)?),
        ["check", kept] => Write::Check(kind(kept)?),
        _ => return Err(format!("{text}: no such write")),
    })
}
