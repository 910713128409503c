use std::time::{Duration, Instant};

use proptest::prelude::*;
use serde::Deserialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

use super::{Code, faults, read};

#[derive(Debug, PartialEq, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct Basket {
    lines: Vec<Line>,
    note: Option<String>,
    way: Option<Way>,
    owner: Option<Box<Line>>,
}

#[derive(Debug, PartialEq, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct Line {
    id: Id,
    count: Count,
}

#[derive(Debug, PartialEq, Deserialize, ToSchema)]
#[serde(try_from = "String")]
struct Id(String);

impl TryFrom<String> for Id {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        if text.is_empty() { Err("an id must not be empty") } else { Ok(Self(text)) }
    }
}

#[derive(Debug, PartialEq, Deserialize, ToSchema)]
struct Count(u8);

#[derive(Debug, PartialEq, Deserialize, ToSchema)]
enum Way {
    Fast,
    Slow,
}

fn basket(body: &Value) -> Result<Basket, String> {
    read(body.to_string().as_bytes())
}

fn refusal(body: &Value) -> String {
    basket(body).map_or_else(|why| why, |basket| panic!("{body} was read as {basket:?}"))
}

#[test]
fn an_error_names_the_field_and_its_json_type() {
    let line = json!({ "id": "a", "count": 1 });
    for (body, why) in [
        (json!([[line], null, null, null]), "body: must be an object"),
        (json!("text"), "body: must be an object"),
        (Value::Null, "body: must be an object"),
        (json!({ "lines": line }), "lines: must be an array"),
        (json!({ "lines": [["a", 1]] }), "lines[0]: must be an object"),
        (json!({ "lines": [line, null] }), "lines[1]: must be an object"),
        (json!({ "lines": [], "owner": ["a", 1] }), "owner: must be an object"),
        (json!({ "lines": [{ "id": 5, "count": 1 }] }), "lines[0].id: must be a string"),
        (json!({ "lines": [{ "id": "", "count": 1 }] }), "lines[0].id: an id must not be empty"),
        (json!({ "lines": [{ "id": "a", "count": "1" }] }), "lines[0].count: must be a whole number from 0 to 255"),
        (json!({ "lines": [{ "id": "a", "count": 1.5 }] }), "lines[0].count: must be a whole number from 0 to 255"),
        (json!({ "lines": [{ "id": "a", "count": -1 }] }), "lines[0].count: must be a whole number from 0 to 255"),
        (json!({ "lines": [{ "id": "a", "count": 256 }] }), "lines[0].count: must be a whole number from 0 to 255"),
        (json!({ "lines": [{ "id": "a" }] }), "lines[0]: missing field `count`"),
        (json!({ "lines": [], "note": 1 }), "note: must be a string"),
        (json!({ "lines": [], "way": { "Fast": null } }), "way: must be a string"),
        (json!({ "lines": [], "way": ["Fast"] }), "way: must be a string"),
        (json!({ "lines": [], "way": "Slowly" }), "way: must be one of Fast, Slow"),
        (
            json!({ "lines": [], "size": 1 }),
            "size: unknown field `size`, expected one of `lines`, `note`, `way`, `owner`",
        ),
    ] {
        assert_eq!(refusal(&body), why);
    }
}

#[test]
fn all_faults_are_told_sorted_by_their_places() {
    let line = json!({ "id": "", "count": 300 });
    let other = json!({ "count": 1, "a/b": null });
    for (body, expected) in [
        (json!({}), vec![("#/lines", Code::Missing)]),
        (json!([]), vec![("#", Code::Invalid)]),
        (json!({ "lines": [{}] }), vec![("#/lines/0/id", Code::Missing), ("#/lines/0/count", Code::Missing)]),
        (
            json!({ "lines": [line, other], "note": 1, "owner": {}, "way": "Slowly" }),
            vec![
                ("#/lines/0/count", Code::Invalid),
                ("#/lines/0/id", Code::Invalid),
                ("#/lines/1/a~1b", Code::Unknown),
                ("#/lines/1/id", Code::Missing),
                ("#/note", Code::Invalid),
                ("#/owner/id", Code::Missing),
                ("#/owner/count", Code::Missing),
                ("#/way", Code::Invalid),
            ],
        ),
    ] {
        let found = faults::<Basket>(body.to_string().as_bytes());
        let found: Vec<_> = found.iter().map(|fault| (fault.pointer.as_str(), fault.code)).collect();
        assert_eq!(found, expected, "{body}");
    }
    assert_eq!(faults::<Basket>(b"{"), []);
}

/// The first of these kept a function busy for its whole time before the search had bounds.
#[test]
fn the_faults_of_a_hostile_body_are_found_in_no_time() {
    let deep = |inner: &str| format!("{}{inner}{}", "{\"a\":".repeat(119), "}".repeat(119));
    let name = "n".repeat(30_000);
    let zeros = |many| vec!["0"; many].join(",");
    for body in [
        deep(&format!("[{}]", zeros(9_880))),
        format!("{{\"{name}\":[{}]}}", zeros(10_000)),
        format!("{{\"lines\":[{}]}}", zeros(100_000)),
        format!("{{{}}}", (0..10_000).map(|at| format!("\"{at}\":0")).collect::<Vec<_>>().join(",")),
    ] {
        let began = Instant::now();
        let found = faults::<Basket>(body.as_bytes());
        assert!((1..=100).contains(&found.len()), "{} faults of {}", found.len(), &body[..60]);
        assert!(began.elapsed() < Duration::from_secs(2), "{:?}: {}", began.elapsed(), &body[..60]);
    }
}

#[test]
fn text_that_is_not_json_is_refused_with_line_and_column() {
    for (text, why) in [
        ("", "body: EOF while parsing a value at line 1 column 0"),
        ("{", "body: EOF while parsing an object at line 1 column 1"),
        ("{\"lines\": []} x", "body: trailing characters at line 1 column 15"),
        ("{\"lines\": [], \"lines\": []}", "body: duplicate field `lines`"),
    ] {
        assert_eq!(read::<Basket>(text.as_bytes()), Err(why.to_owned()), "{text}");
    }
}

#[test]
fn a_whole_number_may_be_written_with_a_fraction_of_zero() {
    for text in ["7", "7.0", "70e-1", "0.7e1"] {
        let body = format!("{{\"lines\": [{{\"id\": \"a\", \"count\": {text}}}], \"way\": \"Slow\"}}");
        let basket: Basket = read(body.as_bytes()).unwrap_or_else(|why| panic!("{text}: {why}"));
        assert_eq!((&basket.lines[0].count, &basket.way), (&Count(7), &Some(Way::Slow)), "{text}");
    }
    for text in ["1e300", "9007199254740994.0", "-0.5"] {
        assert!(read::<i64>(text.as_bytes()).is_err(), "{text}");
    }
}

proptest! {
    /// A valid body becomes invalid if one of its objects is replaced by the array of that object's values.
    #[test]
    fn an_array_is_never_taken_for_an_object(lines in prop::collection::vec(("[a-z]{1,3}", 0u8..), 1..4), at in 0usize..4) {
        let line = |(id, count): &(String, u8)| json!({ "id": id, "count": count });
        let mut body = json!({ "lines": lines.iter().map(line).collect::<Vec<_>>() });
        prop_assert!(basket(&body).is_ok());
        let (id, count) = &lines[at % lines.len()];
        body["lines"][at % lines.len()] = json!([id, count]);
        prop_assert_eq!(basket(&body), Err(format!("lines[{}]: must be an object", at % lines.len())));
    }
}
