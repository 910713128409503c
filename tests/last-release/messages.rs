//! Reads the messages of this release with the last release's code. `.ci/last-release` builds and runs it.
#![allow(clippy::expect_used, reason = "tests")]

use std::path::PathBuf;
use std::{env, fs};

use ordering::Waiting;
use serde_json::Value;

/// Messages with a field that the last release does not know. Its drain makes them dead letters. The template replaces
/// the drain first; after a rollback they are redriven.
const EXCEPTIONS: &[&str] = &["capped", "of-cart", "of-codes", "shipped"];

#[test]
fn the_last_release_reads_the_messages_of_this_one() {
    let folder = PathBuf::from(env::var_os("FIXTURES").expect("FIXTURES")).join("messages");
    let mut count = 0;
    for kind in fs::read_dir(folder).expect("fixtures") {
        let kind = kind.expect("a folder");
        let newest = fs::read_dir(kind.path()).expect("a folder").map(|file| file.expect("a file").path()).max();
        let text = fs::read_to_string(newest.expect("a fixture")).expect("a text");
        let message: Value = serde_json::from_str(&text).expect("JSON");
        let read = Waiting::from_message(message["body"].as_str().expect("a body"));
        let name = kind.file_name().into_string().expect("a name");
        assert_eq!(read.is_err(), EXCEPTIONS.contains(&name.as_str()), "{name}: {read:?}");
        // The request hash in this release's attributes must be the same.
        if let (Ok(waiting), Some(hash)) = (&read, message["attributes"].get("requestHash")) {
            assert_eq!(&serde_json::to_value(waiting.order.basket.hash()).expect("JSON"), hash, "{name}");
        }
        count += 1;
    }
    println!("{count} messages");
    assert!(count > 1);
}
