//! The parts of a request, each with a type. A handler declares the parts that it needs as its arguments. These types
//! read the request, refuse an invalid one before the handler runs, and describe the parts in the OpenAPI document.

use std::str::FromStr;

use key_schema::page::PageRequest;
use key_schema::value::{
    CustomerId, DiscountCode, GiftCardCode, GuestSecret, ImageId, Invalid, InvoiceId, OrderId, ProductId, ReturnId,
    ShipmentId,
};
use lambda::Budget;
use serde::de::DeserializeOwned;
use utoipa::{IntoParams, ToSchema};

use crate::query::Paging;
use crate::{Caller, Description, IfMatch, Kind, Problem, Request};

/// A part of a request, as an argument of a handler.
pub trait FromRequest: Sized {
    /// The name of the path parameter from which this part is read, if there is one.
    const PATH_PARAMETER: Option<&'static str> = None;

    /// Reads the part.
    ///
    /// # Errors
    /// The part is missing or invalid.
    fn from_request(request: &Request) -> Result<Self, Problem>;

    /// Adds the part, and the problems that it may cause, to the route's description.
    fn describe(description: Description) -> Description;
}

/// An id or a code that a path contains.
pub trait PathParameter: FromStr<Err = Invalid> {
    /// The name of the parameter, which is the same in every path.
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
    "imageId" ImageId
    "invoiceId" InvoiceId
    "orderId" OrderId
    "productId" ProductId
    "returnId" ReturnId
    "shipmentId" ShipmentId
}

/// The path parameter of this type.
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

/// The customer in the path. Unless the caller is this customer or an admin, the problem is `not-found`.
#[derive(Clone, Debug)]
pub struct OwnCustomer(pub CustomerId);

impl FromRequest for OwnCustomer {
    const PATH_PARAMETER: Option<&'static str> = Some(CustomerId::NAME);

    fn from_request(request: &Request) -> Result<Self, Problem> {
        let customer = request.path(CustomerId::NAME)?;
        if request.caller()?.acts_for(&customer) { Ok(Self(customer)) } else { Err(Problem::not_found("customer")) }
    }

    fn describe(description: Description) -> Description {
        description.path(CustomerId::NAME).refuses(&[Kind::NotFound])
    }
}

/// The customer in the path, or a guest whom the caller may have claimed. `Reader::may_access` tells whether the caller may
/// see what belongs to them.
#[derive(Clone, Debug)]
pub struct CustomerOrGuest {
    pub id: CustomerId,
    pub caller: Caller,
}

impl FromRequest for CustomerOrGuest {
    const PATH_PARAMETER: Option<&'static str> = Some(CustomerId::NAME);

    fn from_request(request: &Request) -> Result<Self, Problem> {
        Ok(Self { id: request.path(CustomerId::NAME)?, caller: request.caller()?.clone() })
    }

    fn describe(description: Description) -> Description {
        description.path(CustomerId::NAME).refuses(&[Kind::NotFound])
    }
}

/// The secret of a guest who need not exist yet.
impl FromRequest for GuestSecret {
    fn from_request(request: &Request) -> Result<Self, Problem> {
        request.guest_secret()
    }

    fn describe(description: Description) -> Description {
        description.guest_secret()
    }
}

/// The guest in the path, and the secret of the request. Only [`caller`](Self::caller) tells whether they belong together.
#[derive(Clone, Debug)]
pub struct OwnGuest {
    guest: CustomerId,
    secret: GuestSecret,
}

impl OwnGuest {
    const NAME: &'static str = "guestId";

    /// The guest as the caller. No read is needed: the guest's id is the hash of the secret. Of a guest who is the
    /// caller, nothing need be stored.
    ///
    /// # Errors
    /// `not-found` if the secret is that of another guest.
    pub fn caller(self) -> Result<Caller, Problem> {
        let caller = Caller::guest(&self.secret);
        if caller.id == self.guest { Ok(caller) } else { Err(Problem::not_found("guest")) }
    }
}

impl FromRequest for OwnGuest {
    const PATH_PARAMETER: Option<&'static str> = Some(Self::NAME);

    fn from_request(request: &Request) -> Result<Self, Problem> {
        Ok(Self { guest: request.path(Self::NAME)?, secret: request.guest_secret()? })
    }

    fn describe(description: Description) -> Description {
        description.path(Self::NAME).guest_secret().refuses(&[Kind::NotFound])
    }
}

/// The guest in the path of a route that does not need the guest's secret.
#[derive(Clone, Debug)]
pub struct GuestOfPath(pub CustomerId);

impl FromRequest for GuestOfPath {
    const PATH_PARAMETER: Option<&'static str> = Some(OwnGuest::NAME);

    fn from_request(request: &Request) -> Result<Self, Problem> {
        request.path(OwnGuest::NAME).map(Self)
    }

    fn describe(description: Description) -> Description {
        description.path(OwnGuest::NAME).refuses(&[Kind::NotFound])
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

/// The query string. A parameter that is not a field of the type is refused.
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

/// The query string of a list: a filter and a page. A parameter that belongs to neither is refused.
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

/// The query string of a list that also answers items by their ids: either `ids` and no other parameter, or a filter and a
/// page.
#[derive(Clone, Debug)]
pub enum IdsOr<Id, Filter> {
    /// From 1 to 100 ids, each once, in the order of the request.
    Ids(Vec<Id>),
    List(Filter, PageRequest),
}

impl<Id, Filter> FromRequest for IdsOr<Id, Filter>
where
    Id: FromStr<Err = Invalid> + PartialEq,
    Filter: DeserializeOwned + IntoParams,
{
    fn from_request(request: &Request) -> Result<Self, Problem> {
        request.ids_or_list()
    }

    fn describe(description: Description) -> Description {
        description.query::<Filter>().query::<Paging>().ids()
    }
}

/// As an argument: the body, a JSON object. Every type of a body has `deny_unknown_fields`, so unknown fields are
/// refused. As a success: 200 with this body.
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

/// The body, a JSON object. A request without a body gets the default of the type.
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

/// A body that the payment provider signed, byte for byte as it was sent, and the signature.
#[derive(Clone, Debug)]
pub struct SignedBody {
    /// The value of `Stripe-Signature`. Empty if the header is missing.
    pub signature: String,
    pub body: Vec<u8>,
}

impl FromRequest for SignedBody {
    fn from_request(request: &Request) -> Result<Self, Problem> {
        let signature = request.header("Stripe-Signature")?.unwrap_or_default().to_owned();
        Ok(Self { signature, body: request.body()?.to_vec() })
    }

    fn describe(description: Description) -> Description {
        description.signed_body()
    }
}

/// A required `If-Match`: without the header, the problem is `precondition-required`.
impl FromRequest for IfMatch {
    fn from_request(request: &Request) -> Result<Self, Problem> {
        request.if_match()
    }

    fn describe(description: Description) -> Description {
        description.if_match()
    }
}

/// An optional `If-Match`.
impl FromRequest for Option<IfMatch> {
    fn from_request(request: &Request) -> Result<Self, Problem> {
        request.if_match_if_any()
    }

    fn describe(description: Description) -> Description {
        description.if_match_if_any("any version matches")
    }
}

/// The time that the handler may use, retries included.
impl FromRequest for Budget {
    fn from_request(request: &Request) -> Result<Self, Problem> {
        Ok(request.budget())
    }

    fn describe(description: Description) -> Description {
        description
    }
}
