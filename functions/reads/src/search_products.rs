//! `GET /search`: finds products by words, category and price.

use http_api::{
    Answer, CategoryView, Example, FacetsView, Json, Kind, Lifetime, List, PriceRangeView, Problem, ProductView, Route,
    Scope, SearchView,
};
use key_schema::value::{Category, Currency};
use search::{Error, Found, Listed, PriceRange, Query, Search, Sort, Words};
use serde::Deserialize;
use utoipa::IntoParams;

pub const ROUTE: Route = Route::get("/search", Scope::Public)
    .summary(
        "Find products by the words of their names, descriptions and categories. A change of a product is found after a few \
         seconds. Prices in orders are those of the shop, not those that were found.",
    )
    .shared(Lifetime::List)
    .refuses(&[Kind::SearchOff, Kind::SearchUnavailable])
    .grants(&[search::READ_SECRET])
    .limit(100, 200)
    .example(Example::at("09:33:30").query("q=stoneware+cu&category=kitchen&limit=20"));

/// The words and the filters.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub struct Wanted {
    /// The words, all of which must be in the product. The last one may be the beginning of a word of the name. Without
    /// words, all products are found.
    #[param(value_type = Option<String>, min_length = 1, max_length = 200)]
    q: Option<Words>,
    /// Only products of this category.
    category: Option<Category>,
    /// Only products with a price in this currency. Needed for `from`, `to` and an order by price.
    currency: Option<Currency>,
    /// The lowest price, in minor units.
    #[serde(default)]
    #[param(value_type = Option<u64>, maximum = 1_000_000_000_000i64)]
    from: Option<Amount>,
    /// The price above the highest one, in minor units.
    #[serde(default)]
    #[param(value_type = Option<u64>, maximum = 1_000_000_000_000i64)]
    to: Option<Amount>,
    /// Only products that are not sold out.
    #[serde(default)]
    available: bool,
    /// The order of the products.
    #[serde(default)]
    #[param(inline)]
    sort: Sort,
}

/// An amount of money in minor units.
#[derive(Clone, Copy, Deserialize)]
#[serde(try_from = "String")]
struct Amount(i64);

impl TryFrom<String> for Amount {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        let amount = text.parse().ok().filter(|amount| (0..=key_schema::value::MOST_CHARGED).contains(amount));
        amount.map(Self).ok_or("from and to must be whole numbers from 0 to 1000000000000, in minor units")
    }
}

pub async fn handle(search: Search, List(wanted, page): List<Wanted>) -> Answer<Json<SearchView>> {
    let Wanted { q, category, currency, from, to, available, sort } = wanted;
    let (from, to) = (from.map(|Amount(from)| from), to.map(|Amount(to)| to));
    let by_price = matches!(sort, Sort::PriceAsc | Sort::PriceDesc);
    if currency.is_none() && (by_price || from.is_some() || to.is_some()) {
        return Err(Problem::invalid("query string: from, to and an order by price need a currency"));
    }
    if let (Some(from), Some(to)) = (from, to)
        && from >= to
    {
        return Err(Problem::invalid("query string: from must be less than to"));
    }
    let words = q.unwrap_or_default();
    let (limit, cursor) = (page.limit, page.cursor);
    let query = Query { words, category, currency, from, to, available, sort, limit, cursor };
    match search.find(&query).await {
        Ok(found) => Ok(Json(view(found))),
        Err(Error::Off) => Err(Problem::new(Kind::SearchOff, "Use the lists of products and categories.")),
        Err(Error::Cursor(invalid)) => Err(Problem::invalid(invalid)),
        Err(error) => Err(Problem::search_unavailable(error)),
    }
}

fn view(found: Found) -> SearchView {
    let Found { products, next, total, categories, prices } = found;
    let product = |found: Listed| {
        let Listed { product_id, name, description, description_continues, category, price, availability, version } =
            found;
        let texts = (name, description, description_continues);
        ProductView::listed(product_id, texts, category, price, availability, version)
    };
    let price = |PriceRange { currency, from, to, products }| PriceRangeView { currency, from, to, products };
    let facets = FacetsView {
        categories: categories.into_iter().map(CategoryView::from).collect(),
        prices: prices.into_iter().map(price).collect(),
    };
    SearchView { items: products.into_iter().map(product).collect(), next, total, facets }
}
