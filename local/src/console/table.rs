//! The table as its designer thinks of it: item collections by their partition keys, in the table and in each index, and
//! every access pattern as a form. A page is one request to DynamoDB, and shows every item that the request read.

mod asked;
mod patterns;
mod read;
mod show;
pub(super) mod values;

pub(super) use asked::link;
pub(super) use patterns::{all as patterns, one as pattern};
pub(super) use read::plain;

use axum::extract::RawQuery;
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use key_schema::layout::{
    Declaration, ENTITIES, Index, Key, Layout, PATTERNS, PATTERNS_OF_FUNCTIONS, PlaceText, spells,
};
use maud::{Markup, html};

use self::asked::Asked;
use self::read::{Failure, Reading};
use super::shell;
use super::{Running, Shown};

/// The path of the pages of the table.
pub(super) const HERE: &str = "/_local/table";

/// The most items on a page.
const MOST: usize = 50;

const INDEXES: [Index; 3] = [Index::Table, Index::Gsi1, Index::Gsi2];

/// A table of the stack.
pub struct Table {
    pub name: String,
    pub layout: Layout,
}

/// Why there is no page.
struct Refused(StatusCode, String);

impl Refused {
    fn malformed(why: impl Into<String>) -> Self {
        Self(StatusCode::BAD_REQUEST, why.into())
    }

    fn unknown(why: impl Into<String>) -> Self {
        Self(StatusCode::NOT_FOUND, why.into())
    }

    fn page(self) -> Response {
        shell::refusal(self.0, HERE, &self.1)
    }
}

impl From<Failure> for Refused {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Refused(why) => Self(StatusCode::BAD_REQUEST, why),
            Failure::Unreachable(why) => Self(StatusCode::BAD_GATEWAY, why),
        }
    }
}

/// The page of the table, of an index, or of one of their partitions.
pub(super) async fn page(stack: Shown, RawQuery(query): RawQuery) -> Response {
    let asked = Asked::of(&query.unwrap_or_default());
    view(&stack, &asked).await.unwrap_or_else(Refused::page)
}

async fn view(stack: &Running, asked: &Asked) -> Result<Response, Refused> {
    let table = asked.table(stack)?;
    let index = asked.index()?;
    let partition = asked.get("partition");
    if !partition.is_empty() && !is_known(table.layout, index, partition) {
        let named = index.name().unwrap_or("table");
        return Err(Refused::unknown(format!("No entity has the partition key {partition:?} in the {named}.")));
    }
    let read = match partition {
        "" => Reading::scan(&table.name, index, MOST),
        _ => Reading::query(&table.name, index, partition, &asked.range()?, asked.is_descending(), false, Some(MOST)),
    };
    let found = read.after(asked.position()?).send(&stack.dynamodb).await?;
    if found.items.is_empty() && !partition.is_empty() && asked.is_of_whole_partition() {
        return Err(Refused::unknown(format!("No item has the partition key {partition:?}.")));
    }
    let show = show::Show { table, index, asked };
    let title = if partition.is_empty() { index.name().unwrap_or("Table") } else { partition };
    let content = html! {
        h1 { @if partition.is_empty() { (index.name().map_or("The table", |name| name)) } @else { code { (partition) } } }
        (tabs(stack, asked, Some(index)))
        (form(asked, index, table.layout))
        (show.found(&found))
        (show.next(&found))
    };
    Ok(shell::page(HERE, title, &content).into_response())
}

/// The views of the table, as links. A stack with two tables also has a link to the other one.
fn tabs(stack: &Running, asked: &Asked, current: Option<Index>) -> Markup {
    let table = asked.get("table");
    html! {
        ul.tabs aria-label="Views" {
            @for index in INDEXES {
                li { a href=(asked::link(HERE, &[("table", table), ("index", index.name().unwrap_or_default())]))
                    aria-current=[(current == Some(index)).then_some("page")] { (index.name().unwrap_or("Table")) } }
            }
            li { a href=(asked::link(&format!("{HERE}/patterns"), &[("table", table)]))
                aria-current=[current.is_none().then_some("page")] { "Access patterns" } }
            @if stack.tables.len() > 1 {
                @for one in &stack.tables {
                    li { a href=(asked::link(HERE, &[("table", &one.name)]))
                        aria-current=[(one.name == table || table.is_empty() && one.name == stack.tables[0].name).then_some("true")] { (one.name) } }
                }
            }
        }
    }
}

/// The form for any partition, and any range of its sort keys.
fn form(asked: &Asked, index: Index, layout: Layout) -> Markup {
    let (partition, sort) = index.attributes();
    html! {
        form.row action=(HERE) {
            (asked.hidden("table")) (asked.hidden("index"))
            label.field { (partition) input name="partition" value=(asked.get("partition")) list="partitions" size="24" spellcheck="false" autocomplete="off"; }
            datalist #partitions { @for place in places(layout, index) { option value=(place) {} } }
            label.field { "and " (sort) select name="op" {
                @for (op, name) in asked::OPERATORS { option value=(op) selected[*op == asked.get("op")] { (name) } }
            } }
            label.field.this { "this" input name="sort" value=(asked.get("sort")) size="18" spellcheck="false" autocomplete="off"; }
            label.field.to { "to" input name="to" value=(asked.get("to")) size="18" spellcheck="false" autocomplete="off"; }
            label.field { "order" select name="order" {
                @for (order, name) in [("", "ascending"), ("desc", "descending")] { option value=(order) selected[order == asked.get("order")] { (name) } }
            } }
            button { "Read" }
        }
    }
}

/// The partition keys of an index as templates, each once.
fn places(layout: Layout, index: Index) -> Vec<String> {
    let all = ENTITIES.iter().flat_map(|(_, places)| *places).chain(key_schema::layout::INSTEAD);
    let mut spelled: Vec<_> =
        all.filter(|place| place.index == index).map(|place| layout.place(*place).partition).collect();
    spelled.sort_unstable();
    spelled.dedup();
    spelled
}

/// Whether an entity may have this partition key.
fn is_known(layout: Layout, index: Index, partition: &str) -> bool {
    places(layout, index).iter().any(|template| spells(template, partition))
}

/// The place of a key: the template by which it is spelled.
fn place_of(key: &Key) -> Option<PlaceText> {
    let all = ENTITIES.iter().flat_map(|(_, places)| *places).chain(key_schema::layout::INSTEAD);
    all.copied().find(|place| place.is_of(key))
}

/// Every access pattern, and those of the functions' own work, each with the name that its address has: its number, and
/// what tells it from an earlier one with the same number.
fn declared() -> impl Iterator<Item = (String, &'static Declaration)> {
    let all = || PATTERNS.iter().chain(PATTERNS_OF_FUNCTIONS);
    all().enumerate().map(move |(place, pattern)| {
        let number = pattern.number;
        match all().take(place).filter(|earlier| earlier.number == number).count() {
            0 => (number.to_string(), pattern),
            earlier => (format!("{number}-{}", earlier + 1), pattern),
        }
    })
}

/// A question with a capital letter.
fn capital(question: &str) -> String {
    let mut letters = question.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
