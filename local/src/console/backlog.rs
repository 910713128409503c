//! The queues, and the functions that have a schedule.

use axum::http::StatusCode;
use axum::response::Response;
use maud::html;

use super::{Shown, shell};

const HERE: &str = "/_local/backlog";

pub(super) async fn page(stack: Shown) -> Response {
    let queues = match stack.look("/_local/queues").await {
        Ok(queues) => queues,
        Err(error) => return shell::refusal(StatusCode::BAD_GATEWAY, HERE, &format!("{error:#}")),
    };
    let content = html! {
        h1 { "Queues" }
        div.scroll tabindex="0" role="region" aria-label="Queues" {
            table {
                thead { tr {
                    th scope="col" { "queue" }
                    @for name in ["visible", "in flight", "delayed"] { th.number scope="col" { (name) } }
                } }
                tbody { @for (queue, counts) in queues.as_object().into_iter().flatten() {
                    tr {
                        td { code { (queue) } }
                        @for name in ["visible", "inFlight", "delayed"] { td.number { (counts[name]) } }
                    }
                } }
            }
        }
        section {
            p { "A message that failed five times is a dead letter, and its order is delayed until this sends it back." }
            button data-call="POST /_local/redrive" { "Redrive the dead letters" }
            output.answer {}
        }
        h2 { "Schedules" }
        p.quiet { "Schedules run these functions, here at the same rates as on AWS. A button does not wait." }
        div.cards {
            @for function in &stack.scheduled {
                section.card {
                    h2 { (function) }
                    button data-call={ "POST /_local/scheduled/" (function) } data-body="{}" { "Run it once" }
                    output.answer {}
                }
            }
        }
    };
    shell::page(HERE, "Queues", &content)
}
