//! What CloudFormation is told, or decides by itself, when it deploys a template.

use std::collections::BTreeMap;

/// The names and values that a template leaves open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Deployment {
    /// The stack's name, `AWS::StackName`. The name of a queue that the template does not name begins with it.
    pub stack_name: String,
    /// The name of the template's first table, unless the template names it. The names of other tables begin with it. The engine derives the ids of shards from it, and clients refuse
    /// such an id if it is too short, so this name needs at least 11 characters.
    pub table_name: String,
    /// The values of parameters. A parameter that is not here has its default.
    pub parameters: BTreeMap<String, String>,
    /// The texts of nested stacks whose tables, queues and roles this deployment has, by the `TemplateURL` that names them. Other
    /// nested stacks are left out.
    pub nested: BTreeMap<String, String>,
}

impl Default for Deployment {
    fn default() -> Self {
        Self {
            stack_name: "devstack".to_owned(),
            table_name: "devstack-table".to_owned(),
            parameters: BTreeMap::new(),
            nested: BTreeMap::new(),
        }
    }
}
