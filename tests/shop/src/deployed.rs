//! The template, as the shops of the tests deploy it.

use std::sync::{Mutex, PoisonError};

use devstack::{Deployment, Template};

use crate::engine::table_name;
use crate::{searching, template_text};

/// The most templates that are remembered.
const REMEMBERED: usize = 32;

pub fn deployed(parameters: &[(&str, &str)]) -> Template {
    deployed_from(template_text(), table_name(), parameters)
}

/// A template with search and these parameters, and with this name for the first table.
pub fn deployed_from(text: String, table_name: String, parameters: &[(&str, &str)]) -> Template {
    let mut deployment = Deployment { table_name, ..local::deployment() };
    let parameters = searching::PARAMETERS.iter().chain(parameters);
    deployment.parameters.extend(parameters.map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
    parsed(text, deployment)
}

/// Parses each template once, because that takes a tenth of a second and most tests start from the same one.
fn parsed(text: String, deployment: Deployment) -> Template {
    static PARSED: Mutex<Vec<(String, Deployment, Template)>> = Mutex::new(Vec::new());
    let mut all = PARSED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((.., template)) = all.iter().find(|(known, of, _)| *known == text && *of == deployment) {
        return template.clone();
    }
    let template = Template::parse_for(&text, &deployment).expect("template.yaml is valid");
    if all.len() == REMEMBERED {
        all.remove(0);
    }
    all.push((text, deployment, template.clone()));
    template
}

/// Sets a variable of the functions that have it: the URL of a service that starts after the template was parsed.
pub(crate) fn set_variable(template: &mut Template, name: &str, value: &str) {
    for function in &mut template.functions {
        if let Some(known) = function.environment.get_mut(name).filter(|known| !known.is_empty()) {
            value.clone_into(known);
        }
    }
}

/// Sets a variable of every function.
pub fn set_everywhere(template: &mut Template, name: &str, value: &str) {
    for function in &mut template.functions {
        function.environment.insert(name.to_owned(), value.to_owned());
    }
}

/// Gives every function at most this number of seconds.
pub(crate) fn limit_time(template: &mut Template, seconds: u64) {
    for function in &mut template.functions {
        function.timeout_seconds = function.timeout_seconds.min(seconds);
    }
}
