//! Each room keeps to its own business: the stack knows nothing of the shop.

use std::fs;
use std::path::{Path, PathBuf};

/// Words of the shop. `stock`, `queue` and `table` are not among them: they are also words of AWS or of English.
const WORDS: [&str; 18] = [
    "till",
    "order",
    "orders",
    "shop",
    "shops",
    "shopper",
    "shoppers",
    "product",
    "products",
    "customer",
    "customers",
    "cart",
    "carts",
    "invoice",
    "invoices",
    "discount",
    "discounts",
    "refund",
];

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    entries.flat_map(|path| if path.is_dir() { files_below(&path) } else { vec![path] }).collect()
}

/// The words of a text in lower case. `GetOrder` and `get_order` are two words each.
fn words(text: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut was_lower = false;
    for character in text.chars() {
        if !character.is_ascii_alphabetic() || (character.is_ascii_uppercase() && was_lower) {
            words.push(String::new());
        }
        if character.is_ascii_alphabetic() {
            words.last_mut().expect("a word").push(character.to_ascii_lowercase());
        }
        was_lower = character.is_ascii_lowercase();
    }
    words
}

#[test]
fn the_stack_has_no_word_of_the_shop() {
    let files = files_below(&workspace().join("local/devstack"));
    let sources: Vec<_> =
        files.iter().filter(|file| file.extension().is_some_and(|kind| kind == "rs" || kind == "toml")).collect();
    assert!(sources.len() > 60, "{sources:?}");
    let mut found = Vec::new();
    for file in sources {
        for (number, line) in fs::read_to_string(file).expect("a text").lines().enumerate() {
            let of_the_shop = words(line).into_iter().filter(|word| WORDS.contains(&word.as_str()));
            found.extend(of_the_shop.map(|word| format!("{}:{}: {word}", file.display(), number + 1)));
        }
    }
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn the_stack_depends_on_no_crate_of_the_workspace() {
    let manifest = fs::read_to_string(workspace().join("Cargo.toml")).expect("Cargo.toml");
    let own: Vec<_> = manifest.lines().filter_map(|line| Some(line.split_once(" = { path = ")?.0)).collect();
    assert!(own.contains(&"http-api") && own.contains(&"lambda"), "{own:?}");
    let stack = fs::read_to_string(workspace().join("local/devstack/Cargo.toml")).expect("Cargo.toml");
    assert!(!stack.contains("path ="), "a dependency by its path");
    let dependencies = stack.lines().filter_map(|line| line.split(['.', ' ']).next());
    let found: Vec<_> = dependencies.filter(|name| own.contains(name)).collect();
    assert!(found.is_empty(), "{found:?}");
}
