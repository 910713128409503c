//! Checks that the resources around the functions fit them and each other: nested stacks and limits.

mod gateway;

use std::collections::{BTreeMap, BTreeSet};

use key_schema::layout::Index;
use shop::read;
use yaml_serde::Value as Yaml;

use crate::closing::templates;
use crate::completeness::template;

/// The nested stacks with a dashboard.
pub const WATCHING: [&str; 2] = ["stacks/operations.yaml", "stacks/migration-operations.yaml"];

/// The stacks with alarms. Another one has those of stacks/operations.yaml, for another table.
pub const ALARMING: [&str; 4] =
    ["stacks/operations.yaml", "stacks/migration-operations.yaml", "stacks/analytics.yaml", "stacks/firewall.yaml"];

/// A template's text, as YAML.
pub fn stack(file: &str) -> Yaml {
    yaml_serde::from_str(&read(file)).unwrap_or_else(|error| panic!("{file}: {error}"))
}

pub fn keys(mapping: &Yaml) -> BTreeSet<&str> {
    mapping.as_mapping().into_iter().flatten().map(|(key, _)| key.as_str().expect("a text")).collect()
}

/// The resources of this type, by their logical ids.
pub fn of_type<'a>(stack: &'a Yaml, kind: &'static str) -> impl Iterator<Item = (&'a str, &'a Yaml)> {
    let resources = stack["Resources"].as_mapping().expect("resources").iter();
    let typed = resources.filter(move |(_, resource)| resource["Type"] == kind);
    typed.map(|(id, resource)| (id.as_str().expect("a text"), resource))
}

/// The name in a `!Ref`, if this is one.
pub fn reference(value: &Yaml) -> Option<&str> {
    match value {
        Yaml::Tagged(tagged) if tagged.tag == "Ref" => tagged.value.as_str(),
        _ => None,
    }
}

pub fn alarms(operations: &Yaml) -> impl Iterator<Item = (&str, &Yaml)> {
    of_type(operations, "AWS::CloudWatch::Alarm").map(|(id, alarm)| (id, &alarm["Properties"]))
}

#[test]
fn every_nested_stack_gets_its_parameters() {
    let (outer, outer_text) = (stack("template.yaml"), read("template.yaml"));
    let mut files = BTreeSet::new();
    for (id, nested) in of_type(&outer, "AWS::CloudFormation::Stack") {
        let file = nested["Properties"]["TemplateURL"].as_str().expect("a file");
        let inner = stack(file);
        assert_eq!(keys(&nested["Properties"]["Parameters"]), keys(&inner["Parameters"]), "{id}");
        for output in keys(&inner["Outputs"]) {
            let (got, filled_in) = (format!("!GetAtt {id}.Outputs.{output}"), format!("${{{id}.Outputs.{output}}}"));
            assert!([got, filled_in].iter().any(|used| outer_text.contains(used)), "{file}: {output}");
        }
        files.insert(file.to_owned());
    }
    let known = [
        "stacks/analytics.yaml",
        "stacks/edge.yaml",
        "stacks/migration-operations.yaml",
        "stacks/operations.yaml",
        "stacks/roles.yaml",
        "stacks/sign-in.yaml",
        "stacks/state.yaml",
        "stacks/table-operations.yaml",
    ];
    assert_eq!(files, known.map(str::to_owned).into());
}

/// While a number of shards is raised, no function may write to a shard that another one does not read yet. So every
/// writer depends on all readers.
#[test]
fn functions_that_read_shards_are_replaced_before_those_that_write_them() {
    let template = stack("template.yaml");
    let functions: Vec<_> = of_type(&template, "AWS::Serverless::Function").collect();
    let writers = |variable: &str| match variable {
        "STATUS_SHARDS" | "PRODUCT_SHARDS" => BTreeSet::from(["PlaceGuestOrder", "PlaceOrder", "DrainWrites"]),
        "VIEW_SHARDS" => BTreeSet::from(["RecordView", "RecordViews"]),
        _ => panic!("who writes into the shards of {variable}?"),
    };
    let variables = |function: &Yaml| {
        let all = keys(&function["Properties"]["Environment"]["Variables"]).into_iter().map(str::to_owned);
        all.filter(|name| name.ends_with("_SHARDS")).collect::<BTreeSet<_>>()
    };
    let of_all: BTreeSet<_> = functions.iter().flat_map(|(_, function)| variables(function)).collect();
    assert_eq!(of_all.len(), 3, "{of_all:?}");
    for variable in of_all {
        let who = functions.iter().filter(|(_, function)| variables(function).contains(&variable));
        let (write, read): (Vec<_>, Vec<_>) = who.partition(|(id, _)| writers(&variable).contains(id));
        assert_eq!(write.iter().map(|(id, _)| *id).collect::<BTreeSet<_>>(), writers(&variable), "{variable}");
        assert!(!read.is_empty(), "{variable}");
        for (writer, function) in write {
            let after: Vec<_> = match &function["DependsOn"] {
                Yaml::Sequence(all) => all.iter().filter_map(Yaml::as_str).collect(),
                one => one.as_str().into_iter().collect(),
            };
            for (reader, _) in &read {
                assert!(after.contains(reader), "{writer} is not replaced after {reader}: {variable}");
            }
        }
    }
}

/// So that several stages have their stacks in one account. A name inside of another resource need not be the stack's.
#[test]
fn every_name_in_the_account_is_that_of_the_stack() {
    let inner = [
        "AWS::Athena::NamedQuery",
        "AWS::Cognito::UserPoolClient",
        "AWS::Cognito::UserPoolResourceServer",
        "AWS::Glue::Table",
        // Its name is the table's or the domain's, which the shop chooses.
        "AWS::ApiGatewayV2::DomainName",
    ];
    let is_name = |kind: &str, key: &str| {
        let own = format!("{}Name", kind.rsplit("::").next().expect("a type"));
        key == own || ["Name", "Domain", "BudgetName", "BackupPlanName"].contains(&key)
    };
    let mut found = 0;
    for file in templates() {
        let stack = stack(&file);
        for (id, resource) in stack["Resources"].as_mapping().expect("resources") {
            let kind = resource["Type"].as_str().expect("a type");
            if inner.contains(&kind) {
                continue;
            }
            let mut properties: Vec<_> = resource["Properties"].as_mapping().into_iter().flatten().collect();
            properties.extend(properties.clone().iter().filter_map(|(_, value)| value.as_mapping()).flatten());
            for (key, value) in properties.iter().filter(|(key, _)| key.as_str().is_some_and(|key| is_name(kind, key)))
            {
                let text = yaml_serde::to_string(value).expect("YAML");
                let of_stack = ["AWS::StackName", "AWS::StackId", "Deployment"].iter().any(|name| text.contains(name));
                assert!(of_stack, "{file}: {id:?}: {key:?} is {text}");
                found += 1;
            }
        }
    }
    assert!(found > 10, "{found}");
}

/// The pool of a deleted stack has two clients, and a new stack takes the tokens of both.
#[test]
fn tokens_of_several_clients_are_taken() {
    let outer = stack("template.yaml");
    let audience =
        &outer["Resources"]["Api"]["Properties"]["Auth"]["Authorizers"]["Token"]["JwtConfiguration"]["audience"];
    let Yaml::Tagged(condition) = audience else { panic!("a condition") };
    let Yaml::Tagged(split) = &condition.value[2] else { panic!("a list of audiences") };
    assert_eq!((split.tag.to_string().as_str(), reference(&split.value[1])), ("!Split", Some("TokenAudience")));
}

/// A release may send messages that the last one cannot read, so the reader is replaced first.
#[test]
fn the_function_that_reads_the_queue_is_replaced_before_those_that_write_it() {
    let outer = stack("template.yaml");
    let text = |function: &Yaml| yaml_serde::to_string(function).expect("YAML");
    let functions: Vec<_> = of_type(&outer, "AWS::Serverless::Function").collect();
    let reads = |function: &Yaml| {
        let queue = &function["Properties"]["Events"]["Queue"]["Properties"]["Queue"];
        matches!(queue, Yaml::Tagged(queue) if queue.value == "State.Outputs.WriteQueueArn")
    };
    let readers: Vec<_> = functions.iter().filter(|(_, function)| reads(function)).map(|(name, _)| *name).collect();
    assert_eq!(readers, ["DrainWrites"]);
    let writers: Vec<_> = functions
        .iter()
        .filter(|(name, function)| {
            *name != "DrainWrites" && text(function).contains("QUEUE_URL: !GetAtt State.Outputs.WriteQueueUrl")
        })
        .collect();
    assert!(!writers.is_empty());
    for (name, writer) in writers {
        let after = writer["DependsOn"].as_sequence().into_iter().flatten();
        assert!(after.filter_map(Yaml::as_str).any(|other| other == "DrainWrites"), "{name}");
    }
}

#[test]
fn the_allowed_backup_schedules_are_those_of_the_plan() {
    let (outer, operations) = (stack("template.yaml"), stack("stacks/operations.yaml"));
    let parameter = &outer["Parameters"]["BackupSchedule"];
    let allowed: BTreeSet<_> =
        parameter["AllowedValues"].as_sequence().into_iter().flatten().filter_map(Yaml::as_str).collect();
    assert_eq!(allowed, keys(&operations["Mappings"]["BackupSchedules"]));
    let rule = &operations["Resources"]["BackupPlan"]["Properties"]["BackupPlan"]["BackupPlanRule"][0];
    let Yaml::Tagged(schedule) = &rule["ScheduleExpression"] else { panic!("a schedule of the mapping") };
    assert_eq!((&*schedule.tag.to_string(), schedule.value[0].as_str()), ("!FindInMap", Some("BackupSchedules")));
    assert_eq!(reference(&schedule.value[1]), Some("BackupSchedule"));
}

/// Point-in-time recovery is paid for anyway: a backup that does not go further back is useless.
#[test]
fn backups_are_kept_longer_than_point_in_time_recovery() {
    let outer = stack("template.yaml");
    let days = |name: &str| outer["Parameters"][name]["Default"].as_u64().expect("a number");
    assert!(days("BackupDays") > days("RecoveryDays"));
}

/// The documentation promises hours of retries. A limit of their number would end them earlier, so only the age may end
/// them.
#[test]
fn failed_stream_records_are_retried_until_they_are_too_old_without_a_limit_of_retries() {
    let sources = template().stream_sources;
    assert_eq!(sources.len(), 2);
    for source in sources {
        assert_eq!(source.maximum_retry_attempts, None, "{}", source.function);
        assert_eq!(source.maximum_record_age_seconds, 6 * 3600, "{}: as docs/alarms.md says", source.function);
    }
}

/// Counting relies on the order of a shard's records. AWS does not document that a bisected batch keeps this order.
#[test]
fn batches_for_counting_are_not_bisected() {
    let sources = template().stream_sources;
    let counts = sources.iter().find(|source| source.function == "CountOrders").expect("the source");
    assert!(!counts.bisects_batches && counts.reports_item_failures);
}

/// A shard's checkpoint says how far it is counted. Two invocations of one shard would each move it past what the other one
/// still counts.
#[test]
fn no_two_invocations_count_one_shard() {
    let outer = stack("template.yaml");
    for source in ["CountOrdersStream", "CountOrdersStreamV2"] {
        let properties = &outer["Resources"][source]["Properties"];
        // A literal, so that no parameter changes it. Only with a window does an event name its shard.
        assert_eq!(properties["ParallelizationFactor"], 1, "{source}");
        assert!(properties["TumblingWindowInSeconds"].as_u64().is_some_and(|seconds| seconds > 0), "{source}");
    }
    for source in ["PublishOrderEventsStream", "PublishOrderEventsStreamV2"] {
        let properties = &outer["Resources"][source]["Properties"];
        assert_eq!(reference(&properties["ParallelizationFactor"]), Some("PublishFactor"), "{source}");
    }
    let default = |name: &str| &outer["Parameters"][name]["Default"];
    assert_eq!(*default("PublishFactor"), 1, "the order of an order's events is kept unless somebody gives it up");
}

/// By default nothing is reserved, because a new account has too little to reserve anything.
#[test]
fn placing_counting_and_publishing_can_each_have_environments_of_their_own() {
    let outer = stack("template.yaml");
    let functions: Vec<_> = of_type(&outer, "AWS::Serverless::Function").collect();
    let reserved: BTreeMap<_, _> = functions
        .iter()
        .filter_map(|(id, function)| Some((*id, reserved_by(&function["Properties"]["ReservedConcurrentExecutions"])?)))
        .collect();
    let wanted = [
        ("CountOrders", ("HasCountConcurrency", "CountConcurrency")),
        ("DrainWrites", ("HasOrderConcurrency", "DrainConcurrency")),
        ("PlaceGuestOrder", ("HasGuestOrderConcurrency", "GuestOrderConcurrency")),
        ("PlaceOrder", ("HasOrderConcurrency", "OrderConcurrency")),
        ("PublishOrderEvents", ("HasPublishConcurrency", "PublishConcurrency")),
    ];
    assert_eq!(reserved, BTreeMap::from(wanted));
    for (condition, _) in reserved.values() {
        let parameter = condition.strip_prefix("Has").expect("a parameter");
        let is_set = yaml_serde::from_str::<Yaml>(&format!("!Not [!Equals [!Ref {parameter}, '0']]")).expect("YAML");
        assert_eq!(outer["Conditions"][*condition], is_set);
        assert_eq!(outer["Parameters"][parameter]["Default"], 0, "{parameter}");
    }
    // Lambda refuses an event source that may use more than its function.
    let drain = &outer["Resources"]["DrainWrites"]["Properties"]["Events"]["Queue"]["Properties"];
    assert_eq!(reference(&drain["ScalingConfig"]["MaximumConcurrency"]), Some("DrainConcurrency"));
    // No queue takes more than a few environments.
    for (id, function) in &functions {
        for source in function["Properties"]["Events"].as_mapping().into_iter().flat_map(|events| events.values()) {
            let is_queue = source["Type"] == "SQS";
            assert!(!is_queue || !source["Properties"]["ScalingConfig"]["MaximumConcurrency"].is_null(), "{id}");
        }
    }
}

/// The condition and the parameter of `!If [ShopIsOpen, !If [condition, !Ref parameter, ...], 0]`.
pub fn reserved_by(value: &Yaml) -> Option<(&str, &str)> {
    let Yaml::Tagged(of_shop) = value else { return None };
    let Yaml::Tagged(own) = &of_shop.value[1] else { return None };
    Some((own.value[0].as_str()?, reference(&own.value[1])?))
}

/// The table of layout v2 has what stacks/operations.yaml has for the table of layout v1.
#[test]
fn both_tables_are_watched_and_scaled_alike() {
    let (outer, operations, second) =
        (stack("template.yaml"), stack("stacks/operations.yaml"), stack("stacks/table-operations.yaml"));
    let text = |resource: &Yaml| yaml_serde::to_string(&resource["Properties"]).expect("YAML");
    let about_the_table =
        |resource: &Yaml| ["!Ref Table\n", "${Table}"].iter().any(|name| text(resource).contains(name));
    let mut compared = 0;
    for kind in ["AWS::CloudWatch::Alarm", "AWS::ApplicationAutoScaling::ScalableTarget"] {
        let first: BTreeMap<_, _> = of_type(&operations, kind).filter(|(_, one)| about_the_table(one)).collect();
        let second: BTreeMap<_, _> = of_type(&second, kind).collect();
        assert_eq!(keys_of(&first), keys_of(&second), "{kind}");
        for (name, one) in first {
            assert_eq!(text(one), text(second[name]), "{name}");
            // Each resource about the table of layout v1 goes with that table.
            assert!(["HasTable", "IsProvisioned"].map(Some).contains(&one["Condition"].as_str()), "{name}");
            compared += 1;
        }
    }
    let policies = |stack| {
        of_type(stack, "AWS::ApplicationAutoScaling::ScalingPolicy").map(|(id, one)| (id.to_owned(), text(one)))
    };
    assert_eq!(policies(&operations).collect::<BTreeMap<_, _>>(), policies(&second).collect());
    assert_eq!(compared, 7 + 6, "alarms and targets of autoscaling");

    let state = stack("stacks/state.yaml");
    assert_eq!(text(&state["Resources"]["Table"]), text(&state["Resources"]["TableV2"]));
    let properties = |source: &str| text(&outer["Resources"][source]);
    for name in ["CountOrdersStream", "PublishOrderEventsStream"] {
        let (first, second) = (properties(name), properties(&format!("{name}V2")));
        assert_eq!(first.replace("Outputs.TableStreamArn", "Outputs.TableV2StreamArn"), second, "{name}");
    }
    let condition = |name: &str| outer["Resources"][name]["Condition"].as_str().map(str::to_owned);
    assert_eq!(condition("CountOrdersStream").as_deref(), Some("HasV1"));
    assert_eq!(condition("CountOrdersStreamV2").as_deref(), Some("HasV2"));
}

/// The table and each index can be watched and warmed alike.
#[test]
fn the_table_and_each_index_are_warmed_and_watched_by_key() {
    let state = stack("stacks/state.yaml");
    for table in ["Table", "TableV2"] {
        let table = &state["Resources"][table]["Properties"];
        let indexes = table["GlobalSecondaryIndexes"].as_sequence().expect("indexes");
        assert_eq!(indexes.len(), 2);
        for index in indexes {
            for property in ["WarmThroughput", "ContributorInsightsSpecification", "OnDemandThroughput"] {
                assert_eq!(index[property], table[property], "{property}");
                assert!(!table[property].is_null(), "{property}");
            }
        }
    }
}

/// The stack on a laptop ignores what is only watched, traced or in front of the API, and reads the rest.
#[test]
fn the_template_is_read_with_every_option_on() {
    let options = [
        ("Edge", "cloudfront"),
        ("OriginDomain", "origin.shop.example"),
        ("Tracing", "xray"),
        ("ContributorInsights", "THROTTLED_KEYS"),
        ("WarmReadUnits", "20000"),
        ("WarmWriteUnits", "8000"),
        ("EventArchiveDays", "30"),
    ];
    let mut deployment = local::deployment();
    deployment.parameters.extend(options.map(|(name, value)| (name.to_owned(), value.to_owned())));
    let read = devstack::Template::parse_for(&read("template.yaml"), &deployment).expect("it is read");
    assert_eq!(read.routes, template().routes);
}

fn keys_of<'a>(resources: &BTreeMap<&'a str, &Yaml>) -> Vec<&'a str> {
    resources.keys().copied().collect()
}

/// The table and each index have autoscaling.
#[test]
fn the_table_and_each_index_are_scaled() {
    let operations = stack("stacks/operations.yaml");
    let targets: BTreeSet<_> = of_type(&operations, "AWS::ApplicationAutoScaling::ScalableTarget")
        .map(|(_, target)| {
            let Yaml::Tagged(resource) = &target["Properties"]["ResourceId"] else { panic!("a resource") };
            let dimension = target["Properties"]["ScalableDimension"].as_str().expect("a dimension");
            (resource.value.as_str().expect("a text").to_owned(), dimension.to_owned())
        })
        .collect();
    let mut wanted = BTreeSet::new();
    for index in [Index::Table, Index::Gsi1, Index::Gsi2] {
        let (resource, kind) = match index.name() {
            None => ("table/${Table}".to_owned(), "table"),
            Some(name) => (format!("table/${{Table}}/index/{name}"), "index"),
        };
        for units in ["Read", "Write"] {
            wanted.insert((resource.clone(), format!("dynamodb:{kind}:{units}CapacityUnits")));
        }
    }
    assert_eq!(targets, wanted);
}
