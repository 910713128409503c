//! `cargo renew` writes all that is generated from the code and checked in: parts of the template and of the documentation,
//! sample events, fixtures and the ledger. The tests that compare these write them instead.

use std::process::{Command, ExitCode};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// In the order in which one needs what another has written. The first run of the ledger fails if a function is new, because
/// the ledger of before is compiled in. Each selects `tests`, too, so that all build the dependencies with the same features,
/// once.
const WRITERS: [&str; 7] = [
    "cargo test -p tests -p ordering --lib -- the_lists_are",
    "cargo test -p tests --test suite -- generated layouts the_events_succeed",
    "cargo test -p tests -p capacity --test ledger",
    "cargo test -p tests -p capacity --test ledger",
    "cargo test -p tests -p key-schema -p order-events -p capacity -p cost -p measure --lib --bins -- documentation page growth",
    "cargo test -p tests --test suite -- accesses migration::cost",
    ".ci/analytics --update",
];

fn main() -> ExitCode {
    let mut failed = Vec::new();
    for writer in WRITERS {
        let words: Vec<_> = writer.split(' ').collect();
        match Command::new(words[0]).args(&words[1..]).current_dir(ROOT).env("UPDATE_DOCS", "1").status() {
            Ok(status) if status.success() => failed.retain(|other| *other != writer),
            _ => failed.push(writer),
        }
    }
    for writer in &failed {
        eprintln!("not renewed, because it failed: {writer}");
    }
    if failed.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
