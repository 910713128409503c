//! Pages of the documentation with handwritten prose and generated figures.
//!
//! A generated part is between two comments with its name, `<!-- costs -->` and `<!-- /costs -->`; in a YAML file,
//! `# <functions>` and `# </functions>`. A test [`check`]s the part against the code that generates it, so it cannot become stale. `cargo renew`
//! runs these tests with `UPDATE_DOCS=1`: then they write the part instead.
//!
//! **Invariant: no other crate knows how a part is found in its page.**

#![warn(missing_docs)]

use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::{env, fs};

use anyhow::{Context, Result, ensure};

/// A part of a page: its name and its content.
pub type Part<'a> = (&'a str, String);

/// The path of a file of the documentation.
pub fn file(name: &str) -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs")).join(name)
}

/// Whether tests write the documentation instead of checking it.
pub fn is_written() -> bool {
    env::var_os("UPDATE_DOCS").is_some_and(|value| value == "1")
}

/// Fails unless the page contains these parts, or writes them into it.
pub fn check(page: &str, parts: &[Part<'_>]) -> Result<()> {
    if is_written() {
        return write(page, parts);
    }
    let written = read(page)?;
    ensure!(with(page, &written, parts)? == written, "docs/{page} is stale: cargo renew");
    Ok(())
}

/// Like [`check`], for a whole file.
pub fn check_file(name: &str, content: &str) -> Result<()> {
    // A file that stays as it is keeps its time, so that nothing is built again.
    if read(name).unwrap_or_default() == content {
        return Ok(());
    }
    ensure!(is_written(), "docs/{name} is stale: cargo renew");
    fs::write(file(name), content).with_context(|| format!("docs/{name} cannot be written"))
}

/// Writes these parts into the page.
pub fn write(page: &str, parts: &[Part<'_>]) -> Result<()> {
    let _writing = one_at_a_time();
    let current = with(page, &read(page)?, parts)?;
    check_file(page, &current)
}

/// A lock, because tests write their parts of a page concurrently.
fn one_at_a_time() -> MutexGuard<'static, ()> {
    static WRITING: Mutex<()> = Mutex::new(());
    WRITING.lock().unwrap_or_else(PoisonError::into_inner)
}

fn read(name: &str) -> Result<String> {
    fs::read_to_string(file(name)).with_context(|| format!("docs/{name} cannot be read"))
}

/// The text with these parts replaced.
fn with(page: &str, text: &str, parts: &[Part<'_>]) -> Result<String> {
    parts.iter().try_fold(text.to_owned(), |text, (name, part)| {
        let (before, after) = split(page, &text, name)?;
        let (open, close) = marks(page, name);
        Ok(if is_yaml(page) {
            format!("{before}{open}\n{part}{close}{after}")
        } else {
            format!("{before}{open}\n\n{part}\n{close}{after}")
        })
    })
}

fn is_yaml(page: &str) -> bool {
    std::path::Path::new(page).extension().is_some_and(|extension| extension == "yaml")
}

/// The comments before and after a part.
fn marks(page: &str, name: &str) -> (String, String) {
    if is_yaml(page) {
        (format!("# <{name}>"), format!("# </{name}>"))
    } else {
        (format!("<!-- {name} -->"), format!("<!-- /{name} -->"))
    }
}

/// The text before a part, and after it.
fn split<'a>(page: &str, text: &'a str, name: &str) -> Result<(&'a str, &'a str)> {
    let missing = || format!("docs/{page} has no place for the part {name}");
    let (open, close) = marks(page, name);
    let (before, rest) = text.split_once(&open).with_context(missing)?;
    let (_, after) = rest.split_once(&close).with_context(missing)?;
    Ok((before, after))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "Prose.\n\n<!-- a -->\nold\n<!-- /a -->\n\nMore.\n\n<!-- b -->\n<!-- /b -->\n";

    #[test]
    fn only_the_named_part_is_replaced() {
        let parts = [("b", "two\n".to_owned()), ("a", "one\n".to_owned())];
        let current = with("p.md", PAGE, &parts).unwrap();
        assert_eq!(
            current,
            "Prose.\n\n<!-- a -->\n\none\n\n<!-- /a -->\n\nMore.\n\n<!-- b -->\n\ntwo\n\n<!-- /b -->\n"
        );
        assert_eq!(with("p.md", &current, &parts).unwrap(), current, "once more changes nothing");
    }

    #[test]
    fn a_part_without_a_place_is_named() {
        let error = with("p.md", PAGE, &[("c", String::new())]).unwrap_err();
        assert_eq!(error.to_string(), "docs/p.md has no place for the part c");
    }
}
