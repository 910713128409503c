//! The commands of the pages for operators can be executed: bash can parse them, and the stack has the outputs and resources
//! that they name. Each alarm has a row in docs/runbooks.md.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::process::{Command, Stdio};

use shop::read;
use yaml_serde::Value as Yaml;

use crate::deployment::{ALARMING, alarms, keys, stack};

/// The pages with commands for operators.
const PAGES: [&str; 5] =
    ["docs/deploying.md", "docs/upgrading.md", "docs/running.md", "docs/alarms.md", "docs/restoring.md"];

/// The scripts that a person starts at a laptop.
const SCRIPTS: [&str; 6] = [".ci/change", ".ci/deploy", ".ci/pack", ".ci/preflight", ".ci/restore-table", ".ci/story"];

/// The indented code blocks of the pages, also those in lists.
fn commands() -> Vec<String> {
    let (text, mut blocks, mut open) = (PAGES.map(read).join("\n\n"), Vec::<String>::new(), None);
    let mut above = "";
    for line in text.lines() {
        let indent = line.len() - line.trim_start().len();
        match open {
            Some(first) if indent >= first => {
                let block = blocks.last_mut().expect("it was begun");
                *block = format!("{block}\n{}", &line[first..]);
            }
            _ if indent >= 4 && above.is_empty() => {
                blocks.push(line.trim_start().to_owned());
                open = Some(indent);
            }
            _ => open = None,
        }
        above = line;
    }
    assert!(blocks.len() > 50, "{blocks:#?}");
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

/// What a command finds by the beginning of a name belongs to its stack, and to no other one. Vaults have one name in all.
#[test]
fn no_command_finds_resources_of_another_stack() {
    let template = stack("template.yaml");
    let nested = |of: &str| {
        let is_nested = |one: &Yaml| one["Type"] == "AWS::CloudFormation::Stack";
        let all = template["Resources"].as_mapping().expect("resources").iter().filter(|(_, one)| is_nested(one));
        all.map(|(name, _)| format!("{of}-{}-1Q2W3E", name.as_str().expect("a text"))).collect::<Vec<_>>()
    };
    let others = ["till-staging", "till-2", "tills"].map(nested).concat();
    let scripts = SCRIPTS.iter().map(|name| read(name));
    let text = scripts.chain(PAGES.map(read)).collect::<Vec<_>>().join("\n").replace("$STACK", "till");
    let mut found = 0;
    for line in text.lines() {
        let of_functions = line.split("starts_with(").skip(1).filter_map(|rest| rest.split('\'').nth(1));
        let of_options = line.split("-prefix ").skip(1).filter_map(|rest| rest.split(' ').next());
        for prefix in of_functions.chain(of_options).map(|prefix| prefix.trim_matches('"')) {
            found += 1;
            let other = others.iter().find(|other| other.starts_with(prefix));
            assert_eq!(other, None, "{line} also finds what another stack has");
            let is_own = prefix == "till-backups-" || nested("till").iter().any(|own| own.starts_with(prefix));
            assert!(is_own, "{line} does not find what the stack $STACK has");
        }
    }
    assert!(found >= 5, "{found}");
    let fixed = read("docs/deploying.md").lines().filter(|line| line.contains("'till-State")).count();
    assert_eq!(fixed, 0, "the stack is $STACK");
}

/// macOS lacks these, or an older one does. The script that restores says which Bash it needs.
#[test]
fn scripts_and_commands_also_run_on_macos() {
    for name in SCRIPTS.iter().chain(&PAGES) {
        let text = read(name);
        for lacking in
            ["sha256sum", "realpath", "readlink -f", "xargs -r", "sed -i", "date -d", "grep -P", "mapfile", "stat -c"]
        {
            assert!(!text.contains(lacking), "{name}: {lacking}");
        }
    }
}

/// A rule of the template asks for several parameters or for none of them.
#[test]
fn what_a_command_empties_is_emptied_with_what_belongs_to_it() {
    let template = stack("template.yaml");
    let (parameters, rules) = (keys(&template["Parameters"]), read("template.yaml"));
    let all_empty = rules.split("!And\n").skip(1).map(|rest| {
        let lines = rest.lines().map_while(|line| line.trim().strip_prefix("- !Equals [!Ref "));
        lines.filter_map(|line| line.strip_suffix(", \"\"]")).collect::<BTreeSet<_>>()
    });
    let (groups, mut found) = (all_empty.collect::<Vec<_>>(), 0);
    for command in commands().iter().flat_map(|block| block.lines()).filter_map(|line| line.strip_prefix(".ci/change "))
    {
        let changed: Vec<_> = command.split(' ').filter_map(|word| word.split_once('=')).collect();
        assert!(changed.iter().all(|(name, _)| parameters.contains(name)), "{command}");
        let emptied: BTreeSet<_> =
            changed.iter().filter(|(_, value)| value.is_empty()).map(|(name, _)| *name).collect();
        for group in groups.iter().filter(|group| !group.is_disjoint(&emptied)) {
            assert!(group.is_subset(&emptied), "{command} leaves some of {group:?}");
            found += 1;
        }
    }
    assert!(found > 0);
}

/// An account has one OpenID Connect provider of GitHub, whichever stage made it.
#[test]
fn every_stage_uses_the_provider_that_the_account_has() {
    let text = read("docs/upgrading.md");
    let roles: Vec<_> = text.split("--template-file .github/deployer.yaml").skip(1).collect();
    assert!(roles.len() >= 2);
    for command in roles {
        let command = command.split("\n\n").next().expect("a command");
        assert!(command.contains("\"GitHubProviderArn=$PROVIDER\""), "{command}");
    }
    assert_eq!(stack(".github/deployer.yaml")["Resources"]["GitHub"]["DeletionPolicy"], "Retain");
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
