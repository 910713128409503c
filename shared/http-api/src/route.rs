//! The declaration of a route.

use key_schema::access::Access;
use lambda::Grant;
pub use lambda_http::http::Method;

use crate::{Kind, Scope};

/// A route, declared once: the function and its role in `template.yaml`, its limit, its sample event and its part of the
/// OpenAPI document are made from this and from the types of its handler.
#[derive(Clone, Copy, Debug)]
pub struct Route {
    /// The method.
    pub method: Verb,
    /// The path, with `{parameters}`.
    pub path: &'static str,
    /// Who may use it.
    pub scope: Scope,
    /// One sentence, or two.
    pub summary: &'static str,
    /// The problems it may answer, besides those that follow from the types of its handler.
    pub refuses: &'static [Kind],
    /// What it asks of the table.
    pub access: [&'static [Access]; 4],
    /// What it asks of other services.
    pub grants: &'static [Grant],
    /// A limit of its own; that of all routes if absent.
    pub limit: Option<Limit>,
    /// The functions that a deployment replaces before this one.
    pub after: &'static [&'static str],
    /// A request to it.
    pub example: Example,
}

/// A method of HTTP, as a constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    /// Deletes.
    Delete,
    /// Reads.
    Get,
    /// Changes a part.
    Patch,
    /// Makes something, or does something.
    Post,
    /// Puts something in the place of what was there.
    Put,
}

impl Verb {
    /// The method as a request line spells it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Delete => "DELETE",
            Self::Get => "GET",
            Self::Patch => "PATCH",
            Self::Post => "POST",
            Self::Put => "PUT",
        }
    }
}

impl From<Verb> for Method {
    fn from(verb: Verb) -> Self {
        match verb {
            Verb::Delete => Self::DELETE,
            Verb::Get => Self::GET,
            Verb::Patch => Self::PATCH,
            Verb::Post => Self::POST,
            Verb::Put => Self::PUT,
        }
    }
}

/// How many requests of all callers together the gateway lets through to a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit {
    /// A second, for long.
    pub rate: u32,
    /// At once.
    pub burst: u32,
}

/// A request to a route, of which the sample event in `events/` is made. Together they are a story, in the order of their
/// times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Example {
    /// The time of day.
    pub at: &'static str,
    /// The value of the parameter in the path.
    pub path: &'static str,
    /// The query string.
    pub query: &'static str,
    /// A header besides those that every request has.
    pub header: Option<(&'static str, &'static str)>,
    /// The body, in JSON.
    pub body: Option<&'static str>,
}

impl Example {
    /// A request at this time of day, without parameters.
    pub const fn at(at: &'static str) -> Self {
        Self { at, path: "", query: "", header: None, body: None }
    }

    /// With this value of the parameter in the path.
    #[must_use]
    pub const fn path(self, path: &'static str) -> Self {
        Self { path, ..self }
    }

    /// With this query string.
    #[must_use]
    pub const fn query(self, query: &'static str) -> Self {
        Self { query, ..self }
    }

    /// With this header.
    #[must_use]
    pub const fn header(self, name: &'static str, value: &'static str) -> Self {
        Self { header: Some((name, value)), ..self }
    }

    /// With this body.
    #[must_use]
    pub const fn body(self, body: &'static str) -> Self {
        Self { body: Some(body), ..self }
    }
}

impl Route {
    /// A `DELETE`.
    pub const fn delete(path: &'static str, scope: Scope) -> Self {
        Self::new(Verb::Delete, path, scope)
    }

    /// A `GET`.
    pub const fn get(path: &'static str, scope: Scope) -> Self {
        Self::new(Verb::Get, path, scope)
    }

    /// A `PATCH`.
    pub const fn patch(path: &'static str, scope: Scope) -> Self {
        Self::new(Verb::Patch, path, scope)
    }

    /// A `POST`.
    pub const fn post(path: &'static str, scope: Scope) -> Self {
        Self::new(Verb::Post, path, scope)
    }

    /// A `PUT`.
    pub const fn put(path: &'static str, scope: Scope) -> Self {
        Self::new(Verb::Put, path, scope)
    }

    const fn new(method: Verb, path: &'static str, scope: Scope) -> Self {
        Self {
            method,
            path,
            scope,
            summary: "",
            refuses: &[],
            access: [&[]; 4],
            grants: &[],
            limit: None,
            after: &[],
            example: Example::at(""),
        }
    }

    /// What it does.
    #[must_use]
    pub const fn summary(self, summary: &'static str) -> Self {
        Self { summary, ..self }
    }

    /// The problems it may answer, besides those that follow from the types of its handler.
    #[must_use]
    pub const fn refuses(self, refuses: &'static [Kind]) -> Self {
        Self { refuses, ..self }
    }

    /// What it asks of the table, besides what was said before. Its role allows this and nothing more.
    ///
    /// # Panics
    /// The fifth time. Routes are constants, where that does not compile.
    #[must_use]
    pub const fn access(mut self, access: &'static [Access]) -> Self {
        let mut at = 0;
        while !self.access[at].is_empty() {
            at += 1;
        }
        self.access[at] = access;
        self
    }

    /// What it asks of other services.
    #[must_use]
    pub const fn grants(self, grants: &'static [Grant]) -> Self {
        Self { grants, ..self }
    }

    /// A limit of its own, for a route whose requests are many to the table, make what stays for anybody who asks, or
    /// guess at what is worth something.
    #[must_use]
    pub const fn limit(self, rate: u32, burst: u32) -> Self {
        Self { limit: Some(Limit { rate, burst }), ..self }
    }

    /// The functions that a deployment replaces before this one: those that read what this one writes in a new way.
    #[must_use]
    pub const fn after(self, after: &'static [&'static str]) -> Self {
        Self { after, ..self }
    }

    /// A request to it.
    #[must_use]
    pub const fn example(self, example: Example) -> Self {
        Self { example, ..self }
    }

    /// The names of the parameters in its path.
    pub fn path_parameters(&self) -> impl Iterator<Item = &'static str> {
        self.path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'))
    }
}
