//! A consumer's partial batch response: which records of a batch it could not process.

use std::collections::BTreeSet;

use serde_json::Value;

/// The identifiers that the answer names, all of them among `known`, or the reason why the whole batch counts as
/// failed.
pub(crate) fn item_failures(answer: &Value, known: &BTreeSet<&str>) -> Result<BTreeSet<String>, String> {
    let list = match answer {
        Value::Null => return Ok(BTreeSet::new()),
        Value::Object(answer) => answer.get("batchItemFailures").unwrap_or(&Value::Null),
        other => return Err(format!("its answer is no batch response: {other}")),
    };
    let entries = match list {
        Value::Null => return Ok(BTreeSet::new()),
        Value::Array(entries) => entries,
        other => return Err(format!("batchItemFailures is no list: {other}")),
    };
    let failed = entries.iter().map(|entry| {
        let id = entry["itemIdentifier"].as_str().filter(|id| known.contains(id));
        id.map(str::to_owned).ok_or_else(|| format!("batchItemFailures names no record of the batch: {entry}"))
    });
    failed.collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_answer_without_failures_is_success_and_a_malformed_answer_is_failure() {
        let failures = |answer: &Value| item_failures(answer, &BTreeSet::from(["a", "b"]));
        for success in
            [json!(null), json!({}), json!({ "batchItemFailures": null }), json!({ "batchItemFailures": [] })]
        {
            assert_eq!(failures(&success), Ok(BTreeSet::new()), "{success}");
        }
        let named = json!({ "batchItemFailures": [{ "itemIdentifier": "b" }] });
        assert_eq!(failures(&named), Ok(BTreeSet::from(["b".to_owned()])));
        let identifiers = [json!(""), json!(null), json!("c"), json!(1)];
        let identifiers = identifiers.map(|id| json!({ "batchItemFailures": [{ "itemIdentifier": id }] }));
        for failure in
            [json!("done"), json!([]), json!({ "batchItemFailures": "a" }), json!({ "batchItemFailures": ["a"] })]
        {
            assert!(failures(&failure).is_err(), "{failure}");
        }
        assert!(identifiers.iter().all(|failure| failures(failure).is_err()));
    }
}
