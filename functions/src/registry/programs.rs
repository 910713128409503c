//! What Lambda runs.

/// A function's whole life in a sandbox.
type Run = fn() -> Result<(), lambda::Error>;

/// A program that is any of several functions.
pub struct Program {
    /// Its name: the binary of the template.
    pub name: &'static str,
    /// Each function's module, and its whole life.
    pub(crate) functions: &'static [(&'static str, Run)],
}

impl Program {
    /// The names of the functions that it may be.
    pub fn names(&self) -> impl Iterator<Item = String> {
        self.functions.iter().map(|(module, _)| super::name_of(module))
    }

    /// Runs the function that Lambda asks for, by the `Handler` of the template, for the whole of its life.
    ///
    /// # Errors
    /// It is none of this program, or ends with an error.
    pub fn run(&self) -> Result<(), lambda::Error> {
        let handler = lambda::handler()?;
        let Some((_, function)) = self.functions.iter().find(|(module, _)| super::name_of(module) == handler) else {
            let names: Vec<_> = self.names().collect();
            return Err(format!("the handler {handler:?} is none of {}", names.join(", ")).into());
        };
        function()
    }
}
