//! `cargo local import` and `cargo local export`, against running stacks.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::{Command, Output};

use super::{LOCAL, Running, refused};

/// A directory that is removed when it is dropped.
struct Directory(PathBuf);

impl Directory {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("till-command-line-history-{name}-{}", uuid::Uuid::new_v4()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn file(&self, name: &str) -> String {
        self.0.join(name).to_str().unwrap().to_owned()
    }

    fn write(&self, name: &str, text: &str) -> String {
        let file = self.file(name);
        std::fs::write(&file, text).unwrap();
        file
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Runs a command, and returns its exit code and both outputs.
fn run(arguments: &[&str]) -> (Option<i32>, String, String) {
    let Output { status, stdout, stderr } = Command::new(LOCAL).args(arguments).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (status.code(), text(stdout), text(stderr))
}

fn history() -> String {
    let mut lines = String::new();
    for id in 0..30 {
        writeln!(
            lines,
            r#"{{"type":"customer","customerId":"c{id}","username":"c{id}","email":"c{id}@example.com","name":"C","createdAt":"2019-01-01"}}"#
        )
        .unwrap();
    }
    lines += r#"{"type":"product","productId":"tea","name":"Tea","category":"drinks","price":{"amount":500,"currency":"EUR"}}"#;
    lines.push('\n');
    for id in 0..200 {
        writeln!(
            lines,
            r#"{{"type":"order","orderId":"o{id}","customerId":"c{}","status":"DELIVERED","placedAt":"2020-05-01","lines":[{{"productId":"tea","name":"Tea","quantity":1,"unitPrice":{{"amount":450,"currency":"EUR"}}}}],"total":{{"amount":450,"currency":"EUR"}},"card":{{"amount":{{"amount":450,"currency":"EUR"}},"transfer":{{"reference":"bank-{id}","amount":450}}}}}}"#,
            id % 30
        )
        .unwrap();
    }
    lines
}

#[test]
fn a_history_moves_from_one_stack_to_another() {
    let directory = Directory::new("moves");
    let source = directory.write("history.ndjson", &history());
    let [one, other] = [(); 2].map(|()| Running::start(&["--port", "0", "--empty", "--quiet"]));
    let (code, printed, _) = run(&["import", &source, "--check", "--port", one.port()]);
    assert!(code == Some(0) && printed.starts_with("231 could be written, 0 there already, 0 refused\n"), "{printed}");
    let (code, printed, errors) = run(&["import", &source, "--port", one.port()]);
    assert!(code == Some(0) && printed.starts_with("231 written, 0 there already, 0 refused\n"), "{printed}{errors}");
    // A slow import logs its speed every ten seconds.
    let is_log_alone = errors.lines().all(|line| line.contains(" lines a second, "));
    assert!(is_log_alone && !errors.contains('\r'), "without a terminal there is a progress bar: {errors}");
    let (_, printed, _) = run(&["import", &source, "--port", one.port()]);
    assert_eq!(printed.lines().next(), Some("0 written, 231 there already, 0 refused"));

    let [first, second] = ["first", "second"].map(|name| directory.file(name));
    let (code, printed, errors) = run(&["export", &first, "--port", one.port()]);
    assert_eq!((code, printed.as_str(), errors.as_str()), (Some(0), "customer 30, order 200, product 1\n", ""));
    assert_eq!(run(&["import", &first, "--port", other.port()]).0, Some(0));
    assert_eq!(run(&["export", &second, "--port", other.port()]).0, Some(0));
    assert!(std::fs::read(&first).unwrap() == std::fs::read(&second).unwrap(), "the files differ");
    assert!(!std::path::Path::new(&directory.file("first.part")).exists());
}

/// The process is killed some times, at points that depend on the machine's speed.
#[test]
fn an_import_that_is_killed_is_started_again() {
    let directory = Directory::new("killed");
    let source = directory.write("history.ndjson", &history());
    let running = Running::start(&["--port", "0", "--empty", "--quiet"]);
    for milliseconds in [30, 60, 90, 120, 150] {
        let mut import = Command::new(LOCAL);
        let import = import.args(["import", &source, "--units-per-second", "2000", "--port", running.port()]);
        let mut import = import.stdout(std::process::Stdio::null()).spawn().unwrap();
        std::thread::sleep(std::time::Duration::from_millis(milliseconds));
        _ = import.kill();
        import.wait().unwrap();
    }
    let (code, printed, errors) = run(&["import", &source, "--port", running.port()]);
    assert!(code == Some(0) && printed.contains(" 0 refused\n"), "{printed}{errors}");
    let exported = directory.file("exported");
    let (_, printed, _) = run(&["export", &exported, "--port", running.port()]);
    assert_eq!(printed, "customer 30, order 200, product 1\n");
}

#[test]
fn a_refused_line_is_printed_reported_and_fails_the_import() {
    let directory = Directory::new("refused");
    let good = r#"{"type":"customer","customerId":"ada","username":"ada","email":"ada@example.com","name":"Ada","createdAt":"2019-01-01"}"#;
    let source = directory.write("history.ndjson", &format!("{good}\n\n{}\n", good.replace("Ada", "Eve")));
    let report = directory.file("report");
    let running = Running::start(&["--port", "0", "--empty", "--quiet"]);
    let (code, printed, errors) = run(&["import", &source, "--report", &report, "--port", running.port()]);
    assert_eq!((code, errors.as_str()), (Some(1), "error: 1 lines were refused\n"));
    let reason = format!("{source}:3: customer ada is also in {source}:1\n1 written, 0 there already, 1 refused\n");
    assert!(printed.starts_with(&reason), "{printed}");
    let lines: Vec<serde_json::Value> =
        std::fs::read_to_string(&report).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((&lines[0]["line"], &lines[0]["type"], &lines[0]["id"]), (&3.into(), &"customer".into(), &"ada".into()));
    assert_eq!((&lines[1]["totals"]["new"], &lines[1]["totals"]["refused"]), (&1.into(), &1.into()));
}

#[test]
fn what_is_missing_is_named() {
    let error = refused(&["import", "no-such-file", "--port", "1"]);
    assert!(error.starts_with("error: no stack answers at http://127.0.0.1:1"), "{error}");
    let error = refused(&["import", "no-such-file", "--table", "orders"]);
    assert!(error.starts_with("error: --table needs --status-shards and --product-shards"), "{error}");
    let running = Running::start(&["--port", "0", "--empty", "--quiet"]);
    let error = refused(&["import", "no-such-file", "--port", running.port()]);
    assert!(error.starts_with("error: cannot read no-such-file"), "{error}");
    let error = refused(&["export", "no-such-directory/file", "--port", running.port()]);
    assert!(error.starts_with("error: cannot write no-such-directory/file"), "{error}");
}
