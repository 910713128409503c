//! EventBridge rules that send events of a bus to queues.

use anyhow::{Context, Result, bail, ensure};
use yaml_serde::{Mapping, Value as Yaml};

use super::filter::Pattern;
use super::{Queue, of_type};
use crate::intrinsic::Scope;

/// The bus of a rule that names none. AWS's own services send their events to it.
pub(crate) const DEFAULT_BUS: &str = "default";

/// A rule: which events of a bus go to which queues.
#[derive(Debug, Clone, PartialEq)]
pub struct Rule {
    /// The bus's name. AWS's own services send their events to the bus `default`.
    pub bus: String,
    /// The events that the rule matches.
    pub pattern: Pattern,
    /// The names of the queues that get them.
    pub queues: Vec<String>,
}

/// Reads every rule. A rule with a schedule, or with a target that is not a queue of the template, is an error: the
/// laptop stack would leave it out silently otherwise.
pub(super) fn read_all(scope: &Scope, resources: &Mapping, queues: &[Queue]) -> Result<Vec<Rule>> {
    let rules = of_type(scope, resources, "AWS::Events::Rule")?.into_iter();
    rules.map(|(id, rule)| read(scope, rule, queues).context(id.to_owned())).collect()
}

fn read(scope: &Scope, rule: &Yaml, queues: &[Queue]) -> Result<Rule> {
    let properties = rule.get("Properties").unwrap_or(&Yaml::Null);
    ensure!(
        properties.get("ScheduleExpression").is_none(),
        "ScheduleExpression is not known to the laptop stack: give the function an event of type Schedule"
    );
    let bus = scope.text_or(properties, "EventBusName", DEFAULT_BUS)?;
    let pattern = scope.required(properties, "EventPattern")?;
    let targets = properties.get("Targets").and_then(Yaml::as_sequence).context("Targets is missing")?;
    let targets = targets.iter().map(|target| {
        for unknown in ["Input", "InputPath", "InputTransformer"] {
            ensure!(target.get(unknown).is_none(), "{unknown} is not known to the laptop stack");
        }
        let arn = scope.required_text(target, "Arn")?;
        match queues.iter().find(|queue| queue.arn() == arn) {
            Some(queue) => Ok(queue.name.clone()),
            None => bail!("{arn} is not a queue of this template"),
        }
    });
    let pattern = Pattern::parse(&pattern.to_string()).context("EventPattern")?;
    Ok(Rule { bus, pattern, queues: targets.collect::<Result<_>>().context("Targets")? })
}
