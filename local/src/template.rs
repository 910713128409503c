//! `template.yaml`, as far as the laptop stack needs it: routes, functions and the table.
//!
//! The template is the one truth about what is deployed, so the stack reads it rather than a list of its own. Every
//! error names the resource and the property at fault, on one line.

use std::collections::BTreeMap;

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value as Json, json};
use serde_yaml_ng::{Mapping, Value as Yaml};

use crate::intrinsic::{Scope, Table};

const METHODS: [&str; 7] = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"];

/// Lambda's own default.
const DEFAULT_TIMEOUT_SECONDS: u64 = 3;

/// What `template.yaml` says about the routes, the functions behind them and the table.
#[derive(Debug, Clone)]
pub struct Template {
    /// Every HTTP API event of every function, in the template's order.
    pub routes: Vec<Route>,
    /// Every Lambda function, with or without a route.
    pub functions: Vec<Function>,
    /// The body of the `CreateTable` request that makes the template's table.
    pub table: Json,
    /// The attribute that holds an item's time to live, if the table has one.
    pub ttl_attribute: Option<String>,
}

/// One route of the HTTP API.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Route {
    /// In capitals: `GET`.
    pub method: String,
    /// As declared: `/orders/{orderId}`.
    pub path: String,
    /// The logical id of the function that answers.
    pub function: String,
    /// Any one of these lets a caller in. Empty: the route is public.
    pub scopes: Vec<String>,
}

/// One Lambda function.
#[derive(Debug, Clone, PartialEq)]
pub struct Function {
    /// The resource's name in the template: `GetOrder`.
    pub logical_id: String,
    /// The Cargo binary that is built for it: `get-order`.
    pub binary: String,
    /// How long one call may take.
    pub timeout_seconds: u64,
    /// Its variables, those of `Globals` included, with references resolved.
    pub environment: BTreeMap<String, String>,
    /// `Properties.Policies`, with references resolved; null if there are none.
    pub policies: Json,
}

impl Template {
    /// Reads a template from its text.
    pub fn parse(text: &str) -> Result<Self> {
        let document: Yaml = serde_yaml_ng::from_str(text).context("this is not valid YAML")?;
        let resources = document.get("Resources").and_then(Yaml::as_mapping).context("Resources is missing")?;

        let mut scope = Scope::new(&document);
        let (table_id, table) = only_table(resources)?;
        let name = scope.text_or(table, "TableName", Table::DEFAULT_NAME).context(table_id.to_owned())?;
        scope.table = Some(Table { logical_id: table_id.to_owned(), name: name.clone() });

        let (mut routes, mut functions) = (Vec::new(), Vec::new());
        let globals = document.get("Globals").and_then(|globals| globals.get("Function")).unwrap_or(&Yaml::Null);
        for (id, resource) in of_type(resources, "AWS::Serverless::Function") {
            let reader = FunctionReader { scope: &scope, globals, id, resource };
            functions.push(reader.function().context(id.to_owned())?);
            reader.routes(&mut routes).context(id.to_owned())?;
        }

        let request = create_table(&scope, table, &name).context(table_id.to_owned())?;
        let ttl_attribute = ttl_attribute(&scope, table).context(table_id.to_owned())?;
        Ok(Self { routes, functions, table: request, ttl_attribute })
    }

    /// The name of the table, as functions are told it.
    pub fn table_name(&self) -> &str {
        self.table["TableName"].as_str().unwrap_or(Table::DEFAULT_NAME)
    }

    /// The function with this logical id.
    pub fn function(&self, logical_id: &str) -> Option<&Function> {
        self.functions.iter().find(|function| function.logical_id == logical_id)
    }
}

struct FunctionReader<'a> {
    scope: &'a Scope<'a>,
    globals: &'a Yaml,
    id: &'a str,
    resource: &'a Yaml,
}

impl FunctionReader<'_> {
    fn function(&self) -> Result<Function> {
        let binary = self
            .resource
            .get("Metadata")
            .and_then(|metadata| metadata.get("BuildProperties")?.get("Binary")?.as_str())
            .context("Metadata.BuildProperties.Binary is missing")?;

        let properties = self.properties();
        Ok(Function {
            logical_id: self.id.to_owned(),
            binary: binary.to_owned(),
            timeout_seconds: self.timeout_seconds()?,
            environment: self.environment()?,
            policies: properties.get("Policies").map_or(Ok(Json::Null), |value| self.scope.resolve(value))?,
        })
    }

    fn timeout_seconds(&self) -> Result<u64> {
        let Some(value) = self.properties().get("Timeout").or_else(|| self.globals.get("Timeout")) else {
            return Ok(DEFAULT_TIMEOUT_SECONDS);
        };
        let value = self.scope.resolve(value).context("Timeout")?;
        let seconds = value.as_u64().or_else(|| value.as_str()?.parse().ok());
        seconds.with_context(|| format!("Timeout: {value} is not a number of seconds"))
    }

    fn environment(&self) -> Result<BTreeMap<String, String>> {
        let mut environment = BTreeMap::new();
        for owner in [self.globals, self.properties()] {
            let Some(variables) = owner.get("Environment").and_then(|environment| environment.get("Variables")) else {
                continue;
            };
            for (name, value) in variables.as_mapping().context("Environment.Variables is not a mapping")? {
                let name = name.as_str().context("Environment.Variables: a name is not a string")?;
                let value = self.scope.text(value).with_context(|| format!("Environment.Variables.{name}"))?;
                environment.insert(name.to_owned(), value);
            }
        }
        Ok(environment)
    }

    fn routes(&self, routes: &mut Vec<Route>) -> Result<()> {
        let Some(events) = self.properties().get("Events").and_then(Yaml::as_mapping) else { return Ok(()) };
        for (name, event) in events {
            if event.get("Type").and_then(Yaml::as_str) != Some("HttpApi") {
                continue;
            }
            let name = name.as_str().unwrap_or("?");
            let route = self.route(event).with_context(|| format!("Events.{name}"))?;
            let twin = routes.iter().find(|other| other.method == route.method && same_path(&other.path, &route.path));
            if let Some(twin) = twin {
                bail!("Events.{name}: {} {} is already a route of {}", route.method, route.path, twin.function);
            }
            routes.push(route);
        }
        Ok(())
    }

    fn route(&self, event: &Yaml) -> Result<Route> {
        let properties = event.get("Properties").unwrap_or(&Yaml::Null);
        let method = self.scope.required_text(properties, "Method")?.to_ascii_uppercase();
        ensure!(METHODS.contains(&method.as_str()), "Method: {method} is not one of {}", METHODS.join(", "));

        let path = self.scope.required_text(properties, "Path")?;
        ensure!(path.starts_with('/'), "Path: {path} does not begin with a slash");
        ensure!(!path.contains("+}"), "Path: {path} is greedy, which the laptop gateway does not know");

        let auth = properties.get("Auth").context("Auth is missing: name AuthorizationScopes, or Authorizer: NONE")?;
        let scopes = self.scopes(auth).context("Auth")?;
        Ok(Route { method, path, function: self.id.to_owned(), scopes })
    }

    fn scopes(&self, auth: &Yaml) -> Result<Vec<String>> {
        if auth.get("Authorizer").and_then(Yaml::as_str) == Some("NONE") {
            return Ok(Vec::new());
        }
        let scopes = auth.get("AuthorizationScopes").and_then(Yaml::as_sequence);
        // A route without a scope would let ID tokens in, so it is either public in so many words or has one.
        let scopes = scopes.filter(|scopes| !scopes.is_empty()).context("AuthorizationScopes is missing")?;
        scopes.iter().map(|scope| self.scope.text(scope)).collect()
    }

    fn properties(&self) -> &Yaml {
        self.resource.get("Properties").unwrap_or(&Yaml::Null)
    }
}

/// Whether two paths match the same requests: the names of their parameters do not matter.
fn same_path(one: &str, other: &str) -> bool {
    let shape = |path: &str| -> Vec<String> {
        path.split('/').map(|part| if part.starts_with('{') { "{}" } else { part }.to_owned()).collect()
    };
    shape(one) == shape(other)
}

fn of_type<'a>(resources: &'a Mapping, kind: &'a str) -> impl Iterator<Item = (&'a str, &'a Yaml)> {
    resources
        .iter()
        .filter(move |(_, resource)| resource.get("Type").and_then(Yaml::as_str) == Some(kind))
        .filter_map(|(id, resource)| Some((id.as_str()?, resource)))
}

fn only_table(resources: &Mapping) -> Result<(&str, &Yaml)> {
    let mut tables = of_type(resources, "AWS::DynamoDB::Table");
    let (id, table) = tables.next().context("Resources has no AWS::DynamoDB::Table")?;
    if let Some((second, _)) = tables.next() {
        bail!("Resources has two tables, {id} and {second}, and the laptop stack knows one");
    }
    Ok((id, table.get("Properties").with_context(|| format!("{id}: Properties is missing"))?))
}

/// The `CreateTable` request: what shapes the table, without what only concerns its bill or its watchers.
fn create_table(scope: &Scope, properties: &Yaml, name: &str) -> Result<Json> {
    let mut request = json!({ "TableName": name, "BillingMode": "PAY_PER_REQUEST" });
    for property in ["KeySchema", "AttributeDefinitions"] {
        request[property] = scope.required(properties, property)?;
    }

    if let Some(indexes) = properties.get("GlobalSecondaryIndexes") {
        let mut indexes = scope.resolve(indexes).context("GlobalSecondaryIndexes")?;
        for index in indexes.as_array_mut().context("GlobalSecondaryIndexes is not a list")? {
            let index = index.as_object_mut().context("GlobalSecondaryIndexes: an index is not a mapping")?;
            index.retain(|property, _| matches!(property.as_str(), "IndexName" | "KeySchema" | "Projection"));
        }
        request["GlobalSecondaryIndexes"] = indexes;
    }

    if let Some(stream) = properties.get("StreamSpecification") {
        let view = scope.required(stream, "StreamViewType").context("StreamSpecification")?;
        request["StreamSpecification"] = json!({ "StreamEnabled": true, "StreamViewType": view });
    }
    Ok(request)
}

fn ttl_attribute(scope: &Scope, properties: &Yaml) -> Result<Option<String>> {
    let Some(ttl) = properties.get("TimeToLiveSpecification") else { return Ok(None) };
    Ok(Some(scope.required_text(ttl, "AttributeName").context("TimeToLiveSpecification")?))
}

#[cfg(test)]
#[path = "template_tests.rs"]
mod tests;
