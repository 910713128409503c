//! The API: Swagger UI over `/openapi.json`, signed in as the visitor of the switch.

use std::sync::{Arc, LazyLock};

use axum::extract::Path;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use maud::html;
use utoipa_swagger_ui::{Config, serve};

use super::{file as own, shell};

/// Swagger UI styles some of its elements one by one, and its icons are in its stylesheet.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; \
    connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

pub(super) async fn page() -> Response {
    let content = html! {
        link rel="stylesheet" href="/_local/api/swagger-ui.css";
        link rel="stylesheet" href="/_local/api/own.css";
        h1 { "API" }
        p.quiet {
            "Each request is sent as the visitor that is chosen above. " a href="/openapi.json" { "openapi.json" }
            " generates clients."
        }
        h2.hidden { "Routes" }
        div #swagger {}
        script src="/_local/api/swagger-ui-bundle.js" defer {}
        script type="module" src="/_local/api/own.js" {}
    };
    let mut page = shell::page("/_local/api", "API", &content);
    page.headers_mut().insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    page
}

/// A file of Swagger UI, or of this page.
pub(super) async fn file(Path(name): Path<String>) -> Response {
    static CONFIG: LazyLock<Arc<Config<'static>>> = LazyLock::new(|| Arc::new(Config::from("/openapi.json")));
    match &*name {
        "own.js" => return own("text/javascript; charset=utf-8", include_str!("api.js")).await.into_response(),
        "own.css" => return own("text/css; charset=utf-8", include_str!("api.css")).await.into_response(),
        _ => {}
    }
    match serve(&name, Arc::clone(&CONFIG)) {
        Ok(Some(file)) if name != "index.html" => {
            ([(header::CONTENT_TYPE, file.content_type)], file.bytes.into_owned()).into_response()
        }
        _ => shell::refusal(StatusCode::NOT_FOUND, "/_local/api", "Swagger UI has no such file."),
    }
}
