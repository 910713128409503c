//! One parameter closes the shop: `Shop=closed`. Then nothing invokes a function, in any stack.

use std::fs;
use std::path::Path;

use devstack::{Deployment, Options, Stack, Template};
use http_api::{ADMIN_SCOPE, SHOP_SCOPE};
use local::functions::start_all;
use serde_json::Value as Json;
use shop::queue::{QUEUE, drain_source};
use shop::{PATIENCE, template_text};
use yaml_serde::Value as Yaml;

use crate::deployment::{of_type, reference, stack};
use crate::prelude::*;

/// The services whose resources run code, or have it run.
const SERVICES: [&str; 6] =
    ["AWS::Serverless::", "AWS::Lambda::", "AWS::Events::", "AWS::Scheduler::", "AWS::Pipes::", "AWS::StepFunctions::"];

/// Their types that start nothing by themselves.
const PASSIVE: [&str; 4] =
    ["AWS::Serverless::HttpApi", "AWS::Events::EventBus", "AWS::Events::Archive", "AWS::StepFunctions::StateMachine"];

/// A property that must have this value while the shop is closed, and another one while it is open.
struct Switch<'a> {
    name: String,
    value: &'a Yaml,
    closed: Yaml,
}

/// The templates of the stack and of its nested stacks, and that of the firewall.
pub fn templates() -> Vec<String> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../stacks");
    let names = fs::read_dir(folder).expect("the stacks").map(|entry| entry.expect("an entry").file_name());
    let nested = names.map(|name| format!("stacks/{}", name.into_string().expect("a text")));
    let mut all: Vec<_> = nested.chain(["template.yaml".to_owned()]).collect();
    all.sort();
    all
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
                add(format!("{file}: {id}"), &properties["Enabled"], Yaml::from(false));
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

/// The laptop's template with these parameters.
fn with(state: &str, others: &[(&str, &str)]) -> Template {
    let mut deployment = Deployment { table_name: "till-local-orders".to_owned(), ..local::deployment() };
    let parameters = [("Shop", state)].into_iter().chain(others.iter().copied());
    deployment.parameters.extend(parameters.map(|(name, value)| (name.to_owned(), value.to_owned())));
    Template::parse_for(&template_text(), &deployment).expect("template.yaml is valid")
}

#[test]
fn the_stack_on_a_laptop_closes_with_the_same_parameter() {
    // With these, each function is in the template.
    let all = [("Tables", "v1-v2"), ("SearchUrl", "http://localhost:9200"), ("Analytics", "athena")];
    let (open, closed) = (with("open", &all), with("closed", &all));
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

/// A stack whose table and queues are kept in this directory.
async fn start(data: &Path, template: Template) -> Stack {
    let options = Options { data: Some(data.to_owned()), ..local::options(template) };
    Stack::start(options, start_all).await.expect("the stack starts")
}

async fn send(stack: &Stack, caller: (&str, &str), path: &str, body: Option<Json>) -> (u16, Json) {
    let (url, client) = (format!("{}{path}", stack.url()), reqwest::Client::new());
    let request = body.map_or_else(|| client.get(&url), |body| client.post(&url).json(&body));
    let token = stack.token(caller.0, caller.1).expect("a token");
    let request = request.bearer_auth(token).header("idempotency-key", "k").header("prefer", "respond-async");
    let answer = request.send().await.expect("an answer");
    (answer.status().as_u16(), answer.json().await.expect("JSON"))
}

#[tokio::test(flavor = "multi_thread")]
async fn an_order_that_was_accepted_before_the_shop_closed_is_placed_when_it_opens() {
    let data = std::env::temp_dir().join(format!("till-closing-{}", uuid::Uuid::new_v4()));
    let (ada, boss) = (("ada", SHOP_SCOPE), ("boss", ADMIN_SCOPE));

    // The shop closes before the drain has received the order.
    let mut template = with("open", &[]);
    drain_source(&mut template).enabled = false;
    let stack = start(&data, template).await;
    let profile = json!({ "username": "ada", "email": "ada@example.com", "name": "Ada" });
    assert_eq!(send(&stack, ada, "/customers", Some(profile)).await.0, 201);
    let product = json!({
        "productId": "thing", "name": "A thing", "description": "It is one.", "category": "things",
        "price": { "amount": 1000, "currency": "EUR" }, "stock": 10,
    });
    assert_eq!(send(&stack, boss, "/products", Some(product)).await.0, 201);
    let (status, accepted) = send(&stack, ada, "/orders", Some(basket("thing", 1))).await;
    assert_eq!((status, accepted["status"].as_str()), (202, Some("QUEUED")), "{accepted}");
    let path = format!("/orders/{}", order_id(&accepted));
    stack.shutdown().await.expect("it ends");

    let stack = start(&data, with("closed", &[])).await;
    tokio::time::sleep(Duration::from_millis(500)).await;
    assert_eq!(send(&stack, ada, &path, None).await.0, 503);
    let queues = send(&stack, ada, "/_local/queues", None).await.1;
    assert_eq!(queues[QUEUE], json!({ "visible": 1, "inFlight": 0, "delayed": 0 }));
    stack.shutdown().await.expect("it ends");

    let stack = start(&data, with("open", &[])).await;
    stack.settle(PATIENCE).await.expect("the queue is drained");
    let (status, placed) = send(&stack, ada, &path, None).await;
    assert_eq!((status, placed["status"].as_str()), (200, Some("PENDING")), "{placed}");
    stack.shutdown().await.expect("it ends");
    _ = fs::remove_dir_all(&data);
}
