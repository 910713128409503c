//! The access patterns as forms, and their answers.

use axum::extract::{Path, RawQuery};
use axum::response::Response;
use key_schema::entity::OrderStatus;
use key_schema::layout::{Bound, Consistency, Declaration, Direction, Field, Reads};
use maud::{Markup, html};

use super::asked::Asked;
use super::read::{Found, Reading};
use super::show::Show;
use super::{HERE, MOST, Refused, Table, capital, declared, tabs};
use crate::console::{Running, Shown, shell};
use crate::demo;

/// The page of all access patterns.
pub(in crate::console) async fn all(stack: Shown, RawQuery(query): RawQuery) -> Response {
    let asked = Asked::of(&query.unwrap_or_default());
    let content = html! {
        h1 { "Access patterns" }
        p.quiet {
            "Every question that the functions ask of the table, as the key schema declares it: one Query, or one batch of keys. "
            "The forms have what the demo shop knows; an item’s own values are behind its “JSON”."
        }
        (tabs(&stack, &asked, None))
        ul.patterns {
            @for (name, pattern) in declared() {
                li {
                    h2 { a href={ (HERE) "/patterns/" (name) } { (pattern.number) } " " (capital(pattern.question)) }
                    (keys(pattern))
                    (form(&name, pattern, &asked, suggestion))
                }
            }
        }
    };
    shell::page(HERE, "Access patterns", &content)
}

/// The page of one access pattern. With its parameters, the page has the answer.
pub(in crate::console) async fn one(stack: Shown, Path(name): Path<String>, RawQuery(query): RawQuery) -> Response {
    let asked = Asked::of(&query.unwrap_or_default());
    answer(&stack, &name, &asked).await.unwrap_or_else(Refused::page)
}

async fn answer(stack: &Running, name: &str, asked: &Asked) -> Result<Response, Refused> {
    let pattern = declared().find(|(known, _)| known == name);
    let (_, pattern) = pattern.ok_or_else(|| Refused::unknown(format!("There is no access pattern {name}.")))?;
    let table = asked.table(stack)?;
    let fields = pattern.fields();
    let is_asked = fields.iter().all(|field| field.is_range || !asked.get(field.name).is_empty());
    let found = if is_asked { Some(run(stack, pattern, table, asked).await?) } else { None };
    let given = |field: Field, name: &str| match asked.get(name) {
        "" if !is_asked => suggestion(field, name),
        text => text.to_owned(),
    };
    let show = Show { table, index: pattern.place.index, asked };
    let content = html! {
        h1 { (pattern.number) " " (capital(pattern.question)) }
        (tabs(stack, asked, None))
        (keys(pattern))
        (form(name, pattern, asked, given))
        @if let Some(found) = &found {
            (show.found(found))
            (show.next_at(&format!("{HERE}/patterns/{name}"), found))
        }
    };
    Ok(shell::page(HERE, pattern.question, &content))
}

/// Sends what a function sends for this pattern, in the layout of the table. A page of it has a limit here, too.
async fn run(stack: &Running, pattern: &Declaration, table: &Table, asked: &Asked) -> Result<Found, Refused> {
    let texts = |field: Field| {
        if field.is_range {
            ["from", "to"].map(|end| asked.get(&format!("{}.{end}", field.name)).to_owned())
        } else {
            [asked.get(field.name).to_owned(), String::new()]
        }
    };
    let question = pattern.ask(texts).map_err(|fault| Refused::malformed(fault.to_string()))?;
    let is_strong = pattern.consistency == Consistency::Strong;
    let reading = match question.reads {
        Reads::Range { range, .. } if range.is_empty() => {
            return Err(Refused::malformed("The range ends before it begins."));
        }
        Reads::Range { partition, range } => {
            let (index, layout) = (pattern.place.index, table.layout);
            let range = layout.range(index, &partition, range);
            let partition = layout.partition(index, partition);
            let most = if pattern.bound == Bound::One { 1 } else { MOST.max(most_of(pattern.bound)) };
            let is_descending = pattern.direction == Direction::Descending;
            Reading::query(&table.name, index, &partition, &range, is_descending, is_strong, Some(most))
        }
        Reads::Batch(keys) => {
            let keys: Vec<_> = keys.into_iter().map(|key| table.layout.key(key)).collect();
            Reading::batch(&table.name, &keys, is_strong)
        }
    };
    Ok(reading.after(asked.position()?).send(&stack.dynamodb).await?)
}

/// A collection that is never larger than this is read as a whole.
fn most_of(bound: Bound) -> usize {
    match bound {
        Bound::AtMost(most) => most.into(),
        Bound::One | Bound::All | Bound::Page => 0,
    }
}

/// Where a pattern reads, and how.
fn keys(pattern: &Declaration) -> Markup {
    let (partition, sort) = pattern.place.index.attributes();
    html! {
        p.quiet {
            (partition) " " code { (pattern.place.partition) }
            @if !pattern.place.sort.is_empty() { ", " (sort) " " code { (pattern.place.sort) } }
            @if pattern.consistency == Consistency::Strong { ", strong" }
            @if pattern.direction == Direction::Descending { ", descending" }
            @match pattern.bound {
                Bound::One => ", one item",
                Bound::AtMost(most) => { ", at most " (most) },
                Bound::All => ", all items",
                Bound::Page => ", page by page",
            }
        }
    }
}

/// The form of a pattern, with these texts in its fields.
fn form(name: &str, pattern: &Declaration, asked: &Asked, text: impl Fn(Field, &str) -> String) -> Markup {
    html! {
        form.row action={ (HERE) "/patterns/" (name) } {
            (asked.hidden("table"))
            @for field in pattern.fields() {
                @if field.is_range {
                    @for end in ["from", "to"] {
                        @let name = format!("{}.{end}", field.name);
                        label.field { (field.name) " " (end) input name=(name) value=(text(field, &name)) placeholder="any" spellcheck="false" autocomplete="off"; }
                    }
                } @else if field.name == "status" {
                    label.field { "status" select name="status" {
                        @for status in OrderStatus::ALL {
                            option selected[status.to_string() == text(field, field.name)] { (status.to_string()) }
                        }
                    } }
                } @else {
                    label.field { (field.name) @if field.is_list { ", or several" }
                        input name=(field.name) value=(text(field, field.name)) spellcheck="false" autocomplete="off"; }
                }
            }
            button { "Ask" }
        }
    }
}

/// What the demo shop has for a field. Empty: nobody can know.
fn suggestion(field: Field, _: &str) -> String {
    let known = match field.name {
        _ if field.is_range => "",
        "customerId" | "name" => demo::CUSTOMER,
        "email" => "ada@example.com",
        "productId" => "espresso-beans",
        "category" => "coffee",
        "status" => "PENDING",
        "shard" | "n" | "cell" | "list" => "0",
        "group" => "orders",
        "code" => "WELCOME10",
        "date" => return jiff::Timestamp::now().strftime("%F").to_string(),
        _ => "",
    };
    known.to_owned()
}
