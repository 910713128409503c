//! The successes of a handler, each a type, from which the route's description follows.

use std::marker::PhantomData;

use serde::Serialize;
use table::Page;
use utoipa::ToSchema;

use crate::{Answer, Description, Json, Problem, Reply};

/// A success of a handler.
pub trait Respond {
    /// The reply.
    ///
    /// # Errors
    /// A body that cannot be written: a defect.
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

/// 200 with this body, whose version is its `ETag`.
#[derive(Clone, Debug)]
pub struct Versioned<T> {
    /// The version.
    pub version: u64,
    /// The body.
    pub body: T,
}

impl<T> Versioned<T> {
    /// This version of this body.
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

/// An answer to a request that may have been made before: `Idempotent-Replayed` tells.
#[derive(Clone, Debug)]
pub struct Replayable<R> {
    /// The answer.
    pub answer: R,
    /// Whether it was given before.
    pub is_replayed: bool,
}

impl<R> Replayable<R> {
    /// The answer to a request that was not made before.
    pub const fn first(answer: R) -> Self {
        Self { answer, is_replayed: false }
    }

    /// The answer to a request that was made before.
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

/// 201: something was made, by this request or by the same one before.
#[derive(Clone, Debug)]
pub struct Created<R> {
    /// The path of what was made.
    pub location: String,
    /// What was made.
    pub answer: Replayable<R>,
}

impl<R: Respond> Respond for Created<R> {
    fn respond(self) -> Answer {
        Ok(self.answer.respond()?.created(self.location))
    }

    fn describe(description: Description) -> Description {
        Replayable::<R>::describe(description).created()
    }
}

/// 202: it will be done. The client finds out at this path, after a while.
#[derive(Clone, Debug)]
pub struct Accepted<R> {
    /// The path at which the outcome can be read.
    pub location: String,
    /// The preference that the request had named and that is followed (RFC 7240, 3).
    pub preference: Option<&'static str>,
    /// What was accepted.
    pub answer: Replayable<R>,
}

impl<R: Respond> Respond for Accepted<R> {
    fn respond(self) -> Answer {
        Ok(self.answer.respond()?.accepted(self.location, self.preference))
    }

    fn describe(description: Description) -> Description {
        R::describe(description).accepted()
    }
}

/// An answer that says when to ask again, if asking again is of use.
#[derive(Clone, Debug)]
pub struct AskAgain<R> {
    /// The answer.
    pub answer: R,
    /// Whether another answer is to be expected soon.
    pub is_of_use: bool,
}

impl<R: Respond> Respond for AskAgain<R> {
    fn respond(self) -> Answer {
        Ok(self.answer.respond()?.again_later(self.is_of_use))
    }

    fn describe(description: Description) -> Description {
        R::describe(description.may_wait())
    }
}

/// One of two answers.
#[derive(Clone, Debug)]
pub enum Either<A, B> {
    /// The first.
    A(A),
    /// The second.
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

/// A reply of this kind that exists as text already: one that is kept under an idempotency key.
#[derive(Debug)]
pub struct Kept<R>(Reply, PhantomData<fn() -> R>);

impl<R: Respond> Kept<R> {
    /// The reply.
    ///
    /// # Errors
    /// A body that cannot be written: a defect.
    pub fn of(answer: R) -> Result<Self, Problem> {
        Ok(answer.respond()?.into())
    }

    /// The reply, to keep it.
    pub const fn reply(&self) -> &Reply {
        &self.0
    }
}

impl<R> From<Reply> for Kept<R> {
    fn from(reply: Reply) -> Self {
        Self(reply, PhantomData)
    }
}

impl<R: Respond> Respond for Kept<R> {
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
        description.page::<T>("The cursor of the next page; null after the last one.")
    }
}

/// 200 with all of a list, in a page like any other.
#[derive(Clone, Debug)]
pub struct All<T>(pub Vec<T>);

impl<T: Serialize + ToSchema> Respond for All<T> {
    fn respond(self) -> Answer {
        Page { items: self.0, next: None }.respond()
    }

    fn describe(description: Description) -> Description {
        description.page::<T>("Always null: there is no other page.")
    }
}

/// 204: done, and there is nothing to say.
impl Respond for () {
    fn respond(self) -> Answer {
        Ok(Reply::no_content())
    }

    fn describe(description: Description) -> Description {
        description.done()
    }
}
