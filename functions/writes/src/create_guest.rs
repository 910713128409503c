//! `POST /guests`: makes the profile of a guest, who orders without an account.

use http_api::{Answer, Example, GuestView, Introduced, Json, Kind, Problem, Replayable, Route, Scope};
use key_schema::access::{Access, GUESTS};
use key_schema::entity::Guest;
use key_schema::value::{EmailAddress, GuestSecret, Name, Timestamp};
use ordering::Guests;
use serde::Deserialize;
use table::{Budget, Condition, Write, Writer, Written, read_item};
use utoipa::ToSchema;

use crate::guests::are_served;

pub const ROUTE: Route = Route::post("/guests", Scope::Public)
    .summary(
        "Introduce a guest, who orders without an account. The client draws the guest's secret and keeps it: whoever has \
             the secret sees the guest's orders. A guest who orders nothing is forgotten after seven days.",
    )
    .limit(50, 100)
    .refuses(&[Kind::AlreadyExists, Kind::Forbidden])
    .access(&[Access::put::<Guest>().of_partitions(GUESTS)])
    .example(
        Example::at("09:54:00")
            .header("guest-secret", "dGhlIHNlY3JldCBvZiBhIGd1ZXN0IG9mIG15IHNob3A")
            .body(r#"{"email":"grace@example.com","name":"Grace Hopper"}"#),
    );

/// A guest. Nobody verifies the address, so it may be that of a customer, and it is kept from nobody.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Introduction {
    email: EmailAddress,
    name: Name,
}

/// The guest's id is the hash of the secret, so the same request again means the same guest.
pub async fn handle(
    (table, guests): (Writer, Guests),
    secret: GuestSecret,
    Json(Introduction { email, name }): Json<Introduction>,
    budget: Budget,
) -> Answer<Introduced<Json<GuestView>>> {
    are_served(guests)?;
    let guest = Guest::new(secret.guest_id(), email, name.into(), Timestamp::now());
    let is_free = Condition::new("attribute_not_exists(#PK) OR #expiresAt <= :now");
    let is_free = is_free.value(":now", guest.created_at.as_second())?;
    match table.write(Write::put_if(&guest, is_free)?, budget).await? {
        Written::Done => Ok(created(guest, Replayable::first)),
        Written::ConditionFailed(existing) => match read_item::<Guest>(existing.unwrap_or_default())? {
            existing if existing.is_same_request(&guest) => Ok(created(existing, Replayable::again)),
            _ => Err(Problem::already_exists("guest")),
        },
    }
}

fn created(guest: Guest, answer: fn(Json<GuestView>) -> Replayable<Json<GuestView>>) -> Introduced<Json<GuestView>> {
    // The link of a mail may be with anybody: it does not tell which customer has claimed the guest.
    Introduced(answer(Json(Guest { claimed_by: None, ..guest }.into())))
}
