//! `cargo local migrate`, against running stacks. Nobody shops meanwhile, so nothing has to settle.

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use devstack::wait::PATIENCE;

use super::{LOCAL, Running, refused};

const TABLES: [&str; 2] = ["till-local-orders", "till-local-orders-table-v2"];

const QUEUE: &str = "https://sqs.us-east-1.amazonaws.com/000000000000/till-local-copy-queue";

/// A stack with two tables and the demo shop.
struct Migration(Running);

impl Migration {
    fn start() -> Self {
        Self(Running::start(&["--port", "0", "--tables", "v1-v2"]))
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(LOCAL);
        command.args(["migrate", "--settle", "0", "--port", self.0.port()]).args(arguments);
        command
    }

    fn done(&self, arguments: &[&str], expected: &str) -> String {
        let (is_done, text) = outcome(&mut self.command(arguments));
        assert!(is_done && text.contains(expected), "{arguments:?}: {text}");
        text
    }

    fn refused(&self, arguments: &[&str], expected: &str) {
        let (is_done, text) = outcome(&mut self.command(arguments));
        assert!(!is_done && text.contains(expected), "{arguments:?}: {text}");
    }
}

/// Whether the command succeeds, and what it prints.
fn outcome(command: &mut Command) -> (bool, String) {
    let Output { status, stdout, stderr } = command.output().unwrap();
    let texts = [stdout, stderr].map(|text| String::from_utf8(text).unwrap());
    (status.success(), texts.concat())
}

#[tokio::test]
async fn a_migration_goes_to_its_end_by_commands() {
    let migration = Migration::start();
    migration.done(&["status"], "phase first");
    migration.refused(&["start"], "copy has no place in the phase first");
    migration.refused(&["back"], "no further step this way");
    migration.refused(&["advance"], "--old-release-is-gone");
    migration.done(&["advance", "--old-release-is-gone"], "phase both");
    migration.refused(&["advance"], "run migrate start");
    migration.refused(&["start", "--read-units", "10"], "need --here");
    migration.done(&["start", "--segments", "2"], "2 of 2 segments done");
    let status = migration.done(&["status"], "copy: 2 of 2 segments done");
    assert!(!status.contains("an earlier phase"), "{status}");
    migration.done(&["advance"], "phase compare");
    migration.refused(&["advance"], "run migrate compare");
    let compared = migration.done(&["compare", "--patterns", "all"], "0 differ");
    assert!(compared.contains("a product by id, with description, stock and stats"), "{compared}");
    for phase in ["handover", "takeover", "nextLeads", "next"] {
        migration.done(&["advance"], &format!("phase {phase}"));
    }
    let status = migration.done(&["status"], &format!("repairs due: 0 in {}, 0 in {}", TABLES[0], TABLES[1]));
    assert!(status.contains("the last run was in an earlier phase"), "{status}");
    let shop = reqwest::Client::builder().no_proxy().build().unwrap();
    let products = shop.get(format!("{}/products?category=kitchen", migration.0.url)).send().await.unwrap();
    assert!(products.status().as_u16() < 500, "the next table answers");

    let none = ["verify", "s3://till-local-archive-bucket/AWSDynamoDB/none"];
    migration.refused(&none, "it is no export, or it is not complete yet");
    migration.done(&["back"], "phase nextLeads");
    migration.refused(&none, "is in use, so the export is not compared with it");
    // The same by the command itself.
    migration.done(&["start", "--here", "--segments", "2", "--read-units", "5000"], "2 of 2 segments done");
    migration.done(&["compare", "--here"], "0 differ");
    migration.done(&["back"], "phase takeover");
}

#[test]
fn the_functions_go_on_when_the_command_is_stopped_and_the_same_command_shows_the_result() {
    let migration = Migration::start();
    migration.done(&["advance", "--old-release-is-gone"], "phase both");
    let mut command = migration.command(&["start", "--segments", "3"]).stdout(Stdio::piped()).spawn().unwrap();
    let mut told = String::new();
    BufReader::new(command.stdout.take().unwrap()).read_line(&mut told).unwrap();
    assert!(told.contains("Ctrl-C leaves them at work"), "{told}");
    let id = command.id().to_string();
    assert!(Command::new("kill").args(["-s", "INT", &id]).status().unwrap().success());
    command.wait().unwrap();

    let begin = Instant::now();
    while !outcome(&mut migration.command(&["status"])).1.contains("copy: 3 of 3 segments done") {
        assert!(begin.elapsed() < PATIENCE, "the functions have stopped, too");
        std::thread::sleep(Duration::from_millis(100));
    }
    let shown = migration.done(&["start"], "this run is done (--again starts another one)");
    assert!(shown.contains("copy: 3 of 3 segments done"), "{shown}");
    let again = migration.done(&["start", "--again"], "4 of 4 segments done");
    assert!(again.contains(" 0 written"), "{again}");
}

/// As for a deployed stack, with the queue of a stack that does not exist.
#[test]
fn a_start_whose_messages_are_not_sent_is_repaired_by_the_same_command() {
    let mut migration = Migration::start();
    let endpoints =
        [("DYNAMODB", "DynamoDB at "), ("SQS", "SQS at ")].map(|(service, line)| (service, migration.0.line(line)));
    migration.done(&["advance", "--old-release-is-gone"], "phase both");
    let start = |more: &[&str]| {
        let mut command = Command::new(LOCAL);
        for (service, url) in &endpoints {
            command.env(format!("AWS_ENDPOINT_URL_{service}"), url);
        }
        for name in ["AWS_REGION", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"] {
            command.env(name, "us-east-1");
        }
        let tables = ["--table", TABLES[0], "--next-table", TABLES[1], "start", "--segments", "2"];
        outcome(command.args(["migrate", "--settle", "0"]).args(tables).args(more))
    };
    let (is_done, text) = start(&[]);
    assert!(!is_done && text.contains("name the queue of the stack's functions with --copy-queue"), "{text}");
    migration.refused(&["advance"], "run migrate start");

    let (is_done, text) = start(&["--copy-queue", &QUEUE.replace("copy-queue", "no-queue")]);
    assert!(!is_done && text.contains("run the same command again"), "{text}");
    migration.refused(&["advance"], "2 segments of the run are not done");
    let (is_done, text) = start(&["--copy-queue", QUEUE]);
    assert!(is_done && text.contains("2 of 2 segments done"), "{text}");
    migration.done(&["advance"], "phase compare");
}

#[test]
fn a_stack_with_one_table_has_nothing_to_migrate() {
    let running = Running::start(&["--port", "0", "--empty", "--quiet"]);
    let error = refused(&["migrate", "status", "--port", running.port()]);
    assert!(error.contains("has one table: start it with cargo local --tables v1-v2"), "{error}");
}
