//! Text that is generated from the functions' declarations and checked in: functions, roles and throttles of the
//! template, the schema of a file of history, and the sample events. A test fails if the text is not current.
//! `cargo renew` writes it.

mod edge;
mod events;
mod template;

use local::functions::routes;
use serde_json::Value;

#[test]
fn the_template_has_the_functions_roles_and_limits_that_the_code_declares() {
    let parts = [
        ("limits", template::limits()),
        ("moves", template::policies_of_moves()),
        ("functions", template::functions()),
        ("consumers", template::roles_of_consumers()),
    ];
    docs_check::check("../template.yaml", &parts).expect("template.yaml is current");
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
