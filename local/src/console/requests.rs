//! What requests did: the newest ones, and the story of each, from the request to the last thing that followed.

use axum::extract::{Path, Query};
use axum::http::StatusCode;
use axum::response::{Html, IntoResponse as _, Response};
use devstack::stories::{Call, FAILED, Followed, KEPT, Part, Story, StreamRecord, Sum, Summary, Work};
use key_schema::layout::entity_at;
use key_schema::layout::{Index, Key};
use maud::{Markup, html};
use serde::Deserialize;
use serde_json::json;

use super::table::link;
use super::{Shown, shell};

const HERE: &str = "/_local/console/requests";

/// The most requests on the page.
const SHOWN: usize = 100;

#[derive(Deserialize)]
pub(super) struct Wanted {
    /// Only the row of the list.
    row: Option<String>,
}

pub(super) async fn page(stack: Shown) -> Response {
    let newest = stack.stories.newest(SHOWN);
    let content = html! {
        h1 { "Requests" }
        p.quiet {
            "Each request to a function, the newest first, with the DynamoDB units that it consumed, and those of all that followed "
            "from it: consumers of the stream, events, messages. The stack remembers " (KEPT) " requests."
        }
        p { label { input #live type="checkbox" checked autocomplete="off"; " Show changes as they happen" } }
        div.scroll tabindex="0" role="region" aria-label="Requests" {
            table.requests {
                thead { tr {
                    th scope="col" { "request" } th scope="col" { "status" } th scope="col" { "function" }
                    @for name in ["ms", "calls", "read units", "write units", "followed", "USD a million"] { th.number scope="col" { (name) } }
                } }
                tbody #requests { @for summary in &newest { (row(summary)) } }
            }
        }
        @if newest.is_empty() { p #none { "No request yet. Send one from the " a href="/" { "first page" } " or the " a href="/_local/api" { "API" } "." } }
        script type="module" src="/_local/console/requests.js" {}
    };
    shell::page(HERE, "Requests", &content)
}

pub(super) async fn story(stack: Shown, Path(id): Path<String>, Query(wanted): Query<Wanted>) -> Response {
    let Some(story) = stack.stories.story(&id) else {
        return shell::refusal(StatusCode::NOT_FOUND, HERE, "The stack does not remember this request.");
    };
    if wanted.row.is_some() {
        return Html(row(&story.summary).into_string()).into_response();
    }
    let content = html! {
        div #story data-story=(id) data-told=(told(&story.summary)) { (whole(&story)) }
        script type="module" src="/_local/console/requests.js" {}
    };
    shell::page(HERE, &format!("{} {}", story.summary.method, story.summary.path), &content)
}

/// The summary as the live route sends it, by which a page knows whether it is up to date.
fn told(summary: &Summary) -> String {
    json!(summary).to_string()
}

fn row(summary: &Summary) -> Markup {
    let Summary { id, method, path, status, function, took_ms, call_count, units, units_of_what_followed, .. } =
        summary;
    html! {
        tr id={ "r-" (id) } data-told=(told(summary)) {
            th scope="row" { a href={ (HERE) "/" (id) } { (method) " " (path) } }
            td { (of_status(*status)) @if !summary.refused.is_empty() { " a condition failed" } }
            td { (function.as_deref().unwrap_or_default()) }
            td.number { @if let Some(took) = took_ms { (format!("{took:.0}")) } }
            td.number { (call_count) }
            td.number { (number(units.read)) }
            td.number { (number(units.write)) }
            td.number { (number(units_of_what_followed.read + units_of_what_followed.write)) }
            td.number { (usd(*units, *units_of_what_followed)) }
        }
    }
}

fn of_status(status: Option<u16>) -> Markup {
    html! {
        @match status {
            None => "under way",
            Some(status @ ..400) => b.good { (status) },
            Some(status) => b.bad { (status) },
        }
    }
}

/// A number of units: a read of half a unit has a half.
fn number(units: f64) -> String {
    let text = format!("{units:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// What a million such requests cost, with all that follows.
fn usd(own: Sum, followed: Sum) -> String {
    let usd = own.usd_per_million.zip(followed.usd_per_million).map(|(own, followed)| own + followed);
    usd.map(|usd| format!("{usd:.2}")).unwrap_or_default()
}

fn units_of(sum: Sum) -> String {
    let usd = sum.usd_per_million.map(|usd| format!(", {usd:.2} USD a million")).unwrap_or_default();
    format!("{} read, {} write{usd}", number(sum.read), number(sum.write))
}

fn whole(story: &Story) -> Markup {
    let Summary { id, at, method, path, status, function, took_ms, units, units_of_what_followed, refused, .. } =
        &story.summary;
    html! {
        p { a href=(HERE) { "All requests" } }
        h1 { (method) " " (path) " " (of_status(*status)) }
        dl.pairs {
            dt { "function" } dd { (environment(function.as_deref(), &story.work)) }
            dt { "arrived" } dd { (at) @if let Some(took) = took_ms { ", took " (format!("{took:.1}")) " ms" } }
            dt { "id" } dd { code { (id) } }
            dt { "units" } dd { (units_of(*units)) }
            dt { "what followed" } dd { (units_of(*units_of_what_followed)) }
            @if units.usd_per_million.is_some() {
                dt { "together" } dd { b { (usd(*units, *units_of_what_followed)) " USD" } " for a million such requests (DynamoDB on demand)" }
            }
        }
        @if !refused.is_empty() {
            div.card.refused {
                h2 { "A condition did not hold" }
                ul { @for condition in refused { li { code { (condition) } } } }
            }
        }
        (work(&story.work, "h2"))
        @if !story.followed.is_empty() {
            h2 { "What followed" }
            @for (place, followed) in story.followed.iter().enumerate() { (one_of_what_followed(place, followed)) }
        }
    }
}

fn environment(function: Option<&str>, work: &Work) -> Markup {
    html! {
        (function.unwrap_or("none: the gateway answered"))
        @if let Some(number) = work.environment { " " span.quiet { "in environment " (number) } }
    }
}

fn one_of_what_followed(place: usize, followed: &Followed) -> Markup {
    let (own, of) = (followed.causes.len(), followed.of);
    html! {
        section.card.followed.{ "depth-" (followed.depth.min(4)) } id={ "f-" (place) } {
            h3 { (environment(followed.function.as_deref(), &followed.work)) }
            p.quiet {
                @if followed.share < 0.999 { "shared: " (own) " of its " (of) " records or messages are of this story" }
                @else if of == 1 { "by one record or message" }
                @else { "by " (of) " records or messages" }
                @if let Some(took) = followed.took_ms { "; " (format!("{took:.1}")) " ms" } @else { "; under way" }
                "; " (units_of(followed.units))
            }
            @if let Some(error) = &followed.work.error { p.bad { (error) } }
            (work(&followed.work, "h4"))
        }
    }
}

/// The calls and the records of an invocation, below headings of this level.
fn work(work: &Work, level: &str) -> Markup {
    let heading = |text: &str| html! { @if level == "h2" { h2 { (text) } } @else { h4 { (text) } } };
    html! {
        @if let (Some(error), "h2") = (&work.error, level) { p.bad { (error) } }
        @if !work.calls.is_empty() {
            (heading("Calls"))
            ol.calls { @for call in &work.calls { li { (one_call(call)) } } }
            @if work.calls_left_out > 0 { p.quiet { (work.calls_left_out) " more calls are not told." } }
        }
        @if !work.records.is_empty() {
            (heading("Stream records"))
            ul.log { @for record in &work.records { (one_record(record)) } }
        }
    }
}

fn one_call(call: &Call) -> Markup {
    let refused = call.refusals().count() > 0;
    let read: f64 = call.units.iter().map(|units| units.read).sum();
    let write: f64 = call.units.iter().map(|units| units.write).sum();
    html! {
        details {
            summary {
                span.ms { (format!("{:.1}", call.after_ms)) " ms" }
                b { @if call.service != "DynamoDB" { (call.service) " " } (call.action) }
                span.asked { (asked(call)) }
                @if call.consistent == Some(true) { span.tag { "consistent" } }
                @if call.attempt > 1 { span.tag { "again: attempt " (call.attempt) } }
                @if call.fault.is_some() { span.tag { "fault injected" } }
                @if let Some(error) = &call.error { b.bad { (error) } }
                @if call.status.is_none() && call.service == "DynamoDB" { b.bad { "no answer" } }
                @if refused { b.bad { "condition failed" } }
                span.units {
                    @if read > 0.0 { (number(read)) " read " }
                    @if write > 0.0 { (number(write)) " write" }
                }
            }
            @for part in &call.parts { (one_part(part, call.error.is_none())) }
            @if !call.units.is_empty() {
                p.quiet { "Units: " @for (place, units) in call.units.iter().enumerate() {
                    @if place > 0 { "; " }
                    code { (units.index.as_deref().unwrap_or(&units.table)) } " "
                    (number(units.read + units.write)) @if units.read > 0.0 { " read" } @else { " write" }
                } "; " (format!("{:.1}", call.took_ms)) " ms" }
            }
        }
    }
}

/// What a call asked, in a few words: the keys or the condition on them, the queue, or the types of events.
fn asked(call: &Call) -> Markup {
    const FEW: usize = 3;
    let items: usize = call.parts.iter().map(|part| part.items).sum();
    let count = |items: usize, what: &str| format!("{items} {what}{}", if items == 1 { "" } else { "s" });
    let first = call.parts.first();
    html! {
        @match (call.service, first) {
            ("EventBridge", _) => { @for part in call.parts.iter().take(FEW) { code { (part.action) } " " } }
            ("SQS", Some(part)) => { code { (part.on) } ", " (count(items, "message")) }
            (_, Some(Part { what: Some(condition), index, .. })) => {
                code { (condition) } @if let Some(index) = index { " of " (index) } ", " (count(items, "item"))
            }
            _ => {
                @for key in call.parts.iter().flat_map(|part| &part.keys).take(FEW) { code { (key.join(" ")) } " " }
            }
        }
        @if items > FEW && first.is_some_and(|part| part.what.is_none() || call.service == "EventBridge") {
            "and " (items - FEW) " more"
        }
    }
}

fn one_part(part: &Part, took_effect: bool) -> Markup {
    let failed = part.outcome.as_deref().is_some_and(|outcome| outcome != "held");
    // Of an item that was read or deleted, nobody knows whether it is there.
    let is_there = took_effect && ["Put", "Update", "PutItem", "UpdateItem"].contains(&&*part.action);
    html! {
        div.part.failed[failed] {
            p { b { (part.action) } " " @for key in &part.keys { (linked(key, is_there)) " " } }
            dl.pairs {
                @for (name, text) in [
                    ("where", &part.what), ("filter", &part.filter), ("change", &part.change), ("condition", &part.condition),
                    ("outcome", &part.outcome),
                ] {
                    @if let Some(text) = text {
                        dt { (name) }
                        dd { @if text == FAILED { b.bad { "the condition did not hold" } } @else { code { (text) } } }
                    }
                }
            }
        }
    }
}

fn one_record(record: &StreamRecord) -> Markup {
    html! {
        li.(kind(&record.key)) {
            p {
                (record.event) " " (linked(&record.key, record.event != "REMOVE")) " "
                @for (place, changed) in record.changed.iter().enumerate() {
                    @if place > 0 { ", " }
                    span.quiet { (changed.name) } " "
                    code { (changed.from.as_deref().unwrap_or("none")) " → " (changed.to.as_deref().unwrap_or("none")) }
                }
            }
        }
    }
}

/// A key, with a link to its item collection if its item is in the table.
fn linked(key: &[String], is_there: bool) -> Markup {
    html! {
        @if let ([partition, _], true) = (key, is_there) {
            a.kind.(kind(key)) href=(link("/_local/table", &[("partition", partition)])) { code { (key.join(" ")) } }
        } @else { code { (key.join(" ")) } }
    }
}

/// The class of the kind of item with this key.
fn kind(key: &[String]) -> String {
    let [partition, sort] = key else { return String::new() };
    let key = Key { index: Index::Table, partition: partition.clone(), sort: sort.clone() };
    entity_at(&key).map(|entity| format!("k-{entity}")).unwrap_or_default()
}
