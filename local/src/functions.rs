//! The same handlers that run on Lambda, linked into this program.

use std::sync::LazyLock;
use std::time::Duration;

use anyhow::{Context as _, Result};
use consumers::CONSUMERS;
use devstack::template::Function as Declared;
use devstack::{Endpoints, Functions, Template, pooled};
use http_api::RouteFunction;
use lambda::{Environment, Function};
use tracing::warn;

/// Every function that answers a route.
pub fn routes() -> impl Iterator<Item = &'static RouteFunction> {
    reads::ROUTES.iter().chain(writes::ROUTES)
}

/// Every function.
pub fn all() -> impl Iterator<Item = &'static Function> {
    routes().map(|route| &route.function).chain(CONSUMERS.iter().map(|consumer| &consumer.function))
}

/// Starts every function of the template with its environment from the template, against these endpoints. The event
/// sources start consumers later; each is also started once here, so that a missing variable is found now. A declared route
/// without a function in the template is logged.
///
/// # Errors
/// The template names a function that is not in this build, or a function lacks an environment variable.
pub fn start_all(endpoints: &Endpoints, template: &Template) -> Result<Functions> {
    for RouteFunction { function, route, .. } in routes() {
        let (name, path) = (function.name(), route.path);
        if template.functions.iter().all(|declared| declared.handler != name) {
            warn!("nothing answers {path}, because template.yaml has no function {name}: run `cargo renew`");
        }
    }
    start(endpoints, &template.functions)
}

/// The same for some functions of a template.
///
/// # Errors
/// As those of [`start_all`].
pub fn start<'a>(endpoints: &Endpoints, declared: impl IntoIterator<Item = &'a Declared>) -> Result<Functions> {
    let patience = [("ATTEMPT_TIMEOUT_SECONDS".to_owned(), "30".to_owned())];
    // The functions share a process here, so they share one client. On Lambda each has its own.
    let environment = Environment::of(endpoints.variables().into_iter().chain(patience));

    let mut functions = Functions::default();
    for declared in declared {
        let name = &declared.handler;
        let environment = environment.clone().with(declared.environment.clone());
        let timeout = Duration::from_secs(declared.timeout_seconds);
        let misfit = || format!("template.yaml: the environment of {}", declared.logical_id);

        let function = all().find(|function| function.name() == *name);
        let function = function.with_context(|| format!("template.yaml: {name} is not in this build"))?;
        let start = devstack::environments(&declared.logical_id, move |access_key| {
            // Stands for the credentials of the function's role.
            let credentials = [("AWS_ACCESS_KEY_ID".to_owned(), access_key.to_owned())];
            Ok(function.start(&environment.clone().with(credentials), timeout)?)
        });
        if routes().any(|route| route.function.name() == *name) {
            functions.handlers.push((name.clone(), pooled(start).with_context(misfit)?));
        } else {
            start().with_context(misfit)?;
            functions.consumers.push((name.clone(), start));
        }
    }
    Ok(functions)
}

/// The API's description, as JSON.
#[expect(clippy::expect_used, reason = "a description without foreign types always has a JSON form")]
pub fn open_api() -> &'static str {
    static DESCRIPTION: LazyLock<String> = LazyLock::new(|| {
        let named: Vec<_> = routes().map(|route| (route.function.name(), (route.describe)())).collect();
        let open_api = order_events::describe(http_api::open_api(named));
        http_api::publish(&open_api, include_str!("answers.json")).expect("the description has a JSON form")
    });
    &DESCRIPTION
}
