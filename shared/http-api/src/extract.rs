//! The parts of a request, each a type. A handler takes those that it needs as its arguments: what the route accepts, and
//! what is refused before the handler runs, follows from them.

use std::str::FromStr;

use key_schema::value::{CustomerId, DiscountCode, GiftCardCode, Invalid, InvoiceId, OrderId, ProductId};
use serde::de::DeserializeOwned;
use table::{Budget, PageRequest};
use utoipa::{IntoParams, ToSchema};

use crate::query::Paging;
use crate::{Caller, Description, IfMatch, Kind, Problem, Request};

/// A part of a request.
pub trait FromRequest: Sized {
    /// The parameter of the path that this part is made of.
    const PATH_PARAMETER: Option<&'static str> = None;

    /// Reads the part.
    ///
    /// # Errors
    /// The part is missing or makes no sense.
    fn from_request(request: &Request) -> Result<Self, Problem>;

    /// Adds the part, and the problems that it may lead to, to the route's description.
    fn describe(description: Description) -> Description;
}

/// An identifier that stands in a path.
pub trait PathParameter: FromStr<Err = Invalid> {
    /// The parameter's name, in every path.
    const NAME: &'static str;
}

macro_rules! path_parameters {
    ($($name:literal $type:ident)+) => {$(
        impl PathParameter for $type {
            const NAME: &'static str = $name;
        }
    )+};
}

path_parameters! {
    "code" DiscountCode
    "code" GiftCardCode
    "customerId" CustomerId
    "invoiceId" InvoiceId
    "orderId" OrderId
    "productId" ProductId
}

/// The parameter of the path.
#[derive(Clone, Debug)]
pub struct Path<T>(pub T);

impl<T: PathParameter> FromRequest for Path<T> {
    const PATH_PARAMETER: Option<&'static str> = Some(T::NAME);

    fn from_request(request: &Request) -> Result<Self, Problem> {
        request.path(T::NAME).map(Self)
    }

    fn describe(description: Description) -> Description {
        description.path(T::NAME)
    }
}

/// The customer in the path: the caller's own, or any if the caller is an admin. Any other does not exist.
#[derive(Clone, Debug)]
pub struct OwnCustomer(pub CustomerId);

impl FromRequest for OwnCustomer {
    const PATH_PARAMETER: Option<&'static str> = Some(CustomerId::NAME);

    fn from_request(request: &Request) -> Result<Self, Problem> {
        let customer = request.path(CustomerId::NAME)?;
        if request.caller()?.may_see(&customer) { Ok(Self(customer)) } else { Err(Problem::not_found("customer")) }
    }

    fn describe(description: Description) -> Description {
        description.path(CustomerId::NAME).refuses(&[Kind::NotFound])
    }
}

impl FromRequest for Caller {
    fn from_request(request: &Request) -> Result<Self, Problem> {
        request.caller().cloned()
    }

    fn describe(description: Description) -> Description {
        description
    }
}

/// The query string. A parameter that the type does not know is refused.
#[derive(Clone, Debug)]
pub struct Query<T>(pub T);

impl<T: DeserializeOwned + IntoParams> FromRequest for Query<T> {
    fn from_request(request: &Request) -> Result<Self, Problem> {
        request.query().map(Self)
    }

    fn describe(description: Description) -> Description {
        description.query::<T>()
    }
}

/// The query string of a list: what to list, and which page of it. A parameter that neither knows is refused.
#[derive(Clone, Debug)]
pub struct List<Filter>(pub Filter, pub PageRequest);

impl<Filter: DeserializeOwned + IntoParams> FromRequest for List<Filter> {
    fn from_request(request: &Request) -> Result<Self, Problem> {
        request.list().map(|(filter, page)| Self(filter, page))
    }

    fn describe(description: Description) -> Description {
        description.query::<Filter>().query::<Paging>()
    }
}

/// As the last argument: the body, a JSON object. A field that the type does not know is refused. As an answer: 200 with
/// this body.
#[derive(Clone, Debug)]
pub struct Json<T>(pub T);

impl<T: DeserializeOwned + ToSchema> FromRequest for Json<T> {
    fn from_request(request: &Request) -> Result<Self, Problem> {
        request.json().map(Self)
    }

    fn describe(description: Description) -> Description {
        description.accepts::<T>()
    }
}

/// The body, a JSON object; of a request without one, the default.
#[derive(Clone, Debug)]
pub struct OptionalJson<T>(pub T);

impl<T: DeserializeOwned + Default + ToSchema> FromRequest for OptionalJson<T> {
    fn from_request(request: &Request) -> Result<Self, Problem> {
        request.json_if_any().map(Self)
    }

    fn describe(description: Description) -> Description {
        description.accepts_if_any::<T>()
    }
}

/// `If-Match`: without the header the answer is `precondition-required`.
impl FromRequest for IfMatch {
    fn from_request(request: &Request) -> Result<Self, Problem> {
        request.if_match()
    }

    fn describe(description: Description) -> Description {
        description.if_match()
    }
}

/// `If-Match`, of a route that does without: then the version does not matter.
impl FromRequest for Option<IfMatch> {
    fn from_request(request: &Request) -> Result<Self, Problem> {
        request.if_match_if_any()
    }

    fn describe(description: Description) -> Description {
        description.if_match_if_any("whatever is there is meant")
    }
}

/// How long the handler may try again: what is left of the function's time, less what answering needs.
impl FromRequest for Budget {
    fn from_request(request: &Request) -> Result<Self, Problem> {
        Ok(request.budget())
    }

    fn describe(description: Description) -> Description {
        description
    }
}
