//! CloudFormation's intrinsic functions, over the parameters' values and fixed local values.

use std::collections::BTreeMap;

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Map, Value as Json};
use yaml_serde::{Mapping, Value as Yaml};

use crate::deployment::Deployment;
use crate::resource::{ACCOUNT, REGION, Resource};

/// The names that a template can refer to.
pub struct Scope<'a> {
    document: &'a Yaml,
    deployment: &'a Deployment,
    /// Resources by logical id, added once their names are known.
    resources: BTreeMap<String, Resource>,
}

impl<'a> Scope<'a> {
    pub fn new(document: &'a Yaml, deployment: &'a Deployment) -> Self {
        Self { document, deployment, resources: BTreeMap::new() }
    }

    pub(crate) fn stack_name(&self) -> &str {
        &self.deployment.stack_name
    }

    /// The name of the template's first table, unless the template names it.
    pub(crate) fn table_name(&self) -> &str {
        &self.deployment.table_name
    }

    /// Whether this deployment has the resource: its condition holds, if there is one.
    pub(crate) fn exists(&self, resource: &Yaml) -> Result<bool> {
        let condition = resource.get("Condition").map(|name| name.as_str().context("Condition is not a name"));
        condition.transpose()?.map_or(Ok(true), |name| self.condition(name))
    }

    /// Makes this resource known to later references.
    pub(crate) fn define(&mut self, logical_id: &str, resource: Resource) {
        self.resources.insert(logical_id.to_owned(), resource);
    }

    /// The required property of `owner`, as text.
    pub fn required_text(&self, owner: &Yaml, property: &str) -> Result<String> {
        let value = owner.get(property).with_context(|| format!("{property} is missing"))?;
        self.text(value).context(property.to_owned())
    }

    /// The property of `owner` as text, or the default if the template does not set it.
    pub fn text_or(&self, owner: &Yaml, property: &str, default: &str) -> Result<String> {
        owner.get(property).map_or(Ok(default.to_owned()), |value| self.text(value)).context(property.to_owned())
    }

    /// The property of `owner` as a whole number, or the default if the template does not set it.
    pub fn number_or(&self, owner: &Yaml, property: &str, default: u64) -> Result<u64> {
        let Some(value) = owner.get(property) else { return Ok(default) };
        let value = self.resolve(value).context(property.to_owned())?;
        let number = value.as_u64().or_else(|| value.as_str()?.parse().ok());
        number.with_context(|| format!("{property}: {value} is not a whole number"))
    }

    /// The required property of `owner`.
    pub fn required(&self, owner: &Yaml, property: &str) -> Result<Json> {
        let value = owner.get(property).with_context(|| format!("{property} is missing"))?;
        self.resolve(value).context(property.to_owned())
    }

    /// The value as text. Numbers and booleans are converted, as CloudFormation does.
    pub fn text(&self, value: &Yaml) -> Result<String> {
        self.optional_text(value)?.context("null is not a string")
    }

    /// The value as text. `None` if it is `AWS::NoValue`.
    pub(crate) fn optional_text(&self, value: &Yaml) -> Result<Option<String>> {
        match self.resolve(value)? {
            Json::Null => Ok(None),
            Json::String(text) => Ok(Some(text)),
            Json::Number(number) => Ok(Some(number.to_string())),
            Json::Bool(flag) => Ok(Some(flag.to_string())),
            other => bail!("{other} is not a string"),
        }
    }

    /// The value as JSON, with every intrinsic function in it evaluated.
    pub fn resolve(&self, value: &Yaml) -> Result<Json> {
        if let Some((function, argument)) = as_function(value) {
            return self.call(&function, argument);
        }
        match value {
            Yaml::Sequence(items) => self.resolve_all(items).map(Json::Array),
            Yaml::Mapping(mapping) => self.resolve_mapping(mapping),
            plain => serde_json::to_value(plain).context("a value has no JSON form"),
        }
    }

    fn resolve_mapping(&self, mapping: &Mapping) -> Result<Json> {
        let mut object = Map::new();
        for (key, value) in mapping {
            let key = key.as_str().context("a key is not a string")?;
            match self.resolve(value).context(key.to_owned())? {
                // `AWS::NoValue` removes the property.
                Json::Null => {}
                value => _ = object.insert(key.to_owned(), value),
            }
        }
        Ok(Json::Object(object))
    }

    fn resolve_all(&self, items: &[Yaml]) -> Result<Vec<Json>> {
        let mut values = items.iter().map(|item| self.resolve(item)).collect::<Result<Vec<_>>>()?;
        values.retain(|value| !value.is_null());
        Ok(values)
    }

    fn call(&self, function: &str, argument: &Yaml) -> Result<Json> {
        match function {
            "Ref" => self.reference(argument.as_str().context("!Ref needs a name")?),
            "GetAtt" => self.attribute(&self.attribute_name(argument)?).map(Json::String),
            "Sub" => self.substitute(argument).map(Json::String),
            "Join" => self.join(argument).map(Json::String),
            "Split" => self.split(argument).map(Json::from),
            "If" => match argument.as_sequence().map(Vec::as_slice) {
                Some([Yaml::String(condition), yes, no]) => {
                    self.resolve(if self.condition(condition)? { yes } else { no })
                }
                _ => bail!("!If needs a condition and two values"),
            },
            other => bail!("!{other} is not known to the laptop stack"),
        }
    }

    fn reference(&self, name: &str) -> Result<Json> {
        let pseudo = match name {
            "AWS::NoValue" => return Ok(Json::Null),
            "AWS::Region" => REGION,
            "AWS::AccountId" => ACCOUNT,
            "AWS::Partition" => "aws",
            "AWS::StackName" => &self.deployment.stack_name,
            "AWS::URLSuffix" => "amazonaws.com",
            _ => return self.parameter_or_resource(name),
        };
        Ok(Json::from(pseudo))
    }

    fn parameter_or_resource(&self, name: &str) -> Result<Json> {
        if let Some(resource) = self.resources.get(name) {
            return Ok(Json::from(resource.reference()));
        }
        if let Some(parameter) = self.section("Parameters", name) {
            if let Some(value) = self.deployment.parameters.get(name) {
                if let Some(allowed) = parameter.get("AllowedValues") {
                    let allowed = allowed.as_sequence().context("AllowedValues is not a list")?;
                    let allowed = allowed.iter().map(|one| self.text(one)).collect::<Result<Vec<_>>>()?;
                    ensure!(allowed.contains(value), "parameter {name}: {value} is not one of {}", allowed.join(", "));
                }
                return Ok(Json::from(value.as_str()));
            }
            let default = parameter.get("Default");
            let default = default.with_context(|| format!("parameter {name} has no Default to use on a laptop"))?;
            return self.resolve(default);
        }
        self.resource(name).map(Json::from)
    }

    fn resource(&self, name: &str) -> Result<String> {
        let found = self.section("Resources", name);
        let found = found.with_context(|| format!("{name} is neither a parameter nor a resource"))?;
        ensure!(
            self.exists(found).context(name.to_owned())?,
            "{name} is not in this deployment: its Condition is false"
        );
        Ok(name.to_owned())
    }

    fn attribute_name(&self, argument: &Yaml) -> Result<String> {
        match argument {
            Yaml::String(name) => Ok(name.clone()),
            Yaml::Sequence(parts) => {
                Ok(parts.iter().map(|part| self.text(part)).collect::<Result<Vec<_>>>()?.join("."))
            }
            _ => bail!("!GetAtt needs a resource and an attribute"),
        }
    }

    fn attribute(&self, name: &str) -> Result<String> {
        let (resource, attribute) = name.split_once('.').context("!GetAtt needs a resource and an attribute")?;
        match self.resources.get(resource) {
            Some(defined) => defined.attribute(attribute).context(resource.to_owned()),
            None => self.resource(resource),
        }
    }

    fn substitute(&self, argument: &Yaml) -> Result<String> {
        let none = Mapping::new();
        let (text, variables) = match argument {
            Yaml::String(text) => (text.as_str(), &none),
            Yaml::Sequence(parts) => match parts.as_slice() {
                [Yaml::String(text), Yaml::Mapping(variables)] => (text.as_str(), variables),
                _ => bail!("!Sub needs a text, or a text and its variables"),
            },
            _ => bail!("!Sub needs a text, or a text and its variables"),
        };

        let mut pieces = text.split("${");
        let mut result = pieces.next().unwrap_or_default().to_owned();
        for piece in pieces {
            let (name, rest) = piece.split_once('}').with_context(|| format!("!Sub has an open ${{ in {text}"))?;
            if let Some(literal) = name.strip_prefix('!') {
                result.extend(["${", literal, "}"]);
            } else if let Some(variable) = variables.get(name) {
                result.push_str(&self.text(variable)?);
            } else if name.contains('.') {
                result.push_str(&self.attribute(name)?);
            } else {
                result.push_str(self.reference(name)?.as_str().unwrap_or_default());
            }
            result.push_str(rest);
        }
        Ok(result)
    }

    fn join(&self, argument: &Yaml) -> Result<String> {
        match argument.as_sequence().map(Vec::as_slice) {
            Some([Yaml::String(separator), Yaml::Sequence(parts)]) => {
                Ok(parts.iter().map(|part| self.text(part)).collect::<Result<Vec<_>>>()?.join(separator))
            }
            _ => bail!("!Join needs a separator and a list"),
        }
    }

    fn split(&self, argument: &Yaml) -> Result<Vec<String>> {
        match argument.as_sequence().map(Vec::as_slice) {
            Some([Yaml::String(separator), text]) => {
                Ok(self.text(text)?.split(separator.as_str()).map(str::to_owned).collect())
            }
            _ => bail!("!Split needs a separator and a text"),
        }
    }

    fn condition(&self, name: &str) -> Result<bool> {
        let condition = self.section("Conditions", name).with_context(|| format!("there is no condition {name}"))?;
        self.holds(condition).with_context(|| format!("condition {name}"))
    }

    fn holds(&self, condition: &Yaml) -> Result<bool> {
        let (function, argument) = as_function(condition).context("a condition needs !Equals, !Not, !And or !Or")?;
        let function = function.as_str();
        if function == "Condition" {
            return self.condition(argument.as_str().context("!Condition needs a name")?);
        }
        let arguments = argument.as_sequence().with_context(|| format!("!{function} needs a list"))?;
        match (function, arguments.as_slice()) {
            ("Equals", [one, other]) => Ok(self.text(one)? == self.text(other)?),
            ("Not", [inner]) => Ok(!self.holds(inner)?),
            ("And", all) => all.iter().try_fold(true, |so_far, each| Ok(so_far && self.holds(each)?)),
            ("Or", any) => any.iter().try_fold(false, |so_far, each| Ok(so_far || self.holds(each)?)),
            _ => bail!("!{function} is not a condition, or has the wrong number of arguments"),
        }
    }

    fn section(&self, section: &str, name: &str) -> Option<&'a Yaml> {
        self.document.get(section)?.get(name)
    }
}

/// The function and its argument, from the short form (`!Ref Name`) or the long one (`Ref: Name`, `Fn::Sub: text`).
fn as_function(value: &Yaml) -> Option<(String, &Yaml)> {
    match value {
        Yaml::Tagged(tagged) => Some((tagged.tag.to_string().trim_start_matches('!').to_owned(), &tagged.value)),
        Yaml::Mapping(mapping) if mapping.len() == 1 => {
            let (key, argument) = mapping.iter().next()?;
            let key = key.as_str()?;
            let function = if matches!(key, "Ref" | "Condition") { key } else { key.strip_prefix("Fn::")? };
            // In a policy, `Condition` is an ordinary key with a mapping.
            (function != "Condition" || argument.is_string()).then(|| (function.to_owned(), argument))
        }
        _ => None,
    }
}
