//! The page at `/`: what runs, where, and what to try first.

use axum::response::Response;
use maud::{Markup, html};
use serde_json::json;

use super::{Shown, shell};
use crate::demo::CUSTOMER;

/// A request to try: its title, who sends it, what it shows, and where to look afterwards.
struct Try {
    title: &'static str,
    why: &'static str,
    method: &'static str,
    path: &'static str,
    body: Option<serde_json::Value>,
    links: &'static [(&'static str, &'static str)],
}

fn tries() -> [Try; 3] {
    let order = |product: &str, quantity| Some(json!({ "lines": [{ "productId": product, "quantity": quantity }] }));
    [
        Try {
            title: "Order two bags of coffee",
            why: "One transaction takes them from the stock and writes the order with its lines and its invoice.",
            method: "POST",
            path: "/orders",
            body: order("espresso-beans", 2),
            links: &[
                ("/_local/table?partition=o%23{orderId}", "The items of the order"),
                ("/_local/table/patterns/11?customerId={customerId}", "All orders of the customer"),
            ],
        },
        Try {
            title: "Order what is sold out",
            why: "A condition of the transaction fails, nothing is written, and the answer says which line it was.",
            method: "POST",
            path: "/orders",
            body: order("moka-pot", 1),
            links: &[],
        },
        Try {
            title: "Read a customer with the newest orders",
            why: "One Query on GSI2 reads the profile and the orders together.",
            method: "GET",
            path: "/customers/ada/overview",
            body: None,
            links: &[("/_local/table/patterns/12?customerId={customerId}", "The same Query, in the table")],
        },
    ]
}

pub(super) async fn page(stack: Shown) -> Response {
    let [routes, functions] = stack.counts;
    let tables = stack.tables.iter().map(|table| &*table.name).collect::<Vec<_>>().join(" and ");
    let content = html! {
        h1 { "An order backend, running on this machine" }
        p.quiet {
            (routes) " routes and " (functions) " functions, as they are deployed, over the table "
            code { (tables) } ". Nothing leaves this machine, and no money moves."
        }
        @if stack.has_demo { (to_try()) } @else { p { "The shop is empty: create a product in the " a href="/_local/api" { "API" } "." } }
        div.cards {
            section.card {
                h2 { "Where things are" }
                dl.pairs { @for (name, url) in &stack.addresses { dt { (name) } dd { code { (url) } } } }
            }
            section.card {
                h2 { "Look around" }
                dl.pairs {
                    dt { a href="/_local/shop" { "Shop" } } dd { "buy something as a guest, up to the return" }
                    dt { a href="/_local/api" { "API" } } dd { "every route, signed in, with its example" }
                    dt { a href="/_local/table" { "Table" } } dd { "the items by partition and index; every access pattern as a form" }
                    dt { a href="/_local/console/requests" { "Requests" } } dd { "what each one did, and what it cost" }
                    dt { a href="/_local/stream" { "Stream" } } dd { "what was written, and the events that came of it" }
                    dt { a href="/_local/backlog" { "Queues" } } dd { "what waits, and the functions that have a schedule" }
                    dt { a href="/_local/payments" { "Payments" } } dd { "the pretend provider: pay, refund, dispute, and make trouble" }
                }
            }
            section.card {
                h2 { "From a terminal" }
                pre { "curl '" (stack.url) "/products?category=coffee'\n\nTOKEN=$(curl -s " (stack.url) "/_local/token \\\n  -d '{\"sub\": \"" (CUSTOMER)
                    "\", \"scope\": \"shop\"}' | cut -d '\"' -f 4)\ncurl " (stack.url) "/customers/" (CUSTOMER) "/orders \\\n  -H \"Authorization: Bearer $TOKEN\"" }
                p.quiet { "Each answer has the header " code { "apigw-requestid" } ": the log has a line with it." }
            }
        }
    };
    shell::page("/", "Start", &html! { div data-started=(stack.started) { (content) } })
}

fn to_try() -> Markup {
    html! {
        div.cards {
            @for Try { title, why, method, path, body, links } in tries() {
                section.card {
                    h2 { (title) }
                    p { (why) }
                    button.first data-call={ (method) " " (path) } data-as=(CUSTOMER) data-body=[body.as_ref().map(ToString::to_string)]
                        data-links=(json!(links).to_string()) { (method) " " (path) }
                    @if let Some(body) = &body { pre { (body.to_string()) } }
                    output.answer {}
                }
            }
        }
    }
}
