//! The layouts of items and messages of each release, kept in `tests/fixtures`.
//!
//! - This release can read the items and messages of every earlier one.
//! - This release writes exactly the newest fixture. A change of a layout needs a new fixture beside the old one:
//!   `UPDATE_FIXTURES=1 cargo test -p tests --test suite layouts`.

mod fields;
mod items;
mod messages;
mod states;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{env, fs};

use key_schema::value::Timestamp;
use serde_json::Value;

/// The days of releases. Their fixtures must not change.
const RELEASED: &[&str] = &["2026-11-21"];

fn folder(kind: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(kind)
}

/// The fixtures of one kind, by the day of their creation.
fn fixtures(kind: &str, of: &str) -> BTreeMap<String, Value> {
    let Ok(files) = fs::read_dir(folder(kind).join(of)) else { return BTreeMap::new() };
    let read = files.map(|file| {
        let path = file.expect("a file").path();
        let text = fs::read_to_string(&path).expect("a text");
        let day = path.file_stem().and_then(|name| name.to_str()).expect("a day").to_owned();
        (day, serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display())))
    });
    read.collect()
}

/// Fails unless `written` is the newest fixture. With `UPDATE_FIXTURES=1`, writes it as today's fixture.
fn assert_newest(kind: &str, of: &str, written: &Value) {
    let fixtures = fixtures(kind, of);
    let newest = fixtures.last_key_value();
    if newest.is_some_and(|(_, newest)| newest == written) {
        return;
    }
    assert!(
        env::var_os("UPDATE_FIXTURES").is_some_and(|value| value == "1"),
        "{kind}/{of}: this release writes another layout than the newest fixture shows. If that is meant, and if the \
         last release can read it: UPDATE_FIXTURES=1 cargo test -p tests --test suite layouts\n{written:#}"
    );
    let today = env::var("FIXTURES_OF").unwrap_or_else(|_| Timestamp::now().day().to_string());
    let is_released = RELEASED.contains(&today.as_str()) && newest.is_some();
    assert!(!is_released, "{kind}/{of}: the fixtures of a release stay as they are");
    let folder = folder(kind).join(of);
    fs::create_dir_all(&folder).expect("a folder");
    // Object keys are sorted, so that equal layouts have equal texts.
    let text = serde_json::to_string_pretty(written).expect("JSON");
    fs::write(folder.join(format!("{today}.json")), text + "\n").expect("tests/fixtures is writable");
}
