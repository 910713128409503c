//! Checks that no data go with a stack: each resource with data is retained, and a table that the stack did not create can
//! take the place of its own.

use devstack::Deployment;
use devstack::intrinsic::Scope;
use yaml_serde::Value as Yaml;

use crate::closing::templates;
use crate::deployment::{keys, of_type, reference, stack};

/// The types of resources whose data nothing can make again.
const STATEFUL: [&str; 4] =
    ["AWS::DynamoDB::Table", "AWS::Cognito::UserPool", "AWS::Backup::BackupVault", "AWS::S3::Bucket"];

/// The values of the parameter `Tables`, with which of the two layouts they have.
const TABLES: [(&str, bool, bool); 4] =
    [("v1", true, false), ("v1-v2", true, true), ("v2-v1", true, true), ("v2", false, true)];

fn is_retained(resource: &Yaml) -> bool {
    // A vault that was only just created is empty.
    let deletion = resource["DeletionPolicy"].as_str();
    matches!(deletion, Some("Retain" | "RetainExceptOnCreate")) && resource["UpdateReplacePolicy"] == "Retain"
}

#[test]
fn each_resource_with_data_is_retained() {
    let mut count = 0;
    for file in templates() {
        let stack = stack(&file);
        for kind in STATEFUL {
            for (id, resource) in of_type(&stack, kind) {
                assert!(is_retained(resource), "{file}: {id}");
                count += 1;
            }
        }
    }
    assert!(count >= 6, "{count}");
}

#[test]
fn the_stack_with_the_orders_is_retained_with_all_that_is_in_it() {
    let (outer, state) = (stack("template.yaml"), stack("stacks/state.yaml"));
    for nested in ["State", "SignIn"] {
        assert!(is_retained(&outer["Resources"][nested]), "{nested}");
    }
    for (id, resource) in state["Resources"].as_mapping().expect("resources") {
        assert!(is_retained(resource), "{id:?}");
    }
    let ids = keys(&state["Resources"]);
    assert_eq!(ids, ["DeadLetters", "Table", "TableV2", "WriteQueue"].into());
    assert_eq!(of_type(&outer, "AWS::DynamoDB::Table").count(), 0);
}

#[test]
fn tables_and_accounts_are_protected_from_deletion() {
    let (outer, state, sign_in) = (stack("template.yaml"), stack("stacks/state.yaml"), stack("stacks/sign-in.yaml"));
    for (id, table) in of_type(&state, "AWS::DynamoDB::Table") {
        let protection = &table["Properties"]["DeletionProtectionEnabled"];
        assert_eq!(reference(protection), Some("DeletionProtection"), "{id}");
    }
    assert_eq!(outer["Parameters"]["DeletionProtection"]["Default"], "true");
    assert_eq!(sign_in["Resources"]["Users"]["Properties"]["DeletionProtection"], "ACTIVE");
}

fn deployed(parameters: &[(&str, &str)]) -> Deployment {
    let mut deployment = Deployment::default();
    deployment.parameters.extend(parameters.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
    deployment
}

/// The parameters of a deployment with these tables, and with the given table of this layout, if there is one.
fn parameters(tables: &'static str, table_is: &'static str) -> Vec<(&'static str, &'static str)> {
    let given = [
        ("TableName", "restored"),
        ("TableStreamArn", "arn:aws:dynamodb:us-east-1:000000000000:table/restored/stream/1"),
    ];
    let mut all = vec![("Tables", tables), ("TableIs", table_is)];
    all.extend(if table_is == "created" { given.map(|(name, _)| (name, "")) } else { given });
    all
}

/// Each value of the parameter `TableIs` that fits these tables, with which of the two layouts is given.
fn origins(has_v1: bool, has_v2: bool) -> Vec<(&'static str, bool, bool)> {
    let mut all = vec![("created", false, false)];
    all.extend(has_v1.then_some(("given-v1", true, false)));
    all.extend(has_v2.then_some(("given-v2", false, true)));
    all
}

fn holds(scope: &Scope, condition: &str) -> bool {
    let value = yaml_serde::from_str(&format!("!If [{condition}, 'yes', 'no']")).expect("YAML");
    scope.text(&value).expect("a condition") == "yes"
}

fn exists(scope: &Scope, owner: &Yaml) -> bool {
    owner["Condition"].as_str().is_none_or(|condition| holds(scope, condition))
}

/// The outputs of the nested stack `State` that a value refers to, in the branches that this deployment takes.
fn outputs_in(scope: &Scope, value: &Yaml, found: &mut Vec<String>) {
    match value {
        Yaml::Tagged(tagged) if tagged.tag == "If" => {
            let condition = tagged.value[0].as_str().expect("a condition");
            outputs_in(scope, &tagged.value[if holds(scope, condition) { 1 } else { 2 }], found);
        }
        Yaml::Tagged(tagged) => outputs_in(scope, &tagged.value, found),
        Yaml::Sequence(all) => all.iter().for_each(|one| outputs_in(scope, one, found)),
        Yaml::Mapping(all) => all.values().for_each(|one| outputs_in(scope, one, found)),
        Yaml::String(text) => {
            let names = text.split("State.Outputs.").skip(1);
            found.extend(names.map(|rest| rest.split(|c: char| !c.is_alphanumeric()).next().unwrap_or("").to_owned()));
        }
        _ => {}
    }
}

#[test]
fn every_reference_to_a_table_is_to_one_that_there_is() {
    let (outer, state) = (stack("template.yaml"), stack("stacks/state.yaml"));
    for (tables, has_v1, has_v2) in TABLES {
        for (table_is, v1_is_given, v2_is_given) in origins(has_v1, has_v2) {
            let deployment = deployed(&parameters(tables, table_is));
            let (scope, of_state) = (Scope::new(&outer, &deployment), Scope::new(&state, &deployment));
            let created = of_type(&state, "AWS::DynamoDB::Table").filter(|(_, table)| exists(&of_state, table)).count();
            let wanted = usize::from(has_v1 && !v1_is_given) + usize::from(has_v2 && !v2_is_given);
            assert_eq!(created, wanted, "{tables}, {table_is}");

            // A value that names a resource without a place in this deployment is an error of the scope.
            let mut outputs = Vec::new();
            for (name, output) in state["Outputs"].as_mapping().expect("outputs") {
                if exists(&of_state, output) {
                    let name = name.as_str().expect("a text");
                    let value = of_state.text(&output["Value"]).unwrap_or_else(|error| panic!("{name}: {error:#}"));
                    let is_given = if name.starts_with("TableV2") {
                        v2_is_given
                    } else {
                        name.starts_with("Table") && v1_is_given
                    };
                    assert_eq!(value.contains("restored"), is_given, "{tables}, {table_is}: {name}: {value}");
                    outputs.push(name.to_owned());
                }
            }

            let mut asked = Vec::new();
            for section in ["Globals", "Resources", "Outputs"] {
                for (_, owner) in outer[section].as_mapping().expect("a section") {
                    if exists(&scope, owner) {
                        outputs_in(&scope, owner, &mut asked);
                    }
                }
            }
            assert!(asked.len() > 15, "{}", asked.len());
            for name in asked {
                assert!(outputs.contains(&name), "{tables}, {table_is}: {name}");
            }
        }
    }
}

/// Whether the template's rule lets this deployment begin.
fn is_allowed(outer: &Yaml, deployment: &Deployment) -> bool {
    let mut document = outer.clone();
    document["Conditions"]["Asserted"] = outer["Rules"]["AGivenTableIsNamed"]["Assertions"][0]["Assert"].clone();
    holds(&Scope::new(&document, deployment), "Asserted")
}

#[test]
fn a_given_table_has_a_name_a_stream_and_the_layout_of_one_of_the_tables() {
    let outer = stack("template.yaml");
    for (tables, has_v1, has_v2) in TABLES {
        for (table_is, fits) in [("created", true), ("given-v1", has_v1), ("given-v2", has_v2)] {
            assert_eq!(is_allowed(&outer, &deployed(&parameters(tables, table_is))), fits, "{tables}, {table_is}");
        }
    }
    for (name, value) in [("TableIs", "created"), ("TableName", ""), ("TableStreamArn", "")] {
        let mut deployment = deployed(&parameters("v1", "given-v1"));
        deployment.parameters.insert(name.to_owned(), value.to_owned());
        assert!(!is_allowed(&outer, &deployment), "{name}");
    }
    // Without a default, so that no stack with a given table changes to an empty one.
    assert!(outer["Parameters"]["TableIs"]["Default"].is_null());
}
