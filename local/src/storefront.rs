//! The storefront of `local/shop`, which front-end developers may copy: plain files without a build step.

use devstack::Page;

const HTML: &str = include_str!("../shop/index.html");
const CSS: &str = include_str!("../shop/shop.css");
const PAGES: &str = include_str!("../shop/shop.js");
const API: &str = include_str!("../shop/api.js");

/// The files of the storefront, which takes payments at the provider with this base URL.
pub fn pages(provider: &str) -> Vec<Page> {
    let html = HTML.replace(r#"name="payments" content="""#, &format!(r#"name="payments" content="{provider}""#));
    let page = |path, title, media_type, body| Page { path, title, media_type, body, calls: provider.to_owned() };
    vec![
        page("shop", "A storefront to copy", "text/html; charset=utf-8", html),
        page("shop.css", "", "text/css; charset=utf-8", CSS.to_owned()),
        page("shop.js", "", "text/javascript; charset=utf-8", PAGES.to_owned()),
        page("api.js", "", "text/javascript; charset=utf-8", API.to_owned()),
    ]
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
        let pages = pages("http://127.0.0.1:1");
        assert!(pages[0].body.contains(r#"name="payments" content="http://127.0.0.1:1""#), "{}", pages[0].body);
        for loaded in ["shop.css", "shop.js"] {
            assert!(pages[0].body.contains(&format!("\"{loaded}\"")) && pages.iter().any(|page| page.path == loaded));
        }
        assert!(PAGES.contains("'./api.js'") && pages.iter().any(|page| page.path == "api.js"));
    }
}
