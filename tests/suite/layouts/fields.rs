//! The fields of the entities, as `{:#?}` prints them, including empty fields, which items leave out.

use std::collections::BTreeMap;

/// The names of a struct or variant, and of one of its fields.
pub type Field = (String, String);

/// Adds the fields of a printed value. True: the field has a value, here or in an earlier value.
pub fn collect(printed: &str, fields: &mut BTreeMap<Field, bool>) {
    let mut structs: Vec<&str> = Vec::new();
    for line in printed.lines() {
        let line = line.trim().trim_end_matches(',');
        let (field, value) = match line.split_once(": ") {
            Some((field, value)) if field.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_') => {
                (Some(field), value)
            }
            _ => (None, line),
        };
        let of = structs.iter().rev().find(|name| !name.is_empty());
        if let (Some(field), Some(of)) = (field, of) {
            let holds_something = !["None", "0", "[]", "{}"].contains(&value);
            *fields.entry(((*of).to_owned(), field.to_owned())).or_default() |= holds_something;
        }
        match value.as_bytes().last() {
            Some(b'{') => structs.push(value.trim_end_matches('{').trim_end()),
            Some(b'(' | b'[') => structs.push(""),
            Some(b'}' | b')' | b']') if value.len() == 1 => _ = structs.pop(),
            _ => {}
        }
    }
}

/// The name of the field in an item.
pub fn camel_case(field: &str) -> String {
    let mut words = field.split('_');
    let first = words.next().unwrap_or_default().to_owned();
    words.fold(first, |mut all, word| {
        let (initial, rest) = word.split_at(1);
        all += &initial.to_uppercase();
        all + rest
    })
}

#[test]
fn fields_are_found_at_any_depth() {
    #[derive(Debug)]
    #[allow(dead_code, reason = "it is printed")]
    struct Outer {
        first: Option<Inner>,
        second_one: Option<u8>,
        many: Vec<Inner>,
    }
    #[derive(Debug)]
    #[allow(dead_code, reason = "it is printed")]
    struct Inner {
        count: u8,
        text: &'static str,
    }
    let inner = |count| Inner { count, text: "some: {text" };
    let mut fields = BTreeMap::new();
    collect(&format!("{:#?}", Outer { first: Some(inner(0)), second_one: None, many: vec![] }), &mut fields);
    let of = |name: &str, field: &str| (name.to_owned(), field.to_owned());
    let expected = [
        (of("Inner", "count"), false),
        (of("Inner", "text"), true),
        (of("Outer", "first"), true),
        (of("Outer", "many"), false),
        (of("Outer", "second_one"), false),
    ];
    assert_eq!(fields, expected.clone().into());
    collect(&format!("{:#?}", Outer { first: None, second_one: Some(0), many: vec![inner(1)] }), &mut fields);
    assert_eq!(fields, expected.map(|(field, _)| (field, true)).into());
    assert_eq!(camel_case("second_one"), "secondOne");
}
