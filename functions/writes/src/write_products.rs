//! `POST /products/batch`: creates and changes several products.

use std::collections::BTreeMap;
use std::time::Duration;

use futures_util::{StreamExt as _, stream};
use http_api::{Answer, Example, IfMatch, Json, Kind, Part, Path, Problem, ProductResults, Route, Scope};
use key_schema::access::Access;
use key_schema::entity::{Product, Stock};
use key_schema::value::ProductId;
use payments::Currencies;
use serde::{Deserialize, Deserializer};
use table::{Budget, Reader, Writer};
use utoipa::openapi::schema::{AdditionalProperties, ObjectBuilder, Schema};
use utoipa::openapi::{Ref, RefOr};
use utoipa::{PartialSchema, ToSchema};

use crate::product_request::{NewProduct, ProductChanges};
use crate::{create_product, update_product};

pub const ROUTE: Route = Route::post("/products/batch", Scope::Admin)
    .summary("Create and change up to 100 products. Each entry is done or refused by itself.")
    .limit(5, 10)
    .access(stock::READ)
    .access(&[
        Access::batch_get::<Product>(),
        Access::put::<Product>().in_transactions(),
        Access::put::<Stock>().in_transactions(),
        Access::update::<Product>(),
        Access::check::<Product>(),
    ])
    .access(stock::RESHAPE)
    .access(catalogue::CHANGE)
    .example(Example::at("09:53:40").body(
        r#"{
            "products": [
                {"create": {
                    "productId": "espresso-cup-red",
                    "name": "Espresso cup, red",
                    "description": "Stoneware, 80 ml",
                    "category": "kitchen",
                    "price": {"amount": 2199, "currency": "EUR"},
                    "attributes": {"colour": "red"},
                    "variantOf": "espresso-cup",
                    "stock": 10
                }},
                {"update": {"productId": "espresso-cup", "version": 3, "changes": {"name": "Espresso cup, small"}}}
            ]
        }"#,
    ));

/// The most entries of a batch. If each entry has to wait for capacity, more than that would not be done in one request.
const MOST_ENTRIES: usize = 100;

/// The number of entries that are written at once. The products of one category share a partition of an index, which
/// takes 1,000 write units a second.
const CONCURRENT: usize = 8;

/// The part of the request's time in which no entry is begun or retried, so that the results are sent in time.
const RESERVE: Duration = Duration::from_secs(1);

/// Products to create and to change.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ProductBatch {
    /// Each entry is about another product.
    #[schema(min_items = 1, max_items = 100)]
    products: Vec<Entry>,
}

/// One product to create or to change.
#[derive(Deserialize)]
#[serde(try_from = "EitherEntry")]
enum Entry {
    /// The request names the id: without it, a repeated entry would create another product.
    Create(ProductId, NewProduct),
    Update(ProductUpdate),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct EitherEntry {
    #[serde(default, deserialize_with = "not_null")]
    create: Option<NewProduct>,
    #[serde(default, deserialize_with = "not_null")]
    update: Option<ProductUpdate>,
}

fn not_null<'de, D: Deserializer<'de>, T: Deserialize<'de>>(part: D) -> Result<Option<T>, D::Error> {
    T::deserialize(part).map(Some)
}

/// Changes of one version of a product.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ProductUpdate {
    product_id: ProductId,
    /// The version that was read. If the product has another one, it is not changed.
    #[schema(value_type = u64, maximum = 4_294_967_295u64)]
    version: u32,
    changes: ProductChanges,
}

impl TryFrom<EitherEntry> for Entry {
    type Error = &'static str;

    fn try_from(entry: EitherEntry) -> Result<Self, Self::Error> {
        match entry {
            EitherEntry { create: Some(new), update: None } => {
                let named = new.named().cloned().ok_or("create must have a productId")?;
                Ok(Self::Create(named, new))
            }
            EitherEntry { create: None, update: Some(update) } => Ok(Self::Update(update)),
            _ => Err("must have either create or update"),
        }
    }
}

impl PartialSchema for Entry {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new()
            .description(Some("One product to create or to change."))
            .property("create", Ref::from_schema_name("NamedProduct"))
            .property("update", Ref::from_schema_name(ProductUpdate::name()))
            .min_properties(Some(1))
            .max_properties(Some(1))
            .additional_properties(Some(AdditionalProperties::FreeForm(false)))
            .into()
    }
}

/// The schema of a product to create, with the id.
fn named_product() -> RefOr<Schema> {
    let mut schema = NewProduct::schema();
    if let RefOr::T(Schema::Object(product)) = &mut schema {
        product.properties.insert("productId".to_owned(), Ref::from_schema_name(ProductId::name()).into());
        product.required.push("productId".to_owned());
    }
    schema
}

impl ToSchema for Entry {
    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        schemas.push(("NamedProduct".to_owned(), named_product()));
        schemas.push((ProductUpdate::name().into_owned(), ProductUpdate::schema()));
        NewProduct::schemas(schemas);
        ProductUpdate::schemas(schemas);
    }
}

impl Entry {
    const fn product(&self) -> &ProductId {
        match self {
            Self::Create(product, _) => product,
            Self::Update(update) => &update.product_id,
        }
    }
}

/// Does each entry by the code of the route for one product, so the same rules apply. There is no transaction over the
/// entries, and no record of the batch: an entry that is repeated is answered as it was the first time. So a batch that
/// was not answered, or some of whose entries found no capacity, can be sent again as it is.
pub async fn handle(
    deps: (Reader, Writer, Currencies),
    Json(ProductBatch { products }): Json<ProductBatch>,
    budget: Budget,
) -> Answer<ProductResults> {
    if products.is_empty() {
        return Err(Problem::invalid("products must not be empty"));
    }
    if products.len() > MOST_ENTRIES {
        return Err(Problem::new(Kind::TooLarge, format!("products: a batch has at most {MOST_ENTRIES} entries")));
    }
    let mut times_named = BTreeMap::<ProductId, u32>::new();
    for entry in &products {
        *times_named.entry(entry.product().clone()).or_default() += 1;
    }

    let budget = budget.less(RESERVE);
    let parts = products.into_iter().map(|entry| {
        let product = entry.product().clone();
        let is_named_twice = times_named.get(&product).is_some_and(|times| *times > 1);
        let deps = deps.clone();
        async move {
            let part = if is_named_twice {
                // The order of entries means nothing, so the shop does not choose one of them.
                Part::refused(Problem::invalid("The batch has several entries of this product. Send one."))
            } else if budget.is_over() {
                Part::of::<()>(async { Err(Problem::throttled("the time was over before this entry began")) }).await
            } else {
                written(deps, entry, budget).await
            };
            (product, part)
        }
    });
    Ok(ProductResults(stream::iter(parts).buffered(CONCURRENT).collect().await))
}

/// Writes one product, as the route for one product does.
async fn written((reader, writer, currencies): (Reader, Writer, Currencies), entry: Entry, budget: Budget) -> Part {
    match entry {
        Entry::Create(_, new) => Part::of(create_product::handle((writer, currencies), None, Json(new), budget)).await,
        Entry::Update(ProductUpdate { product_id, version, changes }) => {
            let if_match = IfMatch::Versions(vec![version.into()]);
            let deps = (reader, writer, currencies);
            let update = update_product::handle(deps, Path(product_id), if_match, Json(changes), budget);
            // It is large, and several of them are kept at once.
            Part::of(Box::pin(update)).await
        }
    }
}
