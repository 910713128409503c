//! docs/the-texts.md names only what exists: tests, files and commands.

use std::collections::BTreeSet;
use std::path::Path;
use std::{fs, process::Command};

use shop::read;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

const STATES: [&str; 3] = ["+", "~", "-"];

/// The cells of each row of the page's tables.
fn rows() -> Vec<Vec<String>> {
    let page = read("docs/the-texts.md");
    let rows = page.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| | the texts say"));
    rows.map(|row| {
        row.trim_start_matches('|')
            .strip_suffix('|')
            .unwrap_or(row)
            .split('|')
            .map(|cell| cell.trim().to_owned())
            .collect()
    })
    .collect()
}

/// What the page has between backticks.
fn quoted() -> BTreeSet<String> {
    let page = read("docs/the-texts.md");
    let parts = page.split('`').collect::<Vec<_>>();
    parts.into_iter().skip(1).step_by(2).map(str::to_owned).collect()
}

/// The names of all functions in the repository's code.
fn functions() -> BTreeSet<String> {
    let list = Command::new("git").args(["-C", ROOT, "ls-files", "*.rs"]).output().expect("git runs");
    let files = String::from_utf8(list.stdout).expect("a text");
    let texts = files.lines().filter_map(|file| fs::read_to_string(Path::new(ROOT).join(file)).ok());
    let names = texts.flat_map(|text| {
        let names = text.split("fn ").skip(1).map(|rest| {
            rest.chars().take_while(|letter| letter.is_ascii_alphanumeric() || *letter == '_').collect::<String>()
        });
        names.collect::<Vec<_>>()
    });
    names.collect()
}

/// Whether the text is the name of a test: a sentence of at least four words.
fn is_sentence(text: &str) -> bool {
    text.split('_').count() >= 4
        && text.chars().all(|letter| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '_')
}

#[test]
fn each_row_has_a_state_and_says_where_it_is_seen_or_why_not() {
    let rows = rows();
    assert!(rows.len() > 100, "only {} rows", rows.len());
    for row in &rows {
        let [state, says, does, seen] = row.as_slice() else { panic!("{row:?} has no four cells") };
        assert!(!says.is_empty(), "{row:?}");
        assert!(STATES.contains(&state.as_str()), "{row:?}");
        match state.as_str() {
            "+" => assert!(!seen.is_empty(), "{row:?}: where is it seen?"),
            _ => assert!(!does.is_empty(), "{row:?}: why not?"),
        }
    }
}

#[test]
fn each_test_and_each_command_of_the_texts_exists() {
    let (quoted, functions) = (quoted(), functions());
    let tests: BTreeSet<_> = quoted.iter().filter(|text| is_sentence(text)).cloned().collect();
    assert!(tests.len() > 60, "only {} tests are named", tests.len());
    let missing: Vec<_> = tests.difference(&functions).collect();
    assert!(missing.is_empty(), "there are no tests {missing:#?}");

    let aliases = read(".cargo/config.toml");
    for command in quoted.iter().filter_map(|text| text.strip_prefix("cargo ")) {
        let mut words = command.split(' ');
        let (program, first) = (words.next().unwrap_or_default(), words.next());
        let is_alias = aliases.lines().any(|line| line.starts_with(&format!("{program} = ")));
        assert!(is_alias || program == "test", "cargo {command}: there is no such command");
        if let (true, Some(subcommand)) = (program == "local", first) {
            let file = Path::new(ROOT).join(format!("local/src/cli/{subcommand}.rs"));
            assert!(file.exists(), "cargo {command}: there is no {}", file.display());
        }
    }
}
