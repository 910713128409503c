//! `POST /discounts`: creates a discount code.

use http_api::{Answer, Created, DiscountView, Example, Json, Kind, Problem, Replayable, Route, Scope, Versioned};
use key_schema::access::Access;
use key_schema::entity::{Discount, Reduction};
use key_schema::value::{Category, DiscountCode, Money, Percent, Timestamp, optional_moment};
use serde::Deserialize;
use table::{Budget, Put, Writer};
use utoipa::ToSchema;

pub const ROUTE: Route = Route::post("/discounts", Scope::Admin)
    .summary("Create a discount code.")
    .refuses(&[Kind::AlreadyExists])
    .access(&[Access::put::<Discount>()])
    .example(Example::at("09:30:40").body(r#"{"code":"WELCOME10","percent":10}"#));

/// A new discount code.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewDiscount {
    code: DiscountCode,
    /// The percentage off the sum of the code's lines. Either this or `amount`.
    percent: Option<Percent>,
    /// The amount off the sum of the code's lines, or the whole sum if it is less. Either this or `percent`.
    amount: Option<Money>,
    /// The category of the products to whose lines the code applies; all lines if absent.
    category: Option<Category>,
    /// The least sum of the code's lines, before any discount; any sum if absent.
    min_subtotal: Option<Money>,
    /// Whether an order may have the code beside others that are combinable, too.
    #[serde(default)]
    combinable: bool,
    /// The code is valid from this moment on; at once if absent.
    #[schema(schema_with = optional_moment, required = false)]
    from: Option<Timestamp>,
    /// The code is valid before this moment, which must be in the future; forever if absent.
    #[schema(schema_with = optional_moment, required = false)]
    to: Option<Timestamp>,
    /// The number of orders that may use the code; any number if absent.
    #[schema(value_type = Option<u64>, minimum = 1, maximum = 4_294_967_295u64)]
    max_uses: Option<u32>,
}

pub async fn handle(
    table: Writer,
    Json(new): Json<NewDiscount>,
    budget: Budget,
) -> Answer<Created<Versioned<DiscountView>>> {
    let reduction = Reduction::of(new.percent, new.amount).map_err(|why| Problem::invalid(why.to_string()))?;
    let currencies = new.amount.zip(new.min_subtotal).map(|(amount, least)| (amount.currency(), least.currency()));
    if currencies.is_some_and(|(amount, least)| amount != least) {
        return Err(Problem::invalid("minSubtotal: must be in the currency of amount"));
    }
    if new.max_uses == Some(0) {
        return Err(Problem::new(Kind::Validation, "maxUses: must be at least 1"));
    }
    if new.from.zip(new.to).is_some_and(|(from, to)| from >= to) {
        return Err(Problem::new(Kind::Validation, "to: must be after from"));
    }
    let now = Timestamp::now();
    // An expired code is useless, and its name could never be used again.
    if new.to.is_some_and(|to| to <= now) {
        return Err(Problem::new(Kind::Validation, "to: must be in the future"));
    }

    let discount = Discount {
        code: new.code,
        reduction,
        category: new.category,
        min_subtotal: new.min_subtotal,
        combinable: new.combinable,
        from: new.from,
        to: new.to,
        max_uses: new.max_uses,
        uses: 0,
        held_by_guests: 0,
        revoked: false,
        version: 1,
        created_at: now,
    };
    let location = format!("/discounts/{}", discount.code);
    let answer = match table.put_new(&discount, budget).await? {
        Put::New => Replayable::first(shown(discount)),
        Put::Exists(existing) if existing.is_same_request(&discount) => Replayable::again(shown(existing.as_created())),
        Put::Exists(_) => return Err(Problem::already_exists("discount code")),
    };
    Ok(Created { location, answer })
}

fn shown(discount: Discount) -> Versioned<DiscountView> {
    Versioned::new(discount.version, discount.into())
}
