//! The examples of answers in the API's description: what the functions answered to the sample events.

use std::collections::BTreeMap;

use serde_json::{Value, json};

const FILE: &str = "../local/src/answers.json";

/// Members that differ from run to run, besides digits.
const RANDOM: [&str; 4] = ["clientSecret", "imageId", "intentId", "url"];

/// The body of each success, by the operation and the status.
#[derive(Default)]
pub struct Answers(BTreeMap<String, BTreeMap<String, Value>>);

impl Answers {
    /// Adds a success with a body.
    pub fn add(&mut self, operation: &str, status: u64, body: &Value) {
        if status < 300 && !body.is_null() {
            self.0.entry(operation.to_owned()).or_default().insert(status.to_string(), body.clone());
        }
    }

    /// Fails unless the examples are these, or writes them. An example that differs by chance alone stays.
    pub fn check(mut self) {
        let there = std::fs::read_to_string(docs_check::file(FILE)).unwrap_or_default();
        let there: BTreeMap<String, BTreeMap<String, Value>> = serde_json::from_str(&there).unwrap_or_default();
        for (operation, answers) in &mut self.0 {
            for (status, body) in answers {
                let known = there.get(operation).and_then(|answers| answers.get(status));
                if let Some(known) = known.filter(|known| certain(known) == certain(body)) {
                    known.clone_into(body);
                }
            }
        }
        let lines = self.0.iter().map(|(operation, answers)| format!("{}: {}", json!(operation), json!(answers)));
        let text = format!("{{\n{}\n}}\n", lines.collect::<Vec<_>>().join(",\n"));
        docs_check::check_file(FILE, &text).expect("the examples of answers are current");
    }
}

/// The value without what differs from run to run.
fn certain(value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            let kept = members.iter().filter(|(name, _)| !RANDOM.contains(&name.as_str()));
            kept.map(|(name, member)| (name.clone(), certain(member))).collect()
        }
        Value::Array(elements) => elements.iter().map(certain).collect(),
        // A cart's version is made of the time.
        Value::Number(number) if number.as_u64().is_some_and(|number| number > u32::MAX.into()) => Value::Null,
        Value::String(text) => text.replace(|letter: char| letter.is_ascii_digit(), "0").into(),
        other => other.clone(),
    }
}
