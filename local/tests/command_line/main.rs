//! The command line of `local`.
#![cfg(unix)]
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "helpers of tests fail as tests do")]

mod bad_starts;
mod browsers;
mod history;
mod issuer;
mod migration;
mod payments;
mod replay;

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Output, Stdio};

const LOCAL: &str = env!("CARGO_BIN_EXE_local");

const WITH_QUEUES: &str = r"
Resources:
  Table:
    Type: AWS::DynamoDB::Table
    Properties:
      KeySchema: [{ AttributeName: PK, KeyType: HASH }]
      AttributeDefinitions: [{ AttributeName: PK, AttributeType: S }]
  WriteQueue:
    Type: AWS::SQS::Queue
    Properties:
      QueueName: writes
      RedrivePolicy: { deadLetterTargetArn: !GetAtt DeadLetters.Arn, maxReceiveCount: 5 }
  DeadLetters: { Type: AWS::SQS::Queue, Properties: { QueueName: dead } }
";

/// A running `local`, killed if the test gives up on it.
struct Running {
    process: Child,
    url: String,
    rest: BufReader<std::process::ChildStdout>,
}

impl Running {
    fn start(arguments: &[&str]) -> Self {
        let mut process =
            Command::new(LOCAL).args(arguments).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut rest = BufReader::new(process.stdout.take().unwrap());
        let mut first = String::new();
        rest.read_line(&mut first).unwrap();
        let url = first.strip_prefix("listening on ").expect("the first line says where it listens").trim().to_owned();
        Self { process, url, rest }
    }

    /// Starts `local` with this template and without the demo shop.
    fn start_with(template: &str, name: &str) -> Self {
        let file = std::env::temp_dir().join(format!("till-command-line-{name}-{}.yaml", uuid::Uuid::new_v4()));
        std::fs::write(&file, template).unwrap();
        let running = Self::start(&["--port", "0", "--empty", "--template", file.to_str().unwrap()]);
        std::fs::remove_file(&file).unwrap();
        running
    }

    fn line(&mut self, beginning: &str) -> String {
        loop {
            let mut line = String::new();
            assert_ne!(self.rest.read_line(&mut line).unwrap(), 0, "no line begins with {beginning}");
            if let Some(rest) = line.strip_prefix(beginning) {
                return rest.trim().to_owned();
            }
        }
    }

    fn port(&self) -> &str {
        self.url.rsplit(':').next().unwrap()
    }

    /// Sends the signal, and returns the exit code and the output after the first line.
    fn stop(mut self, signal: &str) -> (Option<i32>, String) {
        let id = self.process.id().to_string();
        assert!(Command::new("kill").args(["-s", signal, &id]).status().unwrap().success());
        let code = self.process.wait().unwrap().code();

        let mut printed = String::new();
        self.rest.read_to_string(&mut printed).unwrap();
        (code, printed)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        _ = self.process.kill();
    }
}

/// Runs `local` with arguments that it must refuse, and returns its single line on standard error.
fn refused(arguments: &[&str]) -> String {
    let Output { status, stdout, stderr } = Command::new(LOCAL).args(arguments).output().unwrap();
    assert_eq!(status.code(), Some(1));
    assert!(stdout.is_empty(), "nothing is announced that does not run");
    let stderr = String::from_utf8(stderr).unwrap();
    assert_eq!(stderr.lines().count(), 1, "{stderr}");
    stderr
}

#[test]
fn it_prints_a_token_and_commands_and_stops_on_ctrl_c() {
    let (code, printed) = Running::start(&["--port", "0"]).stop("INT");
    assert_eq!(code, Some(0));
    assert!(printed.contains("TOKEN=ey"), "{printed}");
    assert_eq!(printed.matches("  curl ").count(), 5, "one for a token and four to try: {printed}");

    let (routes, addresses) = printed.split_once("A token for the customer").expect("a token behind the routes");
    let scope = |line: &str| line.rsplit("  ").next().map(|scope| line.len() - scope.len());
    let columns: BTreeSet<_> = routes.lines().filter(|line| line.contains('/')).map(scope).collect();
    assert_eq!(columns.len(), 1, "the scopes stand in one column: {routes}");
    let last = addresses.lines().last().unwrap_or_default();
    assert!(last.starts_with("Open http:"), "the address is not scrolled away: {addresses}");
}

#[test]
fn quiet_prints_one_line_and_it_stops_on_sigterm() {
    let (code, printed) = Running::start(&["--port", "0", "--empty", "--quiet"]).stop("TERM");
    assert_eq!((code, printed.as_str()), (Some(0), ""));
}

#[test]
fn a_port_in_use_is_reported_with_a_remedy() {
    let running = Running::start(&["--port", "0", "--empty", "--quiet"]);
    let port = running.port();
    let expected = format!("error: port {port} is in use: stop what listens there or choose another with --port\n");
    assert_eq!(refused(&["--port", port]), expected);
}

#[test]
fn a_data_directory_in_use_is_named() {
    let directory = std::env::temp_dir().join(format!("till-command-line-{}-in-use", uuid::Uuid::new_v4()));
    let data = directory.to_str().unwrap();
    let running = Running::start(&["--port", "0", "--data", data, "--empty", "--quiet"]);
    let expected = format!("error: {data} is in use: stop the stack that uses it, or choose another with --data\n");
    assert_eq!(refused(&["--port", "0", "--data", data]), expected);
    drop(running);
    std::fs::remove_dir_all(&directory).unwrap();
}

#[test]
fn redrive_without_a_stack_says_how_to_start_one() {
    // No server can listen on this port.
    let expected =
        "error: no stack answers at http://127.0.0.1:1: start one with cargo local, or name its port with --port";
    let error = refused(&["redrive", "--port", "1"]);
    assert!(error.starts_with(expected), "{error}");
}

#[test]
fn redrive_of_a_stack_without_dead_letter_queues_says_so() {
    let template = WITH_QUEUES.replace("AWS::SQS::Queue", "AWS::SNS::Topic");
    let running = Running::start_with(&template, "no-queues");
    let error = refused(&["redrive", "--port", running.port()]);
    assert!(error.contains("has a dead-letter queue: there is nothing to move"), "{error}");
}

#[tokio::test]
async fn redrive_empties_the_dead_letter_queue() {
    let mut running = Running::start_with(WITH_QUEUES, "redrive");
    let sqs = running.line("SQS at ");
    for number in 0..12 {
        let message = format!(
            r#"{{ "QueueUrl": "https://sqs.us-east-1.amazonaws.com/000000000000/dead", "MessageBody": "{number}" }}"#
        );
        let request = reqwest::Client::builder().no_proxy().build().unwrap().post(&sqs).body(message);
        let answer = request.header("x-amz-target", "AmazonSQS.SendMessage").send().await.unwrap();
        assert!(answer.status().is_success());
    }
    let redrive = || Command::new(LOCAL).args(["redrive", "--port", running.port()]).output().unwrap();
    for printed in
        ["moved 12 messages from dead to writes\n", "moved 0 messages from dead to writes: there were none\n"]
    {
        let Output { status, stdout, stderr } = redrive();
        assert_eq!((status.code(), String::from_utf8(stdout).unwrap().as_str()), (Some(0), printed));
        assert!(stderr.is_empty(), "without a terminal there is no progress to see");
    }
}

/// `.ci/function-smoke` runs all functions with these variables.
#[test]
fn the_variables_of_a_function_name_this_machine_as_its_container_does() {
    let running = Running::start(&["--port", "0", "--empty", "--quiet"]);
    let printed = |more: &[&str]| {
        let arguments = [&["env", "--port", running.port(), "--host", "host.docker.internal"], more].concat();
        String::from_utf8(Command::new(LOCAL).args(arguments).output().unwrap().stdout).unwrap()
    };
    let all: serde_json::Value = serde_json::from_str(&printed(&[])).unwrap();
    let variables = all["CountOrders"].as_object().unwrap();
    assert_eq!(variables["TABLE_NAME"], "till-local-orders");
    assert!(variables["AWS_ENDPOINT_URL_S3"].as_str().unwrap().starts_with("http://host.docker.internal:"));
    let lines = variables.iter().map(|(name, value)| format!("{name}='{}'\n", value.as_str().unwrap()));
    assert_eq!(printed(&["CountOrders"]), lines.collect::<String>());
    assert_eq!(refused(&["env", "--port", running.port(), "Get"]), "error: the stack has no function Get\n");
}

/// The page of the tables offers a choice only if there are several.
#[tokio::test]
async fn the_tables_of_the_stack_can_be_chosen() {
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    for (tables, is_second_there) in [(&[][..], false), (&["--tables", "v1-v2"], true)] {
        let running = Running::start(&[&["--port", "0", "--empty", "--quiet"], tables].concat());
        let answer = client.get(format!("{}/_local/table", running.url)).send().await.unwrap();
        let page = answer.text().await.unwrap();
        assert!(page.contains("till-local-orders"), "{page}");
        assert_eq!(page.contains("till-local-orders-table-v2"), is_second_there, "{tables:?}");
        assert_eq!(running.stop("TERM").0, Some(0));
    }
}

#[tokio::test]
async fn the_shop_can_be_closed() {
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    for (state, status) in [("open", 200), ("closed", 503)] {
        let running = Running::start(&["--port", "0", "--quiet", "--shop", state]);
        let answer = client.get(format!("{}/products?category=none", running.url)).send().await.unwrap();
        assert_eq!(answer.status().as_u16(), status, "{state}");
        assert_eq!(running.stop("TERM").0, Some(0));
    }
}

#[test]
fn help_lists_the_options_and_commands() {
    let help = |arguments: &[&str]| {
        let Output { status, stdout, .. } = Command::new(LOCAL).args(arguments).output().unwrap();
        assert!(status.success());
        String::from_utf8(stdout).unwrap()
    };
    for (command, what) in
        [("redrive", "Move every dead letter"), ("reconcile", "Compare"), ("migrate", "Migrate the shop")]
    {
        let all = help(&["--help"]);
        let line = all.lines().find(|line| line.trim_start().starts_with(command)).unwrap();
        assert!(line.contains(what), "{line}");
        assert!(help(&[command, "--help"]).contains("--port <PORT>"));
    }
}

#[test]
fn the_demo_shop_survives_a_restart() {
    let directory = std::env::temp_dir().join(format!("till-command-line-{}", uuid::Uuid::new_v4()));
    let data = directory.to_str().unwrap();
    for _ in 0..2 {
        assert_eq!(Running::start(&["--port", "0", "--data", data]).stop("TERM").0, Some(0));
    }
    std::fs::remove_dir_all(&directory).unwrap();
}
