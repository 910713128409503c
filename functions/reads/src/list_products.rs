//! `GET /products?category=`: the products of a category, or of all. `GET /products?ids=`: some products.

use std::collections::HashMap;

use http_api::{Answer, Example, IdsOr, Lifetime, ProductView, Route, Scope};
use images::Urls;
use key_schema::access::Access;
use key_schema::cursor;
use key_schema::entity::{Availability, Product};
use key_schema::layout::{Consistency, InCategory, PRODUCTS_OF_CATEGORY, PRODUCTS_OF_SHOP};
use key_schema::page::{Page, PageRequest};
use key_schema::value::{Category, ProductId};
use serde::Deserialize;
use table::{Budget, Reader};
use utoipa::IntoParams;

pub const ROUTE: Route = Route::get("/products", Scope::Public)
    .summary(
        "The products of a category, sorted by product id; all products, sorted by category and product id; or up to 100 \
         products by their ids. `GET /search` sorts by price or name.",
    )
    .shared(Lifetime::List)
    .limit(40, 80)
    .access(&[Access::query(PRODUCTS_OF_CATEGORY), Access::query(PRODUCTS_OF_SHOP)])
    .access(catalogue::READ_PRODUCTS)
    .example(Example::at("09:33:20").query("category=kitchen&limit=20"));

/// The number of categories to read at once.
const CATEGORIES: u8 = 100;

/// The most reads of a category for one page of products that can be bought.
const READS: usize = 8;

/// The filter of the list.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub struct OfCategory {
    /// All categories if absent.
    category: Option<Category>,
    /// Only products that are not sold out. If most are, a page may have fewer products than it could, and yet a next page.
    #[serde(default)]
    available: bool,
}

pub async fn handle(
    (table, urls): (Reader, Urls),
    wanted: IdsOr<ProductId, OfCategory>,
    budget: Budget,
) -> Answer<Page<ProductView>> {
    let page = match wanted {
        IdsOr::Ids(ids) => Page { items: of_ids(&table, &ids, budget).await?, next: None },
        IdsOr::List(OfCategory { category, available: true }, page) => {
            available(&table, category.as_ref(), page).await?
        }
        IdsOr::List(OfCategory { category, .. }, page) => read(&table, category.as_ref(), &page).await?,
    };
    Ok(page.map(|product| {
        let images = urls.of(&product);
        ProductView::from(product).with_images(images)
    }))
}

/// The products with these ids, in this order, also those that lists leave out, such as variants. Takes one request.
async fn of_ids(table: &Reader, ids: &[ProductId], budget: Budget) -> Answer<Vec<Product>> {
    let keys = ids.iter().map(Product::key_of).collect();
    let found: Vec<Product> = table.batch(keys, Consistency::Eventual, budget).await?;
    let mut found: HashMap<_, _> = found.into_iter().map(|product| (product.product_id.clone(), product)).collect();
    Ok(ids.iter().filter_map(|id| found.remove(id)).collect())
}

async fn read(table: &Reader, category: Option<&Category>, page: &PageRequest) -> Answer<Page<Product>> {
    match category {
        Some(category) => Ok(table.page(&PRODUCTS_OF_CATEGORY.ask(category), page).await?),
        None => of_all(table, page).await,
    }
}

/// A page of the products that are not sold out, of at most [`READS`] reads, or of a single page of all categories, which
/// takes many requests.
async fn available(table: &Reader, category: Option<&Category>, mut page: PageRequest) -> Answer<Page<Product>> {
    let (mut items, wanted) = (Vec::new(), usize::from(page.limit));
    let reads = if category.is_some() { READS } else { 1 };
    for _ in 0..reads {
        let found = read(table, category, &page).await?;
        items.extend(found.items.into_iter().filter(|product| product.availability != Availability::SoldOut));
        let missing = wanted.saturating_sub(items.len());
        page.cursor = found.next;
        if page.cursor.is_none() || missing == 0 {
            break;
        }
        page.limit = u8::try_from(missing).unwrap_or(page.limit);
    }
    Ok(Page { items, next: page.cursor })
}

/// A page of all products: the rest of the category in which the page before ended, and then category by category until
/// the page is full. Takes a request for each category that it reads from, and one for each hundred categories.
async fn of_all(table: &Reader, page: &PageRequest) -> Answer<Page<Product>> {
    let mut listed = Listed { items: Vec::new(), limit: page.limit };
    let mut after = match &page.cursor {
        Some(cursor) => {
            let position =
                cursor::open(&PRODUCTS_OF_SHOP.ask(()), cursor).and_then(|position| InCategory::read(&position));
            Some(position.map_err(table::Error::from)?)
        }
        None => None,
    };
    if let Some(InCategory { category, product: Some(product) }) = &after
        && let Some(full) = listed.read(table, category, Some(product.clone())).await?
    {
        return Ok(full);
    }
    loop {
        let position = after.as_ref().map(InCategory::of_categories);
        let (categories, more) = table.after(&PRODUCTS_OF_SHOP.ask(()), position.as_deref(), CATEGORIES).await?;
        for count in categories {
            let read = InCategory { category: count.category, product: None };
            if count.products > 0
                && let Some(full) = listed.read(table, &read.category, None).await?
            {
                return Ok(full);
            }
            after = Some(read);
        }
        if more.is_none() {
            return Ok(Page { items: listed.items, next: None });
        }
    }
}

/// The products listed so far.
struct Listed {
    items: Vec<Product>,
    limit: u8,
}

impl Listed {
    /// Reads the products of a category after `last`, and returns the page if it is full.
    async fn read(
        &mut self,
        table: &Reader,
        category: &Category,
        last: Option<ProductId>,
    ) -> Answer<Option<Page<Product>>> {
        let room = self.limit - u8::try_from(self.items.len()).unwrap_or(self.limit);
        let after = last.as_ref().map(InCategory::of_products);
        let (products, more) = table.after(&PRODUCTS_OF_CATEGORY.ask(category), after.as_deref(), room).await?;
        self.items.extend(products);
        if self.items.len() < usize::from(self.limit) {
            return Ok(None);
        }
        let items = std::mem::take(&mut self.items);
        let product = items.last().filter(|_| more.is_some()).map(|product| product.product_id.clone());
        let position = InCategory { category: category.clone(), product }.position();
        Ok(Some(Page { items, next: Some(cursor::seal(&PRODUCTS_OF_SHOP.ask(()), &position)) }))
    }
}
