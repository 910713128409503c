//! The declaration of a route.

pub use http::Method;
use key_schema::access::Access;
use lambda::Grant;

use crate::{Kind, Lifetime, Scope};

/// A route. The function in `template.yaml`, its role, its throttle, its sample event and its part of the OpenAPI
/// document are generated from this declaration and from the types of its handler.
#[derive(Clone, Copy, Debug)]
pub struct Route {
    pub method: Verb,
    /// The path, with parameters such as `{orderId}`.
    pub path: &'static str,
    /// The scope that the caller's token must have.
    pub scope: Scope,
    /// One or two sentences for the OpenAPI document.
    pub summary: &'static str,
    /// The problems that the handler may return, besides those that the types of its arguments imply, in up to two groups.
    pub refuses: [&'static [Kind]; 2],
    /// The accesses to the table that the function's role allows, in up to four groups.
    pub access: [&'static [Access]; 4],
    /// The function's permissions on other services.
    pub grants: &'static [Grant],
    /// The route's own throttle. If absent, the throttle of all routes applies.
    pub limit: Option<Limit>,
    /// The parameter of `template.yaml` with the number of environments that only this function may use, and at the same time
    /// the most that it may use. With 0, or if absent, it shares the account's concurrency with all others.
    pub concurrency: Option<&'static str>,
    /// How long caches may keep the answers. If absent, they may not keep them.
    pub shared: Option<Lifetime>,
    /// The functions that a deployment updates before this one.
    pub after: &'static [&'static str],
    /// The request from which the sample event is made.
    pub example: Example,
}

/// An HTTP method. Unlike [`Method`], it is `Copy`, so a [`Route`] can be `Copy`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    Delete,
    Get,
    Patch,
    Post,
    Put,
}

impl Verb {
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

/// The gateway's throttle of a route. It applies to the requests of all callers together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit {
    /// The sustained number of requests per second.
    pub rate: u32,
    /// The number of requests at once.
    pub burst: u32,
}

/// A request from which a route's sample event in `events/` is made. The examples of all routes tell one story, in the
/// order of their times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Example {
    /// The time of day, such as `09:34:40`.
    pub at: &'static str,
    /// The values of the path parameters, with a slash between them.
    pub path: &'static str,
    pub query: &'static str,
    /// Up to two headers that not every request has.
    pub headers: [Option<(&'static str, &'static str)>; 2],
    /// The address that the issuer of the token has verified, if the token says one.
    pub verified_email: Option<&'static str>,
    /// The body, as JSON.
    pub body: Option<&'static str>,
}

impl Example {
    /// A request at this time of day, without parameters, header and body.
    pub const fn at(at: &'static str) -> Self {
        Self { at, path: "", query: "", headers: [None; 2], verified_email: None, body: None }
    }

    /// The same request with these values of the path parameters, with a slash between them.
    #[must_use]
    pub const fn path(self, path: &'static str) -> Self {
        Self { path, ..self }
    }

    #[must_use]
    pub const fn query(self, query: &'static str) -> Self {
        Self { query, ..self }
    }

    /// # Panics
    /// On the third call. Routes are constants, so a third call does not compile.
    #[must_use]
    pub const fn header(mut self, name: &'static str, value: &'static str) -> Self {
        let at = if self.headers[0].is_none() { 0 } else { 1 };
        assert!(self.headers[at].is_none(), "an example has at most two headers");
        self.headers[at] = Some((name, value));
        self
    }

    #[must_use]
    pub const fn verified_email(self, verified_email: &'static str) -> Self {
        Self { verified_email: Some(verified_email), ..self }
    }

    #[must_use]
    pub const fn body(self, body: &'static str) -> Self {
        Self { body: Some(body), ..self }
    }
}

impl Route {
    pub const fn delete(path: &'static str, scope: Scope) -> Self {
        Self::new(Verb::Delete, path, scope)
    }

    pub const fn get(path: &'static str, scope: Scope) -> Self {
        Self::new(Verb::Get, path, scope)
    }

    pub const fn patch(path: &'static str, scope: Scope) -> Self {
        Self::new(Verb::Patch, path, scope)
    }

    pub const fn post(path: &'static str, scope: Scope) -> Self {
        Self::new(Verb::Post, path, scope)
    }

    pub const fn put(path: &'static str, scope: Scope) -> Self {
        Self::new(Verb::Put, path, scope)
    }

    const fn new(method: Verb, path: &'static str, scope: Scope) -> Self {
        Self {
            method,
            path,
            scope,
            summary: "",
            refuses: [&[]; 2],
            access: [&[]; 4],
            grants: &[],
            limit: None,
            concurrency: None,
            shared: None,
            after: &[],
            example: Example::at(""),
        }
    }

    #[must_use]
    pub const fn summary(self, summary: &'static str) -> Self {
        Self { summary, ..self }
    }

    /// Adds a group of problems that the handler may return, besides those that the types of its arguments imply.
    ///
    /// # Panics
    /// On the third call. Routes are constants, so a third call does not compile.
    #[must_use]
    pub const fn refuses(mut self, refuses: &'static [Kind]) -> Self {
        let at = if self.refuses[0].is_empty() { 0 } else { 1 };
        assert!(self.refuses[at].is_empty(), "a route has at most two groups of problems");
        self.refuses[at] = refuses;
        self
    }

    /// Names the parameter with the number of environments that are reserved for the function.
    #[must_use]
    pub const fn concurrency(self, parameter: &'static str) -> Self {
        Self { concurrency: Some(parameter), ..self }
    }

    /// Adds a group of accesses to the table. The function's role allows the added accesses and no other.
    ///
    /// # Panics
    /// On the fifth call. Routes are constants, so a fifth call does not compile.
    #[must_use]
    pub const fn access(mut self, access: &'static [Access]) -> Self {
        let mut at = 0;
        while !self.access[at].is_empty() {
            at += 1;
        }
        self.access[at] = access;
        self
    }

    /// Sets the function's permissions on other services.
    #[must_use]
    pub const fn grants(self, grants: &'static [Grant]) -> Self {
        Self { grants, ..self }
    }

    /// Gives the route its own throttle. A route needs one if it makes many requests to the table, lets anybody create
    /// items, or would allow guessing valuable codes or existing addresses.
    #[must_use]
    pub const fn limit(self, rate: u32, burst: u32) -> Self {
        Self { limit: Some(Limit { rate, burst }), ..self }
    }

    /// Lets all caches keep the answers of this route for a while. Any other route's answers may not be kept.
    ///
    /// # Panics
    /// If the route needs a token or changes something. Routes are constants, so that does not compile.
    #[must_use]
    pub const fn shared(self, lifetime: Lifetime) -> Self {
        assert!(matches!(self.scope, Scope::Public), "the answers of a route with a token are not for everybody");
        assert!(matches!(self.method, Verb::Get), "no cache keeps the answer to a change");
        Self { shared: Some(lifetime), ..self }
    }

    /// Names the functions that a deployment updates before this one, because they read the items that this one writes
    /// and must know a new layout of them first.
    #[must_use]
    pub const fn after(self, after: &'static [&'static str]) -> Self {
        Self { after, ..self }
    }

    #[must_use]
    pub const fn example(self, example: Example) -> Self {
        Self { example, ..self }
    }

    /// The first part of the path, such as `orders`: the route's tag in the OpenAPI document.
    pub fn collection(&self) -> &'static str {
        self.path.split('/').nth(1).unwrap_or_default()
    }

    /// The names of the path parameters.
    pub fn path_parameters(&self) -> impl Iterator<Item = &'static str> {
        self.path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'))
    }
}
