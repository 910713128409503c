//! Checks what the dashboards of the nested stacks show.

use key_schema::entity::Phase;
use shop::read;
use yaml_serde::Value as Yaml;

use crate::alarms::emitters;
use crate::deployment::{WATCHING, keys, stack};
use crate::prelude::*;

/// The dashboard of a nested stack.
fn dashboard(file: &str) -> Value {
    let stack = stack(file);
    let Yaml::Tagged(body) = &stack["Resources"]["Dashboard"]["Properties"]["DashboardBody"] else {
        panic!("{file}: a text with names in it")
    };
    serde_json::from_str(body.value.as_str().expect("a text")).expect("JSON")
}

fn widgets(dashboard: &Value) -> &[Value] {
    dashboard["widgets"].as_array().expect("widgets")
}

/// The metrics of a dashboard: namespace, name and dimensions. Abbreviations are written out: `.` stands for the element
/// above, and `...` for all of them but the last ones.
fn metrics(dashboard: &Value) -> BTreeSet<Vec<String>> {
    let mut all = BTreeSet::new();
    for widget in widgets(dashboard) {
        let mut above = Vec::<String>::new();
        for metric in widget["properties"]["metrics"].as_array().into_iter().flatten() {
            let texts: Vec<_> = metric.as_array().expect("a metric").iter().filter_map(Value::as_str).collect();
            let here: Vec<_> = match texts[..] {
                // An expression.
                [] => continue,
                ["...", ref last @ ..] => {
                    let rest = last.iter().map(|text| (*text).to_owned());
                    above[..above.len() - last.len()].iter().cloned().chain(rest).collect()
                }
                _ => {
                    let of =
                        |(at, text): (usize, &&str)| if *text == "." { above[at].clone() } else { (*text).to_owned() };
                    texts.iter().enumerate().map(of).collect()
                }
            };
            assert!(here.len() >= 2 && here.len().is_multiple_of(2), "{here:?}");
            above.clone_from(&here);
            all.insert(here);
        }
    }
    all
}

fn is_of_table(metric: &[String], table: &str) -> bool {
    metric.iter().any(|part| part == table)
}

#[test]
fn a_dashboard_names_what_its_stack_gets_and_no_widget_hides_another() {
    for file in WATCHING {
        let (stack, dashboard) = (stack(file), dashboard(file));
        assert!(widgets(&dashboard).len() > 8, "{file}");
        let known = keys(&stack["Parameters"]);
        for name in dashboard.to_string().split("${").skip(1).filter_map(|rest| rest.split('}').next()) {
            assert!(name.starts_with("AWS::") || known.contains(name), "{file}: {name}");
        }
        let mut taken = BTreeSet::new();
        for widget in widgets(&dashboard) {
            let number = |name: &str| widget[name].as_u64().expect("a number");
            assert!(number("x") + number("width") <= 24, "{file}: {}", widget["properties"]["title"]);
            for x in number("x")..number("x") + number("width") {
                for y in number("y")..number("y") + number("height") {
                    assert!(taken.insert((x, y)), "{file}: {}", widget["properties"]["title"]);
                }
            }
        }
    }
}

/// Some function emits each of Till's own metrics. Those of all functions together have the stack for a dimension.
#[test]
fn functions_emit_the_metrics_that_dashboards_show() {
    let mut count = 0;
    for metric in WATCHING.iter().flat_map(|file| metrics(&dashboard(file))).filter(|metric| metric[0] == "Till") {
        let [_, name, dimension, of] = &metric[..] else { panic!("{metric:?}") };
        let of = of.trim_start_matches("${").trim_end_matches('}');
        assert_eq!(dimension, if of == "Deployment" { "Deployment" } else { "FunctionName" });
        assert!(emitters()[name].contains(of), "{of}: {name}");
        count += 1;
    }
    assert_eq!(count, 14 + 5, "of a shop, and of a migration");
}

/// The shop's dashboard shows the first table. While the shop migrates, the second one must be seen as well.
#[test]
fn the_dashboard_of_a_migration_shows_of_each_table_what_the_shops_own_shows_of_one() {
    let [shop, migration] = WATCHING.map(|file| metrics(&dashboard(file)));
    let one: BTreeSet<_> = shop.into_iter().filter(|metric| is_of_table(metric, "${FirstTable}")).collect();
    assert_eq!(one.len(), 3 * (2 + 2 * 4), "units and four reasons of throttles, of the table and each index");
    for table in ["${FirstTable}", "${NextTable}"] {
        let respell = |part: &String| if part == "${FirstTable}" { table.to_owned() } else { part.clone() };
        let wanted: BTreeSet<Vec<_>> = one.iter().map(|metric| metric.iter().map(respell).collect()).collect();
        let missing: Vec<_> = wanted.difference(&migration).collect();
        assert!(missing.is_empty(), "{table}: {missing:?}");
    }
    let of = |table| migration.iter().filter(|metric| is_of_table(metric, table)).count();
    assert_eq!(of("${FirstTable}"), of("${NextTable}"));
    let text = read("stacks/migration-operations.yaml");
    for searched in ["ReturnedRecordsCount", "SystemErrors"] {
        for table in ["FirstTable", "NextTable"] {
            let search = format!("MetricName=\\\"{searched}\\\" TableName=\\\"${{{table}}}\\\"");
            assert!(text.contains(&search), "{search}");
        }
    }
}

/// Lines of functions and those of Lambda have the id in different fields.
#[test]
fn ready_queries_find_what_those_of_the_page_find() {
    let (operations, page) = (stack("stacks/operations.yaml"), read("docs/alarms.md"));
    let filter = |name: &str| {
        let query = operations["Resources"][name]["Properties"]["QueryString"].as_str().expect("a query");
        query.split(" | ").find(|part| part.starts_with("filter ")).expect("a filter").to_owned()
    };
    for (name, id) in [("FollowAnOrder", "ORDER"), ("FollowARequest", "REQUEST")] {
        let wanted = filter(name).replace("ID", id);
        assert!(page.contains(&format!("| {wanted} |")), "docs/alarms.md has no query with {wanted}");
    }
    assert!(filter("FollowARequest").contains("record.requestId"));
}

/// `repair-copies` reports the phase as a number.
#[test]
fn the_phases_on_the_dashboard_are_those_of_a_migration() {
    let dashboard = dashboard("stacks/migration-operations.yaml");
    let phase = widgets(&dashboard).iter().find(|widget| widget["properties"]["title"] == "Phase").expect("a widget");
    let lines: Vec<_> =
        Phase::ALL.iter().enumerate().map(|(at, phase)| json!({ "label": phase, "value": at })).collect();
    assert_eq!(phase["properties"]["annotations"]["horizontal"], Value::from(lines));
}
