//! The storefront of `local/shop`, which front-end developers may copy: plain files without a build step.

use axum::Router;
use axum::http::header;
use axum::routing::get;

const HTML: &str = include_str!("../shop/index.html");
const CSS: &str = include_str!("../shop/shop.css");
const PAGES: &str = include_str!("../shop/shop.js");
const API: &str = include_str!("../shop/api.js");

/// The files of the storefront, which takes payments at the provider with this base URL.
pub(crate) fn router(provider: &str) -> Router {
    let policy = format!(
        "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src http: https: data:; \
         connect-src 'self' {provider}; base-uri 'none'"
    );
    let file = |media_type: &'static str, text: String| {
        let headers =
            [(header::CONTENT_TYPE, media_type.to_owned()), (header::CONTENT_SECURITY_POLICY, policy.clone())];
        get(|| async { (headers, text) })
    };
    let script = "text/javascript; charset=utf-8";
    Router::new()
        .route("/_local/shop", file("text/html; charset=utf-8", html(provider)))
        .route("/_local/shop.css", file("text/css; charset=utf-8", CSS.to_owned()))
        .route("/_local/shop.js", file(script, PAGES.to_owned()))
        .route("/_local/api.js", file(script, API.to_owned()))
}

fn html(provider: &str) -> String {
    HTML.replace(r#"name="payments" content="""#, &format!(r#"name="payments" content="{provider}""#))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_storefront_is_short_and_loads_its_own_files_alone() {
        let lines: usize = [HTML, CSS, PAGES, API].iter().map(|file| file.lines().count()).sum();
        assert!(lines < 600, "{lines} lines: somebody has to read them before copying");
        for file in [HTML, CSS, PAGES, API] {
            assert!(!file.contains("http"), "something is loaded from elsewhere");
        }
        let page = html("http://127.0.0.1:1");
        assert!(page.contains(r#"name="payments" content="http://127.0.0.1:1""#), "{page}");
        for loaded in ["shop.css", "shop.js"] {
            assert!(page.contains(&format!("\"{loaded}\"")));
        }
        assert!(PAGES.contains("'./api.js'"));
    }
}
