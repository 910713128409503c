//! The code, the template, the events, the API's description and the documentation name the same functions.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use consumers::CONSUMERS;
use devstack::Template;
use http_api::RouteFunction;
use key_schema::entity::{Entity as _, Order, OrderItem};
use key_schema::layout::{EXPIRES_AT, Index, PATTERNS};
use lambda::Function;
use local::audit::SETTLE_SECONDS;
use local::functions::{all, routes, start_all};
use shop::log::Log;
use shop::openapi;
use shop::tables::template_with;
use shop::{read, template_text};

use crate::prelude::*;

/// The method, path and scopes of each route, by the function's name.
pub type Named = BTreeMap<String, (String, String, Vec<String>)>;

fn file(path: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..").join(path)
}

fn listed(folder: &str) -> BTreeSet<String> {
    let entries = fs::read_dir(file(folder)).expect("a folder");
    entries.map(|entry| entry.expect("an entry").file_name().into_string().expect("a text")).collect()
}

pub fn texts(list: &Value) -> Vec<String> {
    let texts = list.as_array().into_iter().flatten();
    texts.map(|text| text.as_str().expect("a text").to_owned()).collect()
}

/// The routes of the code.
pub fn declared() -> Named {
    let named = routes().map(|RouteFunction { function, route, .. }| {
        let scopes = route.scope.any_of().iter().map(ToString::to_string).collect();
        (function.name(), (route.method.as_str().to_owned(), route.path.to_owned(), scopes))
    });
    named.collect()
}

pub fn source_of(function: &Function) -> String {
    format!("functions/{}/src/{}.rs", function.program, function.name().replace('-', "_"))
}

pub fn names() -> BTreeSet<String> {
    declared().into_keys().collect()
}

pub fn template() -> Template {
    local::template(&template_text()).expect("template.yaml is valid")
}

pub fn pascal_case(name: &str) -> String {
    name.split('-').map(|word| word[..1].to_uppercase() + &word[1..]).collect()
}

#[test]
fn the_template_has_the_routes_of_the_code() {
    let template = template();
    let named = template.routes.iter().map(|route| {
        let binary = &template.function(&route.function).expect("a function").handler;
        (binary.clone(), (route.method.clone(), route.path.clone(), route.scopes.clone()))
    });
    assert_eq!(named.collect::<Named>(), declared());
    assert_eq!(template.routes.len(), routes().count());
    let of_a_migration = CONSUMERS.iter().filter(|consumer| consumer.condition.is_some()).count();
    assert_eq!(template.functions.len(), all().count() - of_a_migration);
    assert_eq!(template_with("v1-v2").functions.len(), all().count());
}

#[test]
fn every_consumer_has_an_event_source_and_no_route() {
    let template: yaml_serde::Value = yaml_serde::from_str(&template_text()).expect("YAML");
    for consumer in CONSUMERS {
        let name = pascal_case(&consumer.function.name());
        let resource = &template["Resources"][name.as_str()];
        assert_eq!(resource["Condition"].as_str(), consumer.condition, "{name}");
        let properties = &resource["Properties"];
        let events = properties["Events"].as_mapping().into_iter().flat_map(|events| events.values());
        let mut kinds: Vec<_> = events.map(|event| event["Type"].as_str().expect("a type")).collect();
        // A table's stream is a resource of its own, because a table has a condition.
        for stream in [format!("{name}Stream"), format!("{name}StreamV2")] {
            kinds.extend(template["Resources"][stream.as_str()]["Type"].as_str());
        }
        let stream = "AWS::Lambda::EventSourceMapping";
        assert!(
            [&["SQS"][..], &[stream, stream], &["Schedule"], &["SQS", "Schedule"]].contains(&kinds.as_slice()),
            "{name}: {kinds:?}",
        );
    }
}

#[test]
fn the_event_source_filters_the_stream_for_relevant_records() {
    let template: yaml_serde::Value = yaml_serde::from_str(&template_text()).expect("YAML");
    let source = &template["Resources"]["CountOrdersStream"]["Properties"];
    let filters = source["FilterCriteria"]["Filters"].as_sequence().expect("filters");
    let patterns = filters.iter().map(|filter| filter["Pattern"].as_str().expect("a pattern"));
    let wanted: BTreeSet<_> = patterns
        .flat_map(|pattern| {
            let pattern: Value = serde_json::from_str(pattern).expect("JSON");
            let kinds = texts(&pattern["dynamodb"]["NewImage"]["EntityType"]["S"]);
            let events = texts(&pattern["eventName"]);
            kinds.into_iter().flat_map(move |kind| events.clone().into_iter().map(move |event| (kind.clone(), event)))
        })
        .collect();
    let counted = [(Order::TYPE, "INSERT"), (Order::TYPE, "MODIFY"), (OrderItem::TYPE, "INSERT")];
    assert_eq!(wanted, counted.map(|(kind, event)| (kind.to_owned(), event.to_owned())).into());
    // Only windows name the shard; and failures must be retried in part, and not for ever.
    for property in ["TumblingWindowInSeconds", "MaximumRecordAgeInSeconds"] {
        assert!(source[property].as_u64().is_some_and(|value| value > 0), "{property}");
    }
    assert_eq!(source["FunctionResponseTypes"][0], "ReportBatchItemFailures");
    assert_eq!(source["StartingPosition"], "TRIM_HORIZON");
}

/// DynamoDB throttles a stream that has more readers of one shard.
#[test]
fn each_stream_has_two_readers() {
    for tables in ["v1", "v1-v2"] {
        let template = template_with(tables);
        for table in &template.tables {
            let sources = template.stream_sources.iter().filter(|source| source.table == table.name());
            assert_eq!(sources.count(), 2, "{tables}: {}", table.logical_id);
        }
    }
}

/// A change older than the event source's retries is counted or lost. Only such changes may be compared exactly.
#[test]
fn changes_settle_only_after_the_event_source_has_given_up_retrying() {
    let template = template();
    let source = template.stream_sources.iter().find(|source| source.function == "CountOrders").expect("a source");
    let settle = &template.function("ReconcileCounts").expect("a function").environment["SETTLE_SECONDS"];
    assert!(settle.parse::<u64>().expect("a number") > source.maximum_record_age_seconds);
    assert_eq!(*settle, SETTLE_SECONDS.to_string(), "an audit settles as the comparison does");
}

#[test]
fn the_description_of_the_api_has_the_routes_of_the_code() {
    let mut named = Named::new();
    for (path, operations) in openapi::document()["paths"].as_object().expect("paths") {
        for (method, operation) in operations.as_object().expect("operations") {
            // Each scope is a separate requirement, because they are alternatives.
            let requirements = operation["security"].as_array().map(Vec::as_slice).unwrap_or_default();
            let scopes = requirements.iter().flat_map(|requirement| texts(&requirement["token"])).collect();
            let name = operation["operationId"].as_str().expect("a name").to_owned();
            named.insert(name, (method.to_uppercase(), path.clone(), scopes));
        }
    }
    assert_eq!(named, declared());
}

/// **Law: the description shows how each operation is used.** Each path parameter and each
/// required body has an example that the schema allows, and each tag a text.
#[test]
fn each_operation_has_an_example_and_each_tag_a_text() {
    let named = openapi::document()["tags"].as_array().expect("tags").iter();
    let named: BTreeSet<_> =
        named.filter(|tag| tag["description"].is_string()).map(|tag| tag["name"].as_str()).collect();
    let mut used = BTreeSet::new();
    for (path, operations) in openapi::document()["paths"].as_object().expect("paths") {
        for (method, operation) in operations.as_object().expect("operations") {
            used.extend(operation["tags"].as_array().expect("tags").iter().map(Value::as_str));
            let allows = |what: &str, schema: &Value, example: &Value| {
                assert!(!example.is_null(), "{method} {path}: {what} has no example");
                openapi::conforms(schema, example).unwrap_or_else(|why| panic!("{method} {path}: {what}: {why}"));
            };
            for parameter in operation["parameters"].as_array().into_iter().flatten() {
                if parameter["in"] == "path" || !parameter["example"].is_null() {
                    let name = parameter["name"].as_str().expect("a name");
                    allows(name, &parameter["schema"], &parameter["example"]);
                }
            }
            let body = &operation["requestBody"];
            if body["required"] == true {
                let content = &body["content"]["application/json"];
                allows("the body", &content["schema"], &content["example"]);
            }
        }
    }
    assert_eq!(named, used);
}

pub fn has_extension(file: &str, extension: &str) -> bool {
    Path::new(file).extension().is_some_and(|found| found == extension)
}

#[tokio::test(flavor = "multi_thread")]
async fn the_description_of_the_api_is_served() {
    let shop = Shop::open().await;
    assert_eq!(&shop.nobody().open_api().await, openapi::document());
}

/// Files with code that several functions of a program share.
const SHARED: [&str; 13] = [
    "carts.rs",
    "changed.rs",
    "guests.rs",
    "image_change.rs",
    "lib.rs",
    "main.rs",
    "optimistic.rs",
    "owner.rs",
    "product_messages.rs",
    "product_request.rs",
    "settings.rs",
    "units.rs",
    "views.rs",
];

#[test]
fn every_function_has_a_file_an_event_a_handler_and_a_resource() {
    let files = ["reads", "writes", "consumers"].map(|program| {
        let modules = listed(&format!("functions/{program}/src")).into_iter();
        let modules = modules.filter(|file| has_extension(file, "rs") && !SHARED.contains(&file.as_str()));
        modules.map(move |file| format!("functions/{program}/src/{file}"))
    });
    assert_eq!(files.into_iter().flatten().collect::<BTreeSet<_>>(), all().map(source_of).collect());
    assert_eq!(listed("events"), all().map(|function| format!("{}.json", function.name())).collect());
    let template: yaml_serde::Value = yaml_serde::from_str(&template_text()).expect("YAML");
    for function in all() {
        let (name, program) = (function.name(), function.program);
        let resource = &template["Resources"][pascal_case(&name).as_str()];
        assert_eq!(resource["Type"], "AWS::Serverless::Function", "{name}");
        assert_eq!(resource["Properties"]["Handler"], name.as_str());
        assert_eq!(resource["Properties"]["CodeUri"], format!("functions/{program}"), "{name}");
        assert_eq!(resource["Metadata"]["BuildProperties"]["Binary"], program, "{name}");

        let Some((method, path, _)) = declared().remove(&name) else { continue };
        assert_eq!(program == "reads", method == "GET", "{name} is in the program {program}");
        let source = read(&source_of(function));
        let (heading, _) = source.split_once('`').and_then(|(_, rest)| rest.split_once("`:")).expect("a heading");
        assert_eq!(
            heading.split(['?', '=']).next(),
            Some(format!("{method} {path}").as_str()),
            "{name}: its first line"
        );
    }
}

/// The packages that cargo builds for this selection, each with the features of its builds.
fn builds(edges: &str, selection: &[&str]) -> BTreeMap<String, BTreeSet<String>> {
    let mut tree = Command::new(env!("CARGO"));
    tree.current_dir(file(".")).args(["tree", "--offline", "--locked", "--prefix", "none", "--format", "{p} [{f}]"]);
    let tree = tree.args(["--edges", edges]).args(selection).output().expect("cargo runs");
    assert!(tree.status.success(), "{}", String::from_utf8_lossy(&tree.stderr));
    let mut builds = BTreeMap::<_, BTreeSet<_>>::new();
    // An empty line separates the trees of two packages.
    for line in String::from_utf8(tree.stdout).expect("a text").lines().filter(|line| !line.is_empty()) {
        let (package, rest) = line.split_once(" [").expect("features");
        let (features, _) = rest.split_once(']').expect("their end");
        builds.entry(package.to_owned()).or_default().insert(features.to_owned());
    }
    assert!(builds.len() > 150, "only {} packages were found", builds.len());
    builds
}

/// `sam build` builds the programs one after the other. A dependency with other features in one of them would be built
/// twice, and everything above it.
#[test]
fn the_programs_share_one_build_of_their_dependencies() {
    let mut all = BTreeMap::<_, BTreeSet<_>>::new();
    for program in ["reads", "writes", "consumers"] {
        for (package, features) in builds("normal,build", &["--package", program]) {
            all.entry(package).or_default().extend(features);
        }
    }
    all.retain(|_, features| features.len() > 1);
    assert!(all.is_empty(), "these are built more than once: {all:#?}");
}

/// `cargo local` builds one package, and `cargo test` builds all with their tests. A dependency for which the tests ask
/// another feature would be built twice, and everything above it, such as the embedded engine.
#[test]
fn cargo_local_and_cargo_test_share_one_build_of_their_dependencies() {
    let tests = builds("normal,build,dev", &[]);
    let mut local = builds("normal,build", &["--package", "local"]);
    local.retain(|package, features| tests.get(package).is_none_or(|tested| !features.is_subset(tested)));
    assert!(local.is_empty(), "`cargo test` builds these again, so `local` must ask for the same features: {local:#?}");
}

#[tokio::test]
async fn a_declared_route_that_the_template_lacks_is_logged_at_the_start() {
    let shop = Shop::open().await;
    let mut template = shop.template().clone();
    let (log, _logging) = Log::begin();
    start_all(&shop.endpoints(), &template).expect("the functions start");
    assert!(!log.take().contains("nothing answers"));
    template.functions.retain(|function| function.handler != "get-cart");
    start_all(&shop.endpoints(), &template).expect("the functions start");
    let expected = "nothing answers /customers/{customerId}/cart, because template.yaml has no function get-cart";
    let said = log.take();
    assert!(said.contains(expected), "{said}");
}

#[test]
fn the_example_of_a_route_in_contributing_is_the_code() {
    let (page, source) = (read("CONTRIBUTING.md"), read("functions/reads/src/get_cart.rs"));
    let (_, example) = page.split_once("```rust").expect("an example");
    let (example, _) = example.split_once("```").expect("its end");
    let lines = |text: &str| text.lines().map(|line| line.trim().to_owned()).collect::<Vec<_>>();
    let source: BTreeSet<_> = lines(&source).into_iter().collect();
    for line in lines(example) {
        assert!(source.contains(&line), "functions/reads/src/get_cart.rs has no line {line:?}");
    }
}

#[test]
fn the_table_of_the_template_is_the_one_the_schema_declares() {
    let template = template();
    let keys = |index: Index| {
        let (partition, sort) = index.attributes();
        json!([{ "AttributeName": partition, "KeyType": "HASH" }, { "AttributeName": sort, "KeyType": "RANGE" }])
    };
    let indexes = [Index::Gsi1, Index::Gsi2];
    let declared = indexes.map(|index| {
        json!({
            "IndexName": index.name(), "KeySchema": keys(index), "Projection": { "ProjectionType": "ALL" },
        })
    });
    let attributes = [Index::Table, Index::Gsi1, Index::Gsi2].map(Index::attributes);
    let attributes: Vec<_> = attributes.iter().flat_map(|(partition, sort)| [partition, sort]).collect();
    let attributes: Vec<_> =
        attributes.iter().map(|name| json!({ "AttributeName": name, "AttributeType": "S" })).collect();

    let [table] = template.tables.as_slice() else { panic!("{:?}", template.tables) };
    assert_eq!(table.creation["KeySchema"], keys(Index::Table));
    assert_eq!(table.creation["GlobalSecondaryIndexes"], json!(declared));
    assert_eq!(table.creation["AttributeDefinitions"], json!(attributes));
    assert_eq!(table.creation["StreamSpecification"]["StreamViewType"], "NEW_AND_OLD_IMAGES");
    assert_eq!(table.ttl_attribute.as_deref(), Some(EXPIRES_AT));
    let read: BTreeSet<_> = PATTERNS.iter().filter_map(|pattern| pattern.place.index.name()).collect();
    assert_eq!(read, indexes.iter().filter_map(|index| index.name()).collect(), "every index answers a question");
}

#[test]
fn every_problem_is_explained() {
    let text = read("docs/problems.md");
    let headings: Vec<_> = text.lines().filter_map(|line| line.strip_prefix("## ")).collect();
    let slugs: Vec<_> = Kind::ALL.iter().map(|kind| kind.slug()).collect();
    assert_eq!(headings.iter().collect::<BTreeSet<_>>(), slugs.iter().collect(), "docs/problems.md");
    assert_eq!(headings.len(), slugs.len(), "docs/problems.md explains one twice");
}
