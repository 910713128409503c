//! The generated parts of `template.yaml`.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Duration;

use http_api::{Limit, RouteFunction, Scope};
use lambda::{Environment, Function, Misconfigured};
use local::functions::routes;
use shop::template_text;
use yaml_serde::Value as Yaml;

use crate::completeness::pascal_case;

/// The throttles of the routes that have their own.
pub(super) fn limits() -> String {
    let mut lines = Vec::from(["      RouteSettings:".to_owned()]);
    for function in sorted() {
        let route = function.route;
        if let Some(Limit { rate, burst }) = route.limit {
            let (method, path) = (route.method.as_str(), route.path);
            lines.push(format!(
                "        {method} {path}: {{ ThrottlingRateLimit: {rate}, ThrottlingBurstLimit: {burst} }}"
            ));
        }
    }
    lines.push("      ".to_owned());
    lines.join("\n")
}

/// The functions that answer routes.
pub(super) fn functions() -> String {
    let template: Yaml = yaml_serde::from_str(&template_text()).expect("YAML");
    let parts = sorted().into_iter().map(|RouteFunction { function, route, .. }| {
        let name = pascal_case(&function.name());
        let mut text = format!("\n  {name}:\n    Type: AWS::Serverless::Function\n");
        if !route.after.is_empty() {
            let after: Vec<_> = route.after.iter().map(|name| pascal_case(name)).collect();
            _ = writeln!(text, "    DependsOn: [{}]", after.join(", "));
        }
        _ = writeln!(
            text,
            "    Metadata: {{ BuildMethod: rust-cargolambda, BuildProperties: {{ Binary: {} }} }}",
            function.program
        );
        _ = writeln!(text, "    Properties:\n      CodeUri: functions/{}\n      Handler: {}", function.program, function.name());
        if let Some(parameter) = route.concurrency {
            _ = writeln!(
                text,
                "      ReservedConcurrentExecutions: !If [ShopIsOpen, !If [Has{parameter}, !Ref {parameter}, !Ref AWS::NoValue], 0]"
            );
        }
        let variables = variables(function, &template);
        if !variables.is_empty() {
            text.push_str("      Environment:\n        Variables:\n");
            for (variable, value) in variables {
                _ = writeln!(text, "          {variable}: {value}");
            }
        }
        let auth = match route.scope {
            Scope::Public => "Authorizer: NONE".to_owned(),
            scope => format!("AuthorizationScopes: [{}]", scope.any_of().join(", ")),
        };
        let (method, path) = (route.method.as_str(), route.path);
        _ = writeln!(
            text,
            "      Role: !GetAtt Roles.Outputs.{name}\n      Events:\n        Route: {{ Type: HttpApi, Properties: {{ ApiId: !Ref \
             Api, Method: {method}, Path: \"{path}\", Auth: {{ {auth} }} }} }}"
        );
        text
    });
    parts.collect::<String>() + "  "
}

/// The routes' functions, in the order of their paths.
pub(super) fn sorted() -> Vec<&'static RouteFunction> {
    let mut all: Vec<_> = routes().collect();
    all.sort_by_key(|function| (function.route.path, function.route.method.as_str()));
    all
}

/// The variables that the function reads when it starts, each with the expression that gives its value.
/// A variable has the name of its parameter: `STATUS_SHARDS` is the value of `StatusShards`.
///
/// A function that lacks a variable does not start, and its error names the variable. So each attempt adds one variable
/// until the function starts.
fn variables(function: &Function, template: &Yaml) -> BTreeMap<String, String> {
    let region =
        [("AWS_REGION", "us-east-1"), ("AWS_ACCESS_KEY_ID", "x"), ("AWS_SECRET_ACCESS_KEY", "x"), ("TABLE_NAME", "x")];
    let mut given: BTreeMap<String, String> = region.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
    let mut variables = BTreeMap::new();
    loop {
        match function.start(&Environment::of(given.clone()), Duration::from_secs(1)) {
            Ok(_) => return variables,
            Err(Misconfigured::Missing(variable)) => {
                let (of, value) = if variable == "QUEUE_URL" {
                    ("!GetAtt State.Outputs.WriteQueueUrl".to_owned(), "http://localhost".to_owned())
                } else if variable == "IMAGES_BUCKET" {
                    ("!Ref ImagesBucket".to_owned(), "images".to_owned())
                } else {
                    let parameter = pascal_case(&variable.to_lowercase().replace('_', "-"));
                    let default = &template["Parameters"][parameter.as_str()]["Default"];
                    let default = match default {
                        Yaml::String(text) => text.clone(),
                        other => other.as_u64().unwrap_or_else(|| panic!("{variable}: no {parameter}")).to_string(),
                    };
                    (format!("!Ref {parameter}"), default)
                };
                given.insert(variable.clone(), value);
                variables.insert(variable, of);
            }
            Err(Misconfigured::Invalid(why)) => panic!("{}: {why}", function.name()),
        }
    }
}
