//! `PUT /customers/{customerId}/addresses`: replaces the address book of a customer.

use http_api::{AddressesView, Answer, Example, IfMatch, Json, Kind, OwnCustomer, Problem, Route, Scope, Versioned};
use key_schema::access::Access;
use key_schema::entity::{Address, Customer, CustomerAddresses, NewAddress, SavedAddress};
use key_schema::value::{AddressId, Country, CustomerId, Line, Timestamp, repeated};
use serde::Deserialize;
use table::{Budget, Cause, Commit, Condition, Write, Writer, read_item};
use utoipa::ToSchema;

pub const ROUTE: Route = Route::put("/customers/{customerId}/addresses", Scope::Shop)
    .summary("Replace the address book of a customer.")
    .refuses(&[Kind::NotFound])
    .access(&[Access::put::<CustomerAddresses>().in_transactions(), Access::check::<Customer>()])
    .example(Example::at("09:34:10").path("ada").body(
        r#"{
            "addresses": [{
                "addressId": "home",
                "name": "Ada Lovelace",
                "line1": "Chausseestrasse 1",
                "city": "Berlin",
                "postalCode": "10115",
                "country": "DE"
            }],
            "default": "home"
        }"#,
    ));

/// A new address book.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewAddresses {
    /// Up to 20 addresses, each with a different id.
    #[schema(max_items = 20)]
    addresses: Vec<NewSavedAddress>,
    /// The id of the address that a shop front proposes.
    default: Option<AddressId>,
}

/// An address of a new book.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewSavedAddress {
    /// If absent, the shop makes one of the address.
    address_id: Option<AddressId>,
    /// The name of the person or the company that receives the parcel.
    name: Line,
    /// The street and the number, or what the country has instead.
    line1: Line,
    line2: Option<Line>,
    city: Line,
    /// The postal code, in a form that the country has. Most countries need one.
    #[schema(max_length = 20)]
    postal_code: Option<String>,
    /// The state or the province, where addresses have one.
    region: Option<Line>,
    country: Country,
}

/// If `If-Match` names a version, only a book with that version is replaced. A customer with several devices should send
/// the `ETag` of the book that the device shows.
///
/// The profile is checked in the same transaction, so no address appears after the customer was erased.
pub async fn handle(
    writer: Writer,
    OwnCustomer(customer_id): OwnCustomer,
    if_match: Option<IfMatch>,
    Json(new): Json<NewAddresses>,
    budget: Budget,
) -> Answer<Versioned<AddressesView>> {
    let book = book(customer_id, new)?;
    let put = match &if_match {
        None => Write::put(&book)?,
        Some(if_match) => Write::put_if(&book, Condition::versions(if_match.versions())?)?,
    };
    let exists = Condition::present().and(Condition::not_erased());
    let check = Write::check(Customer::key_of(&book.customer_id), exists);
    let Commit::Cancelled(causes) = writer.commit(vec![check, put], budget).await? else {
        return Ok(Versioned::new(book.version, book.into()));
    };
    let mut causes = causes.into_iter();
    if let Some(Cause::Condition(_)) = causes.next() {
        return Err(Problem::not_found("customer"));
    }
    match causes.next() {
        Some(Cause::Condition(Some(other))) => {
            let other: CustomerAddresses = read_item(other)?;
            // If the SDK retried an attempt that had succeeded, the retry finds its own book.
            if other.version == book.version {
                return Ok(Versioned::new(book.version, book.into()));
            }
            Err(Problem::version_conflict(other.version))
        }
        _ => Err(Problem::version_conflict(0)),
    }
}

/// The book, if each of its addresses has an id of its own, and the default is one of them.
fn book(customer_id: CustomerId, new: NewAddresses) -> Answer<CustomerAddresses> {
    let most = CustomerAddresses::MOST;
    if new.addresses.len() > most {
        return Err(Problem::new(Kind::TooLarge, format!("An address book holds at most {most} addresses.")));
    }
    let mut addresses = Vec::with_capacity(new.addresses.len());
    for (at, new) in new.addresses.into_iter().enumerate() {
        let NewSavedAddress { address_id, name, line1, line2, city, postal_code, region, country } = new;
        let address = NewAddress { name, line1, line2, city, postal_code, region, country };
        let address = Address::try_from(address).map_err(|why| Problem::invalid(format!("addresses[{at}]: {why}")))?;
        let address_id = address_id.unwrap_or_else(|| AddressId::of(&format!("{address:?}")));
        addresses.push(SavedAddress { address_id, address });
    }
    if let Some(at) = repeated(addresses.iter().map(|saved| &saved.address_id)) {
        return Err(Problem::invalid(format!("addresses[{at}].addressId is also the id of an earlier address")));
    }
    if new.default.as_ref().is_some_and(|default| addresses.iter().all(|saved| saved.address_id != *default)) {
        return Err(Problem::invalid("default: must be the id of one of the addresses"));
    }
    let version = fastrand::u64(1..1 << 53);
    Ok(CustomerAddresses { customer_id, addresses, default: new.default, updated_at: Timestamp::now(), version })
}
