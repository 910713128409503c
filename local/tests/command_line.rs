//! `local` as a user starts it.
#![cfg(unix)]
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "helpers of tests fail as tests do")]

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

const LOCAL: &str = env!("CARGO_BIN_EXE_local");

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

    fn port(&self) -> &str {
        self.url.rsplit(':').next().unwrap()
    }

    /// Sends the signal. Answers the exit code and what was printed after the first line.
    fn stop(mut self, signal: &str) -> (Option<i32>, String) {
        let began = Instant::now();
        let id = self.process.id().to_string();
        assert!(Command::new("kill").args(["-s", signal, &id]).status().unwrap().success());
        let code = self.process.wait().unwrap().code();
        assert!(began.elapsed() < Duration::from_secs(1), "it took {:?} to stop", began.elapsed());

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

/// Runs `local` with arguments that it must refuse, with one line on standard error.
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
    assert_eq!(printed.matches("  curl ").count(), 4, "one for a token and three to try: {printed}");
}

#[test]
fn quiet_prints_one_line_and_it_stops_on_sigterm() {
    let (code, printed) = Running::start(&["--port", "0", "--empty", "--quiet"]).stop("TERM");
    assert_eq!((code, printed.as_str()), (Some(0), ""));
}

#[test]
fn a_port_in_use_is_named_with_what_to_do() {
    let running = Running::start(&["--port", "0", "--empty", "--quiet"]);
    let port = running.port();
    let expected = format!("error: port {port} is in use: stop what listens there or choose another with --port\n");
    assert_eq!(refused(&["--port", port]), expected);
}

#[test]
fn a_template_that_is_not_there_is_named() {
    let error = refused(&["--port", "0", "--template", "no-such.yaml"]);
    assert!(error.starts_with("error: cannot read no-such.yaml: name the template with --template"), "{error}");
}

#[test]
fn a_data_directory_that_cannot_be_is_named() {
    let error = refused(&["--port", "0", "--data", "/dev/null/shop"]);
    assert!(error.starts_with("error: cannot use /dev/null/shop: choose a directory"), "{error}");
}

#[test]
fn the_demo_shop_survives_a_restart() {
    let directory = std::env::temp_dir().join(format!("till-command-line-{}", std::process::id()));
    let data = directory.to_str().unwrap();
    for _ in 0..2 {
        assert_eq!(Running::start(&["--port", "0", "--data", data]).stop("TERM").0, Some(0));
    }
    std::fs::remove_dir_all(&directory).unwrap();
}
