//! The parts of a SAM template that the stack needs: routes, functions with their roles, queues and tables.
//!
//! The template is the single source of truth about the deployment, so the stack reads it and keeps no list of its own.
//! Every error names the resource and the property at fault, on one line.

mod bucket;
mod cors;
mod filter;
mod nested;
mod queue;
mod queue_source;
mod role;
mod route;
mod rule;
mod stream_source;
mod table;

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use yaml_serde::{Mapping, Value as Yaml};

pub use self::bucket::Bucket;
pub use self::cors::Cors;
pub use self::filter::Pattern;
pub use self::queue::{Queue, Redrive};
pub use self::queue_source::QueueSource;
pub use self::role::Role;
pub use self::route::Route;
pub(crate) use self::rule::DEFAULT_BUS;
pub use self::rule::Rule;
pub use self::stream_source::{Destination, StreamSource};
pub use self::table::Table;

use self::role::Roles;
use self::stream_source::Destinations;
use crate::deployment::Deployment;
use crate::intrinsic::Scope;
use crate::resource::Resource;
use crate::scheduled;

const EVENT_TYPES: [&str; 3] = ["HttpApi", "SQS", "Schedule"];

/// Lambda's own default.
const DEFAULT_TIMEOUT_SECONDS: u64 = 3;

/// The routes, the functions behind them, the queues and the tables of a SAM template.
#[derive(Debug, Clone)]
pub struct Template {
    /// Every HTTP API event of every function, in the template's sequence.
    pub routes: Vec<Route>,
    /// Every Lambda function, with or without a route.
    pub functions: Vec<Function>,
    /// Every SQS queue, each after its dead-letter queue. Those of nested stacks come last.
    pub queues: Vec<Queue>,
    /// Every SQS event of every function, in the template's sequence.
    pub queue_sources: Vec<QueueSource>,
    /// Every `AWS::Lambda::EventSourceMapping`, in the template's sequence.
    pub stream_sources: Vec<StreamSource>,
    /// Every EventBridge rule that sends events to queues.
    pub rules: Vec<Rule>,
    /// The functions that a schedule invokes, by their handlers' names, and the time between two invocations. A disabled
    /// schedule invokes none.
    pub scheduled: BTreeMap<String, Duration>,
    /// Which pages of other origins may call the API. `None`: none.
    pub cors: Option<Cors>,
    /// Every table, in the template's sequence, and then those of nested stacks. There is at least one.
    pub tables: Vec<Table>,
    /// Every S3 bucket, in the template's sequence.
    pub buckets: Vec<Bucket>,
}

/// What the template and its nested stacks have together.
#[derive(Default)]
struct Parts {
    tables: Vec<Table>,
    queues: Vec<Queue>,
    roles: Roles,
}

impl Parts {
    /// Reads the tables and queues of a stack, and makes them known to references.
    fn read_data(&mut self, scope: &mut Scope, resources: &Mapping) -> Result<()> {
        self.tables.extend(table::read_all(scope, resources)?);
        self.queues.extend(queue::read_all(scope, resources)?);
        Ok(())
    }
}

/// One Lambda function.
#[derive(Debug, Clone, PartialEq)]
pub struct Function {
    /// The resource's name in the template: `GetNote`.
    pub logical_id: String,
    /// Its name in the code: `get-note`. One program contains several functions, and `Handler` selects one.
    pub handler: String,
    /// The timeout of one invocation.
    pub timeout_seconds: u64,
    /// The most concurrent invocations, if the template limits them. A function with 0 is never invoked.
    pub reserved_concurrency: Option<u64>,
    /// Its environment variables, including those of `Globals`, with references resolved.
    pub environment: BTreeMap<String, String>,
    /// Its permissions.
    pub role: Role,
}

impl Template {
    /// Reads a template from its text, deployed under [`Deployment::default`].
    pub fn parse(text: &str) -> Result<Self> {
        Self::parse_for(text, &Deployment::default())
    }

    /// Reads a template from its text, with the names and parameters of this deployment.
    pub fn parse_for(text: &str, deployment: &Deployment) -> Result<Self> {
        let document: Yaml = yaml_serde::from_str(text).context("this is not valid YAML")?;
        let resources = document.get("Resources").and_then(Yaml::as_mapping).context("Resources is missing")?;

        let mut scope = Scope::new(&document, deployment);
        let mut parts = Parts::default();
        parts.read_data(&mut scope, resources)?;
        let buckets = bucket::read_all(&mut scope, resources)?;
        for (id, bus) in of_type(&scope, resources, "AWS::Events::EventBus")? {
            let properties = bus.get("Properties").unwrap_or(&Yaml::Null);
            let name = scope.required_text(properties, "Name").context(id.to_owned())?;
            scope.define(id, Resource::Bus(name));
        }

        nested::read_all(&mut scope, resources, deployment, &mut parts)?;
        parts.roles.read(&mut scope, resources)?;
        let Parts { tables, queues, roles } = parts;
        ensure!(!tables.is_empty(), "Resources has no AWS::DynamoDB::Table");
        let of_bus = rule::read_all(&scope, resources, &queues)?;

        let globals = document.get("Globals").and_then(|globals| globals.get("Function")).unwrap_or(&Yaml::Null);
        let (mut routes, mut functions) = (Vec::new(), Vec::new());
        let (mut queue_sources, mut scheduled) = (Vec::new(), BTreeMap::new());
        for (id, resource) in of_type(&scope, resources, "AWS::Serverless::Function")? {
            let reader = FunctionReader { scope: &scope, globals, roles: &roles, id, resource };
            let function = reader.function().context(id.to_owned())?;
            ensure_own_handler(&function, &functions)?;
            reader.ensure_known_events().context(id.to_owned())?;
            reader.routes(&mut routes).context(id.to_owned())?;
            queue_sources.extend(reader.queue_sources(&function, &queues).context(id.to_owned())?);
            if let Some(every) = reader.schedule().context(id.to_owned())? {
                scheduled.insert(function.handler.clone(), every);
            }
            functions.push(function);
        }
        let destinations = Destinations { queues: &queues, buckets: &buckets };
        let mut stream_sources = Vec::new();
        for (id, mapping) in of_type(&scope, resources, "AWS::Lambda::EventSourceMapping")? {
            let properties = mapping.get("Properties").unwrap_or(&Yaml::Null);
            let source = StreamSource::read(&scope, properties, &functions, &tables, &destinations);
            stream_sources.push(source.context(id.to_owned())?);
        }
        Ok(Self {
            routes,
            functions,
            queues,
            queue_sources,
            stream_sources,
            rules: of_bus,
            scheduled,
            cors: Cors::read(&scope, &document)?,
            tables,
            buckets,
        })
    }

    /// The name of the first table, the only one of most templates.
    pub fn table_name(&self) -> &str {
        self.tables.first().map_or("", Table::name)
    }

    /// The function with this logical id.
    pub fn function(&self, logical_id: &str) -> Option<&Function> {
        self.functions.iter().find(|function| function.logical_id == logical_id)
    }

    /// The queue with this name.
    pub fn queue(&self, name: &str) -> Option<&Queue> {
        self.queues.iter().find(|queue| queue.name == name)
    }
}

/// Refuses a second function with the same `Handler`, because the stack finds a function's code by that name.
fn ensure_own_handler(function: &Function, others: &[Function]) -> Result<()> {
    let Function { logical_id, handler, .. } = function;
    match others.iter().find(|other| other.handler == *handler) {
        Some(twin) => bail!("{logical_id}: Handler: {handler} is already the handler of {}", twin.logical_id),
        None => Ok(()),
    }
}

struct FunctionReader<'a> {
    scope: &'a Scope<'a>,
    globals: &'a Yaml,
    roles: &'a Roles,
    id: &'a str,
    resource: &'a Yaml,
}

impl FunctionReader<'_> {
    fn function(&self) -> Result<Function> {
        let handler = self.properties().get("Handler").and_then(Yaml::as_str).context("Handler is missing")?;

        Ok(Function {
            logical_id: self.id.to_owned(),
            handler: handler.to_owned(),
            timeout_seconds: self.timeout_seconds()?,
            reserved_concurrency: self.reserved_concurrency()?,
            environment: self.environment()?,
            role: self.roles.of_function(self.scope, self.properties())?,
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

    fn reserved_concurrency(&self) -> Result<Option<u64>> {
        const PROPERTY: &str = "ReservedConcurrentExecutions";
        let Some(value) = self.properties().get(PROPERTY).or_else(|| self.globals.get(PROPERTY)) else {
            return Ok(None);
        };
        let number = self.scope.optional_text(value).context(PROPERTY)?;
        let number =
            number.map(|text| text.parse().with_context(|| format!("{PROPERTY}: {text} is not a whole number")));
        number.transpose()
    }

    fn environment(&self) -> Result<BTreeMap<String, String>> {
        let mut environment = BTreeMap::new();
        for owner in [self.globals, self.properties()] {
            let Some(variables) = owner.get("Environment").and_then(|environment| environment.get("Variables")) else {
                continue;
            };
            for (name, value) in variables.as_mapping().context("Environment.Variables is not a mapping")? {
                let name = name.as_str().context("Environment.Variables: a name is not a string")?;
                let value = self.scope.optional_text(value);
                if let Some(value) = value.with_context(|| format!("Environment.Variables.{name}"))? {
                    environment.insert(name.to_owned(), value);
                }
            }
        }
        Ok(environment)
    }

    /// Refuses an event that nothing here would deliver.
    fn ensure_known_events(&self) -> Result<()> {
        for (name, event) in self.all_events() {
            let kind = event.get("Type").and_then(Yaml::as_str);
            let kind = kind.with_context(|| format!("Events.{name}: Type is missing"))?;
            let known = EVENT_TYPES.join(", ");
            ensure!(EVENT_TYPES.contains(&kind), "Events.{name}: Type: {kind} is not one of {known}");
        }
        Ok(())
    }

    fn routes(&self, routes: &mut Vec<Route>) -> Result<()> {
        for (name, event) in self.events("HttpApi") {
            let route = Route::read(self.scope, event, self.id).with_context(|| format!("Events.{name}"))?;
            let twin = routes.iter().find(|other| other.matches_as(&route));
            if let Some(twin) = twin {
                bail!("Events.{name}: {} {} is already a route of {}", route.method, route.path, twin.function);
            }
            routes.push(route);
        }
        Ok(())
    }

    fn queue_sources(&self, function: &Function, queues: &[Queue]) -> Result<Vec<QueueSource>> {
        let sources = self.events("SQS").map(|(name, event)| {
            QueueSource::read(self.scope, event, function, queues).with_context(|| format!("Events.{name}"))
        });
        sources.collect()
    }

    /// The time between two invocations by the function's schedule, unless that is disabled.
    fn schedule(&self) -> Result<Option<Duration>> {
        for (name, event) in self.events("Schedule") {
            let state = self.scope.text_or(event, "State", "ENABLED").with_context(|| format!("Events.{name}"))?;
            if state == "ENABLED" {
                let rate = self.scope.required_text(event, "Schedule").with_context(|| format!("Events.{name}"))?;
                return scheduled::rate(&rate).with_context(|| format!("Events.{name}")).map(Some);
            }
        }
        Ok(None)
    }

    /// The properties of the events of this type, with their names.
    fn events(&self, kind: &'static str) -> impl Iterator<Item = (&str, &Yaml)> {
        self.all_events()
            .filter(move |(_, event)| event.get("Type").and_then(Yaml::as_str) == Some(kind))
            .map(|(name, event)| (name, event.get("Properties").unwrap_or(&Yaml::Null)))
    }

    fn all_events(&self) -> impl Iterator<Item = (&str, &Yaml)> {
        let events = self.properties().get("Events").and_then(Yaml::as_mapping).into_iter().flatten();
        events.map(|(name, event)| (name.as_str().unwrap_or("?"), event))
    }

    fn properties(&self) -> &Yaml {
        self.resource.get("Properties").unwrap_or(&Yaml::Null)
    }
}

fn of_type<'a>(scope: &Scope, resources: &'a Mapping, kind: &'a str) -> Result<Vec<(&'a str, &'a Yaml)>> {
    let mut there = Vec::new();
    for (id, resource) in declared(resources, kind) {
        if scope.exists(resource).with_context(|| id.to_owned())? {
            there.push((id, resource));
        }
    }
    Ok(there)
}

/// The resources of this type, whatever their conditions.
fn declared<'a>(resources: &'a Mapping, kind: &'a str) -> impl Iterator<Item = (&'a str, &'a Yaml)> {
    resources
        .iter()
        .filter(move |(_, resource)| resource.get("Type").and_then(Yaml::as_str) == Some(kind))
        .filter_map(|(id, resource)| Some((id.as_str()?, resource)))
}

/// A logical id as part of a name: `ImportQueue` as `import-queue`.
fn kebab(logical_id: &str) -> String {
    let mut kebab = String::new();
    for (position, character) in logical_id.chars().enumerate() {
        if position > 0 && character.is_ascii_uppercase() {
            kebab.push('-');
        }
        kebab.push(character.to_ascii_lowercase());
    }
    kebab
}

#[cfg(test)]
#[path = "template_tests.rs"]
mod tests;
