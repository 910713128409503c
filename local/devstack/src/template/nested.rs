//! The tables, queues and roles of the template's nested stacks.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use yaml_serde::{Mapping, Value as Yaml};

use super::{Parts, of_type};
use crate::deployment::Deployment;
use crate::intrinsic::Scope;
use crate::resource::Resource;

/// Reads the nested stacks whose texts the deployment has, adds their parts, and makes their outputs known to references. A
/// stack may have the outputs of those before it as parameters. Its parts have the names that they would have in the
/// template itself.
pub(super) fn read_all(
    scope: &mut Scope,
    resources: &Mapping,
    deployment: &Deployment,
    parts: &mut Parts,
) -> Result<()> {
    for (id, resource) in of_type(scope, resources, "AWS::CloudFormation::Stack")? {
        let properties = resource.get("Properties").unwrap_or(&Yaml::Null);
        let file = properties.get("TemplateURL").and_then(Yaml::as_str).unwrap_or_default();
        let Some(text) = deployment.nested.get(file) else { continue };
        let parameters = parameters(scope, properties).context(id.to_owned())?;
        let inner = Deployment { parameters, nested: BTreeMap::new(), ..deployment.clone() };
        let outputs = read(text, &inner, parts).with_context(|| file.to_owned())?;
        scope.define(id, Resource::Stack(outputs));
    }
    Ok(())
}

fn parameters(scope: &Scope, properties: &Yaml) -> Result<BTreeMap<String, String>> {
    let given = properties.get("Parameters").and_then(Yaml::as_mapping).into_iter().flatten();
    let texts = given.map(|(name, value)| {
        let name = name.as_str().context("a parameter's name is not a string")?;
        Ok((name.to_owned(), scope.text(value).context(name.to_owned())?))
    });
    texts.collect()
}

fn read(text: &str, deployment: &Deployment, parts: &mut Parts) -> Result<BTreeMap<String, String>> {
    let document: Yaml = yaml_serde::from_str(text).context("this is not valid YAML")?;
    let resources = document.get("Resources").and_then(Yaml::as_mapping).context("Resources is missing")?;
    let mut scope = Scope::new(&document, deployment);
    parts.read_data(&mut scope, resources)?;
    parts.roles.read(&mut scope, resources)?;

    let mut outputs = BTreeMap::new();
    for (name, output) in document.get("Outputs").and_then(Yaml::as_mapping).into_iter().flatten() {
        let name = name.as_str().context("an output's name is not a string")?;
        if scope.exists(output).with_context(|| name.to_owned())? {
            let value = scope.required_text(output, "Value").with_context(|| name.to_owned())?;
            outputs.insert(name.to_owned(), value);
        }
    }
    Ok(outputs)
}
