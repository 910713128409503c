//! A run by the functions of the stack, fed by the queue.

use copying::Assignment;
use devstack::Template;
use key_schema::entity::{CopyProgress, CopyTask, ItemKey, Phase, Repair};
use shop::PATIENCE;
use shop::events::event;
use shop::kills::Kills;

use super::MigratingShop;
use super::copying::{Operator, busy_shop, fill};
use crate::prelude::*;
use crate::roles::in_vain;

const QUEUE: &str = "till-local-copy-queue";
const LOST: &str = "till-local-lost-copies";

/// So many gift cards are more than a page of each segment.
const MANY: u32 = 660;

/// A function does one page of a segment in an invocation. A message whose invocation fails comes back after a second.
pub(super) fn hurried(template: &mut Template) {
    for function in &mut template.functions {
        function.environment.insert("MIGRATION_CACHE_MILLISECONDS".to_owned(), "0".to_owned());
        if function.handler == "copy-items" {
            function.timeout_seconds = 61;
        }
    }
    for queue in template.queues.iter_mut().filter(|queue| queue.name == QUEUE) {
        queue.visibility_timeout_seconds = 1;
    }
}

async fn open(cards: u32) -> (MigratingShop, Arc<Kills>) {
    let (shop, kills) = Shop::open_migrating_mortal(hurried).await;
    let next = shop.next_table().to_owned();
    let migrating = MigratingShop { shop, next };
    fill(&migrating).await;
    for card in 0..cards {
        migrating.shop.gift_card(&format!("CARD-{card}"), 100).await;
    }
    (migrating, kills)
}

async fn send(migrating: &MigratingShop, segment: &CopyProgress) {
    migrating.shop.sqs("SendMessage", QUEUE, json!({ "MessageBody": Assignment::of(segment).message() })).await;
}

impl Operator {
    /// Starts a run, and sends each segment this number of times.
    async fn start(&self, migrating: &MigratingShop, task: CopyTask, times: usize) -> Vec<CopyProgress> {
        let state = self.migrator.state().await.expect("the state");
        let segments = self.migrator.start(&state, task, 3).await.expect("the run starts");
        for segment in segments.iter().cycle().take(times * segments.len()) {
            send(migrating, segment).await;
        }
        segments
    }

    async fn segments(&self) -> Vec<CopyProgress> {
        self.migrator.segments().await.expect("the progress")
    }

    async fn is_done(&self) -> bool {
        self.segments().await.iter().all(|segment| segment.is_done)
    }
}

/// As the operator does, the test sends segments again that have no message: one in 32 messages is killed five times.
#[tokio::test(flavor = "multi_thread")]
async fn a_run_by_functions_that_are_killed_anywhere_ends_with_equal_tables() {
    let (migrating, kills) = open(MANY).await;
    let operator = Operator::of(&migrating);
    operator.step(Phase::Both).await;
    kills.begin(0.5, 16);
    operator.start(&migrating, CopyTask::Copy, 1).await;
    until("the run is done", async || {
        let mut left = operator.segments().await;
        left.retain(|segment| !segment.is_done);
        if migrating.shop.messages_in(QUEUE).await == 0 {
            for segment in &left {
                send(&migrating, segment).await;
            }
        }
        left.is_empty()
    })
    .await;
    kills.end();
    assert!(kills.killed() > 3, "{} invocations were killed", kills.killed());
    assert!(migrating.differences().await.is_empty());

    // A comparison by the functions has the same result as one by the operator.
    let compared = async |by_functions: bool| {
        if by_functions {
            operator.start(&migrating, CopyTask::Compare, 1).await;
            until("the comparison is done", async || operator.is_done().await).await;
        } else {
            operator.run(CopyTask::Compare).await;
        }
        let segments = operator.segments().await;
        assert!(segments.iter().all(|segment| segment.differences == 0 && segment.pages > 2), "{segments:?}");
        segments.into_iter().map(|segment| segment.sums).collect::<Vec<_>>()
    };
    let sums = compared(true).await;
    assert_eq!(sums, compared(false).await);
    assert!(sums.iter().flatten().all(|(_, sums)| sums.first == sums.next) && sums[0].len() > 5, "{sums:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn messages_that_come_several_times_neither_multiply_nor_disturb_each_other() {
    let (migrating, _) = open(MANY).await;
    let operator = Operator::of(&migrating);
    operator.step(Phase::Both).await;
    operator.start(&migrating, CopyTask::Copy, 4).await;
    until("the run is done", async || operator.is_done().await).await;
    until("no message is left", async || migrating.shop.messages_in(QUEUE).await == 0).await;
    let done = operator.segments().await;
    for segment in &done {
        send(&migrating, segment).await;
    }
    until("no message is left", async || migrating.shop.messages_in(QUEUE).await == 0).await;
    assert_eq!(operator.segments().await, done, "a segment that is done stays so");
    assert_eq!(migrating.shop.messages_in(LOST).await, 0);
    assert!(migrating.differences().await.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_of_an_earlier_run_does_nothing_although_its_segments_have_work_again() {
    let (migrating, _) = open(0).await;
    let operator = Operator::of(&migrating);
    operator.step(Phase::Both).await;
    let state = operator.migrator.state().await.expect("the state");
    let earlier = operator.migrator.start(&state, CopyTask::Copy, 3).await.expect("a run");
    let done = operator.run(CopyTask::Copy).await;
    let deleted = json!({ "TableName": migrating.next, "Key": { "PK": { "S": "PRODUCT#p1" }, "SK": { "S": "META" } } });
    migrating.shop.dynamodb("DeleteItem", &deleted).await;
    let state = operator.migrator.state().await.expect("the state");
    let newest = operator.migrator.start(&state, CopyTask::Copy, 3).await.expect("a run");
    let again = operator.migrator.start(&state, CopyTask::Copy, 3).await;
    assert!(matches!(again, Err(copying::Error::NotNow(_))), "two operators start a run at once");
    for segment in earlier.iter().chain(&done) {
        send(&migrating, segment).await;
    }
    until("the messages are gone", async || migrating.shop.messages_in(QUEUE).await == 0).await;
    assert_eq!(migrating.shop.messages_in(LOST).await, 0);
    assert_eq!(operator.segments().await, newest, "nobody has sent the newest run");
    assert_eq!(migrating.differences().await.len(), 1, "the copy is not put again");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_segment_that_fails_five_times_is_a_dead_letter_and_goes_on_when_it_is_redriven() {
    let (migrating, _) = open(0).await;
    let operator = Operator::of(&migrating);
    operator.step(Phase::Both).await;
    let denied = Fault::Refused { status: 400, exception: "AccessDeniedException" };
    migrating.shop.fault_proxy().inject(Match::action("Scan"), denied, usize::MAX);
    operator.start(&migrating, CopyTask::Copy, 1).await;
    migrating.shop.sqs("SendMessage", QUEUE, json!({ "MessageBody": "no assignment" })).await;
    until("all are dead", async || migrating.shop.messages_in(LOST).await == 4).await;
    assert_eq!(migrating.shop.messages_in(QUEUE).await, 0);

    migrating.shop.fault_proxy().heal();
    let redrive = format!("{}/_local/redrive", migrating.shop.url());
    let answer = reqwest::Client::new().post(redrive).send().await.expect("an answer");
    assert!(answer.status().is_success());
    until("the run is done", async || operator.is_done().await).await;
    assert!(migrating.differences().await.is_empty());
    until("nonsense is dead again", async || migrating.shop.messages_in(LOST).await == 1).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_sample_events_are_answered_while_no_migration_has_begun() {
    let migrating = MigratingShop::open().await;
    let invoke = async |name: &str| migrating.shop.consumer(name, &migrating.shop.endpoints())(event(name)).await;
    assert_eq!(invoke("copy-items").await, Ok(json!({ "batchItemFailures": [] })));
    let report = json!({ "repairs": 0, "items": 0, "failed": 0, "oldest": 0, "done": true });
    assert_eq!(invoke("repair-copies").await, Ok(report));
    assert!(migrating.shop.dump().await.is_empty() && migrating.shop.dump_of(&migrating.next).await.is_empty());
}

/// Makes the pairs of three products differ: one copy is stale, one is missing, and one has no item. The copies are in the
/// table that does not lead.
pub(super) async fn make_stale(migrating: &MigratingShop, phase: Phase) -> [ItemKey; 3] {
    let (table, prefix, sort) = match phase {
        Phase::NextLeads => (migrating.shop.table(), "p#", None),
        _ => (migrating.next.as_str(), "PRODUCT#", Some("META")),
    };
    let text = |text: &str| json!({ "S": text });
    let key = |product: &str| {
        let partition = format!("{prefix}{product}");
        json!({ "PK": text(&partition), "SK": text(sort.unwrap_or(&partition)) })
    };
    let p1 = format!("{prefix}p1");
    migrating.shop.set_in(table, [&p1, sort.unwrap_or(&p1)], "name", text("another")).await;
    migrating.shop.dynamodb("DeleteItem", &json!({ "TableName": table, "Key": key("p2") })).await;
    let mut extra = key("extra");
    extra["EntityType"] = text("product");
    migrating.shop.dynamodb("PutItem", &json!({ "TableName": table, "Item": extra })).await;
    ["p#p1", "p#p2", "p#extra"].map(|key| ItemKey { partition: key.to_owned(), sort: key.to_owned() })
}

pub(super) async fn leave_repair(migrating: &MigratingShop, phase: Phase, shard: u8, keys: Vec<ItemKey>) {
    let repair = Repair {
        repair_id: uuid::Uuid::new_v4().to_string().parse().expect("an id"),
        shard,
        since: Timestamp::now(),
        keys,
    };
    if phase != Phase::NextLeads {
        return migrating.shop.put(&repair).await;
    }
    let operator = Operator::of(migrating);
    let put = table::Write::put(&repair).expect("a repair");
    let writes = vec![(phase.leader(), put)];
    let put = operator.pairs.commit(writes, table::Budget::of(PATIENCE)).await;
    assert!(matches!(put, Ok(table::Commit::Done)), "{put:?}");
}

/// Works off a copy, a comparison and a repair from each of the tables.
#[tokio::test(flavor = "multi_thread")]
async fn every_permission_of_the_functions_is_needed_by_a_call() {
    let migrating = busy_shop().await;
    let operator = Operator::of(&migrating);
    for phase in [Phase::Both, Phase::NextLeads] {
        migrating.enter(phase).await;
        let repair = async || {
            let report = migrating.shop.consumer("repair-copies", &migrating.shop.endpoints())(json!({})).await;
            assert_eq!(report.expect("a report")["repairs"], 1);
        };
        for task in [CopyTask::Copy, CopyTask::Copy, CopyTask::Compare] {
            operator.start(&migrating, task, 1).await;
            until("the run is done", async || operator.is_done().await).await;
            make_stale(&migrating, phase).await;
        }
        let keys = make_stale(&migrating, phase).await.into();
        leave_repair(&migrating, phase, 0, keys).await;
        repair().await;
        assert!(migrating.differences().await.is_empty(), "{phase:?}");
    }
    // A function that runs longer than a page sends its message again.
    assert_eq!(migrating.shop.sqs_as("CopyItems", "SendMessage", QUEUE, json!({ "MessageBody": "{}" })).await.0, 200);
    let mut functions = migrating.shop.template().functions.clone();
    functions.retain(|function| ["CopyItems", "RepairCopies"].contains(&function.logical_id.as_str()));
    let vain: BTreeSet<_> = in_vain(&functions, &migrating.shop.guard().rulings()).into_iter().collect();
    // Progress and phase are read in the first table, which is the other one after the next change of `Tables`.
    let of_the_other = ["COPY#*", "MIGRATION"].map(|key| vain.iter().filter(|grant| grant.contains(key)).count());
    assert!(vain.len() == 2 && of_the_other == [1, 1], "{vain:#?}");
}

#[test]
fn a_deployment_has_the_functions_only_while_it_has_two_tables() {
    let of = |tables: &str| {
        let template = shop::tables::template_with(tables);
        let names = template.functions.iter().map(|function| function.logical_id.clone());
        let functions: BTreeSet<_> =
            names.filter(|name| ["CopyItems", "RepairCopies"].contains(&name.as_str())).collect();
        let queues = template.queues.iter().filter(|queue| [QUEUE, LOST].contains(&queue.name.as_str())).count();
        (functions.len(), queues, template.scheduled.contains_key("repair-copies"))
    };
    for (tables, expected) in
        [("v1", (0, 0, false)), ("v1-v2", (2, 2, true)), ("v2-v1", (2, 2, true)), ("v2", (0, 0, false))]
    {
        assert_eq!(of(tables), expected, "{tables}");
    }
}

pub(super) fn message(segment: &CopyProgress) -> Value {
    json!({ "Records": [{ "messageId": "m", "body": Assignment::of(segment).message() }] })
}
