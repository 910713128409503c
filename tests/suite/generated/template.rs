//! The generated parts of `template.yaml`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::time::Duration;

use consumers::{CONSUMERS, Consumer};
use http_api::{Limit, RouteFunction, Scope};
use key_schema::access::{Access, Action};
use key_schema::entity::{Move, Repair, Stock};
use key_schema::layout::{Index, Layout};
use lambda::{Environment, Function, Grant, Misconfigured};
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

/// The functions that answer routes, each with its role.
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
        _ = write!(
            text,
            "      Role: !GetAtt {name}Role.Arn\n      Events:\n        Route:\n          Type: HttpApi\n          \
             Properties:\n            ApiId: !Ref Api\n            Method: {method}\n            Path: {path}\n            \
             Auth: {{ {auth} }}\n"
        );
        text + &role(&name, None, &route.access, route.grants)
    });
    parts.collect::<String>() + "  "
}

/// The roles of the functions that consume events.
pub(super) fn roles_of_consumers() -> String {
    let roles = CONSUMERS.iter().map(|Consumer { function, access, grants, condition }| {
        role(&pascal_case(&function.name()), *condition, access, grants)
    });
    roles.collect::<String>() + "  "
}

fn sorted() -> Vec<&'static RouteFunction> {
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

/// The managed policies that roles have for a move from one table to another. They are not inline, because the inline
/// policies of a role share 10,240 characters.
pub(super) fn policies_of_moves() -> String {
    let (phase, repairs) = (Access::batch_get::<Move>(), Access::put::<Repair>());
    let policies = [
        ("ReadMove", "", "To read the phase of a move between two tables", phase),
        ("WriteRepairs", "    Condition: IsMoving\n", "To have a copy in the other table made later", repairs),
    ];
    let policies = policies.map(|(name, condition, description, access)| {
        let mut text = format!(
            "\n  {name}:\n    Type: AWS::IAM::ManagedPolicy\n{condition}    Properties:\n      Description: {description}\n      \
             PolicyDocument:\n        Version: \"2012-10-17\"\n        Statement:\n"
        );
        for layout in Layout::ALL {
            let [statement] = &statements(&[&[access]], *layout)[..] else { panic!("one access is one statement") };
            if condition.is_empty() {
                _ = write!(text, "          - !If\n            - {}\n", condition_of(*layout));
                text.push_str(&statement.text("            ", *layout));
                text.push_str("            - !Ref AWS::NoValue\n");
            } else {
                // While the stack has both tables.
                text.push_str(&statement.text("          ", *layout));
            }
        }
        text
    });
    policies.concat() + "\n  "
}

/// The role of a function that a deployment has under this condition.
fn role(name: &str, condition: Option<&str>, access: &[&[Access]], grants: &[Grant]) -> String {
    let writes = access.iter().copied().flatten().any(|one| one.action.transaction() == "TransactWriteItems");
    let is_moving = condition == Some("IsMoving");
    let managed = match (is_moving, writes) {
        // The functions of a move know both tables, whatever the phase.
        (true, _) => "",
        (false, true) => ", !Ref ReadMove, !If [IsMoving, !Ref WriteRepairs, !Ref AWS::NoValue]",
        (false, false) => ", !Ref ReadMove",
    };
    let condition = condition.map(|condition| format!("    Condition: {condition}\n")).unwrap_or_default();
    let traces = ", !If [IsTraced, !Ref WriteTraces, !Ref AWS::NoValue]";
    let mut text = format!(
        "\n  {name}Role:\n    Type: AWS::IAM::Role\n{condition}    Properties:\n      AssumeRolePolicyDocument:\n        Version: \
         \"2012-10-17\"\n        Statement: [{{ Effect: Allow, Action: sts:AssumeRole, Principal: {{ Service: \
         lambda.amazonaws.com }} }}]\n      ManagedPolicyArns: [!Ref WriteLogs{managed}{traces}]\n      Policies:\n"
    );
    // What is not about a table is granted once: the inline policies of a role share 10,240 characters.
    let is_of_table = |grant: &&Grant| grant.resource.contains(TABLE);
    let (of_table, of_others): (Vec<_>, Vec<_>) = grants.iter().partition(is_of_table);
    for layout in Layout::ALL {
        let statements = statements(access, *layout).into_iter().map(|statement| statement.text(STATEMENT, *layout));
        let granted = of_table.iter().map(|grant| granted(grant, *layout));
        let suffix = table_of(*layout).trim_start_matches("Table");
        let Some(policy) = policy(&format!("{name}{suffix}"), &statements.chain(granted).collect::<String>()) else {
            continue;
        };
        if is_moving {
            // Both tables are there.
            text.push_str(&policy);
        } else {
            let indented: String = policy.lines().flat_map(|line| ["  ", line, "\n"]).collect();
            _ = write!(
                text,
                "        - !If\n          - {}\n{indented}          - !Ref AWS::NoValue\n",
                condition_of(*layout)
            );
        }
    }
    let granted: String = of_others.iter().map(|grant| granted(grant, Layout::V1)).collect();
    text + &policy(&format!("{name}Other"), &granted).unwrap_or_default()
}

/// How the outputs of the first table begin, as grants name them.
const TABLE: &str = "State.Outputs.Table";

/// The indentation of a policy's statements.
const STATEMENT: &str = "              ";

/// The policy with these statements, if there are any.
fn policy(name: &str, statements: &str) -> Option<String> {
    (!statements.is_empty()).then(|| {
        format!(
            "        - PolicyName: {name}\n          PolicyDocument:\n            Version: \"2012-10-17\"\n            \
             Statement:\n{statements}"
        )
    })
}

/// The logical id of the table with this layout. The names of its outputs begin with it.
fn table_of(layout: Layout) -> &'static str {
    match layout {
        Layout::V1 => "Table",
        Layout::V2 => "TableV2",
    }
}

/// The condition under which the stack has the table with this layout.
fn condition_of(layout: Layout) -> String {
    format!("Has{}", layout.name().to_uppercase())
}

/// The statement of a grant. If the grant is about the table or its stream, the statement is about the table with this
/// layout.
fn granted(grant: &Grant, layout: Layout) -> String {
    let Grant { actions, resource, only } = grant;
    let resource = resource.replace(TABLE, &format!("State.Outputs.{}", table_of(layout)));
    let indent = STATEMENT;
    let mut text = format!(
        "{indent}- Effect: Allow\n{indent}  Action: {}\n{indent}  Resource: {resource}\n",
        one_or_list(actions)
    );
    if let Some((key, values)) = only {
        _ = write!(
            text,
            "{indent}  Condition:\n{indent}    ForAllValues:StringEquals: {{ {key}: [{}] }}\n{indent}    \"Null\": {{ \
             {key}: \"false\" }}\n",
            values.join(", ")
        );
    }
    text
}

fn one_or_list(names: &[&str]) -> String {
    match names {
        [one] => (*one).to_owned(),
        several => format!("[{}]", several.join(", ")),
    }
}

/// A statement of a policy on the table.
struct Statement {
    actions: Vec<Action>,
    index: Index,
    keys: BTreeSet<String>,
    is_transactional: bool,
    /// The attributes that the requests may name, if not all.
    attributes: Option<BTreeSet<&'static str>>,
}

impl Statement {
    /// The statement as an item of a list with this indentation, about the table with this layout.
    fn text(&self, indent: &str, layout: Layout) -> String {
        let Self { actions, index, keys, is_transactional, attributes } = self;
        let table = table_of(layout);
        let resource = match index.name() {
            None => format!("!GetAtt State.Outputs.{table}Arn"),
            Some(index) => format!("!Sub ${{State.Outputs.{table}Arn}}/index/{index}"),
        };
        let names: Vec<_> = actions.iter().map(|action| action.name()).collect();
        let quoted = |texts: Vec<&str>| texts.iter().map(|text| format!("\"{text}\"")).collect::<Vec<_>>().join(", ");
        let keys = quoted(keys.iter().map(String::as_str).collect());
        let attributes = attributes.as_ref().map(|names| quoted(names.iter().copied().collect()));
        let attributes_named =
            attributes.as_ref().map(|names| format!(", dynamodb:Attributes: [{names}]")).unwrap_or_default();
        let mut text = format!(
            "{indent}- Effect: Allow\n{indent}  Action: {}\n{indent}  Resource: {resource}\n{indent}  Condition:\n{indent}    \
             ForAllValues:StringLike: {{ dynamodb:LeadingKeys: [{keys}]{attributes_named} }}\n{indent}    \"Null\": {{ \
             dynamodb:LeadingKeys: \"false\" }}\n",
            one_or_list(&names),
        );
        // A read that names no attribute reads all of them. `IfExists`, as AWS's own examples have it: a request without this
        // key is still held to the attributes.
        if attributes.is_some() && actions[0].transaction() == "TransactGetItems" {
            _ = writeln!(text, "{indent}    StringEqualsIfExists: {{ dynamodb:Select: SPECIFIC_ATTRIBUTES }}");
        }
        if *is_transactional {
            let operation = actions[0].transaction();
            _ = writeln!(text, "{indent}    ForAnyValue:StringEquals: {{ dynamodb:EnclosingOperation: {operation} }}");
        }
        text
    }
}

/// The statements that allow these accesses of the table with this layout. Keys that the same actions access under the
/// same conditions share one statement. An access that is allowed outside of transactions is also allowed in them, and
/// needs no other statement.
fn statements(access: &[&[Access]], layout: Layout) -> Vec<Statement> {
    type Grants = BTreeMap<(Option<&'static str>, bool, Action, Option<BTreeSet<&'static str>>), BTreeSet<String>>;
    let mut keys = Grants::new();
    let access = || access.iter().copied().flatten();
    for one in access() {
        let of_same_keys = || {
            let of = |access: &Access| (access.action, access.index, access.leading_keys(layout));
            access().filter(move |other| of(other) == of(one))
        };
        if one.is_transactional && of_same_keys().any(|other| !other.is_transactional) {
            continue;
        }
        // A policy does not tell the items of a partition from each other.
        let attributes: Option<Vec<_>> = of_same_keys().map(Access::attributes).collect();
        let attributes = attributes.map(|all| all.into_iter().flatten().collect());
        let of = (one.index.name(), one.is_transactional, one.action, attributes);
        keys.entry(of).or_default().insert(one.leading_keys(layout));
    }
    let mut statements: Vec<Statement> = Vec::new();
    for ((index, is_transactional, action, attributes), keys) in keys {
        let same = statements.iter_mut().find(|other| {
            other.index.name() == index
                && other.is_transactional == is_transactional
                && other.keys == keys
                && other.attributes == attributes
                && other.actions[0].transaction() == action.transaction()
        });
        if let Some(statement) = same {
            statement.actions.push(action);
        } else {
            let index = access().map(|one| one.index).find(|one| one.name() == index).expect("an index");
            statements.push(Statement { actions: vec![action], index, keys, is_transactional, attributes });
        }
    }
    statements
}

#[test]
fn who_only_looks_whether_an_item_exists_is_granted_its_key_alone() {
    let [statement] = &statements(&[&[Access::exists::<Stock>()]], Layout::V1)[..] else { panic!("one statement") };
    let text = statement.text("", Layout::V1);
    assert!(text.contains("dynamodb:LeadingKeys: [\"p#*\"], dynamodb:Attributes: [\"PK\", \"SK\"]"), "{text}");
    assert!(text.contains("StringEqualsIfExists: { dynamodb:Select: SPECIFIC_ATTRIBUTES }"), "{text}");
    let both = statements(&[&[Access::exists::<Stock>(), Access::batch_get::<Stock>()]], Layout::V1);
    assert!(both.iter().all(|statement| statement.attributes.is_none()) && both.len() == 1);
}
