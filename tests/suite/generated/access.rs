//! `docs/access.md`: what each function may do, for those who review a change of its rights.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use key_schema::access::{Access, Action, changed};
use lambda::Grant;

use super::roles::{Declared, declared};

/// One line for each function.
pub(super) fn functions() -> String {
    let mut text = "| function | reads | writes | other services |\n|---|---|---|---|\n".to_owned();
    for Declared { function, access, grants, .. } in declared() {
        let (mut reads, mut writes) = (BTreeMap::<_, Vec<_>>::new(), BTreeMap::<_, Vec<_>>::new());
        for one in access.into_iter().flatten() {
            let (column, verb) = match one.action {
                Action::Query => (&mut reads, ""),
                Action::BatchGetItem | Action::GetItem if one.is_of_keys => (&mut reads, "existence of "),
                Action::BatchGetItem | Action::GetItem => (&mut reads, "items "),
                Action::ConditionCheckItem => (&mut reads, "checks "),
                Action::PutItem if one.is_transactional => (&mut writes, "puts in transactions "),
                Action::UpdateItem if one.is_transactional => (&mut writes, "changes in transactions "),
                Action::DeleteItem if one.is_transactional => (&mut writes, "deletes in transactions "),
                Action::PutItem => (&mut writes, "puts "),
                Action::UpdateItem => (&mut writes, "changes "),
                Action::DeleteItem => (&mut writes, "deletes "),
            };
            column.entry(verb).or_default().push(subject(one));
        }
        let others = grants.iter().map(service).collect::<Vec<_>>().join("; ");
        _ = writeln!(text, "| `{}` | {} | {} | {others} |", function.name(), listed(reads), listed(writes));
    }
    text
}

/// The attributes that an update of each kind of item may name.
pub(super) fn attributes() -> String {
    let mut text = "| entity | attributes |\n|---|---|\n".to_owned();
    for (entity, attributes) in changed() {
        let attributes = attributes.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
        _ = writeln!(text, "| `{entity}` | {attributes} |");
    }
    text
}

/// An entity, or the question of a Query.
fn subject(Access { action, subject, partition, .. }: &Access) -> String {
    let subject =
        if *action == Action::Query || subject.contains(' ') { (*subject).to_owned() } else { format!("`{subject}`") };
    if partition.contains("guest-") { format!("{subject} (guests alone)") } else { subject }
}

fn listed(column: BTreeMap<&str, Vec<String>>) -> String {
    let parts = column.into_iter().map(|(verb, mut subjects)| {
        subjects.sort();
        subjects.dedup();
        // A question may have commas in it.
        format!("{verb}{}", subjects.join(if verb.is_empty() { "; " } else { ", " }))
    });
    parts.collect::<Vec<_>>().join("; ")
}

fn service(Grant { actions, resource, only }: &Grant) -> String {
    let only = only.map(|(key, values)| format!(" ({key}: {})", values.join(", "))).unwrap_or_default();
    let actions = actions.iter().map(|action| format!("`{action}`")).collect::<Vec<_>>().join(", ");
    format!("{actions} on `{resource}`{only}")
}
