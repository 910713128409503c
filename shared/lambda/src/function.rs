//! A function that a process starts beside others.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use crate::{Environment, Misconfigured};

/// A function in an execution environment: takes an event, and returns the answer or the error's text.
pub type Invoke = Arc<dyn Fn(Value) -> Pin<Box<dyn Future<Output = Result<Value, String>> + Send>> + Send + Sync>;

/// Starts a function in a new execution environment, with the time limit of one invocation.
pub type Start = fn(&Environment, Duration) -> Result<Invoke, Misconfigured>;

/// A function that a process starts beside others: on a laptop, and in tests.
pub struct Function {
    module: &'static str,
    /// The program that contains the function.
    pub program: &'static str,
    start: Start,
}

impl Function {
    /// The function in this module of this program.
    pub const fn new(program: &'static str, module: &'static str, start: Start) -> Self {
        Self { module, program, start }
    }

    /// The function's name: the `Handler` in the template, and the name of its file in `events/`.
    pub fn name(&self) -> String {
        name_of(self.module)
    }

    /// Starts the function in a new execution environment, with the time limit of one invocation.
    ///
    /// # Errors
    /// A variable of the environment is missing or invalid.
    pub fn start(&self, environment: &Environment, timeout: Duration) -> Result<Invoke, Misconfigured> {
        (self.start)(environment, timeout)
    }
}

/// The name of the function in this module: `get-order` of `get_order`.
pub(crate) fn name_of(module: &str) -> String {
    module.replace('_', "-")
}
