//! Every file, heading and section that a comment or a document names exists. Decisions are short and numbered.

use std::fs;
use std::path::{Component, Path, PathBuf};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

/// The extensions of the files that a comment may name.
const KINDS: [&str; 7] = ["md", "rs", "yaml", "toml", "py", "json", "svg"];

/// A file of the project: its path from the root, and its prose.
struct Page {
    path: PathBuf,
    prose: String,
}

/// Every file with prose, without hidden folders other than those of CI.
fn pages() -> Vec<Page> {
    let (mut folders, mut pages) = (vec![PathBuf::new()], Vec::new());
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(Path::new(ROOT).join(&folder)).expect("a folder") {
            let entry = entry.expect("an entry");
            let name = entry.file_name().into_string().expect("a text");
            let path = folder.join(&name);
            let is_hidden = name.starts_with('.') && ![".ci", ".github"].contains(&name.as_str());
            if is_hidden || name == "target" {
                continue;
            }
            if entry.file_type().expect("a kind").is_dir() {
                folders.push(path);
            } else if let Ok(text) = fs::read_to_string(entry.path()) {
                pages.push(Page { prose: prose(&path, &text), path });
            }
        }
    }
    assert!(pages.len() > 500, "only {} files were found", pages.len());
    pages
}

/// The prose of a file: a document as a whole, or the comments of any other file.
fn prose(path: &Path, text: &str) -> String {
    let sign = match path.extension().and_then(|kind| kind.to_str()) {
        Some("md") => return text.to_owned(),
        Some("rs") => "//",
        Some("yaml" | "toml" | "py") | None => "#",
        _ => return String::new(),
    };
    let comments = text.lines().map(str::trim_start).filter(|line| line.starts_with(sign));
    comments.map(|line| line.trim_start_matches(['/', '!', '#'])).collect::<Vec<_>>().join("\n")
}

/// Whether the named file exists: relative to the root, the page's folder, a parent of that, or the `src` of one of
/// these.
fn is_found(from: &Path, named: &str) -> bool {
    let found = |path: PathBuf| Path::new(ROOT).join(path).exists();
    from.ancestors().skip(1).any(|folder| found(normal(&folder.join(named))) || found(folder.join("src").join(named)))
}

/// The path with `..` resolved.
fn normal(path: &Path) -> PathBuf {
    path.components().fold(PathBuf::new(), |mut path, part| {
        match part {
            Component::ParentDir => _ = path.pop(),
            part => path.push(part),
        }
        path
    })
}

/// The paths of files in a text.
fn named_files(prose: &str) -> impl Iterator<Item = &str> {
    let is_of_path = |letter: char| letter.is_ascii_alphanumeric() || "_./-".contains(letter);
    let words = prose.split(move |letter| !is_of_path(letter)).map(|word| word.trim_end_matches('.'));
    // Splitting leaves web addresses with leading slashes or a port.
    let is_address = |word: &&str| word.starts_with(|letter: char| letter == '/' || letter.is_ascii_digit());
    words.filter(|word| word.contains('/')).filter(move |word| !is_address(word)).filter(|word| {
        let kind = word.rsplit_once('.').map(|(_, kind)| kind);
        kind.is_some_and(|kind| KINDS.contains(&kind))
    })
}

/// The anchors of a document's headings, as GitHub makes them.
fn anchors(document: &str) -> Vec<String> {
    let headings =
        document.lines().filter(|line| line.starts_with('#')).map(|line| line.trim_start_matches('#').trim());
    let kept = |letter: &char| letter.is_alphanumeric() || " -_".contains(*letter);
    headings.map(|heading| heading.to_lowercase().chars().filter(kept).collect::<String>().replace(' ', "-")).collect()
}

#[test]
fn every_file_that_a_comment_or_a_document_names_exists() {
    let mut missing = Vec::new();
    for Page { path, prose } in pages() {
        for named in named_files(&prose).filter(|named| !is_found(&path, named)) {
            missing.push(format!("{}: {named}", path.display()));
        }
    }
    assert!(missing.is_empty(), "these files are named and not there:\n{}", missing.join("\n"));
}

#[test]
fn every_link_of_a_document_has_a_target() {
    let (mut broken, mut links) = (Vec::new(), 0);
    for Page { path, prose } in
        pages().into_iter().filter(|page| page.path.extension().is_some_and(|kind| kind == "md"))
    {
        // A link may span lines, and its address has no spaces.
        for rest in prose.split("](").skip(1) {
            let address: String =
                rest.chars().take_while(|letter| *letter != ')').filter(|c| !c.is_whitespace()).collect();
            if address.contains("://") {
                continue;
            }
            links += 1;
            let (file, anchor) = address.split_once('#').unwrap_or((&address, ""));
            let folder = path.parent().expect("a folder");
            let target = if file.is_empty() { path.clone() } else { normal(&folder.join(file)) };
            let is_right = match fs::read_to_string(Path::new(ROOT).join(target)) {
                Ok(text) => anchor.is_empty() || anchors(&text).iter().any(|known| known == anchor),
                Err(_) => false,
            };
            if !is_right {
                broken.push(format!("{}: {address}", path.display()));
            }
        }
    }
    assert!(links > 20, "only {links} links were found");
    assert!(broken.is_empty(), "these links are broken:\n{}", broken.join("\n"));
}

#[test]
fn every_section_that_is_named_in_quotes_exists() {
    let mut missing = Vec::new();
    for Page { path, prose } in pages() {
        let prose = prose.split_whitespace().collect::<Vec<_>>().join(" ");
        for (document, named) in [("README.md", "README, \""), ("README.md", "README.md, \"")]
            .map(|(document, sign)| (document.to_owned(), sign.to_owned()))
            .into_iter()
            .chain(documents().into_iter().map(|name| (format!("docs/{name}"), format!("docs/{name}, \""))))
        {
            let text = fs::read_to_string(Path::new(ROOT).join(&document)).expect("a document");
            for rest in prose.split(&named).skip(1) {
                let section = rest.split('"').next().unwrap_or_default();
                // A decision's heading begins with its number.
                let is_named =
                    |title: &str| title == section || title.split_once(". ").is_some_and(|(_, rest)| rest == section);
                let heading = |line: &str| line.starts_with('#') && is_named(line.trim_start_matches('#').trim());
                if !text.lines().any(heading) {
                    missing.push(format!("{}: {named}{section}\"", path.display()));
                }
            }
        }
    }
    assert!(missing.is_empty(), "these sections are named and not there:\n{}", missing.join("\n"));
}

/// The most words of a decision, with its heading.
const MOST_WORDS: usize = 120;

#[test]
fn every_decision_is_short_and_is_in_the_table_under_its_subject() {
    let text = fs::read_to_string(Path::new(ROOT).join("docs/decisions.md")).expect("a document");
    let (table, subjects) = text.split_once("\n## ").expect("subjects");
    let mut numbers = Vec::new();
    for subject in subjects.split("\n## ") {
        let (name, decisions) = subject.split_once('\n').expect("a subject");
        let mut here = Vec::new();
        for decision in decisions.split("\n### ").skip(1) {
            let (number, _) = decision.split_once(". ").expect("a number");
            let words = decision.split_whitespace().count();
            assert!(words <= MOST_WORDS, "decision {number} has {words} words");
            here.push(number.parse::<usize>().unwrap_or_else(|_| panic!("{number} is no number")));
        }
        let row = table.lines().find_map(|line| line.strip_prefix(&format!("| {name} | ")));
        let row = row.unwrap_or_else(|| panic!("the table has no row for {name}"));
        assert_eq!(numbers_of_row(row), here, "{name}");
        numbers.extend(here);
    }
    numbers.sort_unstable();
    assert!(numbers.len() > 20, "only {} decisions were found", numbers.len());
    assert!(numbers.iter().copied().eq(1..=numbers.len()), "a number is missing or given twice: {numbers:?}");
}

/// The numbers of a row such as `1-3, 51 |`.
fn numbers_of_row(row: &str) -> Vec<usize> {
    let number = |text: &str| text.parse::<usize>().unwrap_or_else(|_| panic!("{text} is no number"));
    let ranges = row.trim_end_matches(['|', ' ']).split(", ");
    ranges
        .flat_map(|range| {
            let (first, last) = range.split_once('-').unwrap_or((range, range));
            number(first)..=number(last)
        })
        .collect()
}

fn documents() -> Vec<String> {
    let entries = fs::read_dir(Path::new(ROOT).join("docs")).expect("a folder");
    let names = entries.map(|entry| entry.expect("an entry").file_name().into_string().expect("a text"));
    names.filter(|name| Path::new(name).extension().is_some_and(|kind| kind == "md")).collect()
}
