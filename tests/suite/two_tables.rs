//! The stack with a table of each layout: the tables, their streams, and the rights of functions on them.

use devstack::iam::{Ask, Operator, Quantifier, Statement, permit};
use devstack::template::Table;
use key_schema::layout::{Index, Layout};
use serde_json::Map;
use shop::read;
use shop::tables::{name_of, template_of, template_with};

use crate::prelude::*;
use crate::roles::{item, put, query, sweeping};

/// The most characters in all inline policies of a role, without white space
/// ([source](https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_iam-quotas.html)).
const INLINE_POLICIES: usize = 10_240;

const MANAGED_POLICY: usize = 6_144;

/// A change of the parameter to a neighbouring value replaces the roles before the functions. Until then, a function has
/// the new role and its old environment: it reads the phase of the migration in its first table, and uses the tables
/// that both values have.
#[test]
fn a_function_keeps_its_rights_while_the_parameter_changes_to_a_neighbouring_value() {
    let of = |tables: &str| template_of("till-orders-of-a-shop".to_owned(), tables);
    let steps = ["v1", "v1-v2", "v2-v1", "v2"].map(of);
    // Repairs are due only while both tables are written.
    let is_of_repairs = |statement: &Statement| {
        let keys = statement.conditions.iter().flat_map(|condition| &condition.values);
        keys.map(|key| key.to_lowercase()).any(|key| key.starts_with("repair#"))
    };
    let mut compared = 0;
    for pair in steps.windows(2) {
        for (before, after) in [(&pair[0], &pair[1]), (&pair[1], &pair[0])] {
            let stays = |table: &&Table| after.tables.contains(table);
            let first = &before.functions[0].environment["TABLE_NAME"];
            assert!(after.tables.iter().any(|table| table.name() == first), "the functions before use {first}");
            let arns: Vec<_> =
                before.tables.iter().filter(stays).map(|table| format!(":table/{}", table.name())).collect();
            let of_those = |ask: &Ask| {
                arns.iter().any(|arn| ask.resource.ends_with(arn) || ask.resource.contains(&format!("{arn}/")))
            };
            for function in &before.functions {
                // A function that only a migration needs goes with its role.
                let Some(now) = after.function(&function.logical_id) else { continue };
                let all = function.role.policies.iter().flat_map(|policy| &policy.statements);
                for ask in all.filter(|statement| !is_of_repairs(statement)).flat_map(allowed_by).filter(of_those) {
                    assert!(permit(&function.role.policies, &ask), "{}: {ask}", function.logical_id);
                    assert!(permit(&now.role.policies, &ask), "{}: {ask}", function.logical_id);
                    compared += 1;
                }
            }
        }
    }
    assert!(compared > 500, "{compared}");
}

/// A call of each action on each resource that the statement allows, with all that its conditions let it have.
fn allowed_by(statement: &Statement) -> Vec<Ask> {
    let context = statement.conditions.iter().filter(|condition| condition.operator != Operator::IsNull);
    let context = context.map(|condition| {
        (condition.key, condition.values.iter().map(|pattern| pattern.replace('*', "1")).collect::<Vec<_>>())
    });
    let context = context.collect::<BTreeMap<_, _>>();
    let pairs = statement.actions.iter().flat_map(|action| {
        statement.resources.iter().map(move |resource| (action.clone(), resource.replace('*', "1")))
    });
    pairs.map(|(action, resource)| Ask { action, resource, context: context.clone() }).collect()
}

/// Each step of a migration is one change of the parameter.
#[test]
fn the_parameter_names_the_tables_and_the_first_of_them() {
    for (tables, layouts, first, next) in [
        ("v1", &[Layout::V1][..], Layout::V1, None),
        ("v1-v2", &[Layout::V1, Layout::V2], Layout::V1, Some(Layout::V2)),
        ("v2-v1", &[Layout::V1, Layout::V2], Layout::V2, Some(Layout::V1)),
        ("v2", &[Layout::V2], Layout::V2, None),
    ] {
        let template = template_with(tables);
        assert_eq!(template.tables.len(), layouts.len(), "{tables}");
        assert!(layouts.iter().all(|layout| name_of(&template, *layout).is_some()), "{tables}");
        let expected = [
            ("TABLE_NAME", name_of(&template, first)),
            ("TABLE_LAYOUT", Some(first.name())),
            ("NEXT_TABLE_NAME", next.and_then(|next| name_of(&template, next))),
            ("NEXT_TABLE_LAYOUT", next.map(Layout::name)),
        ];
        for function in &template.functions {
            for (name, value) in expected {
                let given = function.environment.get(name).map(String::as_str);
                assert_eq!(given, value, "{tables}: {} {name}", function.logical_id);
            }
        }
        let streams: Vec<_> = template.stream_sources.iter().map(|source| (&source.function, &source.table)).collect();
        assert_eq!(streams.len(), 2 * layouts.len(), "{tables}");
        assert_eq!(streams.iter().collect::<BTreeSet<_>>().len(), streams.len(), "{tables}: each stream once");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn both_tables_exist_with_the_same_keys_indexes_and_streams() {
    let shop = Shop::open_migrating().await;
    let mut shapes = Vec::new();
    for table in [shop.table(), shop.next_table()] {
        let described = shop.dynamodb("DescribeTable", &json!({ "TableName": table })).await["Table"].clone();
        assert_eq!(described["TableStatus"], "ACTIVE");
        let ttl = shop.dynamodb("DescribeTimeToLive", &json!({ "TableName": table })).await;
        let indexes = described["GlobalSecondaryIndexes"].as_array().expect("indexes").iter();
        let indexes: Vec<_> = indexes.map(|index| (index["IndexName"].clone(), index["KeySchema"].clone())).collect();
        shapes.push((described["KeySchema"].clone(), indexes, described["StreamSpecification"].clone(), ttl));
    }
    assert_eq!(shapes[0], shapes[1]);
    assert_ne!(shop.table(), shop.next_table());
}

/// A shop in which no migration has begun is like one with a single table.
#[tokio::test(flavor = "multi_thread")]
async fn while_no_migration_has_begun_only_the_first_table_is_used() {
    let shop = Shop::open_migrating().await;
    shop.sign_up("ada").await;
    shop.product("thing", 1000, 10).await;
    shop.customer("ada").order("k", things(1)).await.expect(201);
    shop.settle().await;
    assert!(shop.dump().await.len() > 5);
    assert!(shop.dump_of(shop.next_table()).await.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_function_reaches_each_table_of_the_stack_by_the_keys_of_its_task_alone() {
    let shop = Shop::open_migrating().await;
    let (first, second) = (shop.table().to_owned(), shop.next_table().to_owned());
    for table in [&first, &second] {
        for (key, is_allowed) in [("o#1", true), ("ORDER#1", true), ("c#1", false), ("CUSTOMER#1", false)] {
            for (function, action, request) in
                [("GetOrder", "Query", query(table, None, key)), ("DeleteCart", "PutItem", put(table, key))]
            {
                let (status, body) = shop.dynamodb_as(function, action, &request).await;
                let is_allowed = is_allowed && function == "GetOrder";
                assert_eq!(status == 200, is_allowed, "{function} {action} {request}: {body}");
            }
        }
    }
    let swept = sweeping(&second);
    for (action, request) in &swept {
        assert_eq!(shop.dynamodb_as("GetOrder", action, request).await.0, 400, "{action} {request}");
    }
    assert_eq!(shop.denials().len(), 12 + swept.len());
    shop.fault_proxy().take_calls();
}

/// The phase of a migration can be read before the stack has a second table, and after it has given up one.
#[tokio::test(flavor = "multi_thread")]
async fn every_function_may_read_the_phase_of_a_migration_and_nothing_of_a_table_that_the_stack_does_not_have() {
    let shop = Shop::open().await;
    let functions: Vec<_> = shop.template().functions.iter().map(|function| function.logical_id.clone()).collect();
    let absent = format!("{}-table-v2", shop.table());
    let mut refused = 0;
    for function in &functions {
        let read = |table: &str, layout: Layout| {
            let key = item(table, &layout.partition(Index::Table, "migration".to_owned()))["Key"].clone();
            json!({ "RequestItems": { table: { "Keys": [key] } } })
        };
        let (status, body) = shop.dynamodb_as(function, "BatchGetItem", &read(shop.table(), Layout::V1)).await;
        assert_eq!(status, 200, "{function}: {body}");
        for (action, request) in [
            ("BatchGetItem", read(&absent, Layout::V2)),
            ("Query", query(&absent, None, "ORDER#1")),
            ("PutItem", put(&absent, "CUSTOMER#1")),
            ("PutItem", put(&absent, &Layout::V2.partition(Index::Table, "repair#1".to_owned()))),
            ("PutItem", put(shop.table(), "migration")),
            ("PutItem", put(shop.table(), "repair#1")),
        ] {
            let (status, body) = shop.dynamodb_as(function, action, &request).await;
            assert_eq!(
                body["__type"], "com.amazon.coral.service#AccessDeniedException",
                "{status} {function} {action}"
            );
            refused += 1;
        }
    }
    assert_eq!(shop.denials().len(), refused);
}

fn document(statement: &Statement) -> Value {
    let mut conditions = Map::new();
    for condition in &statement.conditions {
        let operator = match condition.operator {
            Operator::IsNull => "Null".to_owned(),
            Operator::Equals(quantifier) => named(quantifier, "StringEquals"),
            Operator::Like(quantifier) => named(quantifier, "StringLike"),
        };
        conditions.entry(operator).or_insert(json!({}))[condition.key] = json!(condition.values);
    }
    let [effect, actions, resources] = [json!("Allow"), json!(statement.actions), json!(statement.resources)];
    json!({ "Effect": effect, "Action": actions, "Resource": resources, "Condition": conditions })
}

fn named(quantifier: Quantifier, comparison: &str) -> String {
    match quantifier {
        Quantifier::Only => comparison.to_owned(),
        Quantifier::IfExists => format!("{comparison}IfExists"),
        Quantifier::All => format!("ForAllValues:{comparison}"),
        Quantifier::Any => format!("ForAnyValue:{comparison}"),
    }
}

/// A role has the most rights while the stack has two tables. The names of a stack and its resources make the text
/// longer, and a larger policy fails only when it is deployed.
#[test]
fn the_policies_of_every_role_are_within_the_limits_of_iam() {
    // The longest names. A backup plan's name has 50 characters, so a stack's has 44, 40 more than `till` in each ARN. A table
    // of the stack has 42 more, and a given one what the parameter allows.
    const ROOM: usize = 40;
    assert!(read("template.yaml").contains("AllowedPattern: ^([a-zA-Z0-9_.-]{3,100})?$"));
    let template = template_of("t".repeat(100), "v1-v2");
    let mut largest = 0;
    for function in &template.functions {
        let sizes = function.role.policies.iter().map(|policy| {
            let statements: Vec<_> = policy.statements.iter().map(document).collect();
            let resources = policy.statements.iter().flat_map(|statement| &statement.resources);
            let arns = resources.filter(|arn| !arn.contains(":table/")).count();
            json!({ "Version": "2012-10-17", "Statement": statements }).to_string().len() + ROOM * arns
        });
        let sizes: Vec<_> = sizes.collect();
        let (inline, managed) = sizes.split_at(function.role.inline);
        let inline: usize = inline.iter().sum();
        // A role near the limit would decide how its function works.
        assert!(inline <= INLINE_POLICIES / 5 * 4, "{}: {inline}", function.role.name);
        assert!(managed.iter().all(|size| *size <= MANAGED_POLICY / 5 * 4), "{}: {managed:?}", function.role.name);
        largest = largest.max(inline);
    }
    assert!(largest > INLINE_POLICIES / 10, "{largest}");
}
