//! `POST /discounts`: makes a discount code.

use http_api::{Answer, Description, DiscountView, Kind, Problem, Reply, Request, Route, Scope};
use key_schema::entity::Discount;
use key_schema::value::{DiscountCode, Percent, Timestamp, optional_moment};
use serde::Deserialize;
use table::{Put, Writer};
use utoipa::ToSchema;

pub const ROUTE: Route = Route::post("/discounts", Scope::Admin);

/// A new discount code.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewDiscount {
    code: DiscountCode,
    percent: Percent,
    /// Good from this moment on; at once if absent.
    #[schema(schema_with = optional_moment, required = false)]
    from: Option<Timestamp>,
    /// Good until before this moment, which must be in the future; for ever if absent.
    #[schema(schema_with = optional_moment, required = false)]
    to: Option<Timestamp>,
    /// How many orders may use it; any number if absent.
    #[schema(value_type = Option<u64>, minimum = 1, maximum = 4_294_967_295u64)]
    max_uses: Option<u32>,
}

pub async fn handle(table: Writer, request: Request) -> Answer {
    let new: NewDiscount = request.json()?;
    if new.max_uses == Some(0) {
        return Err(Problem::new(Kind::Validation, "maxUses: must be at least 1"));
    }
    if new.from.zip(new.to).is_some_and(|(from, to)| from >= to) {
        return Err(Problem::new(Kind::Validation, "to: must be after from"));
    }
    let now = Timestamp::now();
    // It would be of no use to anybody, and its code is taken once and for all.
    if new.to.is_some_and(|to| to <= now) {
        return Err(Problem::new(Kind::Validation, "to: must be in the future"));
    }

    let discount = Discount {
        code: new.code,
        percent: new.percent,
        from: new.from,
        to: new.to,
        max_uses: new.max_uses,
        uses: 0,
        created_at: now,
    };
    let location = format!("/discounts/{}", discount.code);
    match table.put_new(&discount, request.budget()).await? {
        Put::New => Reply::created(location, &DiscountView::from(discount)),
        Put::Exists(existing) if existing.is_same_request(&discount) => {
            Ok(Reply::created(location, &DiscountView::from(existing.as_created()))?.replayed(true))
        }
        Put::Exists(_) => Err(Problem::already_exists("discount code")),
    }
}

pub fn describe() -> Description {
    ROUTE
        .describe("Make a discount code.")
        .accepts::<NewDiscount>()
        .creates::<DiscountView>()
        .leads_to("get-discount", "code", "$response.body#/code")
        .refuses(&[Kind::AlreadyExists])
}
