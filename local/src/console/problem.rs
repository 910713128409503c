//! The pages at the `type` of each problem: `/problems/out-of-stock`.

use axum::extract::Path;
use axum::http::StatusCode;
use axum::response::Response;
use http_api::Kind;
use maud::{Markup, html};

use super::shell;

/// The page of the documentation that explains each kind, under a heading with its slug.
const EXPLAINED: &str = include_str!("../../../docs/problems.md");

pub(super) async fn page(Path(slug): Path<String>) -> Response {
    let Some(kind) = Kind::ALL.iter().find(|kind| kind.slug() == slug) else {
        return shell::refusal(StatusCode::NOT_FOUND, "", "No problem of the API has this type.");
    };
    let content = html! {
        h1 { (kind.title()) }
        p.quiet { code { "/problems/" (slug) } }
        @for paragraph in explained(&slug).split("\n\n").filter(|paragraph| !paragraph.trim().is_empty()) {
            (block(paragraph.trim()))
        }
        h2 { "All problems" }
        ul.names { @for other in Kind::ALL { li { a href=(other.slug()) { (other.slug()) } " " (other.title()) } } }
    };
    shell::page("", kind.title(), &content)
}

/// The text under the heading of this kind.
fn explained(slug: &str) -> &'static str {
    let section = EXPLAINED.split("\n## ").find_map(|section| section.strip_prefix(slug)?.strip_prefix('\n'));
    section.unwrap_or_default()
}

/// A block of Markdown: a list, an indented text, or a paragraph.
fn block(text: &str) -> Markup {
    html! {
        @if text.starts_with("- ") {
            ul { @for item in text.trim_start_matches("- ").split("\n- ") { li { (words(item)) } } }
        } @else { p { (words(text)) } }
    }
}

/// Words of Markdown, with `code` between backticks, and links as their text.
fn words(text: &str) -> Markup {
    html! {
        @for (place, part) in text.split('`').enumerate() {
            @if place % 2 == 1 { code { (part) } } @else { (without_links(part)) }
        }
    }
}

fn without_links(text: &str) -> String {
    let mut rest = text;
    let mut shown = String::new();
    while let Some((before, (name, after))) =
        rest.split_once('[').and_then(|(before, link)| Some((before, link.split_once("](")?)))
    {
        shown.push_str(before);
        shown.push_str(name);
        rest = after.split_once(')').map_or("", |(_, after)| after);
    }
    shown + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_type_of_a_problem_is_a_page_that_explains_it() {
        for kind in Kind::ALL {
            let text = explained(kind.slug());
            assert!(text.contains(&kind.status().as_u16().to_string()), "{}: {text}", kind.slug());
        }
    }

    #[test]
    fn links_are_shown_as_their_text() {
        let shown = words("Give `a` to [payments](payments.md), not [x].").into_string();
        assert_eq!(shown, "Give <code>a</code> to payments, not [x].");
    }
}
