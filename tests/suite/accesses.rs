//! What the functions and the commands ask of the table is recorded, declared and charted.

mod charts;

use consumers::CONSUMERS;
use copying::{Assignment, Copier, Migrator, Pace, Repairs};
use devstack::fault_proxy::Call;
use futures_util::join;
use key_schema::access::{Access, Action, EVERY, changed};
use key_schema::entity::{CopyTask, Entity as _, Phase, ViewMark};
use key_schema::layout::{ENTITIES, OF_A_MIGRATION, PATTERNS, PATTERNS_OF_FUNCTIONS};
use lambda::FromEnvironment as _;
use local::functions::{all, routes};
use local::history::{Options, import};
use shop::accesses::{Accesses, Asked, Written, key_written, record, writes_of};
use shop::pattern::entity;
use table::Pairs;
use tokio::sync::OnceCell;
use tokio::time::Instant;

use crate::completeness::pascal_case;
use crate::history::{Temporary, environment};
use crate::migration::MigratingShop;
use crate::prelude::*;
use crate::roles::eventful_day;

/// The sections of the record that are not functions.
const IMPORT: &str = "cargo local import";
const EXPORT: &str = "cargo local export";
const AUDIT: &str = "cargo local audit";
const MIGRATE: &str = "cargo local migrate";
const DURING_A_MIGRATION: &str = "every function, while a shop migrates";

/// The access key with which a command's calls are signed here.
fn access_key(command: &str) -> String {
    command.replace(' ', "-")
}

fn function(logical_id: &str) -> Option<String> {
    all().map(lambda::Function::name).find(|name| pascal_case(name) == logical_id)
}

/// What was recorded of the functions on an eventful day, of the commands, and of a migration. It is recorded once,
/// whichever tests need it.
async fn recorded() -> &'static Accesses {
    static RECORDED: OnceCell<Accesses> = OnceCell::const_new();
    let record = async || {
        let (functions, commands, migration) =
            join!(of_functions(), Box::pin(of_commands()), Box::pin(of_a_migration()));
        functions.into_iter().chain(commands).chain(migration).collect()
    };
    RECORDED.get_or_init(record).await
}

async fn of_functions() -> Accesses {
    record(&eventful_day().await.calls, function, Some)
}

async fn of_commands() -> Accesses {
    let day = eventful_day().await;
    let shop = Shop::open().await;
    let caller = |name: &str| {
        let variables = [("AWS_ACCESS_KEY_ID".to_owned(), access_key(name))];
        environment(&shop).with(shop.operator_through_the_proxy()).with(variables)
    };
    let source = Temporary::with("accesses.ndjson", &day.history);
    let options = Options { open: true, ..Options::default() };
    for _ in 0..2 {
        import(&caller(IMPORT), std::slice::from_ref(&source.0), &options, |_| Ok(())).await.expect("an import");
    }
    local::history::export(&caller(EXPORT), &mut Vec::new(), |_| ()).await.expect("an export");
    let now = key_schema::value::Timestamp::now();
    local::audit::audit(&caller(AUDIT), now, |_| ()).await.expect("an audit");
    let command =
        |key: &str| [IMPORT, EXPORT, AUDIT].into_iter().find(|name| access_key(name) == key).map(str::to_owned);
    record(&shop.fault_proxy().take_calls(), command, Some)
}

/// Both tables, with this access key.
fn pairs(migrating: &MigratingShop, access_key: &str) -> Pairs {
    let shop = &migrating.shop;
    let variables = [
        ("AWS_ACCESS_KEY_ID", access_key),
        ("TABLE_NAME", shop.table()),
        ("NEXT_TABLE_NAME", &migrating.next),
        ("NEXT_TABLE_LAYOUT", "v2"),
    ];
    let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let environment = shop.operator().with(shop.operator_through_the_proxy()).with(variables);
    Pairs::from_environment(&environment).expect("both tables")
}

/// A run of one task, begun by the operator and worked off by this worker.
async fn run(migrator: &Migrator, worker: &Pairs, task: CopyTask) {
    let state = migrator.state().await.expect("the state");
    for segment in migrator.start(&state, task, 2).await.expect("a run") {
        let done = Copier::new(worker.unshared(), Pace::new(1e6, 1e6)).work(segment, None, |_| {}).await;
        assert!(done.expect("the segment is done").is_done);
    }
}

async fn repair(worker: &Pairs) {
    let mut repairs = Repairs::new(worker.unshared(), Pace::new(1e6, 1e6));
    let round = repairs.round(Instant::now() + Duration::from_mins(1)).await;
    assert_eq!(round.expect("a round").repairs, 1);
    repairs.phase().await.expect("the phase, which is reported");
}

/// An item of the next table alone, which a copy removes.
async fn leave_extra(migrating: &MigratingShop) {
    let text = |text: &str| json!({ "S": text });
    let extra = json!({ "PK": text("PRODUCT#extra"), "SK": text("META"), "EntityType": text("product") });
    migrating.shop.dynamodb("PutItem", &json!({ "TableName": migrating.next, "Item": extra })).await;
}

async fn of_a_migration() -> Accesses {
    let migrating = MigratingShop::open().await;
    let operator = pairs(&migrating, &access_key(MIGRATE));
    let migrator = Migrator::new(operator.clone(), Duration::ZERO);
    let [copier, repairer] = ["CopyItems", "RepairCopies"].map(|function| pairs(&migrating, function));
    let step = async |to: Phase| {
        migrator.step(&migrator.state().await.expect("the state"), to, true).await.expect("a step");
    };
    migrating.shop.sign_up("ada").await;
    for at in 0..40 {
        migrating.shop.product(&format!("p{at}"), 100, 1000).await;
    }
    // Too large for a transaction of both tables, so it leaves a repair.
    let lines: Vec<_> = (0..40).map(|at| json!({ "productId": format!("p{at}"), "quantity": 1 })).collect();
    let order_many = async |key: &str| {
        migrating.shop.customer("ada").order(key, json!({ "lines": lines })).await.expect(201);
    };
    step(Phase::Both).await;
    for worker in [&copier, &operator] {
        leave_extra(&migrating).await;
        run(&migrator, worker, CopyTask::Copy).await;
    }
    step(Phase::Compare).await;
    for worker in [&copier, &operator] {
        run(&migrator, worker, CopyTask::Compare).await;
    }
    // The function looks whether its segment is still to be worked on.
    let copying = Copier::new(copier.unshared(), Pace::new(1e6, 1e6));
    assert_eq!(copying.progress_of(Assignment { run: 0, segment: 0 }).await.expect("an answer"), None);
    for (key, worker) in [("one", &repairer), ("two", &operator)] {
        order_many(key).await;
        repair(worker).await;
    }
    let calls: Vec<_> = migrating.shop.fault_proxy().take_calls();
    let of_migration = |entity: &'static str| OF_A_MIGRATION.contains(&entity).then_some(entity);
    // Both tables have the same lists.
    let is_in_first = |call: &&Call| call.action != "Query" || call.request["TableName"] == migrating.shop.table();
    let calls: Vec<_> = calls.iter().filter(is_in_first).cloned().collect();
    let worker = |key: &str| match key {
        "CopyItems" | "RepairCopies" => function(key),
        key => (key == access_key(MIGRATE)).then(|| MIGRATE.to_owned()),
    };
    let mut scene = record(&calls, worker, |entity| Some(of_migration(entity).unwrap_or(EVERY)));
    let by_functions: Vec<_> = calls.iter().filter(|call| call.action != "Query").cloned().collect();
    let of_the_shop =
        |key: &str| function(key).filter(|name| !is_of_a_migration(name)).map(|_| DURING_A_MIGRATION.to_owned());
    scene.extend(record(&by_functions, of_the_shop, of_migration));
    scene
}

/// Whether a function exists only while a stack has two tables.
fn is_of_a_migration(function: &str) -> bool {
    CONSUMERS.iter().any(|consumer| consumer.condition == Some("IsMigrating") && consumer.function.name() == function)
}

/// The attributes that updates name are those that the key schema declares: no function needs more, and every one is needed
/// by some call.
#[tokio::test(flavor = "multi_thread")]
async fn the_attributes_of_updates_are_the_declared_ones() {
    let calls = &eventful_day().await.calls;
    let mut named: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for call in calls.iter().filter(|call| call.caller.as_deref().and_then(function).is_some()) {
        for (_, update) in writes_of(call).iter().filter(|(action, _)| action == "Update") {
            let key = key_written(update);
            let placed = update["ExpressionAttributeNames"].as_object().into_iter().flatten();
            let placeholders =
                ["UpdateExpression", "ConditionExpression"].map(|name| update[name].as_str().unwrap_or_default());
            for (placeholder, name) in placed {
                let is_first = |text: &str| {
                    text.match_indices(placeholder.as_str()).any(|(at, _)| {
                        let rest = text[at + placeholder.len()..].chars().next();
                        !text[..at].ends_with('.')
                            && !rest.is_some_and(|next| next.is_ascii_alphanumeric() || next == '_')
                    })
                };
                if placeholders.iter().any(|text| is_first(text)) {
                    named.entry(entity(&key)).or_default().insert(name.as_str().expect("a name").to_owned());
                }
            }
        }
    }
    for (entity, declared) in changed() {
        let named = named.remove(entity).unwrap_or_default();
        let fits = |pattern: &str, name: &str| match pattern.strip_suffix('*') {
            Some(begin) => name.starts_with(begin),
            None => name == pattern,
        };
        let more: Vec<_> =
            named.iter().filter(|name| *name != "PK" && !declared.iter().any(|pattern| fits(pattern, name))).collect();
        let idle: Vec<_> = declared.iter().filter(|pattern| !named.iter().any(|name| fits(pattern, name))).collect();
        assert!(more.is_empty() && idle.is_empty(), "{entity}: named {more:?}, not needed {idle:?}");
    }
    assert!(named.is_empty(), "{named:?} are updated");
}

/// What an access has in its name if it is made in transactions only.
const TOGETHER: &str = ", in a transaction";

/// An access as the charts name it: `put order`, `get order`, or the question of an access pattern.
fn told(access: &Access) -> String {
    let verb = match access.action {
        Action::Query => return of_its_kind(access.subject).to_owned(),
        Action::BatchGetItem | Action::GetItem => "get",
        Action::PutItem => "put",
        Action::UpdateItem => "change",
        Action::DeleteItem => "delete",
        Action::ConditionCheckItem => "check",
    };
    let way = if access.is_transactional { TOGETHER } else { "" };
    format!("{verb} {}{way}", access.subject)
}

/// The first question that the same read answers.
fn of_its_kind(question: &'static str) -> &'static str {
    let patterns = || PATTERNS.iter().chain(PATTERNS_OF_FUNCTIONS);
    let asked = patterns().find(|pattern| pattern.question == question).expect("a pattern");
    let same = patterns().find(|pattern| pattern.place == asked.place && pattern.entities == asked.entities);
    same.expect("a pattern").question
}

/// The accesses of a function as the record has them, in the words of [`told`].
fn done(asked: &Asked, queries: &BTreeSet<&str>) -> BTreeSet<String> {
    // A pattern that no Query answers is a batch of keys.
    let by_keys = PATTERNS.iter().filter(|pattern| asked.patterns.contains(pattern.question));
    let batches = by_keys.filter(|pattern| !queries.contains(of_its_kind(pattern.question)));
    let mut done: BTreeSet<String> =
        batches.flat_map(|pattern| pattern.entities).map(|entity| format!("get {entity}")).collect();
    done.extend(queries.iter().filter(|question| asked.patterns.contains(**question)).map(|it| (*it).to_owned()));
    for (request, entities) in &asked.reads {
        let way = if request == "TransactGetItems" { TOGETHER } else { "" };
        done.extend(entities.iter().map(|entity| format!("get {entity}{way}")));
    }
    for Written { write, entity, transaction, .. } in &asked.writes {
        done.insert(format!("{write} {entity}{}", if *transaction { TOGETHER } else { "" }));
    }
    done
}

/// No function does what it does not declare, and no declaration is idle: some function that has it needs it. A function
/// may do in a transaction what it may do alone, and with each item what it may do with every item. So the charts are
/// complete.
#[tokio::test(flavor = "multi_thread")]
async fn the_recorded_accesses_are_the_declared_ones() {
    let record = recorded().await;
    let of_routes = routes().map(|route| (route.function.name(), route.route.access.concat()));
    let of_consumers = CONSUMERS.iter().map(|consumer| (consumer.function.name(), consumer.access.concat()));
    let (mut undeclared, mut idle, mut needed) = (Vec::new(), BTreeMap::new(), BTreeSet::new());
    for (function, accesses) in of_routes.chain(of_consumers) {
        // A search reads no table.
        let Some(asked) = record.get(&function) else {
            idle.extend(accesses.iter().map(|access| (told(access), vec![function.clone()])));
            continue;
        };
        let is_query = |access: &&Access| access.action == Action::Query;
        let queries = accesses.iter().filter(is_query).map(|access| of_its_kind(access.subject)).collect();
        let done = done(asked, &queries);
        let declared: BTreeSet<_> = accesses.iter().map(told).collect();
        let may = |what: &str| {
            let verb = what.split(' ').next().unwrap_or_default();
            let alone = what.strip_suffix(TOGETHER).unwrap_or(what);
            [what, alone, &format!("{verb} {EVERY}{TOGETHER}")].iter().any(|one| declared.contains(*one))
        };
        undeclared.extend(done.iter().filter(|what| !may(what)).map(|what| format!("{function}: {what}")));
        for access in &accesses {
            idle.entry(told(access)).or_insert_with(Vec::new).push(function.clone());
        }
        needed.extend(done.intersection(&declared).cloned());
    }
    idle.retain(|what, _| !needed.contains(what));
    assert!(undeclared.is_empty() && idle.is_empty(), "not declared: {undeclared:#?}\nnot needed: {idle:#?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn every_entity_is_read_and_written_by_a_recorded_access() {
    let record = recorded().await;
    let patterns = || PATTERNS.iter().chain(PATTERNS_OF_FUNCTIONS);
    let asked: BTreeSet<_> = record.values().flat_map(|asked| &asked.patterns).collect();
    for pattern in patterns() {
        let asks_the_same = |other: &&&key_schema::layout::Declaration| {
            other.place == pattern.place && other.entities == pattern.entities
        };
        let first = patterns().find(|other| asks_the_same(&other)).expect("a pattern");
        assert!(asked.contains(&first.question.to_owned()), "nobody asks for {}", pattern.question);
    }
    for (entity, _) in ENTITIES {
        let by_key = record.values().flat_map(|asked| asked.reads.values()).any(|read| read.contains(*entity));
        let by_pattern = patterns().any(|pattern| pattern.entities.contains(entity));
        // A mark of a view says all by being there: the next put finds it.
        let is_found_by_puts = *entity == ViewMark::TYPE;
        assert_eq!(by_key || by_pattern, !is_found_by_puts, "who reads {entity}?");
        let mut writes = record.values().flat_map(|asked| &asked.writes);
        assert!(writes.any(|written| written.entity == *entity && written.write != "check"), "nobody writes {entity}");
    }
}

/// Every access pattern of the source is in the list that the charts are made of.
#[test]
fn every_access_pattern_is_listed() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/key-schema/src/layout");
    let mut questions = BTreeSet::new();
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        let Ok(text) = std::fs::read_to_string(&path) else { continue };
        let constants = text.split("pub const ").filter_map(|rest| rest.split_once(": "));
        let patterns = constants.filter(|(_, rest)| rest.starts_with("Pattern<") || rest.starts_with("Declaration"));
        questions.extend(patterns.filter_map(|(_, rest)| rest.split('"').nth(1)).map(str::to_owned));
    }
    let listed = PATTERNS.iter().chain(PATTERNS_OF_FUNCTIONS).map(|pattern| pattern.question.to_owned());
    assert_eq!(questions, listed.collect());
}
