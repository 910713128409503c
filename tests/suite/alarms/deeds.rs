//! What the operations know of orders, payments, secrets and metrics is what the functions write, read and emit. So a
//! second function for the same deed cannot be forgotten.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use consumers::CONSUMERS;
use key_schema::access::{Access, Action};
use key_schema::entity::{Entity as _, Order};
use lambda::{Function, Grant};
use local::functions::{all, routes};
use shop::read;
use yaml_serde::Value as Yaml;

use crate::completeness::{pascal_case, source_of};
use crate::deployment::{ALARMING, alarms, reference, reserved_by, stack};

/// The functions, with what they do: their accesses to the table and their grants.
fn functions_that(do_this: impl Fn(&[Access], &[Grant]) -> bool) -> BTreeSet<String> {
    let routes = routes().map(|it| (&it.function, it.route.access.concat(), it.route.grants));
    let consumers = CONSUMERS.iter().map(|it| (&it.function, it.access.concat(), it.grants));
    let named = routes.chain(consumers).filter(|(_, access, grants)| do_this(access, grants));
    named.map(|(function, ..)| pascal_case(&function.name())).collect()
}

fn place_orders() -> BTreeSet<String> {
    functions_that(|access, _| access.iter().any(|it| it.action == Action::PutItem && it.subject == Order::TYPE))
}

fn read_secret(secret: &str) -> BTreeSet<String> {
    functions_that(|_, grants| grants.iter().any(|grant| grant.resource == secret))
}

/// The functions whose metric of this name the alarm watches.
fn watched(alarm: &str, metric: &str) -> BTreeSet<String> {
    let operations = stack("stacks/operations.yaml");
    let metrics = operations["Resources"][alarm]["Properties"]["Metrics"].as_sequence().expect("metrics");
    let metrics = metrics.iter().map(|one| &one["MetricStat"]["Metric"]).filter(|one| one["MetricName"] == metric);
    metrics.map(|one| reference(&one["Dimensions"][0]["Value"]).expect("a function").to_owned()).collect()
}

#[test]
fn the_alarms_of_a_silent_stream_know_every_function_by_which_clients_order() {
    let routes: BTreeSet<_> = routes().map(|it| pascal_case(&it.function.name())).collect();
    let asked: BTreeSet<_> = place_orders().intersection(&routes).cloned().collect();
    assert!(asked.len() > 1, "{asked:?}");
    for (alarm, consumer) in [("OrdersAreNotCounted", "CountOrders"), ("OrdersAreNotPublished", "PublishOrderEvents")] {
        let mut wanted = asked.clone();
        wanted.insert(consumer.to_owned());
        assert_eq!(watched(alarm, "Invocations"), wanted, "{alarm}");
    }
}

#[test]
fn every_function_that_places_orders_can_have_environments_of_its_own() {
    let template = stack("template.yaml");
    for function in place_orders() {
        let properties = &template["Resources"][function.as_str()]["Properties"];
        assert!(reserved_by(&properties["ReservedConcurrentExecutions"]).is_some(), "{function}");
    }
}

/// A function keeps a secret until its environment is renewed.
#[test]
fn the_runbook_of_each_secret_renews_every_function_that_reads_it() {
    let secrets = [
        ("PaymentSecret", "docs/payments.md", "for FUNCTION in "),
        ("TaxEngineSecret", "docs/taxes.md", "[Renew](payments.md#change-the-keys)"),
        ("SearchSecret", "docs/search.md", "[renew](payments.md#change-the-keys)"),
    ];
    let known: BTreeSet<_> = all().map(|function| pascal_case(&function.name())).collect();
    let mut read_by_some = BTreeSet::new();
    for (secret, page, place) in secrets {
        let text = read(page);
        let (_, after) = text.split_once(place).unwrap_or_else(|| panic!("{page}: {place}"));
        let part = after.split(['.', ';']).next().unwrap_or_default();
        let words = part.split(|letter: char| !letter.is_alphanumeric()).map(str::to_owned);
        let named: BTreeSet<_> = words.filter(|word| known.contains(word)).collect();
        assert_eq!(named, read_secret(secret), "{page}");
        read_by_some.extend(named);
    }
    let all_readers =
        functions_that(|_, grants| grants.iter().any(|it| it.actions.contains(&"secretsmanager:GetSecretValue")));
    assert_eq!(read_by_some, all_readers, "a secret of which no page says how it is changed");
}

/// Metrics without an alarm, with the reason.
const WITHOUT_ALARM: &[(&str, &str)] = &[
    ("CountersChecked", "work that is done"),
    ("CountersRepaired", "work that is done"),
    ("MigrationPhase", "a state"),
    ("MoneyCaptured", "the business"),
    ("OrderValue", "the business"),
    ("OrdersBuried", "OrdersAreDead watches their queue"),
    ("OrdersDrained", "work that is done"),
    ("OrdersExpired", "the business"),
    ("OrdersPaid", "the business"),
    ("OrdersPostponed", "OrdersWaitLong watches how long"),
    ("OrdersRefused", "the business; NothingIsOrdered if all are"),
    ("OrdersRetried", "after five failures: OrdersAreDead"),
    ("ProductsIndexed", "work that is done"),
    ("ProductsNotIndexed", "SearchIsStale and ProductsAreNotIndexed watch their queues"),
    ("RepairsCarriedOut", "work that is done"),
];

/// The metrics of the shop, which several functions may count.
const OF_SHOP: [&str; 7] =
    ["CopiesDiffer", "MoneyCaptured", "OrderValue", "OrdersPaid", "OrdersPlaced", "OrdersRefused", "PaymentsForStaff"];

/// The metrics in a source: names that stand before a measure, or in a call that makes one.
fn emitted(source: &str) -> impl Iterator<Item = &str> {
    let quoted = source.match_indices("(\"").map(|(at, mark)| (&source[..at], &source[at + mark.len()..]));
    quoted.filter_map(move |(before, rest)| {
        let (name, after) = rest.split_once("\", ")?;
        let is_made = ["count", "amount"].iter().any(|call| before.ends_with(call));
        let is_name = name.starts_with(char::is_uppercase) && name.chars().all(char::is_alphanumeric);
        (is_name && (is_made || after.starts_with("Measure::"))).then_some(name)
    })
}

/// The sources of a folder.
fn sources(folder: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(format!("{}/../{folder}", env!("CARGO_MANIFEST_DIR"))).into_iter().flatten() {
        let (entry, name) = entry.map(|entry| (entry.path(), entry.file_name())).expect("an entry");
        let path = format!("{folder}/{}", name.to_str().expect("a text"));
        if entry.is_dir() {
            found.extend(sources(&path));
        } else if entry.extension().is_some_and(|extension| extension == "rs") {
            found.push(read(&path));
        }
    }
    found
}

/// The sources of a function: its file, and those in its folder.
fn sources_of(function: &Function) -> Vec<String> {
    let path = source_of(function);
    [vec![read(&path)], sources(path.trim_end_matches(".rs"))].concat()
}

/// By metric, the functions that emit it for themselves. Of a metric of the shop, the dimension of the stack.
pub fn emitters() -> BTreeMap<String, BTreeSet<String>> {
    let mut known = BTreeMap::<String, BTreeSet<String>>::new();
    let mut add = |source: &str, function: &str| {
        for name in emitted(source) {
            let of = if OF_SHOP.contains(&name) { "Deployment" } else { function };
            known.entry(name.to_owned()).or_default().insert(of.to_owned());
        }
    };
    for function in all() {
        for source in sources_of(function) {
            add(&source, &pascal_case(&function.name()));
        }
    }
    for source in sources("shared").iter().filter(|source| !source.contains("pub fn metrics_of_shop")) {
        add(source, "a shared crate knows no function: count it for the shop");
    }
    known
}

#[test]
fn each_metric_has_an_alarm_or_a_reason_and_each_alarm_a_function_that_emits_its_metric() {
    let known = emitters();
    let stacks = ALARMING.map(stack);
    let mut alarmed = BTreeMap::<String, BTreeSet<String>>::new();
    for (_, alarm) in stacks.iter().flat_map(alarms) {
        let metrics = alarm["Metrics"].as_sequence().into_iter().flatten().map(|one| &one["MetricStat"]["Metric"]);
        for metric in metrics.chain([alarm]).filter(|metric| metric["Namespace"] == "Till") {
            let of = reference(&metric["Dimensions"][0]["Value"]).expect("a function or the stack").to_owned();
            alarmed.entry(metric["MetricName"].as_str().expect("a metric").to_owned()).or_default().insert(of);
        }
    }
    assert!(known.len() > 25, "{known:?}");
    for (metric, of) in &alarmed {
        assert_eq!(Some(of), known.get(metric), "who emits {metric}, and whose alarm it is");
    }
    let reasons: BTreeSet<_> = WITHOUT_ALARM.iter().map(|(name, _)| (*name).to_owned()).collect();
    let without: BTreeSet<_> = known.into_keys().filter(|metric| !alarmed.contains_key(metric)).collect();
    assert_eq!(without, reasons, "metrics without an alarm need a reason");
}

/// AWS allows five filters of an event source. A kind that is added must find room.
#[test]
fn the_filters_of_each_event_source_have_room() {
    let template = stack("template.yaml");
    let resources = template["Resources"].as_mapping().expect("resources");
    let filters = resources.values().filter_map(|one| one["Properties"]["FilterCriteria"]["Filters"].as_sequence());
    let counts: Vec<_> = filters.map(Vec::len).collect();
    assert!(counts.len() >= 4 && counts.iter().all(|count| *count < 5), "{counts:?}");
}

/// A name may be the beginning of another one: `till` of `till-staging`.
#[test]
fn no_metric_is_searched_by_a_part_of_a_name() {
    for file in ALARMING {
        let text = read(file);
        for search in text.split("SEARCH('").skip(1).filter_map(|rest| rest.split("',").next()) {
            let (_, terms) = search.split_once('}').expect("a schema");
            let bare = terms.split([' ', '(', ')']).filter(|term| !term.is_empty() && *term != "OR");
            for term in bare {
                assert!(term.ends_with("\\\""), "{file}: {term:?} in {search} is no whole name");
            }
        }
    }
}

/// The access log's group is where services may write without a grant for each group.
#[test]
fn access_logs_are_below_vendedlogs() {
    let template = stack("template.yaml");
    let Yaml::Tagged(name) = &template["Resources"]["AccessLogs"]["Properties"]["LogGroupName"] else {
        panic!("a name")
    };
    assert_eq!(name.value.as_str(), Some("/aws/vendedlogs/${AWS::StackName}/requests"));
}
