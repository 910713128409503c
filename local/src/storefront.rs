//! The storefront of `local/shop`, which front-end developers may copy: plain files without a build step.

use devstack::Page;

/// The files of the storefront, which takes payments at the provider with this base URL.
pub fn pages(provider: &str) -> Vec<Page> {
    let html = include_str!("../shop/index.html")
        .replace(r#"name="payments" content="""#, &format!(r#"name="payments" content="{provider}""#));
    let page = |path, title, media_type, body| Page { path, title, media_type, body, calls: provider.to_owned() };
    vec![
        page("shop", "A storefront to copy", "text/html; charset=utf-8", html),
        page("shop.css", "", "text/css; charset=utf-8", include_str!("../shop/shop.css").to_owned()),
        page("shop.js", "", "text/javascript; charset=utf-8", include_str!("../shop/shop.js").to_owned()),
        page("api.js", "", "text/javascript; charset=utf-8", include_str!("../shop/api.js").to_owned()),
    ]
}
