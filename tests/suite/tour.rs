//! The commands of README.md and docs/tour.md do what the pages say, also when they are pasted a second time.

use std::process::Command;

use devstack::Stack;
use local::{demo, functions};
use shop::read;
use shop::template_text;
use tokio::task;

/// Makes a refused request fail the script, in a command substitution too.
const STRICT: &str = r#"
set -euo pipefail
shopt -s inherit_errexit
curl() { command curl --fail-with-body "$@"; }
"#;

/// The commands of a page: its indented blocks, and the last column of its tables of commands. Commands of cargo are left
/// out, because the test has no second build.
fn commands(page: &str) -> String {
    let text = read(page);
    let lines = text.lines().filter_map(|line| match line.strip_prefix("    ") {
        Some(command) => Some(command),
        None => line.strip_prefix("| ")?.strip_suffix("` |")?.rsplit_once('`').map(|(_, command)| command),
    });
    let lines: Vec<_> = lines.filter(|line| !line.starts_with("cargo ")).collect();
    assert!(lines.len() > 4, "{page}: {lines:#?}");
    lines.join("\n")
}

/// A demo shop as `cargo local` starts it.
async fn demo_shop() -> Stack {
    let template = local::template(&template_text()).expect("template.yaml is valid");
    let stack = Stack::start(local::options(template), functions::start_all).await;
    let stack = stack.expect("the stack starts");
    demo::create(&stack).await.expect("the demo shop is made");
    stack
}

/// Pastes the commands into a shell, and gives what it prints.
async fn paste(stack: &Stack, commands: &str) -> String {
    let address = stack.url().trim_start_matches("http://");
    let script = format!("{STRICT}{}", commands.replace("127.0.0.1:3000", address));
    let bash = task::spawn_blocking(move || Command::new("bash").arg("-c").arg(script).output());
    let output = bash.await.expect("no panic").expect("bash starts");
    let (printed, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{printed}\n{errors}");
    printed.into_owned()
}

/// The first status on each line that is no list. An order that was accepted may be placed sooner or later, and lists are
/// in the order of placing.
fn statuses(printed: &str) -> Vec<String> {
    let lines = printed.lines().filter(|line| !line.contains(r#""items":["#));
    let statuses = lines.filter_map(|line| line.split(r#""status":""#).nth(1)?.split('"').next());
    statuses.map(|status| status.replace("QUEUED", "PENDING")).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_first_order_of_the_readme_is_the_same_order_when_it_is_sent_again() {
    let (shop, commands) = (demo_shop().await, commands("README.md"));
    let first = paste(&shop, &commands).await;
    assert!(first.contains(r#""orderId""#), "{first}");
    assert_eq!(paste(&shop, &commands).await, first);
    shop.shutdown().await.expect("the stack stops");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_tour_shows_the_same_when_it_is_taken_again() {
    let (shop, commands) = (demo_shop().await, commands("docs/tour.md"));
    let first = statuses(&paste(&shop, &commands).await);
    for status in ["PENDING", "SHIPPED", "CANCELLED"] {
        assert!(first.iter().any(|shown| shown == status), "no {status}: {first:?}");
    }
    assert_eq!(statuses(&paste(&shop, &commands).await), first);
    shop.shutdown().await.expect("the stack stops");
}

#[test]
fn no_command_ends_with_a_comment_which_zsh_takes_for_arguments() {
    for page in ["README.md", "docs/tour.md", "docs/laptop.md", "docs/testing.md", "CONTRIBUTING.md"] {
        let text = read(page);
        let comment = text.lines().find(|line| line.starts_with("    ") && line.contains(" # "));
        assert_eq!(comment, None, "{page}");
    }
}
