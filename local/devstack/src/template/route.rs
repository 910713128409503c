//! The template's routes.

use anyhow::{Context, Result, ensure};
use yaml_serde::Value as Yaml;

use crate::intrinsic::Scope;

const METHODS: [&str; 7] = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"];

/// One route of the HTTP API.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Route {
    /// The method in upper case: `GET`.
    pub method: String,
    /// As declared: `/notes/{noteId}`.
    pub path: String,
    /// The logical id of the function that answers.
    pub function: String,
    /// The accepted scopes; a caller needs one of them. Empty: the route is public.
    pub scopes: Vec<String>,
}

impl Route {
    /// Reads a route from the properties of an HTTP API event of this function.
    pub(super) fn read(scope: &Scope, properties: &Yaml, function: &str) -> Result<Self> {
        let method = scope.required_text(properties, "Method")?.to_ascii_uppercase();
        ensure!(METHODS.contains(&method.as_str()), "Method: {method} is not one of {}", METHODS.join(", "));

        let path = scope.required_text(properties, "Path")?;
        ensure!(path.starts_with('/'), "Path: {path} does not begin with a slash");
        ensure!(!path.contains("+}"), "Path: {path} is greedy, which the laptop gateway does not know");

        let auth = properties.get("Auth").context("Auth is missing: name AuthorizationScopes, or Authorizer: NONE")?;
        let scopes = scopes(scope, auth).context("Auth")?;
        Ok(Self { method, path, function: function.to_owned(), scopes })
    }

    /// Whether both routes match the same requests. The names of parameters do not matter.
    pub(super) fn matches_as(&self, other: &Self) -> bool {
        self.method == other.method && shape(&self.path) == shape(&other.path)
    }
}

fn shape(path: &str) -> Vec<&str> {
    path.split('/').map(|part| if part.starts_with('{') { "{}" } else { part }).collect()
}

fn scopes(scope: &Scope, auth: &Yaml) -> Result<Vec<String>> {
    if auth.get("Authorizer").and_then(Yaml::as_str) == Some("NONE") {
        return Ok(Vec::new());
    }
    let scopes = auth.get("AuthorizationScopes").and_then(Yaml::as_sequence);
    // A route with an authorizer but without a scope would accept ID tokens, so a route is either explicitly public or has a scope.
    let scopes = scopes.filter(|scopes| !scopes.is_empty()).context("AuthorizationScopes is missing")?;
    scopes.iter().map(|each| scope.text(each)).collect()
}
