//! Pages of the documentation in which somebody has written the prose and the code writes the figures.
//!
//! A part that the code writes stands between two comments of its name, `<!-- costs -->` and `<!-- /costs -->`. A test
//! of the code that makes it [`check`]s the page, and so it cannot go stale: with `UPDATE_DOCS=1` the test writes it
//! instead.
//!
//! **Invariant: no other crate knows how a part is found in its page.**

#![warn(missing_docs)]

use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::{env, fs};

use anyhow::{Context, Result, ensure};

/// A part of a page: its name, and what is to stand there.
pub type Part<'a> = (&'a str, String);

/// A file of the documentation.
pub fn file(name: &str) -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs")).join(name)
}

/// Whether tests write the documentation instead of checking it.
pub fn is_written() -> bool {
    env::var_os("UPDATE_DOCS").is_some_and(|value| value == "1")
}

/// Fails unless the page holds these parts; or writes them into it.
///
/// # Errors
/// The page is stale, and `command` would write it; or it has no place for a part.
pub fn check(page: &str, parts: &[Part<'_>], command: &str) -> Result<()> {
    if is_written() {
        return write(page, parts);
    }
    let written = read(page)?;
    ensure!(with(page, &written, parts)? == written, "docs/{page} is stale: UPDATE_DOCS=1 {command}");
    Ok(())
}

/// The same of a whole file.
///
/// # Errors
/// The file is stale, and `command` would write it.
pub fn check_file(name: &str, content: &str, command: &str) -> Result<()> {
    if is_written() {
        return fs::write(file(name), content).with_context(|| format!("docs/{name} cannot be written"));
    }
    ensure!(read(name).unwrap_or_default() == content, "docs/{name} is stale: UPDATE_DOCS=1 {command}");
    Ok(())
}

/// Writes these parts into the page.
///
/// # Errors
/// The page has no place for one of them, or cannot be written.
pub fn write(page: &str, parts: &[Part<'_>]) -> Result<()> {
    let _writing = one_at_a_time();
    let current = with(page, &read(page)?, parts)?;
    fs::write(file(page), current).with_context(|| format!("docs/{page} cannot be written"))
}

/// What stands in a part of the page.
///
/// # Errors
/// The page has no such part.
pub fn part(page: &str, name: &str) -> Result<String> {
    let text = {
        let _writing = one_at_a_time();
        read(page)?
    };
    let (_, part, _) = split(page, &text, name)?;
    Ok(part.trim().to_owned())
}

/// Tests write their parts of a page at the same time.
fn one_at_a_time() -> MutexGuard<'static, ()> {
    static WRITING: Mutex<()> = Mutex::new(());
    WRITING.lock().unwrap_or_else(PoisonError::into_inner)
}

fn read(name: &str) -> Result<String> {
    fs::read_to_string(file(name)).with_context(|| format!("docs/{name} cannot be read"))
}

/// The text with these parts in their places.
fn with(page: &str, text: &str, parts: &[Part<'_>]) -> Result<String> {
    parts.iter().try_fold(text.to_owned(), |text, (name, part)| {
        let (before, _, after) = split(page, &text, name)?;
        Ok(format!("{before}<!-- {name} -->\n\n{part}\n<!-- /{name} -->{after}"))
    })
}

/// What stands before a part, in it, and after it.
fn split<'a>(page: &str, text: &'a str, name: &str) -> Result<(&'a str, &'a str, &'a str)> {
    let missing = || format!("docs/{page} has no place for the part {name}");
    let (before, rest) = text.split_once(&format!("<!-- {name} -->")).with_context(missing)?;
    let (part, after) = rest.split_once(&format!("<!-- /{name} -->")).with_context(missing)?;
    Ok((before, part, after))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "Prose.\n\n<!-- a -->\nold\n<!-- /a -->\n\nMore.\n\n<!-- b -->\n<!-- /b -->\n";

    #[test]
    fn a_part_is_put_into_its_place_and_nothing_else_is_touched() {
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
