//! Checks what the alarms watch, whom they tell, and that each is explained.

use std::collections::{BTreeMap, BTreeSet};

use key_schema::layout::Index;
use shop::read;
use shop::tables::template_with;
use yaml_serde::Value as Yaml;

use super::evaluation::{Alarm, METRIC, State};
use super::troubles::ordinary;
use crate::completeness::pascal_case;
use crate::deployment::{ALARMING, alarms, reference, stack};

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
            ["Operations", "MigrationOperations"].map(|stack| &outer["Resources"][stack]["Properties"]["Parameters"]);
        nested.map(|parameters| &parameters[name]).into_iter().find(|value| !value.is_null())
    };
    let template = template_with("v1-v2");
    let queues = template.queues.iter().map(|queue| &queue.logical_id);
    for name in queues.chain(template.stream_sources.iter().map(|source| &source.function)) {
        assert!(watched.contains(name.as_str()), "{name}");
        let value =
            given(name).and_then(attribute).unwrap_or_else(|| panic!("{name} is given to no stack with alarms"));
        let (of_stack, own) = (format!("State.Outputs.{name}Name"), value.split('.').next());
        assert!(own == Some(name.as_str()) || value == of_stack, "what is watched as {name}");
    }
}

/// What `!GetAtt` or `!Ref` names; of `!If`, in the first of its two values.
fn attribute(value: &Yaml) -> Option<&str> {
    let Yaml::Tagged(tagged) = value else { return None };
    if tagged.tag == "If" { attribute(&tagged.value[1]) } else { tagged.value.as_str() }
}

/// The anchor of a heading, as GitHub makes it.
fn anchor(heading: &str) -> String {
    heading.to_lowercase().replace(',', "").replace(' ', "-")
}

/// The description of an alarm ends with its urgency and its section, because that is what a pager shows.
#[test]
fn every_alarm_says_whether_somebody_must_get_up_and_links_its_section() {
    let text = read("docs/alarms.md");
    let (_, sections) = text.split_once("\n## Alarms\n").expect("a section of the alarms");
    let sections = sections.split("\n## ").next().unwrap_or_default();
    let headings = sections.lines().filter_map(|line| line.strip_prefix("### "));
    let headings: BTreeMap<_, _> =
        headings.flat_map(|all| all.split(", ").map(move |name| (name.to_owned(), anchor(all)))).collect();
    let files = ALARMING.into_iter().chain(["stacks/table-operations.yaml"]);
    let mut names = BTreeSet::new();
    for (file, stack) in files.map(|file| (file, stack(file))) {
        for (name, alarm) in alarms(&stack) {
            let section = headings.get(name).unwrap_or_else(|| panic!("docs/alarms.md does not explain {name}"));
            let said = alarm["AlarmDescription"].as_str().expect("a description");
            let said = said.strip_suffix(&format!(", docs/alarms.md#{section}"));
            let said = said.unwrap_or_else(|| panic!("{name} does not link docs/alarms.md#{section}"));
            let topic =
                if said.ends_with(". Not urgent") || said.ends_with("? Not urgent") { "Notices" } else { "Alarms" };
            assert!(topic == "Notices" || said.ends_with(" Urgent"), "{name}: {said}");
            // The stack in us-east-1 has one topic.
            let topic = if file == "stacks/firewall.yaml" { "Alarms" } else { topic };
            for (actions, when) in [("AlarmActions", "when it goes off"), ("OKActions", "when it is over")] {
                let actions = alarm[actions].as_sequence().unwrap_or_else(|| panic!("{name} tells nobody {when}"));
                assert_eq!(actions.iter().map(reference).collect::<Vec<_>>(), [Some(topic)], "{name}");
            }
            names.insert(name.to_owned());
        }
    }
    assert_eq!(headings.into_keys().collect::<BTreeSet<_>>(), names, "docs/alarms.md explains no other");
}

/// A schedule that is disabled, deleted or may not invoke its function leaves no error behind, but silence.
#[test]
fn the_silence_of_each_scheduled_function_raises_an_alarm() {
    let stacks = ALARMING.map(stack);
    let template = template_with("v1-v2");
    assert!(template.scheduled.len() > 4);
    for handler in template.scheduled.keys() {
        let function = pascal_case(handler);
        let raised = stacks.iter().flat_map(alarms).any(|(name, properties)| {
            let alarm = Alarm::read(name, properties);
            let of_function = |metric: &Yaml| {
                let dimensions = metric["Dimensions"].as_sequence().into_iter().flatten();
                dimensions.filter_map(|one| reference(&one["Value"])).any(|named| named == function)
            };
            let single = of_function(properties).then(|| METRIC.to_owned());
            let metrics = properties["Metrics"].as_sequence().into_iter().flatten();
            let silent = metrics.filter(|one| of_function(&one["MetricStat"]["Metric"]));
            let silent = silent.filter_map(|one| one["Id"].as_str().map(str::to_owned));
            let silent: BTreeSet<_> = silent.chain(single).collect();
            let data = alarm.metrics.iter().map(|(id, metric)| {
                let value = (!silent.contains(id)).then(|| ordinary(name, metric)).flatten();
                (id.clone(), vec![value; 10])
            });
            !silent.is_empty() && alarm.states(&data.collect()).last() == Some(&State::Alarm)
        });
        assert!(raised, "nobody hears that {function} is not invoked");
    }
}

/// The alarm watches the metric that is made of the access log, and the log has the status as a number.
#[test]
fn requests_that_the_gateway_throttles_are_counted_in_the_access_log() {
    let (outer, operations) = (stack("template.yaml"), stack("stacks/operations.yaml"));
    let filter = &operations["Resources"]["ThrottledRequests"]["Properties"];
    let counted = &filter["MetricTransformations"][0];
    let metrics = &operations["Resources"]["RequestsAreThrottled"]["Properties"]["Metrics"];
    let metrics = metrics.as_sequence().expect("metrics").iter().map(|one| &one["MetricStat"]["Metric"]);
    let same = |metric: &Yaml| {
        metric["Namespace"] == counted["MetricNamespace"] && metric["MetricName"] == counted["MetricName"]
    };
    assert_eq!(metrics.filter(|metric| same(metric)).count(), 1);
    assert_eq!(
        (filter["FilterPattern"].as_str(), counted["MetricValue"].as_str()),
        (Some("{ $.status = 429 }"), Some("1"))
    );
    assert_eq!(reference(&filter["LogGroupName"]), Some("AccessLogs"));
    let format = outer["Resources"]["Api"]["Properties"]["AccessLogSettings"]["Format"].as_str().expect("a format");
    assert!(format.contains(r#""status":$context.status,"#), "{format}");
}

/// A budget's mails go to the address of the alarms, because AWS would need a right on their topic.
#[test]
fn a_budget_has_an_address() {
    let (outer, operations) = (stack("template.yaml"), stack("stacks/operations.yaml"));
    let budget = &operations["Resources"]["Budget"]["Properties"];
    let notified = budget["NotificationsWithSubscribers"].as_sequence().expect("notifications");
    assert_eq!(notified.len(), 2, "what was spent, and what is forecast");
    for one in notified {
        assert_eq!(reference(&one["Subscribers"][0]["Address"]), Some("AlarmEmail"));
    }
    assert!(!outer["Rules"]["ABudgetHasAnAddress"].is_null());
    assert_eq!(outer["Parameters"]["MonthlyBudget"]["Default"], 0);
}

/// Throttles are watched by reason, separately for the table and each index.
#[test]
fn every_throttling_reason_of_the_table_and_each_index_has_an_alarm() {
    let operations = stack("stacks/operations.yaml");
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
