//! `POST /gift-cards`: creates a gift card.

use http_api::{
    Answer, Created, Example, IssuedGiftCardView, Json, Kind, Problem, Replayable, Route, Scope, Versioned,
};
use key_schema::access::Access;
use key_schema::entity::GiftCard;
use key_schema::value::{Charge, GiftCardCode, Money, Timestamp, optional_moment};
use serde::Deserialize;
use table::{Budget, Put, Writer};
use utoipa::ToSchema;
use utoipa::openapi::schema::{AllOfBuilder, ObjectBuilder, Schema, Type};
use utoipa::openapi::{Ref, RefOr};

pub const ROUTE: Route = Route::post("/gift-cards", Scope::Admin)
    .summary("Create a gift card.")
    .refuses(&[Kind::AlreadyExists])
    .access(&[Access::put::<GiftCard>()])
    .example(
        Example::at("09:31:20").body(r#"{"code":"GIFT-50-7QKX-M2TD","balance":{"amount":5000,"currency":"EUR"}}"#),
    );

/// A new gift card.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewGiftCard {
    /// At least 12 characters, made at random: anyone who guesses the code can spend the card's balance.
    #[schema(value_type = String, pattern = "^[A-Za-z0-9_-]{12,64}$")]
    code: GiftCardCode,
    /// The initial balance: at least 1 minor unit.
    #[schema(schema_with = positive_charge, required)]
    balance: Charge,
    /// The card can be spent before this moment, which must be in the future; forever if absent.
    #[schema(schema_with = optional_moment, required = false)]
    valid_until: Option<Timestamp>,
}

fn positive_charge() -> RefOr<Schema> {
    let at_least_one = ObjectBuilder::new().schema_type(Type::Integer).minimum(Some(1));
    let amount = ObjectBuilder::new().property("amount", at_least_one);
    AllOfBuilder::new().item(Ref::from_schema_name(Charge::name())).item(amount).into()
}

/// The length of the shortest code: 12 random capital letters and digits have 62 bits of entropy. Cards of earlier
/// releases may have shorter codes, and stay valid.
const SHORTEST_CODE: usize = 12;

pub async fn handle(
    table: Writer,
    Json(new): Json<NewGiftCard>,
    budget: Budget,
) -> Answer<Created<Versioned<IssuedGiftCardView>>> {
    if new.code.as_str().len() < SHORTEST_CODE {
        return Err(Problem::new(
            Kind::Validation,
            format!("code: must be {SHORTEST_CODE} to 64 characters, made at random"),
        ));
    }
    let balance = Money::from(new.balance);
    if balance.is_zero() {
        return Err(Problem::new(Kind::Validation, "balance.amount: must be at least 1"));
    }

    let now = Timestamp::now();
    // An expired card is useless, and its code could never be used again.
    if new.valid_until.is_some_and(|until| until <= now) {
        return Err(Problem::new(Kind::Validation, "validUntil: must be in the future"));
    }

    let card = GiftCard { valid_until: new.valid_until, ..GiftCard::new(new.code, balance, now) };
    let location = format!("/gift-cards/{}", card.code);
    let answer = match table.put_new(&card, budget).await? {
        Put::New => Replayable::first(shown(card)),
        Put::Exists(existing) if existing.is_same_request(&card) => Replayable::again(shown(existing.as_created())),
        Put::Exists(_) => return Err(Problem::already_exists("gift card")),
    };
    Ok(Created { location, answer })
}

fn shown(card: GiftCard) -> Versioned<IssuedGiftCardView> {
    Versioned::new(card.version, card.into())
}
