//! The OpenAPI description of the API, derived from the routes' declarations and the types of their handlers.

mod document;
mod examples;
mod gateway;
mod links;
mod parameter;
mod publish;

use utoipa::openapi::content::ContentBuilder;
use utoipa::openapi::path::{OperationBuilder, ParameterIn};
use utoipa::openapi::request_body::RequestBodyBuilder;
use utoipa::openapi::schema::{ArrayBuilder, ObjectBuilder, Schema, SchemaType, Type};
use utoipa::openapi::security::SecurityRequirement;
use utoipa::openapi::{Ref, RefOr, Required};
use utoipa::{IntoParams, ToSchema};

pub use self::document::open_api;
pub use self::publish::publish;
use crate::{Handler, Kind, Route, Scope, Verb};

/// The description of one route.
pub struct Description {
    route: &'static Route,
    operation: OperationBuilder,
    answers: Vec<Answer>,
    /// The headers that every success may have.
    headers: Vec<&'static str>,
    schemas: Vec<(String, RefOr<Schema>)>,
    problems: Vec<Kind>,
}

/// A success of the route.
struct Answer {
    status: &'static str,
    what: &'static str,
    media_type: &'static str,
    body: Option<RefOr<Schema>>,
    headers: &'static [&'static str],
}

/// Describes a route, from its declaration and the types of its handler.
pub fn describe<Deps, Parts, H: Handler<Deps, Parts>>(route: &'static Route, _: H) -> Description {
    H::describe(Description::new(route)).refuses(&route.refuses.concat())
}

impl Description {
    fn new(route: &'static Route) -> Self {
        // Tools group operations by tag.
        let mut operation = OperationBuilder::new().summary(Some(route.summary)).tag(route.collection());
        let mut problems = vec![Kind::Validation, Kind::Throttled, Kind::Internal];
        if route.scope == Scope::Public {
            operation = operation.securities(Some([]));
        } else {
            problems.extend([Kind::Unauthorized, Kind::Forbidden]);
            // Each scope is an alternative: a token needs only one of them.
            for scope in route.scope.any_of() {
                operation = operation.security(SecurityRequirement::new("token", [*scope]));
            }
        }
        let mut headers = Vec::new();
        if route.method == Verb::Get {
            operation = operation.parameter(parameter::if_none_match());
            headers.extend(["Cache-Control", "ETag"]);
        }
        Self { route, operation, answers: Vec::new(), headers, schemas: Vec::new(), problems }
    }

    /// Adds a path parameter.
    #[must_use]
    pub(crate) fn path(mut self, name: &str) -> Self {
        self.operation = self.operation.parameter(parameter::path(name));
        self.reads_text()
    }

    /// Adds the parameters of the query string.
    #[must_use]
    pub(crate) fn query<T: IntoParams>(mut self) -> Self {
        for parameter in T::into_params(|| Some(ParameterIn::Query)) {
            self.operation = self.operation.parameter(parameter::of_query(parameter));
        }
        self.reads_text()
    }

    /// Adds the parameter `ids` of the query string.
    #[must_use]
    pub(crate) fn ids(mut self) -> Self {
        self.operation = self.operation.parameter(parameter::ids());
        self.reads_text()
    }

    /// Adds the problem of a part in which a client may have put a payment card number.
    fn reads_text(mut self) -> Self {
        if !self.problems.contains(&Kind::CardNumber) {
            self.problems.push(Kind::CardNumber);
        }
        self
    }

    /// Adds a required `Idempotency-Key`.
    #[must_use]
    pub(crate) fn idempotency_key(mut self) -> Self {
        self.operation = self.operation.parameter(parameter::idempotency_key(
            true,
            "The client chooses a new key for each request, and repeats it with each retry of that request.",
        ));
        self.reads_text().refuses(&[Kind::IdempotencyKeyMissing, Kind::IdempotencyKeyReused])
    }

    /// Adds a required `Guest-Secret`.
    #[must_use]
    pub(crate) fn guest_secret(mut self) -> Self {
        self.operation = self.operation.parameter(parameter::guest_secret());
        self
    }

    /// Adds the preference for an answer before the request is carried out.
    #[must_use]
    pub(crate) fn prefers_async(mut self) -> Self {
        self.operation = self.operation.parameter(parameter::prefer());
        self
    }

    /// Adds a required body.
    #[must_use]
    pub(crate) fn accepts<T: ToSchema>(self) -> Self {
        self.body::<T>(Required::True)
    }

    /// Adds an optional body.
    #[must_use]
    pub(crate) fn accepts_if_any<T: ToSchema>(self) -> Self {
        self.body::<T>(Required::False)
    }

    fn body<T: ToSchema>(mut self, required: Required) -> Self {
        self.problems.push(Kind::TooLarge);
        let content = ContentBuilder::new().schema(Some(self.reference::<T>())).build();
        let body = RequestBodyBuilder::new().content("application/json", content).required(Some(required));
        self.operation = self.operation.request_body(Some(body.build()));
        self.reads_text()
    }

    /// Adds a body that the payment provider signed, and the signature.
    #[must_use]
    pub(crate) fn signed_body(mut self) -> Self {
        self.problems.push(Kind::TooLarge);
        let event =
            ObjectBuilder::new().schema_type(Type::Object).description(Some("An event of the payment provider."));
        let content = ContentBuilder::new().schema(Some(event)).build();
        let body = RequestBodyBuilder::new().content("application/json", content).required(Some(Required::True));
        self.operation = self.operation.request_body(Some(body.build())).parameter(parameter::stripe_signature());
        self
    }

    /// Adds a required `If-Match`.
    #[must_use]
    pub(crate) fn if_match(mut self) -> Self {
        self.operation = self.operation.parameter(parameter::if_match(true, ""));
        self.reads_text().refuses(&[Kind::PreconditionRequired, Kind::VersionConflict])
    }

    /// Adds an optional `If-Match`. `without_it` says what happens without the header.
    #[must_use]
    pub(crate) fn if_match_if_any(mut self, without_it: &str) -> Self {
        self.operation = self.operation.parameter(parameter::if_match(false, &format!(" Without it, {without_it}.")));
        self.reads_text().refuses(&[Kind::VersionConflict])
    }

    /// Adds an optional `Idempotency-Key`.
    #[must_use]
    pub(crate) fn once(mut self) -> Self {
        self.operation = self.operation.parameter(parameter::idempotency_key(
            false,
            "A request with a key is carried out once. For three days, its retries get the same answer.",
        ));
        self.reads_text().replays().refuses(&[Kind::IdempotencyKeyReused])
    }

    /// Adds `ETag` to every success.
    #[must_use]
    pub(crate) fn versioned(mut self) -> Self {
        self.headers.push("ETag");
        self
    }

    /// Adds `Retry-After` to every success.
    #[must_use]
    pub(crate) fn may_wait(mut self) -> Self {
        self.headers.push("Retry-After");
        self
    }

    /// Adds `Idempotent-Replayed` to every success.
    #[must_use]
    pub(crate) fn replays(mut self) -> Self {
        self.headers.push("Idempotent-Replayed");
        self
    }

    /// Adds a 204.
    #[must_use]
    pub(crate) fn done(self) -> Self {
        self.answer("204", "Done", None, &[])
    }

    /// Changes the last success into a 201 with these headers.
    #[must_use]
    pub(crate) fn created(self, headers: &'static [&'static str]) -> Self {
        self.last_is("201", "Created, by this request or by an earlier one that it repeats", headers)
    }

    /// Changes the last success into a 202.
    #[must_use]
    pub(crate) fn accepted(self) -> Self {
        let what = "Accepted, to be carried out later. Read the outcome at Location, after the time in Retry-After";
        self.last_is("202", what, &["Location", "Retry-After", "Preference-Applied"])
    }

    fn last_is(mut self, status: &'static str, what: &'static str, headers: &'static [&'static str]) -> Self {
        if let Some(last) = self.answers.last_mut() {
            (last.status, last.what, last.headers) = (status, what, headers);
        }
        self
    }

    /// Adds a 200 with this body.
    #[must_use]
    pub(crate) fn answers<T: ToSchema>(mut self) -> Self {
        let schema = self.reference::<T>();
        self.answer("200", "Success", Some(schema), &[])
    }

    /// Adds a 200 with a page of HTML.
    #[must_use]
    pub(crate) fn answers_html(self) -> Self {
        let page = ObjectBuilder::new().schema_type(SchemaType::new(Type::String)).build();
        let mut described = self.answer("200", "A page", Some(RefOr::T(page.into())), &["Content-Security-Policy"]);
        if let Some(page) = described.answers.last_mut() {
            page.media_type = "text/html";
        }
        described
    }

    /// Adds a 200 with a page of these items. The type of `next` is the same for all lists, so that clients need only
    /// one type for it.
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

    /// Adds problems, besides those of every route.
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
        self.answers.push(Answer { status, what, media_type: "application/json", body, headers });
        self
    }

    fn reference<T: ToSchema>(&mut self) -> RefOr<Schema> {
        self.schemas.push((T::name().into_owned(), T::schema()));
        T::schemas(&mut self.schemas);
        RefOr::Ref(Ref::from_schema_name(T::name()))
    }
}
