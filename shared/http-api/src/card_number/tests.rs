//! The laws: a card number is found wherever it is and however it is divided; ids, times, amounts, article numbers,
//! accounts and telephone numbers pass.

use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::json;

use super::*;

/// Numbers for tests, which the providers and networks publish.
const PUBLISHED: [&str; 16] = [
    "4242424242424242",
    "4000000000000002",
    "4111111111111111",
    "4222222222222",
    "4000056655665556",
    "5555555555554444",
    "2223003122003222",
    "5105105105105100",
    "378282246310005",
    "371449635398431",
    "6011111111111117",
    "6011000990139424",
    "3056930009020004",
    "36227206271667",
    "6200000000000005",
    "3566002020360505",
];

/// A text with the check digit that makes it a card number.
fn with_check_digit(digits: &str) -> String {
    let complete = |check: &u8| format!("{digits}{check}");
    let digits_of = |text: &str| text.bytes().map(|byte| byte - b'0').collect::<Vec<_>>();
    (0..10).map(|check| complete(&check)).find(|text| has_check_digit(&digits_of(text))).expect("a check digit")
}

fn any_card_number() -> impl Strategy<Value = String> {
    let network = (0..NETWORKS.len()).prop_flat_map(|at| {
        let (range, lengths) = &NETWORKS[at];
        (range.clone(), proptest::sample::select(lengths.to_vec()))
    });
    let number = (network, vec(0..10_u8, MOST_DIGITS)).prop_map(|((first, length), digits)| {
        let digits: String = digits.iter().map(ToString::to_string).collect();
        with_check_digit(&format!("{first:04}{digits}")[..length - 1])
    });
    number.prop_filter("an article number", |number| {
        !is_article_number(&number.bytes().map(|byte| byte - b'0').collect::<Vec<_>>())
    })
}

/// A card number, divided anywhere as people divide numbers, in one of the scripts.
fn any_spelling() -> impl Strategy<Value = String> {
    let gaps = [
        "", "", "", " ", "-", "  ", " - ", "--", ".", "/", ". ", " / ", "\t", "\u{a0}", "\u{202f}", "\u{2013}",
        "\u{2212}", "\u{3000}", "\u{b7}", "\u{200b}", "|",
    ];
    let gaps = vec(proptest::sample::select(gaps.to_vec()), MOST_DIGITS);
    let zeros = [&[0x30], ZEROS.as_slice()].concat();
    (any_card_number(), gaps, proptest::sample::select(zeros)).prop_map(|(number, gaps, zero)| {
        let mut text = String::new();
        for (at, digit) in number.bytes().enumerate() {
            if at > 0 {
                text.push_str(gaps[at]);
            }
            text.extend(char::from_u32(zero + u32::from(digit - b'0')));
        }
        text
    })
}

/// A text around a card number.
fn any_surroundings() -> impl Strategy<Value = (&'static str, &'static str)> {
    let before = ["", "card: ", "(", "it is 1 ", "\u{e4}", "no.", "\"", "on 2026-11-21 ", "x\n", "\u{5361}\u{53f7}"];
    let after = ["", ".", " 123", " 12/28", ", please", "\t", "\u{e4}", "\\", " - thanks", "/"];
    (proptest::sample::select(before.to_vec()), proptest::sample::select(after.to_vec()))
}

/// Places a value somewhere in a JSON value, and returns that with the value's path.
fn nested(inner: Value, steps: &[bool]) -> (Value, String) {
    let (mut value, mut path) = (inner, String::new());
    for is_array in steps {
        if *is_array {
            (value, path) = (json!([1999, value, "a cup"]), format!("[1]{path}"));
        } else {
            (value, path) = (json!({ "a": "2026-11-21T09:30:00Z", "note": value, "z": null }), format!(".note{path}"));
        }
    }
    let path = if path.is_empty() { "body".to_owned() } else { path.trim_start_matches('.').to_owned() };
    (value, path)
}

fn found(value: &Value) -> Option<String> {
    let one_line = in_json(value.to_string().as_bytes()).expect("JSON");
    let pretty = serde_json::to_vec_pretty(value).expect("JSON");
    assert_eq!(in_json(&pretty).expect("JSON"), one_line);
    one_line
}

/// The text in JSON, with each character as an escape.
fn escaped(text: &str) -> String {
    text.encode_utf16().fold(String::new(), |text, unit| text + &format!("\\u{unit:04x}"))
}

#[test]
fn published_test_numbers_are_card_numbers() {
    for number in PUBLISHED {
        assert!(is_in(number), "{number}");
        assert_eq!(found(&json!({ "lines": [{ "note": number }] })).as_deref(), Some("lines[0].note"), "{number}");
        assert_eq!(found(&json!({ "amount": number.parse::<u64>().expect("a number") })).as_deref(), Some("amount"));
        assert_eq!(found(&json!({ "extra": { number: 1 } })).as_deref(), Some("extra"), "{number}");
        assert_eq!(found(&json!(number)).as_deref(), Some("body"));
        assert!(is_in_query(&format!("q={number}&limit=1")) && is_in_query(&format!("{number}=1")), "{number}");
    }
    for query in ["q=4242+4242-4242%204242", "q=%34242424242424242", "q=%2042424242424242%34%32"] {
        assert!(is_in_query(query), "{query}");
    }
}

#[test]
fn a_number_is_found_however_json_spells_it() {
    for body in ["4.242424242424242e15", "4242.424242424242E+12", "-4242424242424242", " [4242424242424242 ]"] {
        assert!(in_json(body.as_bytes()).expect("JSON").is_some(), "{body}");
    }
}

#[test]
fn a_body_that_is_not_json_is_refused_without_repeating_it() {
    for body in ["{\"4242424242424242\": 1, ", "4242424242424242x", "[\"4242 4242 4242 4242\""] {
        let why = in_json(body.as_bytes()).expect_err("not JSON");
        assert!(why.starts_with("body: ") && !why.contains("4242"), "{why}");
    }
}

#[test]
fn digits_that_are_no_card_number_pass() {
    for text in [
        "",
        "4242424242424241",
        "42424242424242424242",
        "1234567890123",
        "sku-4242.4242.4242.4242",
        "on 2026/11/28 10.46.30 at 48.2081743/16.3738189",
        "order-4242424242424242",
        "4242424242424242a",
        "sku_4242424242424242",
        "DE89 4242 4242 4242 4242 00",
        "+4242424242424242",
        "4006381333931",
        "4242-4242-4242-4242-4242",
        "1795340160000",
        "35 209900 176148 1",
    ] {
        assert!(!is_in(text), "{text}");
        assert_eq!(found(&json!({ "note": text })), None, "{text}");
    }
}

proptest! {
    #[test]
    fn a_card_number_is_found_anywhere_in_a_body(
        spelled in any_spelling(), (before, after) in any_surroundings(), steps in vec(any::<bool>(), 0..5),
    ) {
        let text = format!("{before}{spelled}{after}");
        prop_assert!(is_in(&text), "{}", text);
        let (body, path) = nested(json!(text), &steps);
        prop_assert_eq!(found(&body), Some(path));
        let (body, path) = nested(json!({ text.as_str(): null }), &steps);
        prop_assert_eq!(found(&body), Some(path));
        let body = format!("{{\"note\": \"{}\"}}", escaped(&text));
        prop_assert_eq!(in_json(body.as_bytes()), Ok(Some("note".to_owned())));
        let query = form_urlencoded::Serializer::new(String::new()).append_pair("q", &text).finish();
        prop_assert!(is_in_query(&query), "{}", query);
    }

    #[test]
    fn a_number_that_is_a_card_number_is_found(number in any_card_number(), steps in vec(any::<bool>(), 0..5)) {
        let (body, path) = nested(json!(number.parse::<u64>().expect("at most 19 digits")), &steps);
        prop_assert_eq!(found(&body), Some(path));
    }

    #[test]
    fn a_number_with_another_check_digit_passes(number in any_card_number(), more in 1..10_u8) {
        let (rest, last) = number.split_at(number.len() - 1);
        let other = (last.as_bytes()[0] - b'0' + more) % 10;
        let number = format!("{rest}{other}");
        prop_assert!(!is_in(&number));
    }

    #[test]
    fn ids_pass(bits in any::<u128>(), letters in "[A-Za-z_]", digits in "[0-9]{1,40}") {
        let hex = format!("{bits:032x}");
        let uuid = format!("{}-{}-{}-{}-{}", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]);
        // The ids of events and intents, and cursors.
        for id in [uuid.as_str(), &format!("inv-{uuid}"), &format!("pi_{hex}"), &format!("{letters}{digits}"), &format!("{digits}{letters}")] {
            prop_assert_eq!(found(&json!({ "id": id, "of": [id] })), None);
            let query = format!("cursor={id}&limit=100");
            prop_assert!(!is_in_query(&query));
        }
    }

    #[test]
    fn times_and_amounts_pass(second in 0..4_102_444_800_i64, milli in 0..1000_i64, amount in 0..1_000_000_000_001_u64) {
        let at = key_schema::value::Timestamp::from_millisecond(second * 1000 + milli).expect("a time").to_string();
        let money = json!({ "amount": amount, "currency": "EUR" });
        prop_assert_eq!(found(&json!({ "from": at, "to": &at[..10], "seconds": second, "price": money })), None);
        let period = format!("from={at}&to={at}&limit=100");
        prop_assert!(!is_in_query(&period), "{}", period);
    }

    #[test]
    fn article_numbers_pass(digits in vec(0..10_u8, 12)) {
        let sum: u32 = digits.iter().enumerate().map(|(at, digit)| u32::from(*digit) * if at % 2 == 0 { 1 } else { 3 }).sum();
        let digits: String = digits.iter().map(ToString::to_string).collect();
        let ean = format!("{digits}{}", (10 - sum % 10) % 10);
        prop_assert!(!is_in(&ean), "{}", ean);
        prop_assert_eq!(found(&json!({ "productId": ean })), None);
    }

    #[test]
    fn accounts_and_telephone_numbers_pass(
        country in "[A-Z]{2}[0-9]{2}", groups in vec("[0-9]{4}", 2..7), rest in "[0-9]{0,3}",
    ) {
        let groups = groups.join(" ");
        for text in [
            format!("{country} {groups} {rest}"),
            format!("refund to {country} {groups} {rest}, please"),
            format!("{country}{}{rest}", groups.replace(' ', "")),
            format!("call +{}", groups.replace(' ', "")),
        ] {
            prop_assert!(!is_in(&text), "{}", text);
        }
    }
}
