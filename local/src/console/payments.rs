//! The dashboard of the pretend payment provider.

use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Redirect, Response};
use maud::html;

use super::{Console, shell};

const HERE: &str = "/_local/payments";

pub(super) async fn page(State(console): State<Console>) -> Response {
    let content = html! {
        @if let Some(dashboard) = &console.payments {
            (dashboard.content())
        } @else {
            h1 { "Payments" }
            p { "This stack takes payments at the provider that " code { "--payments" } " names, which has a dashboard of its own." }
        }
    };
    shell::page(HERE, "Payments", &content)
}

/// Carries out what a form of the dashboard asks for, and shows the dashboard again.
pub(super) async fn act(State(console): State<Console>, Path(act): Path<String>, form: Bytes) -> Response {
    match console.payments.as_ref().map(|dashboard| dashboard.happen(act, &form)) {
        Some(Ok(())) => Redirect::to(HERE).into_response(),
        Some(Err(why)) => shell::refusal(StatusCode::BAD_REQUEST, HERE, &why),
        None => shell::refusal(StatusCode::NOT_FOUND, HERE, "There is no pretend provider."),
    }
}
