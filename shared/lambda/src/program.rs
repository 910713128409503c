//! A program that Lambda runs.

use crate::function::name_of;
use crate::{Error, handler};

/// Initializes a function and serves its events, until Lambda ends the process.
type Run = fn() -> Result<(), Error>;

/// A program that contains several functions. Each process runs one of them.
pub struct Program {
    functions: &'static [(&'static str, Run)],
}

impl Program {
    /// A program of these functions: the module of each, and how to run it.
    pub const fn new(functions: &'static [(&'static str, Run)]) -> Self {
        Self { functions }
    }

    /// Runs the function that Lambda names, which is the `Handler` in the template, until Lambda ends the process.
    ///
    /// # Errors
    /// The program does not contain that function, or the function fails to start or to run.
    pub fn run(&self) -> Result<(), Error> {
        let handler = handler()?;
        let Some((_, function)) = self.functions.iter().find(|(module, _)| name_of(module) == handler) else {
            let names: Vec<_> = self.functions.iter().map(|(module, _)| name_of(module)).collect();
            return Err(format!("the handler {handler:?} is none of {}", names.join(", ")).into());
        };
        function()
    }
}
