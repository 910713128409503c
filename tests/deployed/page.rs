//! The form of a sign-in page, and as much HTML parsing as that needs.

/// A form: its action, and its hidden fields.
#[derive(Debug, PartialEq, Eq)]
pub struct Form {
    pub action: String,
    pub hidden: Vec<(String, String)>,
}

/// The page's first form with a password in it.
pub fn form(html: &str) -> Option<Form> {
    let forms = html.split("<form").skip(1).filter_map(|rest| rest.split("</form").next());
    let form = forms.into_iter().find(|form| inputs(form).any(|input| is_of_type(input, "password")))?;
    let action = attribute(form.split('>').next()?, "action").unwrap_or_default();
    let hidden = inputs(form).filter(|input| is_of_type(input, "hidden"));
    let named =
        hidden.filter_map(|input| Some((attribute(input, "name")?, attribute(input, "value").unwrap_or_default())));
    Some(Form { action, hidden: named.collect() })
}

fn inputs(form: &str) -> impl Iterator<Item = &str> {
    form.split("<input").skip(1).filter_map(|rest| rest.split('>').next())
}

fn is_of_type(input: &str, kind: &str) -> bool {
    attribute(input, "type").is_some_and(|known| known == kind)
}

fn attribute(tag: &str, name: &str) -> Option<String> {
    let (_, rest) = tag.split_once(&format!(" {name}=\""))?;
    let value = rest.split('"').next()?;
    Some(
        value
            .replace("&quot;", "\"")
            .replace("&#x27;", "'")
            .replace("&lt;", "<")
            .replace("&gt;", ">")
            .replace("&amp;", "&"),
    )
}

#[test]
fn a_form_has_its_action_and_its_hidden_fields() {
    let html = r#"<form action="/search"><input type="text" name="q"></form>
        <form method="POST" action="/login?a=1&amp;b=2"><input type="hidden" name="_csrf" value="x&amp;y">
        <input type="text" name="username"><input type="password" name="password"></form>"#;
    let hidden = vec![("_csrf".to_owned(), "x&y".to_owned())];
    assert_eq!(form(html), Some(Form { action: "/login?a=1&b=2".to_owned(), hidden }));
}

#[test]
fn a_page_without_a_password_field_has_no_form() {
    assert_eq!(form(r#"<form action="/search"><input type="text" name="q"></form>"#), None);
}
