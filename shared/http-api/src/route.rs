//! Routes.

pub use lambda_http::http::Method;

use crate::{Description, Scope};

/// A method and a path, and who may use them.
///
/// `template.yaml` says the same to API Gateway; a test holds the two together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Route {
    /// The method.
    pub method: Method,
    /// The path, with `{parameters}`.
    pub path: &'static str,
    /// Who may use it.
    pub scope: Scope,
}

impl Route {
    /// A `GET`.
    pub const fn get(path: &'static str, scope: Scope) -> Self {
        Self { method: Method::GET, path, scope }
    }

    /// A `POST`.
    pub const fn post(path: &'static str, scope: Scope) -> Self {
        Self { method: Method::POST, path, scope }
    }

    /// A `PUT`.
    pub const fn put(path: &'static str, scope: Scope) -> Self {
        Self { method: Method::PUT, path, scope }
    }

    /// A `PATCH`.
    pub const fn patch(path: &'static str, scope: Scope) -> Self {
        Self { method: Method::PATCH, path, scope }
    }

    /// A `DELETE`.
    pub const fn delete(path: &'static str, scope: Scope) -> Self {
        Self { method: Method::DELETE, path, scope }
    }

    /// The names of the parameters in its path.
    pub(crate) fn path_parameters(&self) -> impl Iterator<Item = &'static str> {
        self.path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'))
    }

    /// Begins the route's description.
    pub fn describe(&self, summary: &str) -> Description {
        Description::new(self, summary)
    }
}
