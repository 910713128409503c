//! The successes of a handler, each with a type. These types make the reply, and describe it in the OpenAPI document.

use std::marker::PhantomData;
use std::time::Duration;

use base64::prelude::{BASE64_STANDARD, Engine as _};
use key_schema::page::Page;
use serde::Serialize;
use sha2::{Digest as _, Sha256};
use utoipa::ToSchema;

use crate::{Answer, Description, Json, Problem, Reply};

/// A success of a handler.
pub trait Respond {
    /// Makes the reply.
    ///
    /// # Errors
    /// The body cannot be serialized, which is a defect.
    fn respond(self) -> Answer;

    /// Adds the success to the route's description.
    fn describe(description: Description) -> Description;
}

/// 200 with this body.
impl<T: Serialize + ToSchema> Respond for Json<T> {
    fn respond(self) -> Answer {
        Reply::ok(&self.0)
    }

    fn describe(description: Description) -> Description {
        description.answers::<T>()
    }
}

/// 200 with a page of HTML that loads nothing and runs nothing. Its only style sheet is in the page.
#[derive(Clone, Debug)]
pub struct Html {
    /// The whole document.
    pub document: String,
    /// The text of its element `style`.
    pub style: &'static str,
}

impl Respond for Html {
    fn respond(self) -> Answer {
        let style = BASE64_STANDARD.encode(Sha256::digest(self.style));
        let policy = format!(
            "default-src 'none'; style-src 'sha256-{style}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
        );
        Ok(Reply::html(self.document, policy))
    }

    fn describe(description: Description) -> Description {
        description.answers_html()
    }
}

/// 200 with this body, and its version as `ETag`.
#[derive(Clone, Debug)]
pub struct Versioned<T> {
    pub version: u64,
    pub body: T,
}

impl<T> Versioned<T> {
    pub const fn new(version: u64, body: T) -> Self {
        Self { version, body }
    }
}

impl<T: Serialize + ToSchema> Respond for Versioned<T> {
    fn respond(self) -> Answer {
        Ok(Reply::ok(&self.body)?.etag(self.version))
    }

    fn describe(description: Description) -> Description {
        description.versioned().answers::<T>()
    }
}

/// An answer to a request that clients may repeat. The answer to a repetition has the header `Idempotent-Replayed`.
#[derive(Clone, Debug)]
pub struct Replayable<R> {
    pub answer: R,
    /// Whether an earlier request was the same and was carried out.
    pub is_replayed: bool,
}

impl<R> Replayable<R> {
    /// The answer to the request that was carried out.
    pub const fn first(answer: R) -> Self {
        Self { answer, is_replayed: false }
    }

    /// The answer to a repetition of that request.
    pub const fn again(answer: R) -> Self {
        Self { answer, is_replayed: true }
    }
}

impl<R: Respond> Respond for Replayable<R> {
    fn respond(self) -> Answer {
        Ok(self.answer.respond()?.replayed(self.is_replayed))
    }

    fn describe(description: Description) -> Description {
        R::describe(description.replays())
    }
}

/// 201 with `Location`: the resource was created, by this request or by an earlier one that this one repeats.
#[derive(Clone, Debug)]
pub struct Created<R> {
    /// The path of the resource.
    pub location: String,
    /// The resource.
    pub answer: Replayable<R>,
}

impl<R: Respond> Respond for Created<R> {
    fn respond(self) -> Answer {
        Ok(self.answer.respond()?.created(Some(self.location)))
    }

    fn describe(description: Description) -> Description {
        Replayable::<R>::describe(description).created(&["Location"])
    }
}

/// 201 without `Location`: the resource was created, and its creator cannot read it.
#[derive(Clone, Debug)]
pub struct Introduced<R>(pub Replayable<R>);

impl<R: Respond> Respond for Introduced<R> {
    fn respond(self) -> Answer {
        Ok(self.0.respond()?.created(None))
    }

    fn describe(description: Description) -> Description {
        Replayable::<R>::describe(description).created(&[])
    }
}

/// 202 with `Location` and `Retry-After`: the request is accepted, and will be carried out later.
#[derive(Clone, Debug)]
pub struct Accepted<R> {
    /// The path at which the client can read the outcome.
    pub location: String,
    /// The request's preference that was followed, for `Preference-Applied` (RFC 7240, 3).
    pub preference: Option<&'static str>,
    /// The time after which the outcome is expected, for `Retry-After`. `None`: soon.
    pub wait: Option<Duration>,
    /// The current state of the request.
    pub answer: Replayable<R>,
}

impl<R: Respond> Respond for Accepted<R> {
    fn respond(self) -> Answer {
        Ok(self.answer.respond()?.accepted(self.location, self.preference, self.wait))
    }

    fn describe(description: Description) -> Description {
        R::describe(description).accepted()
    }
}

/// An answer that may soon be another one. Unless it is final, it has `Retry-After`.
#[derive(Clone, Debug)]
pub struct Pollable<R> {
    pub answer: R,
    pub is_final: bool,
}

impl<R: Respond> Respond for Pollable<R> {
    fn respond(self) -> Answer {
        let reply = self.answer.respond()?;
        Ok(if self.is_final { reply } else { reply.retry_after() })
    }

    fn describe(description: Description) -> Description {
        R::describe(description.may_wait())
    }
}

/// One of two successes.
#[derive(Clone, Debug)]
pub enum Either<A, B> {
    A(A),
    B(B),
}

impl<A: Respond, B: Respond> Respond for Either<A, B> {
    fn respond(self) -> Answer {
        match self {
            Self::A(answer) => answer.respond(),
            Self::B(answer) => answer.respond(),
        }
    }

    fn describe(description: Description) -> Description {
        B::describe(A::describe(description))
    }
}

/// A success of type `R` that is already serialized, as an idempotency record stores it.
#[derive(Debug)]
pub struct Serialized<R>(Reply, PhantomData<fn() -> R>);

impl<R: Respond> Serialized<R> {
    /// Serializes the success.
    ///
    /// # Errors
    /// The body cannot be serialized, which is a defect.
    pub fn of(answer: R) -> Result<Self, Problem> {
        Ok(answer.respond()?.into())
    }

    /// The reply, for an idempotency record.
    pub const fn reply(&self) -> &Reply {
        &self.0
    }
}

impl<R> From<Reply> for Serialized<R> {
    fn from(reply: Reply) -> Self {
        Self(reply, PhantomData)
    }
}

impl<R: Respond> Respond for Serialized<R> {
    fn respond(self) -> Answer {
        Ok(self.0)
    }

    fn describe(description: Description) -> Description {
        R::describe(description)
    }
}

/// 200 with a page of a list.
impl<T: Serialize + ToSchema> Respond for Page<T> {
    fn respond(self) -> Answer {
        Reply::ok(&self)
    }

    fn describe(description: Description) -> Description {
        description.page::<T>("The cursor of the next page; null if there is no next page.")
    }
}

/// 200 with a whole list, in the form of a page.
#[derive(Clone, Debug)]
pub struct All<T>(pub Vec<T>);

impl<T: Serialize + ToSchema> Respond for All<T> {
    fn respond(self) -> Answer {
        Page { items: self.0, next: None }.respond()
    }

    fn describe(description: Description) -> Description {
        description.page::<T>("Always null: there is no next page.")
    }
}

/// 204, without a body.
impl Respond for () {
    fn respond(self) -> Answer {
        Ok(Reply::no_content())
    }

    fn describe(description: Description) -> Description {
        description.done()
    }
}
