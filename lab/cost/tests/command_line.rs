//! The command line of `cost`.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use std::path::PathBuf;
use std::process::{Command, Output};

fn cost(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_cost")).args(arguments).output().unwrap()
}

/// A file of this test's own.
fn file(name: &str, text: &str) -> PathBuf {
    let file = std::env::temp_dir().join(format!("till-cost-{name}-{}.yaml", std::process::id()));
    std::fs::write(&file, text).unwrap();
    file
}

#[test]
fn the_example_profile_results_in_a_bill() {
    let example = cost(&["--example"]);
    assert!(example.status.success());
    let profile = file("profile", &String::from_utf8(example.stdout).unwrap());

    let bill = cost(&["--profile", profile.to_str().unwrap()]);
    let text = String::from_utf8(bill.stdout).unwrap();
    assert!(text.starts_with("1,000,000 orders a month in us-east-1"), "{text}");
    assert!(text.contains("\ntotal "), "{text}");

    std::fs::remove_file(profile).unwrap();
}

#[test]
fn an_error_in_a_profile_or_a_price_list_names_the_file_and_the_field() {
    let profile = file("bad-profile", "orders: many\n");
    let prices = file("bad-prices", "region: nowhere\n");
    let (bad_profile, bad_prices) = (profile.to_str().unwrap(), prices.to_str().unwrap());
    let example = file("example", &String::from_utf8(cost(&["--example"]).stdout).unwrap());
    for (arguments, complaint) in [
        (vec!["--profile", bad_profile], format!("error: {bad_profile}: orders: invalid value: string \"many\"")),
        (
            vec!["--profile", example.to_str().unwrap(), "--prices", bad_prices],
            format!("error: {bad_prices}: missing field"),
        ),
        (vec!["--profile", "no-such.yaml"], "error: cannot read no-such.yaml: name it with --profile".to_owned()),
        (
            vec!["--prices", bad_prices],
            "error: the following required arguments were not provided:\n  --profile <FILE>".to_owned(),
        ),
    ] {
        let Output { status, stderr, .. } = cost(&arguments);
        let stderr = String::from_utf8(stderr).unwrap();
        assert!(!status.success() && stderr.starts_with(&complaint), "{stderr}");
    }
    for file in [profile, prices, example] {
        std::fs::remove_file(file).unwrap();
    }
}
