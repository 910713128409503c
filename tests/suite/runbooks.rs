//! The commands of the pages for operators can be executed: bash can parse them, and the stack has the outputs and resources
//! that they name. Each alarm has a row in docs/runbooks.md.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::process::{Command, Stdio};

use shop::read;

use crate::deployment::{ALARMING, alarms, keys, stack};

/// The pages with commands for operators.
const PAGES: [&str; 5] =
    ["docs/deploying.md", "docs/upgrading.md", "docs/running.md", "docs/alarms.md", "docs/restoring.md"];

/// The indented code blocks of the pages, without those in lists.
fn commands() -> Vec<String> {
    let (text, mut blocks, mut is_block) = (PAGES.map(read).join("\n"), Vec::<String>::new(), false);
    for line in text.lines() {
        match line.strip_prefix("    ").filter(|rest| is_block || !rest.starts_with(' ')) {
            Some(rest) if is_block => {
                let block = blocks.last_mut().expect("it was begun");
                *block = format!("{block}\n{rest}");
            }
            Some(rest) => blocks.push(rest.to_owned()),
            None => {}
        }
        is_block = line.starts_with("    ");
    }
    assert!(blocks.len() > 10, "{blocks:#?}");
    blocks
}

/// The arguments of all calls of this shell function.
fn asked_of<'a>(commands: &'a [String], function: &str) -> BTreeSet<&'a str> {
    let call = format!("$({function} ");
    let calls = commands.iter().flat_map(|block| block.split(call.as_str()).skip(1).collect::<Vec<_>>());
    calls.map(|rest| rest.split(|letter: char| !letter.is_alphanumeric()).next().unwrap_or_default()).collect()
}

#[test]
fn the_stack_has_the_outputs_and_resources_that_the_commands_name() {
    let (commands, template) = (commands(), stack("template.yaml"));
    let (outputs, resources) = (asked_of(&commands, "output"), asked_of(&commands, "resource_of"));
    assert!(outputs.len() > 5 && resources.len() > 2, "{outputs:?}, {resources:?}");
    let missing: Vec<_> = outputs.difference(&keys(&template["Outputs"])).copied().collect();
    assert!(missing.is_empty(), "template.yaml has no outputs {missing:?}");
    let missing: Vec<_> = resources.difference(&keys(&template["Resources"])).copied().collect();
    assert!(missing.is_empty(), "template.yaml has no resources {missing:?}");
}

/// The alarms in the table of docs/runbooks.md.
fn carried_out() -> BTreeSet<String> {
    let text = read("docs/runbooks.md");
    let rows = text.lines().filter_map(|line| line.strip_prefix("| `")).filter_map(|row| row.split(" |").next());
    rows.flat_map(|names| names.split(", ").map(|name| name.trim_matches('`').to_owned())).collect()
}

#[test]
fn a_table_says_of_each_alarm_whether_its_runbook_was_carried_out() {
    let templates = ALARMING.iter().copied().chain(["stacks/table-operations.yaml"]).map(stack).collect::<Vec<_>>();
    let known: BTreeSet<_> = templates.iter().flat_map(alarms).map(|(name, _)| name.to_owned()).collect();
    assert_eq!(carried_out(), known);
}

/// A page says: parameters are in `samconfig.toml`, and `Shop` is not. `--guided` writes all of them there, and
/// `--parameter-overrides` replaces those that are there.
#[test]
fn no_command_undoes_a_rule_of_its_page() {
    let undoing = |line: &&str| ["--guided", "--parameter-overrides"].iter().any(|option| line.contains(option));
    let text = PAGES.map(read).join("\n");
    let deployments: Vec<_> =
        text.lines().filter(|line| line.starts_with(' ') && line.contains("sam deploy")).collect();
    assert!(deployments.len() > 1);
    assert_eq!(deployments.into_iter().filter(undoing).collect::<Vec<_>>(), Vec::<&str>::new());
}

#[test]
fn bash_can_parse_the_commands() {
    // Blocks in the query language of CloudWatch Logs are left out.
    let of_shell = commands().into_iter().filter(|block| !block.starts_with("fields "));
    for block in of_shell {
        let bash = Command::new("bash").arg("-n").stdin(Stdio::piped()).stderr(Stdio::piped()).spawn();
        let mut bash = bash.expect("bash starts");
        bash.stdin.take().expect("its input").write_all(block.as_bytes()).expect("it reads");
        let done = bash.wait_with_output().expect("it ends");
        assert!(done.status.success(), "{block}\n{}", String::from_utf8_lossy(&done.stderr));
    }
}
