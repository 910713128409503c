//! Enforces the roles of a template's functions.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};

use super::ask::Ask;
use super::caller::Caller;
use super::dynamodb::Schema;
use super::policy::{self, Policy};
use super::services;
use crate::bus::Entry;
use crate::resource::ACCOUNT;
use crate::template::{Role, Template};

/// Evaluates each call against the policies of its caller's role.
pub struct Guard {
    roles: BTreeMap<String, Role>,
    schema: Schema,
    /// `None`: rulings are not remembered, as in a stack that runs for long.
    rulings: Option<Mutex<Vec<Ruling>>>,
}

/// One authorisation request of one function, and the decision.
#[derive(Debug, Clone)]
pub struct Ruling {
    /// The function's logical id.
    pub caller: String,
    /// The question.
    pub ask: Ask,
    /// The answer.
    pub allowed: bool,
}

/// AWS's message for a refused call.
#[derive(Debug)]
pub(crate) struct Denial(pub(crate) String);

impl Guard {
    /// A guard for this template's roles. If `remembers`, it keeps its rulings.
    pub fn new(template: &Template, remembers: bool) -> Self {
        let roles = template.functions.iter().map(|function| (function.logical_id.clone(), function.role.clone()));
        Self { roles: roles.collect(), schema: Schema::new(&template.tables), rulings: remembers.then(Mutex::default) }
    }

    /// A guard that allows everything.
    #[cfg(test)]
    pub(crate) fn of_nobody() -> std::sync::Arc<Self> {
        std::sync::Arc::new(Self { roles: BTreeMap::new(), schema: Schema::new(&[]), rulings: None })
    }

    /// The authorisation requests of this call of DynamoDB.
    pub fn dynamodb_asks(&self, action: &str, request: &Value) -> Vec<Ask> {
        self.schema.asks(action, request)
    }

    /// The policies of a function's role. `None` if there is no such function.
    pub fn policies(&self, function: &str) -> Option<&[Policy]> {
        self.roles.get(function).map(|role| role.policies.as_slice())
    }

    /// Every ruling so far, if rulings are remembered.
    pub fn rulings(&self) -> Vec<Ruling> {
        self.remembered().map(|rulings| rulings.clone()).unwrap_or_default()
    }

    /// Every refusal since this was last called.
    pub fn take_denials(&self) -> Vec<Ruling> {
        let Some(mut rulings) = self.remembered() else { return Vec::new() };
        let (allowed, denied) = std::mem::take(&mut *rulings).into_iter().partition(|ruling| ruling.allowed);
        *rulings = allowed;
        denied
    }

    pub(crate) fn check_dynamodb(&self, caller: Option<&str>, target: &str, request: &Value) -> Result<(), Denial> {
        let (service, action) = target.split_once('.').unwrap_or(("", target));
        self.check(caller, || {
            if service.starts_with("DynamoDBStreams") {
                self.schema.stream_asks(action, request)
            } else {
                self.schema.asks(action, request)
            }
        })
    }

    pub(crate) fn check_sqs(&self, caller: Option<&str>, action: &str, request: &Value) -> Result<(), Denial> {
        self.check(caller, || vec![services::queue_ask(action, request)])
    }

    pub(crate) fn check_events(&self, caller: Option<&str>, entries: &[Entry]) -> Result<(), Denial> {
        self.check(caller, || entries.iter().map(services::event_ask).collect())
    }

    pub(crate) fn check_secret(&self, caller: Option<&str>, arn: &str) -> Result<(), Denial> {
        self.check(caller, || vec![services::secret_ask(arn)])
    }

    /// `operation` has its name in S3's API, such as `PutObject`.
    pub(crate) fn check_s3(
        &self,
        caller: &str,
        operation: &str,
        bucket: &str,
        key: Option<&str>,
    ) -> Result<(), Denial> {
        self.check(Some(caller), || vec![services::object_ask(operation, bucket, key)])
    }

    /// Checks that all requests are allowed. It evaluates all of them, so that the first refusal does not hide another.
    fn check(&self, caller: Option<&str>, asks: impl FnOnce() -> Vec<Ask>) -> Result<(), Denial> {
        let role = caller.and_then(|access_key| self.roles.get_key_value(Caller::of(access_key).function));
        let Some((caller, role)) = role else { return Ok(()) };
        let mut refusal = None;
        for ask in asks() {
            let allowed = policy::permit(&role.policies, &ask);
            if !allowed {
                tracing::warn!(function = caller, "the role does not allow {ask}");
                refusal.get_or_insert_with(|| Denial::new(&role.name, caller, &ask));
            }
            if let Some(mut rulings) = self.remembered() {
                rulings.push(Ruling { caller: caller.clone(), ask, allowed });
            }
        }
        refusal.map_or(Ok(()), Err)
    }

    fn remembered(&self) -> Option<MutexGuard<'_, Vec<Ruling>>> {
        Some(self.rulings.as_ref()?.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl fmt::Display for Ruling {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { caller, ask, allowed } = self;
        write!(formatter, "{caller} {} {ask}", if *allowed { "may" } else { "may not" })
    }
}

impl Denial {
    fn new(role: &str, caller: &str, ask: &Ask) -> Self {
        let Ask { action, resource, .. } = ask;
        // SQS writes its actions in lower case in this message.
        let action = if action.starts_with("sqs:") { action.to_lowercase() } else { action.clone() };
        Self(format!(
            "User: arn:aws:sts::{ACCOUNT}:assumed-role/{role}/{caller} is not authorized to perform: {action} on \
             resource: {resource} because no identity-based policy allows the {action} action"
        ))
    }

    /// The refusal as DynamoDB's error.
    pub(crate) fn of_dynamodb(&self) -> Value {
        json!({ "__type": "com.amazon.coral.service#AccessDeniedException", "Message": self.0 })
    }
}
