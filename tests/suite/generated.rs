//! Text that is generated from the functions' declarations and checked in: functions and throttles of the template, the
//! stack of the roles, the page about them, the schema of a file of history, and the sample events. A test fails if the text is not current.
//! `cargo renew` writes it.

mod access;
pub mod answers;
mod edge;
mod events;
mod roles;
mod template;

use local::functions::routes;
use serde_json::Value;

#[test]
fn the_template_has_the_functions_and_limits_that_the_code_declares() {
    let parts = [("limits", template::limits()), ("functions", template::functions())];
    docs_check::check("../template.yaml", &parts).expect("template.yaml is current");
}

#[test]
fn each_role_grants_what_its_function_declares() {
    docs_check::check_file("../stacks/roles.yaml", &roles::stack()).expect("stacks/roles.yaml is current");
}

#[test]
fn the_documentation_has_the_rights_of_each_function() {
    let parts = [("functions", access::functions()), ("attributes", access::attributes())];
    docs_check::check("access.md", &parts).expect("docs/access.md is current");
}

#[test]
fn the_edge_has_the_shared_routes_that_the_code_declares() {
    let parts = [("parameters", edge::parameters()), ("behaviors", edge::behaviors())];
    docs_check::check("../stacks/edge.yaml", &parts).expect("stacks/edge.yaml is current");
}

#[test]
fn the_documentation_has_the_schema_of_a_file_of_history() {
    let schema = local::history::json_schema().expect("a schema");
    let text = serde_json::to_string_pretty(&schema).expect("JSON") + "\n";
    docs_check::check_file("../docs/history.schema.json", &text).expect("the schema is current");
}

#[test]
fn each_route_has_the_sample_event_of_its_example() {
    for route in routes() {
        let event = events::of(route.route);
        let file = format!("../events/{}.json", route.function.name());
        let text = serde_json::to_string_pretty(&event).expect("JSON") + "\n";
        let there = std::fs::read_to_string(docs_check::file(&file)).unwrap_or_default();
        if serde_json::from_str::<Value>(&there).ok() != Some(event) {
            docs_check::check_file(&file, &text).expect("the events are current");
        }
    }
}
