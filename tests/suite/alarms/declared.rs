//! Checks what the alarms watch, whom they tell, and that each is explained.

use std::collections::BTreeSet;

use key_schema::layout::Index;
use local::functions::all;
use shop::read;
use shop::tables::template_with;
use yaml_serde::Value as Yaml;

use crate::completeness::{pascal_case, source_of};
use crate::deployment::{ALARMING, alarms, reference, stack};

/// Some function emits each of Till's own metrics that an alarm uses.
#[test]
fn functions_emit_the_metrics_that_alarms_use() {
    let stacks = ALARMING.map(stack);
    let mut count = 0;
    for (_, alarm) in stacks.iter().flat_map(alarms).filter(|(_, alarm)| alarm["Namespace"] == "Till") {
        let function = reference(&alarm["Dimensions"][0]["Value"]).expect("a function");
        let emitter = all().find(|emitter| pascal_case(&emitter.name()) == function).expect("a function");
        let metric = alarm["MetricName"].as_str().expect("a metric");
        let source = read(&source_of(emitter));
        assert!(source.contains(&format!("(\"{metric}\", ")), "{function}: {metric}");
        count += 1;
    }
    assert_eq!(
        count, 7,
        "a long wait, a denied drain, drift, old parked counts, a late comparison, a payment of another amount, an old \
         repair"
    );
}

/// An alarm watches every queue that no function consumes.
#[test]
fn every_queue_and_every_stream_has_an_alarm() {
    let (outer, stacks) = (stack("template.yaml"), ALARMING.map(stack));
    let watched: BTreeSet<_> = stacks
        .iter()
        .flat_map(alarms)
        .flat_map(|(_, alarm)| {
            let metrics = alarm["Metrics"].as_sequence().into_iter().flatten().map(|one| &one["MetricStat"]["Metric"]);
            metrics.chain([alarm]).flat_map(|metric| metric["Dimensions"].as_sequence().into_iter().flatten())
        })
        .filter_map(|dimension| reference(&dimension["Value"]))
        .collect();
    let given = |name: &str| {
        let nested =
            ["Operations", "MoveOperations"].map(|stack| &outer["Resources"][stack]["Properties"]["Parameters"]);
        nested.map(|parameters| &parameters[name]).into_iter().find(|value| !value.is_null())
    };
    let template = template_with("v1-v2");
    let queues = template.queues.iter().map(|queue| &queue.logical_id);
    for name in queues.chain(template.stream_sources.iter().map(|source| &source.function)) {
        assert!(watched.contains(name.as_str()), "{name}");
        let value =
            given(name).and_then(attribute).unwrap_or_else(|| panic!("{name} is given to no stack with alarms"));
        assert_eq!(value.split('.').next(), Some(name.as_str()), "what is watched as {name}");
    }
}

/// What `!GetAtt` or `!Ref` names; of `!If`, in the first of its two values.
fn attribute(value: &Yaml) -> Option<&str> {
    let Yaml::Tagged(tagged) = value else { return None };
    if tagged.tag == "If" { attribute(&tagged.value[1]) } else { tagged.value.as_str() }
}

#[test]
fn every_alarm_notifies_and_has_a_section_in_the_runbook() {
    let stacks = ALARMING.map(stack);
    let text = read("docs/operating.md");
    let (_, sections) = text.split_once("\n## Alarms\n").expect("a section of the alarms");
    let sections = sections.split("\n## ").next().unwrap_or_default();
    let headings = sections.lines().filter_map(|line| line.strip_prefix("### "));
    let headings: BTreeSet<_> = headings.flat_map(|names| names.split(", ")).collect();
    let mut names = BTreeSet::new();
    for (name, alarm) in stacks.iter().flat_map(alarms) {
        let actions = alarm["AlarmActions"].as_sequence().expect("actions");
        assert_eq!(actions.iter().map(reference).collect::<Vec<_>>(), [Some("Alarms")], "{name}");
        assert!(alarm["AlarmDescription"].as_str().is_some_and(|text| text.ends_with(['.', '?'])), "{name}");
        names.insert(name);
    }
    assert_eq!(headings, names, "docs/operating.md explains each alarm, and no other");
}

/// Throttles are watched by reason, separately for the table and each index.
#[test]
fn every_throttling_reason_of_the_table_and_each_index_has_an_alarm() {
    let operations = stack("operations.yaml");
    let mut watched = BTreeSet::new();
    for (name, alarm) in alarms(&operations) {
        for metric in alarm["Metrics"].as_sequence().into_iter().flatten().map(|one| &one["MetricStat"]["Metric"]) {
            let dimensions = metric["Dimensions"].as_sequence().into_iter().flatten();
            let index = dimensions
                .filter(|one| one["Name"] == "GlobalSecondaryIndexName")
                .find_map(|one| one["Value"].as_str());
            if metric["Namespace"] == "AWS/DynamoDB" {
                let metric = metric["MetricName"].as_str().expect("a metric");
                assert!(watched.insert((metric.to_owned(), index)), "{name}: {metric} is watched twice");
            }
        }
    }
    let mut wanted = BTreeSet::new();
    for index in [Index::Table, Index::Gsi1, Index::Gsi2].map(Index::name) {
        for reason in ["KeyRangeThroughput", "MaxOnDemandThroughput", "ProvisionedThroughput", "AccountLimit"] {
            wanted.extend(["Read", "Write"].map(|units| (format!("{units}{reason}ThrottleEvents"), index)));
        }
    }
    assert_eq!(watched, wanted);
}
