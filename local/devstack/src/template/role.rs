//! The roles of a template, and their policies.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
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
}

/// Every role of the template, by its ARN.
pub(super) struct Roles(BTreeMap<String, Role>);

impl Roles {
    /// Reads every role, and makes it known to references.
    pub(super) fn read(scope: &mut Scope, resources: &Mapping) -> Result<Self> {
        let mut managed = BTreeMap::new();
        for (id, resource) in of_type(scope, resources, "AWS::IAM::ManagedPolicy")? {
            managed.insert(policy_arn(id), document(scope, properties(resource)).context(id.to_owned())?);
            scope.define(id, Resource::ManagedPolicy(id.to_owned()));
        }
        let mut roles = BTreeMap::new();
        for (id, resource) in of_type(scope, resources, "AWS::IAM::Role")? {
            let policies = policies(scope, properties(resource), &managed).context(id.to_owned())?;
            roles.insert(role_arn(id), Role { name: id.to_owned(), policies });
            scope.define(id, Resource::Role(id.to_owned()));
        }
        Ok(Self(roles))
    }

    /// The role of a function with these properties.
    pub(super) fn of_function(&self, scope: &Scope, properties: &Yaml) -> Result<Role> {
        let arn = scope.required_text(properties, "Role")?;
        let role =
            self.0.get(&arn).with_context(|| format!("Role: {arn} is not the Arn of a role of this template"))?;
        Ok(role.clone())
    }
}

fn policies(scope: &Scope, properties: &Yaml, managed: &BTreeMap<String, Policy>) -> Result<Vec<Policy>> {
    let list = |name: &str| properties.get(name).and_then(Yaml::as_sequence).into_iter().flatten();
    let inline = list("Policies")
        .enumerate()
        .map(|(position, policy)| document(scope, policy).with_context(|| format!("Policies[{position}]")));
    let attached = list("ManagedPolicyArns").map(|arn| {
        let arn = scope.text(arn).context("ManagedPolicyArns")?;
        let policy = managed.get(&arn);
        policy.cloned().with_context(|| format!("ManagedPolicyArns: {arn} is no policy of this template"))
    });
    inline.chain(attached).collect()
}

fn document(scope: &Scope, owner: &Yaml) -> Result<Policy> {
    let document = scope.required(owner, "PolicyDocument")?;
    Policy::read(&document).context("PolicyDocument")
}

fn properties(resource: &Yaml) -> &Yaml {
    resource.get("Properties").unwrap_or(&Yaml::Null)
}
