//! What Till does not use is refused, so that nobody believes a wrong answer.

#![allow(clippy::expect_used, reason = "tests")]

use serde_json::{Value, json};

use super::cluster::Cluster;
use super::query::Searched;

fn cluster() -> Cluster {
    let mut cluster = Cluster::default();
    let properties = json!({ "name": { "type": "text" }, "price": { "type": "long" }, "kind": { "type": "keyword" } });
    let body = json!({ "aliases": { "written": {} }, "mappings": { "dynamic": "strict", "properties": properties } });
    cluster.create("first", &body).expect("created");
    cluster
}

fn bulk(cluster: &mut Cluster, name: &str, action: &Value, source: &Value) -> Value {
    let answer = cluster.bulk(name, &format!("{action}\n{source}\n")).expect("an answer");
    answer["items"][0].as_object().and_then(|item| item.values().next()).expect("an item").clone()
}

fn create(id: &str) -> Value {
    json!({ "create": { "_id": id, "require_alias": true } })
}

#[test]
fn a_write_needs_an_alias_a_known_field_and_an_unchanged_document() {
    let mut cluster = cluster();
    let cup = json!({ "name": "cup", "price": 1 });
    assert_eq!(bulk(&mut cluster, "written", &create("cup"), &cup)["status"], 201);
    assert_eq!(bulk(&mut cluster, "written", &create("cup"), &cup)["status"], 409);
    assert_eq!(bulk(&mut cluster, "first", &create("pot"), &cup)["status"], 404, "not an alias");
    for other in [json!({ "colour": "red" }), json!({ "price": "red" }), json!({ "name": 1 })] {
        assert_eq!(bulk(&mut cluster, "written", &create("pot"), &other)["status"], 400, "{other}");
    }
    let index = |seq_no: i64| json!({ "index": { "_id": "cup", "if_seq_no": seq_no, "if_primary_term": 1, "require_alias": true } });
    assert_eq!(bulk(&mut cluster, "written", &index(5), &cup)["status"], 409);
    assert_eq!(bulk(&mut cluster, "written", &index(0), &cup)["status"], 200);
    assert_eq!(bulk(&mut cluster, "written", &index(0), &cup)["status"], 409, "it has changed");
    let blind = json!({ "index": { "_id": "cup", "require_alias": true } });
    assert_eq!(bulk(&mut cluster, "written", &blind, &cup)["status"], 400);
}

#[test]
fn aliases_change_all_or_none_and_one_index_is_written() {
    let mut cluster = cluster();
    let body = json!({ "mappings": { "dynamic": "strict", "properties": {} } });
    cluster.create("second", &body).expect("created");
    let add = |index: &str| json!({ "add": { "index": index, "alias": "searched", "is_write_index": true } });
    let remove = |index: &str| json!({ "remove": { "index": index, "alias": "searched", "must_exist": true } });
    cluster.change_aliases(&json!({ "actions": [add("first")] })).expect("added");
    for wrong in
        [json!([add("second")]), json!([add("second"), remove("second"), remove("second")]), json!([add("none")])]
    {
        cluster.change_aliases(&json!({ "actions": wrong })).expect_err("refused");
        assert_eq!(cluster.resolve("searched"), Ok("first"));
    }
    cluster.change_aliases(&json!({ "actions": [remove("first"), add("second")] })).expect("changed");
    assert_eq!(cluster.resolve("searched"), Ok("second"));
    cluster.delete("second").expect("deleted");
    assert_eq!(cluster.of_alias("searched").expect_err("gone").status, 404);
    assert_eq!(cluster.of_alias("nothing-*").expect("nothing"), json!({}));
}

#[test]
fn a_search_that_needs_more_is_refused() {
    let mut cluster = cluster();
    bulk(&mut cluster, "written", &create("cup"), &json!({ "name": "cup", "price": 1 }));
    let search = |request: Value| Searched::new(cluster.index("first").expect("an index")).search(&request);
    assert!(search(json!({ "query": { "match_all": {} } })).is_ok());
    for unknown in [
        json!({ "query": { "fuzzy": {} } }),
        json!({ "query": {} }),
        json!({ "query": { "match_all": {} }, "collapse": {} }),
        json!({ "query": { "term": { "colour": "red" } } }),
        json!({ "query": { "match_all": {} }, "sort": [{ "colour": "asc" }] }),
        json!({ "query": { "match_all": {} }, "aggs": { "a": { "avg": { "field": "price" } } } }),
        json!({ "query": { "match_all": {} }, "aggs": { "a": { "terms": { "field": "colour" } } } }),
    ] {
        assert_eq!(search(unknown.clone()).expect_err("refused").status, 400, "{unknown}");
    }
}
