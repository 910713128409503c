//! One parameter closes the shop: `Shop=closed`. Then nothing invokes a function, in any stack.

use std::fs;
use std::time::Duration;

use devstack::{Deployment, Template};
use serde_json::json;
use shop::queue::QUEUE;
use shop::{Shop, template_text};
use yaml_serde::Value as Yaml;

use crate::deployment::{of_type, reference, stack};

/// The services whose resources run code, or have it run.
const SERVICES: [&str; 6] =
    ["AWS::Serverless::", "AWS::Lambda::", "AWS::Events::", "AWS::Scheduler::", "AWS::Pipes::", "AWS::StepFunctions::"];

/// Their types that start nothing by themselves.
const PASSIVE: [&str; 3] = ["AWS::Serverless::HttpApi", "AWS::Events::EventBus", "AWS::StepFunctions::StateMachine"];

/// A property that must have this value while the shop is closed, and another one while it is open.
struct Switch<'a> {
    name: String,
    value: &'a Yaml,
    closed: Yaml,
}

/// The templates of the project's root.
fn templates() -> Vec<String> {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
    let names = fs::read_dir(root).expect("the root").map(|entry| entry.expect("an entry").file_name());
    let mut names: Vec<_> = names.filter_map(|name| name.into_string().ok()).collect();
    names.retain(|name| name.ends_with(".yaml") && stack(name)["Resources"].is_mapping());
    names.sort();
    names
}

/// Each switch that a stack needs: one for each function, event source and schedule.
fn switches<'a>(file: &str, stack: &'a Yaml) -> Vec<Switch<'a>> {
    let mut all = Vec::new();
    let mut add = |name: String, value: &'a Yaml, closed: Yaml| all.push(Switch { name, value, closed });
    for (id, resource) in stack["Resources"].as_mapping().expect("resources") {
        let (id, properties) = (id.as_str().expect("a text"), &resource["Properties"]);
        let disabled = || Yaml::from("DISABLED");
        match resource["Type"].as_str().expect("a type") {
            "AWS::Serverless::Function" => {
                let own = &properties["ReservedConcurrentExecutions"];
                let common = &stack["Globals"]["Function"]["ReservedConcurrentExecutions"];
                add(format!("{file}: {id}"), if own.is_null() { common } else { own }, Yaml::from(0));
                for (event, source) in properties["Events"].as_mapping().into_iter().flatten() {
                    let name = format!("{file}: {id}: {}", event.as_str().expect("a text"));
                    match source["Type"].as_str().expect("a type") {
                        // The function itself is closed.
                        "HttpApi" => {}
                        "SQS" => add(name, &source["Properties"]["Enabled"], Yaml::from(false)),
                        "Schedule" => add(name, &source["Properties"]["State"], disabled()),
                        other => panic!("{name}: how is an event of type {other} switched off?"),
                    }
                }
            }
            "AWS::Lambda::EventSourceMapping" => {
                add(format!("{file}: {id}"), &properties["Enabled"], Yaml::from(false))
            }
            "AWS::Scheduler::Schedule" => add(format!("{file}: {id}"), &properties["State"], disabled()),
            "AWS::Events::Rule" if properties["EventPattern"].is_null() => {
                add(format!("{file}: {id}"), &properties["State"], disabled());
            }
            // It passes on what others have published: see below.
            "AWS::Events::Rule" => {}
            known if PASSIVE.contains(&known) => {}
            other => assert!(
                !SERVICES.iter().any(|service| other.starts_with(service)),
                "{file}: {id}: how is a resource of type {other} switched off?"
            ),
        }
    }
    all
}

/// The values that a property may have while the shop is open or closed, whatever the other parameters are.
fn values(value: &Yaml, is_open: bool) -> Vec<&Yaml> {
    match value {
        Yaml::Tagged(tagged) if tagged.tag == "If" && tagged.value[0] == "ShopIsOpen" => {
            values(&tagged.value[if is_open { 1 } else { 2 }], is_open)
        }
        Yaml::Tagged(tagged) if tagged.tag == "If" => {
            [1, 2].iter().flat_map(|branch| values(&tagged.value[*branch], is_open)).collect()
        }
        plain => vec![plain],
    }
}

#[test]
fn a_closed_shop_runs_no_function_and_an_open_one_runs_all() {
    let (outer, mut count) = (stack("template.yaml"), 0);
    let is_open: Yaml = yaml_serde::from_str("!Equals [!Ref Shop, open]").expect("YAML");
    for file in templates() {
        let stack = stack(&file);
        let switches = switches(&file, &stack);
        if switches.is_empty() {
            continue;
        }
        assert_eq!(stack["Conditions"]["ShopIsOpen"], is_open, "{file}");
        for (id, nested) in of_type(&outer, "AWS::CloudFormation::Stack") {
            if nested["Properties"]["TemplateURL"] == file.as_str() {
                assert_eq!(reference(&nested["Properties"]["Parameters"]["Shop"]), Some("Shop"), "{id}");
            }
        }
        for Switch { name, value, closed } in &switches {
            assert!(
                values(value, false).iter().all(|value| *value == closed),
                "{name} is open while the shop is closed"
            );
            assert!(
                values(value, true).iter().all(|value| *value != closed),
                "{name} is closed while the shop is open"
            );
        }
        count += switches.len();
    }
    let functions = of_type(&outer, "AWS::Serverless::Function").count();
    assert!(count > functions + 10, "{count} switches, {functions} functions");
}

/// A rule of the bus stays enabled, so that no event is lost which was published before the shop closed. Queues keep what
/// they get.
#[test]
fn events_of_the_bus_go_to_queues_alone() {
    for file in templates() {
        let stack = stack(&file);
        let queues: Vec<_> = of_type(&stack, "AWS::SQS::Queue").map(|(id, _)| format!("{id}.Arn")).collect();
        for (id, rule) in of_type(&stack, "AWS::Events::Rule") {
            let targets = rule["Properties"]["Targets"].as_sequence().expect("targets");
            for target in targets {
                let Yaml::Tagged(arn) = &target["Arn"] else { panic!("{id}: {target:?}") };
                assert!(queues.iter().any(|queue| arn.value == queue.as_str()), "{file}: {id}: {target:?}");
            }
        }
    }
}

/// The laptop's template, with two tables, search and analytics, so that each function is in it.
fn with(state: &str) -> Template {
    let mut deployment = Deployment { table_name: "till-local-orders".to_owned(), ..local::deployment() };
    let parameters =
        [("Shop", state), ("Tables", "v1-v2"), ("SearchUrl", "http://localhost:9200"), ("Analytics", "athena")];
    deployment.parameters.extend(parameters.map(|(name, value)| (name.to_owned(), value.to_owned())));
    Template::parse_for(&template_text(), &deployment).expect("template.yaml is valid")
}

#[test]
fn the_stack_on_a_laptop_closes_with_the_same_parameter() {
    let (open, closed) = (with("open"), with("closed"));
    let enabled = |template: &Template| {
        let queues = template.queue_sources.iter().filter(|source| source.enabled).count();
        queues + template.stream_sources.iter().filter(|source| source.enabled).count()
    };
    assert_eq!((enabled(&open), enabled(&closed)), (open.queue_sources.len() + open.stream_sources.len(), 0));
    assert!(open.scheduled.len() > 4 && closed.scheduled.is_empty());
    assert!(open.functions.iter().all(|function| function.reserved_concurrency != Some(0)));
    assert!(closed.functions.iter().all(|function| function.reserved_concurrency == Some(0)));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_closed_shop_answers_503_and_leaves_its_queue_alone() {
    let shop = Shop::open_from(|text| text.replace("    Default: open\n", "    Default: closed\n")).await;
    let answer = reqwest::get(format!("{}/products?category=none", shop.url())).await.expect("an answer");
    assert_eq!(answer.status().as_u16(), 503);

    shop.sqs("SendMessage", QUEUE, json!({ "MessageBody": "an order" })).await;
    tokio::time::sleep(Duration::from_millis(500)).await;
    let ask = json!({ "MessageSystemAttributeNames": ["ApproximateReceiveCount"] });
    let received = shop.sqs("ReceiveMessage", QUEUE, ask).await;
    assert_eq!(received["Messages"][0]["Attributes"]["ApproximateReceiveCount"], "1", "{received}");
}
