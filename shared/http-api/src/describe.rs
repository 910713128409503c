//! The API's own description, in OpenAPI. What a route accepts and answers is taken from its types.

mod document;
mod gateway;
mod links;
mod parameter;

use utoipa::openapi::content::ContentBuilder;
use utoipa::openapi::path::{OperationBuilder, ParameterIn};
use utoipa::openapi::request_body::RequestBodyBuilder;
use utoipa::openapi::schema::{ArrayBuilder, ObjectBuilder, Schema, SchemaType, Type};
use utoipa::openapi::security::SecurityRequirement;
use utoipa::openapi::{Ref, RefOr, Required};
use utoipa::{IntoParams, ToSchema};

pub use self::document::open_api;
use crate::{Handler, Kind, Route, Scope};

/// One route, described.
pub struct Description {
    route: &'static Route,
    operation: OperationBuilder,
    answers: Vec<Answer>,
    /// Of every one of them.
    headers: Vec<&'static str>,
    schemas: Vec<(String, RefOr<Schema>)>,
    problems: Vec<Kind>,
}

/// A success.
struct Answer {
    status: &'static str,
    what: &'static str,
    body: Option<RefOr<Schema>>,
    headers: &'static [&'static str],
}

/// The description of a route, of its declaration and of the types of its handler.
pub fn describe<Deps, Parts, H: Handler<Deps, Parts>>(route: &'static Route, _: H) -> Description {
    H::describe(Description::new(route)).refuses(route.refuses)
}

impl Description {
    fn new(route: &'static Route) -> Self {
        // Tools group operations by tag: here by the kind of resource, which begins the path.
        let tag = route.path.split('/').nth(1).unwrap_or_default();
        let mut operation = OperationBuilder::new().summary(Some(route.summary)).tag(tag);
        let mut problems = vec![Kind::Validation, Kind::Throttled, Kind::Internal];
        if route.scope == Scope::Public {
            operation = operation.securities(Some([]));
        } else {
            problems.extend([Kind::Unauthorized, Kind::Forbidden]);
            // Each is an alternative: one of the scopes is enough.
            for scope in route.scope.any_of() {
                operation = operation.security(SecurityRequirement::new("token", [*scope]));
            }
        }
        Self { route, operation, answers: Vec::new(), headers: Vec::new(), schemas: Vec::new(), problems }
    }

    /// The parameter of its path.
    #[must_use]
    pub(crate) fn path(mut self, name: &str) -> Self {
        self.operation = self.operation.parameter(parameter::path(name));
        self
    }

    /// The query string it accepts.
    #[must_use]
    pub(crate) fn query<T: IntoParams>(mut self) -> Self {
        for parameter in T::into_params(|| Some(ParameterIn::Query)) {
            self.operation = self.operation.parameter(parameter::of_query(parameter));
        }
        self
    }

    /// The key that tells the tries of one request from another request.
    #[must_use]
    pub(crate) fn idempotency_key(mut self) -> Self {
        self.operation = self.operation.parameter(parameter::idempotency_key(
            true,
            "Made up by the client for each order, and the same for each try of it.",
        ));
        self.refuses(&[Kind::IdempotencyKeyMissing, Kind::IdempotencyKeyReused])
    }

    /// The preference to be answered before it is done.
    #[must_use]
    pub(crate) fn prefers_async(mut self) -> Self {
        self.operation = self.operation.parameter(parameter::prefer());
        self
    }

    /// The body it accepts.
    #[must_use]
    pub(crate) fn accepts<T: ToSchema>(self) -> Self {
        self.body::<T>(Required::True)
    }

    /// The body it accepts, and does without.
    #[must_use]
    pub(crate) fn accepts_if_any<T: ToSchema>(self) -> Self {
        self.body::<T>(Required::False)
    }

    fn body<T: ToSchema>(mut self, required: Required) -> Self {
        self.problems.push(Kind::TooLarge);
        let content = ContentBuilder::new().schema(Some(self.reference::<T>())).build();
        let body = RequestBodyBuilder::new().content("application/json", content).required(Some(required));
        self.operation = self.operation.request_body(Some(body.build()));
        self
    }

    /// It changes a version, which `If-Match` names.
    #[must_use]
    pub(crate) fn if_match(mut self) -> Self {
        self.operation = self.operation.parameter(parameter::if_match(true, ""));
        self.refuses(&[Kind::PreconditionRequired, Kind::VersionConflict])
    }

    /// It may name the version that it changes in `If-Match`; `without_it` says what happens otherwise.
    #[must_use]
    pub(crate) fn if_match_if_any(mut self, without_it: &str) -> Self {
        self.operation = self.operation.parameter(parameter::if_match(false, &format!(" Without it: {without_it}.")));
        self.refuses(&[Kind::VersionConflict])
    }

    /// It may be asked with an idempotency key, and is then done once.
    #[must_use]
    pub(crate) fn once(mut self) -> Self {
        self.operation = self.operation.parameter(parameter::idempotency_key(
            false,
            "The same request under the same key is done once, and for three days gets the same answer.",
        ));
        self.replays().refuses(&[Kind::IdempotencyKeyReused])
    }

    /// What it answers has a version, which it names.
    #[must_use]
    pub(crate) fn versioned(mut self) -> Self {
        self.headers.push("ETag");
        self
    }

    /// What it answers may wait for something, and then it says when to look again.
    #[must_use]
    pub(crate) fn may_wait(mut self) -> Self {
        self.headers.push("Retry-After");
        self
    }

    /// It answers a request that was answered before as it did then, and says so.
    #[must_use]
    pub(crate) fn replays(mut self) -> Self {
        self.headers.push("Idempotent-Replayed");
        self
    }

    /// It answers that it is done, without a body.
    #[must_use]
    pub(crate) fn done(self) -> Self {
        self.answer("204", "Done", None, &[])
    }

    /// The last answer is that something was made, by this request or by the same one before.
    #[must_use]
    pub(crate) fn created(self) -> Self {
        self.last_is("201", "Made, or made before by the same request", &["Location"])
    }

    /// The last answer is that something will be made later.
    #[must_use]
    pub(crate) fn accepted(self) -> Self {
        let what = "Accepted, to be made later: look where Location says, after the time in Retry-After";
        self.last_is("202", what, &["Location", "Retry-After", "Preference-Applied"])
    }

    fn last_is(mut self, status: &'static str, what: &'static str, headers: &'static [&'static str]) -> Self {
        if let Some(last) = self.answers.last_mut() {
            (last.status, last.what, last.headers) = (status, what, headers);
        }
        self
    }

    /// What it answers.
    #[must_use]
    pub(crate) fn answers<T: ToSchema>(mut self) -> Self {
        let schema = self.reference::<T>();
        self.answer("200", "Found", Some(schema), &[])
    }

    /// The type of `next` is the same of all pages, so that clients need one type for all of them.
    pub(crate) fn page<T: ToSchema>(mut self, next: &str) -> Self {
        let next =
            ObjectBuilder::new().schema_type(SchemaType::from_iter([Type::String, Type::Null])).description(Some(next));
        let items = ArrayBuilder::new().items(self.reference::<T>());
        let page = ObjectBuilder::new()
            .property("items", items)
            .required("items")
            .property("next", next)
            .required("next")
            .build();
        self.answer("200", "A page", Some(RefOr::T(page.into())), &[])
    }

    /// The problems it may answer, besides those of every route.
    #[must_use]
    pub(crate) fn refuses(mut self, problems: &[Kind]) -> Self {
        self.problems.extend(problems);
        self
    }

    fn answer(
        mut self,
        status: &'static str,
        what: &'static str,
        body: Option<RefOr<Schema>>,
        headers: &'static [&'static str],
    ) -> Self {
        self.answers.push(Answer { status, what, body, headers });
        self
    }

    fn reference<T: ToSchema>(&mut self) -> RefOr<Schema> {
        self.schemas.push((T::name().into_owned(), T::schema()));
        T::schemas(&mut self.schemas);
        RefOr::Ref(Ref::from_schema_name(T::name()))
    }
}
