//! `stacks/roles.yaml`: a role for each function, made of what the function declares.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use consumers::{CONSUMERS, Consumer};
use http_api::RouteFunction;
use key_schema::access::{Access, Action};
use key_schema::entity::{Migration, Repair, Stock};
use key_schema::layout::{Index, Layout};
use lambda::{Function, Grant};

use super::template::sorted;
use crate::completeness::pascal_case;

const HEAD: &str = r#"AWSTemplateFormatVersion: "2010-09-09"
Description: "Till: the roles of the functions"

# A nested stack of template.yaml. All of it is made of what the functions declare in functions/: change them there, and
# write it by `cargo renew`. What each function may do: docs/access.md.
#
# A role grants the calls that its function makes, on the tables or on one index, for keys that begin as that function's
# do. A statement has the prefixes of both layouts: a prefix of one matches no key of the other. `ForAllValues` also holds
# where no key is named, hence the `Null`. A transaction is granted as the writes and checks in it; `EnclosingOperation`
# keeps a function that writes only in transactions to that. The roles are spelled out because SAM would add policies of
# its own that reach further: every stream, every queue, every log.

"#;

const CONDITIONS: &str = r#"
Conditions:
  HasV1: !Not [!Equals [!Ref Table, ""]]
  HasV2: !Not [!Equals [!Ref TableV2, ""]]
  IsMigrating: !And [!Condition HasV1, !Condition HasV2]
  HasSearch: !Not [!Equals [!Ref ProductChanges, ""]]
  IsTraced: !Equals [!Ref Tracing, xray]

Resources:
  WriteLogs:
    Type: AWS::IAM::ManagedPolicy
    Properties:
      Description: To write what a function says to the log
      PolicyDocument:
        Version: "2012-10-17"
        Statement:
          - Effect: Allow
            Action: [logs:CreateLogStream, logs:PutLogEvents]
            Resource: !Ref Logs

  WriteTraces:
    Type: AWS::IAM::ManagedPolicy
    Condition: IsTraced
    Properties:
      Description: To send traces to X-Ray, which has no resources that a policy could name
      PolicyDocument:
        Version: "2012-10-17"
        Statement:
          - Effect: Allow
            Action: [xray:PutTelemetryRecords, xray:PutTraceSegments]
            Resource: "*"
"#;

/// The whole template.
pub(super) fn stack() -> String {
    let functions = declared();
    let mut text = format!("{HEAD}Parameters:\n");
    for parameter in parameters(&functions) {
        _ = writeln!(text, "  {parameter}: {{ Type: String }}");
    }
    text += CONDITIONS;
    text += &policies_of_migrations();
    for function in &functions {
        text += &role(function);
    }
    text += "\nOutputs:\n";
    for Declared { function, condition, .. } in &functions {
        let name = pascal_case(&function.name());
        let condition = condition.map(|condition| format!("Condition: {condition}, ")).unwrap_or_default();
        _ = writeln!(text, "  {name}: {{ {condition}Value: !GetAtt {name}Role.Arn }}");
    }
    text
}

pub(super) struct Declared {
    pub function: &'static Function,
    pub access: Vec<&'static [Access]>,
    pub grants: &'static [Grant],
    /// The condition under which a deployment has the function.
    pub condition: Option<&'static str>,
}

/// Every function: those of routes in the order of their paths, and then the consumers.
pub(super) fn declared() -> Vec<Declared> {
    let of_routes = sorted().into_iter().map(|RouteFunction { function, route, .. }| Declared {
        function,
        access: route.access.to_vec(),
        grants: route.grants,
        condition: None,
    });
    let consumers = CONSUMERS.iter().map(|Consumer { function, access, grants, condition }| Declared {
        function,
        access: access.to_vec(),
        grants,
        condition: *condition,
    });
    of_routes.chain(consumers).collect()
}

/// The ARNs that the roles name, and whether calls are traced.
fn parameters(functions: &[Declared]) -> BTreeSet<String> {
    let of_grants = functions.iter().flat_map(|function| function.grants).flat_map(|grant| resources(grant.resource));
    let of_grants = of_grants.map(|resource| resource.split('/').next().unwrap_or_default().to_owned());
    of_grants.chain(resources("Table")).chain(["Logs", "Tracing"].map(str::to_owned)).collect()
}

/// The managed policies that roles have for a migration from one table to another. Each function reads the phase of the
/// migration, and has that right also while the stack has one table: a deployment that gives up a table changes the
/// roles before the functions. A function that writes leaves a repair for a copy that has to be made later.
fn policies_of_migrations() -> String {
    let (phase, repairs) = (Access::batch_get::<Migration>(), Access::put::<Repair>());
    let policies = [
        ("ReadMigration", "", "To read the phase of a migration between two tables", phase),
        ("WriteRepairs", "    Condition: IsMigrating\n", "To have a copy in the other table made later", repairs),
    ];
    let policies = policies.map(|(name, condition, description, access)| {
        let statements = statements(&[&[access]]).iter().map(|statement| statement.text("          ", !condition.is_empty())).collect::<String>();
        format!(
            "\n  {name}:\n    Type: AWS::IAM::ManagedPolicy\n{condition}    Properties:\n      Description: {description}\n      \
             PolicyDocument:\n        Version: \"2012-10-17\"\n        Statement:\n{statements}"
        )
    });
    policies.concat()
}

fn role(Declared { function, access, grants, condition }: &Declared) -> String {
    let name = pascal_case(&function.name());
    let writes = access.iter().copied().flatten().any(|one| one.action.transaction() == "TransactWriteItems");
    let is_migrating = *condition == Some("IsMigrating");
    let managed = match (is_migrating, writes) {
        // The functions of a migration know both tables, whatever the phase.
        (true, _) => "",
        (_, true) => ", !Ref ReadMigration, !If [IsMigrating, !Ref WriteRepairs, !Ref AWS::NoValue]",
        (_, false) => ", !Ref ReadMigration",
    };
    let condition = condition.map(|condition| format!("    Condition: {condition}\n")).unwrap_or_default();
    let traces = ", !If [IsTraced, !Ref WriteTraces, !Ref AWS::NoValue]";
    let statements = statements(access).into_iter().map(|statement| statement.text(STATEMENT, is_migrating));
    let statements: String = statements.chain(grants.iter().map(|grant| granted(grant, is_migrating))).collect();
    format!(
        "\n  {name}Role:\n    Type: AWS::IAM::Role\n{condition}    Properties:\n      AssumeRolePolicyDocument:\n        Version: \
         \"2012-10-17\"\n        Statement: [{{ Effect: Allow, Action: sts:AssumeRole, Principal: {{ Service: \
         lambda.amazonaws.com }} }}]\n      ManagedPolicyArns: [!Ref WriteLogs{managed}{traces}]\n      Policies:\n        - \
         PolicyName: {name}\n          PolicyDocument:\n            Version: \"2012-10-17\"\n            \
         Statement:\n{statements}"
    )
}

/// The indentation of the statements of a role.
const STATEMENT: &str = "              ";

/// The resources that a declared one stands for. What begins with `Table` is about the table of each layout.
fn resources(declared: &str) -> Vec<String> {
    match declared.strip_prefix("Table") {
        Some(rest) => Layout::ALL.iter().map(|layout| format!("{}{rest}", table_of(*layout))).collect(),
        None => vec![declared.to_owned()],
    }
}

/// The value of `Resource` in a statement. A table that the stack does not have is left out, unless the role is there only
/// during a migration.
fn value(declared: &str, is_migrating: bool) -> String {
    let reference = |resource: String| match resource.split_once('/') {
        None => format!("!Ref {resource}"),
        Some((parameter, path)) => format!("!Sub \"${{{parameter}}}/{path}\""),
    };
    let mut all: Vec<_> = resources(declared).into_iter().map(reference).collect();
    if let [one] = &mut all[..] {
        return std::mem::take(one);
    }
    let of_layout = |(layout, reference): (&Layout, String)| {
        if is_migrating {
            return reference;
        }
        format!("!If [Has{}, {reference}, !Ref AWS::NoValue]", layout.name().to_uppercase())
    };
    format!("[{}]", Layout::ALL.iter().zip(all).map(of_layout).collect::<Vec<_>>().join(", "))
}

/// The logical id of the table with this layout. The names of its parameters begin with it.
fn table_of(layout: Layout) -> &'static str {
    match layout {
        Layout::V1 => "Table",
        Layout::V2 => "TableV2",
    }
}

fn granted(Grant { actions, resource, only }: &Grant, is_migrating: bool) -> String {
    let indent = STATEMENT;
    let mut text = format!(
        "{indent}- Effect: Allow\n{indent}  Action: {}\n{indent}  Resource: {}\n",
        one_or_list(actions),
        value(resource, is_migrating)
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

/// A statement of a policy on the tables.
struct Statement {
    actions: Vec<Action>,
    index: Index,
    keys: BTreeSet<String>,
    is_transactional: bool,
    /// The attributes that the requests may name, if not all.
    attributes: Option<BTreeSet<&'static str>>,
}

impl Statement {
    /// The statement as an item of a list with this indentation.
    fn text(&self, indent: &str, is_migrating: bool) -> String {
        let Self { actions, index, keys, is_transactional, attributes } = self;
        let table = index.name().map_or("Table".to_owned(), |index| format!("Table/index/{index}"));
        let names: Vec<_> = actions.iter().map(|action| action.name()).collect();
        let quoted = |texts: Vec<&str>| texts.iter().map(|text| format!("\"{text}\"")).collect::<Vec<_>>().join(", ");
        let keys = quoted(keys.iter().map(String::as_str).collect());
        let attributes = attributes.as_ref().map(|names| quoted(names.iter().copied().collect()));
        let attributes_named =
            attributes.as_ref().map(|names| format!(", dynamodb:Attributes: [{names}]")).unwrap_or_default();
        let mut text = format!(
            "{indent}- Effect: Allow\n{indent}  Action: {}\n{indent}  Resource: {}\n{indent}  Condition:\n{indent}    \
             ForAllValues:StringLike: {{ dynamodb:LeadingKeys: [{keys}]{attributes_named} }}\n{indent}    \"Null\": {{ \
             dynamodb:LeadingKeys: \"false\" }}\n",
            one_or_list(&names),
            value(&table, is_migrating),
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

/// The patterns of the partition keys of an access, in each layout.
fn leading_keys(access: &Access) -> Vec<String> {
    Layout::ALL.iter().map(|layout| key_schema::access::leading_keys(access, *layout)).collect()
}

/// The statements that allow these accesses. Keys that the same actions access under the same conditions share one
/// statement. An access that is allowed outside of transactions is also allowed in them, and one to the keys of guests with
/// those of all customers, so neither needs another statement.
fn statements(access: &[&[Access]]) -> Vec<Statement> {
    type Grants = BTreeMap<(Option<&'static str>, bool, Action, Option<BTreeSet<&'static str>>), BTreeSet<String>>;
    let mut keys = Grants::new();
    let access = || access.iter().copied().flatten();
    let is_within = |key: &String, other: &String| {
        key == other || other.strip_suffix('*').is_some_and(|prefix| key.starts_with(prefix))
    };
    let has_keys_of = |one: &Access, other: &Access| {
        let (keys, others) = (leading_keys(one), leading_keys(other));
        (one.action, one.index) == (other.action, other.index)
            && others.iter().all(|other| keys.iter().any(|key| is_within(other, key)))
    };
    for one in access() {
        let includes_it = |other: &Access| {
            let is_more = !other.is_transactional && one.is_transactional || !has_keys_of(one, other);
            has_keys_of(other, one) && (!other.is_transactional || one.is_transactional) && is_more
        };
        if access().any(includes_it) {
            continue;
        }
        // A policy does not tell the items of a partition from each other.
        let attributes: Option<Vec<_>> =
            access().filter(|other| has_keys_of(one, other)).map(key_schema::access::attributes).collect();
        let attributes = attributes.map(|all| all.into_iter().flatten().collect());
        let of = (one.index.name(), one.is_transactional, one.action, attributes);
        keys.entry(of).or_default().extend(leading_keys(one));
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
    let [statement] = &statements(&[&[Access::exists::<Stock>()]])[..] else { panic!("one statement") };
    let text = statement.text("", false);
    assert!(text.contains("LeadingKeys: [\"PRODUCT#*\", \"p#*\"], dynamodb:Attributes: [\"PK\", \"SK\"]"), "{text}");
    assert!(text.contains("StringEqualsIfExists: { dynamodb:Select: SPECIFIC_ATTRIBUTES }"), "{text}");
    let both = statements(&[&[Access::exists::<Stock>(), Access::batch_get::<Stock>()]]);
    assert!(both.iter().all(|statement| statement.attributes.is_none()) && both.len() == 1);
}
