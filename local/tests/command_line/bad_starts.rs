//! Each bad start ends with a line that says what to do, and changes nothing.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use super::{LOCAL, Running};

/// The data directory of a stopped stack, deleted at the end.
struct Kept(PathBuf);

impl Kept {
    fn new() -> Self {
        let directory = std::env::temp_dir().join(format!("till-bad-starts-{}", uuid::Uuid::new_v4()));
        let data = directory.to_str().unwrap();
        assert_eq!(Running::start(&["--port", "0", "--empty", "--quiet", "--data", data]).stop("TERM").0, Some(0));
        Self(directory)
    }

    fn files(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let files = fs::read_dir(&self.0).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_file());
        let mut files: Vec<_> = files.map(|path| (path.clone(), fs::read(path).unwrap())).collect();
        files.sort();
        files
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        _ = fs::remove_dir_all(&self.0);
    }
}

/// Runs the command, and returns its exit code and what it says.
fn run(arguments: &[&str]) -> (Option<i32>, String) {
    let region = [("AWS_REGION", "us-east-1"), ("AWS_ACCESS_KEY_ID", "a"), ("AWS_SECRET_ACCESS_KEY", "a")];
    let mut command = Command::new(LOCAL);
    command.args(arguments).envs(region).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut process = command.spawn().unwrap();
    let mut announced = String::new();
    BufReader::new(process.stdout.take().unwrap()).read_line(&mut announced).unwrap();
    if !announced.is_empty() {
        process.kill().unwrap();
    }
    let Output { status, stderr, .. } = process.wait_with_output().unwrap();
    assert_eq!(announced, "", "{arguments:?} starts");
    (status.code(), String::from_utf8(stderr).unwrap())
}

#[test]
fn a_bad_argument_is_refused_with_what_to_write() {
    for (arguments, advice) in [
        (&["--tables", "v3"][..], "[possible values: v1, v1-v2, v2-v1, v2]"),
        (&["--shop", "ajar"], "[possible values: open, closed]"),
        (&["--cors-origin", "foo"], "write scheme and host, and the port unless it is the default"),
        (&["--cors-origin", "https://shop.example/"], "write scheme and host, and the port unless it is the default"),
        (&["--search", "9200"], "write a URL, such as https://service.example"),
        (&["--payments", "stripe"], "write a URL, such as https://service.example"),
        (&["--issuer", "me", "--audience", "till"], "write a URL, such as https://service.example"),
        (&["--issuer", "https://sign-in.example"], "--audience <AUDIENCE>"),
        (&["audit"], "Usage: cargo local audit --table <TABLE>"),
        (&["--nothing"], "Usage: cargo local [OPTIONS]"),
    ] {
        let (code, said) = run(arguments);
        assert_eq!(code, Some(2), "{said}");
        assert!(said.starts_with("error: ") && said.contains(advice), "{arguments:?}: {said}");
    }
}

#[test]
fn a_start_over_something_unusable_is_refused_in_one_line_that_says_what_to_do() {
    for (arguments, advice) in [
        (&["--template", "no-such.yaml"][..], "cannot read no-such.yaml: name the template with --template"),
        (&["--data", "/dev/null/shop"], "cannot use /dev/null/shop: choose a directory you may write to with --data"),
        (
            &["--search", "http://127.0.0.1:1"],
            "no OpenSearch answers at http://127.0.0.1:1: start it or choose another with --search",
        ),
        (&["--payments", "http://127.0.0.1:1"], "--payments needs the environment variable PAYMENT_API_KEY"),
        (
            &["--issuer", "http://127.0.0.1:1", "--audience", "till"],
            "cannot read http://127.0.0.1:1/.well-known/openid-configuration: name an OpenID Connect issuer with --issuer",
        ),
    ] {
        refused_in_one_line(&[&["--port", "0", "--empty"], arguments].concat(), advice);
    }
}

#[test]
fn a_start_over_a_damaged_file_is_refused_in_one_line_and_changes_nothing() {
    let emptied = |file: &Path| fs::write(file, "").unwrap();
    let foreign = |file: &Path| fs::write(file, "{ this is something else\n").unwrap();
    let overwritten = |file: &Path| {
        let mut bytes = fs::read(file).unwrap();
        bytes.get_mut(4096..).unwrap().fill(0xff);
        fs::write(file, bytes).unwrap();
    };
    let table = "restore a copy, delete it";
    for (file, damage, advice) in [
        ("table.sqlite", &emptied as &dyn Fn(&Path), "is empty: restore a copy, delete it to start anew"),
        ("table.sqlite", &foreign, table),
        ("table.sqlite", &overwritten, table),
        ("token-secret", &emptied, "delete it or choose another directory with --data"),
        ("queues.jsonl", &foreign, "delete it or choose another directory with --data"),
    ] {
        let kept = Kept::new();
        damage(&kept.0.join(file));
        let before = kept.files();
        refused_in_one_line(&["--port", "0", "--empty", "--data", kept.0.to_str().unwrap()], advice);
        let changed = kept.files().into_iter().zip(before).filter(|(after, before)| after != before);
        let changed: Vec<_> = changed.map(|((path, _), _)| path).collect();
        assert_eq!(changed, Vec::<PathBuf>::new(), "{file}");
    }
}

#[test]
fn a_command_about_a_table_that_does_not_exist_says_so_once() {
    let mut running = Running::start(&["--port", "0", "--empty"]);
    let dynamodb = running.line("DynamoDB at ");
    let arguments = ["audit", "--table", "nope"];
    let region = [("AWS_REGION", "us-east-1"), ("AWS_ACCESS_KEY_ID", "a"), ("AWS_SECRET_ACCESS_KEY", "a")];
    let audit = Command::new(LOCAL).args(arguments).envs(region).env("AWS_ENDPOINT_URL_DYNAMODB", dynamodb).output();
    let said = String::from_utf8(audit.unwrap().stderr).unwrap();
    let expected = "error: cannot audit the table: the table cannot be read: DynamoDB has no such table: check its name, \
                    the account and the region\n";
    assert_eq!(said, expected);
}

fn refused_in_one_line(arguments: &[&str], advice: &str) {
    let (code, said) = run(arguments);
    assert_eq!(code, Some(1), "{arguments:?}: {said}");
    // The log may say more, but only one line is the error.
    let errors: Vec<_> = said.lines().filter(|line| line.starts_with("error: ")).collect();
    assert!(errors.len() == 1 && errors[0].contains(advice), "{arguments:?}: {said}");
}
