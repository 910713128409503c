//! Permissions on other services than the table.

/// A permission on a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grant {
    /// The actions, as IAM names them.
    pub actions: &'static [&'static str],
    /// The parameter of `stacks/roles.yaml` that has the resource's ARN, and what follows it: `ImagesBucket/images/*`. What
    /// begins with `Table` is about each table of the stack.
    pub resource: &'static str,
    /// A condition key, and the values that a request may have for it.
    pub only: Option<(&'static str, &'static [&'static str])>,
}

impl Grant {
    /// A permission to do this with this resource.
    pub const fn new(actions: &'static [&'static str], resource: &'static str) -> Self {
        Self { actions, resource, only: None }
    }

    /// The same, for requests that have only these values for this condition key, and at least one.
    #[must_use]
    pub const fn only(self, key: &'static str, values: &'static [&'static str]) -> Self {
        Self { only: Some((key, values)), ..self }
    }
}
