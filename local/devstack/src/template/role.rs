//! The roles of a template, and their policies.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use serde_json::Value as Json;
use yaml_serde::{Mapping, Value as Yaml};

use super::of_type;
use crate::iam::Policy;
use crate::intrinsic::Scope;
use crate::resource::{Resource, policy_arn, role_arn};

/// An IAM role with its policies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Role {
    /// Its logical id: `GetNoteRole`.
    pub name: String,
    /// Its inline policies, and then the managed ones.
    pub policies: Vec<Policy>,
    /// How many of them are inline.
    pub inline: usize,
}

/// Every role of the template and of its nested stacks, by its ARN.
#[derive(Default)]
pub(super) struct Roles(BTreeMap<String, Role>);

impl Roles {
    /// Reads every role of a stack, and makes it known to references.
    pub(super) fn read(&mut self, scope: &mut Scope, resources: &Mapping) -> Result<()> {
        let mut managed = BTreeMap::new();
        for (id, resource) in of_type(scope, resources, "AWS::IAM::ManagedPolicy")? {
            let policy = scope.resolve(properties(resource)).and_then(|owner| document(&owner));
            managed.insert(policy_arn(id), policy.with_context(|| id.to_owned())?);
            scope.define(id, Resource::ManagedPolicy(id.to_owned()));
        }
        for (id, resource) in of_type(scope, resources, "AWS::IAM::Role")? {
            let (policies, inline) = policies(scope, properties(resource), &managed).context(id.to_owned())?;
            self.0.insert(role_arn(id), Role { name: id.to_owned(), policies, inline });
            scope.define(id, Resource::Role(id.to_owned()));
        }
        Ok(())
    }

    pub(super) fn of_function(&self, scope: &Scope, properties: &Yaml) -> Result<Role> {
        let arn = scope.required_text(properties, "Role")?;
        let role =
            self.0.get(&arn).with_context(|| format!("Role: {arn} is not the Arn of a role of this template"))?;
        Ok(role.clone())
    }
}

fn policies(scope: &Scope, properties: &Yaml, managed: &BTreeMap<String, Policy>) -> Result<(Vec<Policy>, usize)> {
    let list = |name: &str| properties.get(name).and_then(Yaml::as_sequence).into_iter().flatten();
    let mut policies = Vec::new();
    for (position, policy) in list("Policies").enumerate() {
        let read = scope.resolve(policy).and_then(|policy| match policy {
            Json::Null => Ok(None),
            policy => document(&policy).map(Some),
        });
        policies.extend(read.with_context(|| format!("Policies[{position}]"))?);
    }
    let inline = policies.len();
    for arn in list("ManagedPolicyArns") {
        let Some(arn) = scope.optional_text(arn).context("ManagedPolicyArns")? else { continue };
        let policy = managed.get(&arn);
        let policy = policy.with_context(|| format!("ManagedPolicyArns: {arn} is no policy of this template"))?;
        policies.push(policy.clone());
    }
    Ok((policies, inline))
}

/// The policy in a resource's properties, or in an inline policy.
fn document(owner: &Json) -> Result<Policy> {
    let document = owner.get("PolicyDocument").context("PolicyDocument is missing")?;
    Policy::read(document).context("PolicyDocument")
}

fn properties(resource: &Yaml) -> &Yaml {
    resource.get("Properties").unwrap_or(&Yaml::Null)
}
