//! Tests of the start and the stop of a stack.

use super::{Bench, TEMPLATE, functions, json_of};
use crate::{Functions, OptionError, Options, Stack, Template};

#[tokio::test]
async fn a_route_without_its_function_does_not_start() {
    let options = Options::new(Template::parse(TEMPLATE).unwrap());
    let error = Stack::start(options, |_, _| Ok(Functions::default())).await.err().unwrap().to_string();
    assert_eq!(error, "nothing answers POST /things/{id}: the stack was given no handler echo");
}

#[tokio::test]
async fn a_function_that_comes_twice_does_not_start() {
    let twice = || functions().into_iter().chain(functions()).collect();
    let options = Options::new(Template::parse(TEMPLATE).unwrap());
    let outcome = Stack::start(options, |_, _| Ok(Functions { handlers: twice(), ..Functions::default() })).await;
    let error = outcome.err().unwrap().to_string();
    assert_eq!(error, "Functions::handlers has two functions echo: each name may come once");
}

#[tokio::test]
async fn an_option_that_cannot_be_used_has_the_name_that_its_user_gives_it() {
    let bench = Bench::start().await;
    let sqs_port = bench.stack.sqs_url().rsplit(':').next().unwrap().parse().unwrap();
    let options = Options { sqs_port, ..Options::new(Template::parse(TEMPLATE).unwrap()) };
    let error = Stack::start(options, |_, _| Ok(Functions::default())).await.err().unwrap();
    let error = error.downcast::<OptionError>().unwrap();
    assert_eq!(error.option(), "sqs_port");
    assert!(error.with_name("--queues").to_string().ends_with("choose another with --queues"));
}

/// Asserts that only the owner may read the directory and the files in it.
#[cfg(unix)]
fn assert_private(directory: &std::path::Path) {
    use std::os::unix::fs::PermissionsExt;

    let mode = |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(directory), 0o700, "{}", directory.display());
    let files: Vec<_> = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(files.len() >= 3, "the table, the messages and the secret: {files:?}");
    for file in files {
        assert_eq!(mode(&file), 0o600, "{}", file.display());
    }
}

#[cfg(not(unix))]
fn assert_private(_: &std::path::Path) {}

#[tokio::test]
async fn a_stack_starts_with_the_data_of_an_earlier_one() {
    let directory = std::env::temp_dir().join(format!("devstack-{}", uuid::Uuid::new_v4()));
    let options = Options { data: Some(directory.clone()), ..Options::new(Template::parse(TEMPLATE).unwrap()) };
    let first = Stack::start(options.clone(), |_, _| Ok(Functions { handlers: functions(), ..Functions::default() }))
        .await
        .unwrap();
    let token = first.token("ada", "notes/read").unwrap();
    first.shutdown().await.unwrap();
    assert_private(&directory);

    let second =
        Stack::start(options, |_, _| Ok(Functions { handlers: functions(), ..Functions::default() })).await.unwrap();
    let client = crate::aws_json::local_client().unwrap();
    json_of(client.get(format!("{}/mine", second.url())).bearer_auth(token)).await;
    second.shutdown().await.unwrap();
    std::fs::remove_dir_all(&directory).unwrap();
}
