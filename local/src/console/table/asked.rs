//! What the address of a page asks for.

use key_schema::layout::{Index, SortRange};
use maud::{Markup, html};
use serde_json::Value;

use super::{INDEXES, Refused, Table};
use crate::console::Running;

/// The conditions on a sort key, each with its name in a form.
pub(super) const OPERATORS: &[(&str, &str)] =
    &[("", "is anything"), ("begins_with", "begins with"), ("eq", "is"), ("between", "is between")];

/// The parameters of the address.
pub(super) struct Asked(Vec<(String, String)>);

impl Asked {
    pub(super) fn of(query: &str) -> Self {
        Self(form_urlencoded::parse(query.as_bytes()).into_owned().collect())
    }

    /// A parameter. Empty: it is absent.
    pub(super) fn get(&self, name: &str) -> &str {
        self.0.iter().find(|(known, _)| known == name).map_or("", |(_, value)| value.trim())
    }

    pub(super) fn table<'a>(&self, stack: &'a Running) -> Result<&'a Table, Refused> {
        let name = self.get("table");
        let mut tables = stack.tables.iter();
        let table = tables.find(|table| name.is_empty() || table.name == name);
        table.ok_or_else(|| Refused::unknown(format!("The stack has no table {name:?}.")))
    }

    pub(super) fn index(&self) -> Result<Index, Refused> {
        let name = self.get("index");
        let index = INDEXES.into_iter().find(|index| index.name().unwrap_or_default() == name);
        index.ok_or_else(|| Refused::unknown(format!("The table has no index {name:?}: it has GSI1 and GSI2.")))
    }

    /// The sort keys of the free form.
    pub(super) fn range(&self) -> Result<SortRange, Refused> {
        let [sort, to] = ["sort", "to"].map(|name| self.get(name).to_owned());
        match (self.get("op"), &*sort, &*to) {
            ("", "", _) => Ok(SortRange::Whole),
            (_, "", _) => Err(Refused::malformed("Say which sort key the condition is about.")),
            ("" | "begins_with", ..) => Ok(SortRange::BeginsWith(sort)),
            ("eq", ..) => Ok(SortRange::Exactly(sort)),
            ("between", _, "") => Err(Refused::malformed("A range has two ends: say where it ends.")),
            ("between", ..) if sort > to => Err(Refused::malformed("The range ends before it begins.")),
            ("between", ..) => Ok(SortRange::Between { low: sort, high: to }),
            (other, ..) => Err(Refused::malformed(format!("No condition on a sort key is called {other:?}."))),
        }
    }

    pub(super) fn is_descending(&self) -> bool {
        self.get("order") == "desc"
    }

    pub(super) fn is_of_whole_partition(&self) -> bool {
        self.get("sort").is_empty() && self.get("after").is_empty()
    }

    /// The `LastEvaluatedKey` of the page before.
    pub(super) fn position(&self) -> Result<Option<Value>, Refused> {
        match self.get("after") {
            "" => Ok(None),
            text => match serde_json::from_str(text) {
                Ok(Value::Object(key)) => Ok(Some(key.into())),
                _ => Err(Refused::malformed("after is not the key at which a page ended.")),
            },
        }
    }

    /// The address of the page that follows at this key.
    pub(super) fn behind(&self, path: &str, key: &Value) -> String {
        let key = key.to_string();
        let kept = self.0.iter().filter(|(name, _)| name != "after").map(|(name, value)| (&**name, &**value));
        link(path, &kept.chain([("after", &*key)]).collect::<Vec<_>>())
    }

    /// A parameter that a form keeps.
    pub(super) fn hidden(&self, name: &str) -> Markup {
        html! { @if !self.get(name).is_empty() { input type="hidden" name=(name) value=(self.get(name)); } }
    }
}

/// An address with those of these parameters that are not empty.
pub(in crate::console) fn link(path: &str, parameters: &[(&str, &str)]) -> String {
    let mut query = form_urlencoded::Serializer::new(String::new());
    query.extend_pairs(parameters.iter().filter(|(_, value)| !value.is_empty()));
    match query.finish() {
        query if query.is_empty() => path.to_owned(),
        query => format!("{path}?{query}"),
    }
}
