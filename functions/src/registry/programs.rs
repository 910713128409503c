//! The programs that Lambda runs.

/// Initializes a function and serves its events, until Lambda ends the process.
type Run = fn() -> Result<(), lambda::Error>;

/// A program that contains several functions. Each process runs one of them.
pub struct Program {
    /// The program's name, which is the binary in the template.
    pub name: &'static str,
    /// The module of each function, and how to run it.
    pub(crate) functions: &'static [(&'static str, Run)],
}

impl Program {
    /// The names of the functions in this program.
    pub fn names(&self) -> impl Iterator<Item = String> {
        self.functions.iter().map(|(module, _)| super::name_of(module))
    }

    /// Runs the function that Lambda names, which is the `Handler` in the template, until Lambda ends the process.
    ///
    /// # Errors
    /// The program does not contain that function, or the function fails to start or to run.
    pub fn run(&self) -> Result<(), lambda::Error> {
        let handler = lambda::handler()?;
        let Some((_, function)) = self.functions.iter().find(|(module, _)| super::name_of(module) == handler) else {
            let names: Vec<_> = self.names().collect();
            return Err(format!("the handler {handler:?} is none of {}", names.join(", ")).into());
        };
        function()
    }
}
