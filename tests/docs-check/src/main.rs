//! `cargo renew` writes all that is generated from the code and checked in: parts of the template and of the documentation,
//! sample events, fixtures and the ledger. The tests that compare these write them instead.

use std::process::{Command, ExitCode};

/// The tests, in the order in which one needs what another has written. The first run of the ledger fails if a function is
/// new, because the ledger of before is compiled in.
const WRITERS: [&str; 5] = [
    "-p tests --test suite -- generated layouts",
    "-p capacity --test ledger",
    "-p capacity --test ledger",
    "-p key-schema -p order-events -p capacity -p cost -p measure -- documentation page growth",
    "-p tests --test suite -- accesses moving::cost",
];

fn main() -> ExitCode {
    let mut failed = Vec::new();
    for writer in WRITERS {
        let mut cargo = Command::new(env!("CARGO"));
        cargo.arg("test").args(writer.split(' ')).env("UPDATE_DOCS", "1");
        match cargo.status() {
            Ok(status) if status.success() => failed.retain(|other| *other != writer),
            _ => failed.push(writer),
        }
    }
    let mut analytics = Command::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../.ci/analytics"));
    if !analytics.arg("--update").status().is_ok_and(|status| status.success()) {
        failed.push("(.ci/analytics --update)");
    }
    for writer in &failed {
        eprintln!("not renewed, because it failed: cargo test {writer}");
    }
    if failed.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
