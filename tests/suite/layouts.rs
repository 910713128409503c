//! The layouts of items and messages of each release, kept in `tests/fixtures`.
//!
//! - This version can read the items and messages of every released one.
//! - This version writes exactly its own fixture, which may change until the version is in [`RELEASED`]:
//!   `cargo renew`.

mod fields;
mod items;
mod messages;
mod states;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

/// The versions that were released. Their fixtures must not change.
const RELEASED: &[&str] = &[];

const VERSION: &str = env!("CARGO_PKG_VERSION");

fn folder(kind: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(kind)
}

/// The fixtures of one kind, by their version.
fn fixtures(kind: &str, of: &str) -> BTreeMap<String, Value> {
    let Ok(files) = fs::read_dir(folder(kind).join(of)) else { return BTreeMap::new() };
    let read = files.map(|file| {
        let path = file.expect("a file").path();
        let text = fs::read_to_string(&path).expect("a text");
        let version = path.file_stem().and_then(|name| name.to_str()).expect("a version").to_owned();
        (version, serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display())))
    });
    read.collect()
}

/// Fails unless `written` is this version's fixture. `cargo renew` writes it.
fn assert_own(kind: &str, of: &str, written: &Value) {
    if fixtures(kind, of).get(VERSION) == Some(written) {
        return;
    }
    assert!(
        docs_check::is_written(),
        "{kind}/{of}: {VERSION} writes another layout than its fixture shows. If that is meant: cargo \
         renew\n{written:#}"
    );
    assert!(!RELEASED.contains(&VERSION), "{kind}/{of}: {VERSION} is released, so a new layout needs a new version");
    let folder = folder(kind).join(of);
    fs::create_dir_all(&folder).expect("a folder");
    // Object keys are sorted, so that equal layouts have equal texts.
    let text = serde_json::to_string_pretty(written).expect("JSON");
    fs::write(folder.join(format!("{VERSION}.json")), text + "\n").expect("tests/fixtures is writable");
}
