//! What all pages of the console have in common: the head, the navigation, and the switch of who the visitor is.

use std::fmt::Write as _;
use std::sync::LazyLock;

use axum::http::StatusCode;
use axum::response::{Html, IntoResponse as _, Response};
use key_schema::layout::ENTITIES;
use maud::{DOCTYPE, Markup, html};

/// The pages of the navigation: each path with its name.
pub const PAGES: &[(&str, &str)] = &[
    ("/", "Start"),
    ("/_local/shop", "Shop"),
    ("/_local/api", "API"),
    ("/_local/table", "Table"),
    ("/_local/console/requests", "Requests"),
    ("/_local/stream", "Stream and events"),
    ("/_local/backlog", "Queues"),
    ("/_local/payments", "Payments"),
];

/// A page of the console, below the entry of the navigation that has this path.
pub fn page(at: &str, title: &str, content: &Markup) -> Response {
    page_with(StatusCode::OK, at, title, content)
}

/// The same with another status.
pub fn page_with(status: StatusCode, at: &str, title: &str, content: &Markup) -> Response {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (title) " · Till" }
                link rel="icon" href="data:,";
                link rel="stylesheet" href="/_local/console.css";
                script type="module" src="/_local/console.js" {}
            }
            body {
                a.skip href="#main" { "Skip to the content" }
                header {
                    a.brand href="/" { "Till" }
                    nav aria-label="Pages" {
                        @for (path, name) in PAGES {
                            a href=(path) aria-current=[(*path == at).then_some("page")] { (name) }
                        }
                    }
                    label.who { "I am " select #who autocomplete="off" {
                        @for (value, name) in [("ada", "customer ada"), ("staff", "staff"), ("guest", "a guest")] {
                            option value=(value) { (name) }
                        }
                    } }
                }
                main #main tabindex="-1" { (content) }
                p #said role="status" {}
            }
        }
    };
    (status, Html(page.into_string())).into_response()
}

/// The page that says why there is no other.
pub fn refusal(status: StatusCode, at: &str, why: &str) -> Response {
    let title = status.canonical_reason().unwrap_or("Refused");
    page_with(status, at, title, &html! { h1 { (title) } p { (why) } })
}

/// The stylesheet, with a colour for each kind of item.
pub(super) fn stylesheet() -> &'static str {
    static SHEET: LazyLock<String> = LazyLock::new(|| {
        let mut sheet = include_str!("console.css").to_owned();
        for (place, (kind, _)) in ENTITIES.iter().enumerate() {
            // The golden angle keeps the hues of neighbours apart.
            let hue = place * 137 % 360;
            // Writing to a `String` cannot fail.
            _ = writeln!(
                sheet,
                ".k-{kind} {{ --kind: light-dark(hsl({hue} 55% 62%), hsl({hue} 40% 48%)); \
                 --tint: light-dark(hsl({hue} 60% 93%), hsl({hue} 30% 22%)) }}"
            );
        }
        sheet
    });
    &SHEET
}
