//! `POST /views`: counts views of several products.

use http_api::{Answer, Example, Json, Kind, Problem, Route, Scope};
use key_schema::access::Access;
use key_schema::entity::ViewMark;
use key_schema::value::{ProductId, Timestamp, VisitorId};
use serde::Deserialize;
use table::{Budget, Reader, ViewShards, Writer};
use utoipa::ToSchema;

use crate::views::{self, Counter, Views};

pub const ROUTE: Route = Route::post("/views", Scope::Public)
    .summary("Count views of products, for example those that a page collected. Unknown products are left out.")
    .limit(10, 20)
    .access(views::COUNT)
    .access(&[Access::put::<ViewMark>()])
    .after(&["get-product-stats"])
    .example(
        Example::at("09:41:00")
            .body(r#"{"products": ["espresso-cup", "espresso-cup"], "visitor": "Zm9vYmFyYmF6cXV4"}"#),
    );

/// The most views in a request. Anybody may send them, so one request cannot count for very much.
const MOST_VIEWS: usize = 20;

/// Views of products.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ViewedProducts {
    /// A product for each view.
    #[schema(min_items = 1, max_items = 20)]
    products: Vec<ProductId>,
    /// A random text that the visitor's browser has made up. With it, only the first view of each product and day is
    /// counted, and the request can be repeated. Without it, each view is counted, each time that the request is sent.
    visitor: Option<VisitorId>,
}

/// Takes one write for each product, however often it was viewed, and with a visitor another one for the mark.
pub async fn handle(
    (reader, writer, shards): (Reader, Writer, ViewShards),
    Json(ViewedProducts { products, visitor }): Json<ViewedProducts>,
    budget: Budget,
) -> Answer<()> {
    if products.is_empty() {
        return Err(Problem::invalid("products must not be empty"));
    }
    if products.len() > MOST_VIEWS {
        return Err(Problem::new(Kind::TooLarge, format!("products: a request has at most {MOST_VIEWS} views")));
    }
    let mut views = Views::new();
    for product in products {
        *views.entry(product).or_default() += 1;
    }
    let counter = Counter { reader, writer, shards, budget };
    match visitor {
        Some(visitor) => counter.add_once(views, &visitor, Timestamp::now()).await?,
        None => _ = counter.add(views).await?,
    }
    Ok(())
}
