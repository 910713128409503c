//! `GET /customers/{customerId}/export`: everything that the shop has about a customer.

use futures_util::future::try_join_all;
use http_api::{Answer, Example, ExportedView, List, OwnCustomer, Problem, Route, Scope, Unfiltered};
use key_schema::access::Access;
use key_schema::entity::Order;
use key_schema::layout::{CustomerById, InCustomer, OrderById, ProfileAndOrders, ProfileOrOrder};
use key_schema::page::{Page, PageRequest};
use key_schema::value::Timestamp;
use table::{Budget, Error, Reader};

pub const ROUTE: Route = Route::get("/customers/{customerId}/export", Scope::Shop)
    .summary(
        "Everything about a customer: first the profile with the address book and the cart, then each order with its lines, \
         invoice, payments, returns and flag, newest first.",
    )
    .limit(10, 20)
    .access(&[
        Access::query::<CustomerById>(),
        Access::query::<ProfileAndOrders>(),
        Access::query::<OrderById>(),
    ])
    .example(Example::at("09:58:40").path("ada").query("limit=10"));

/// The most items of a page, whatever `limit` says. An order with 40 lines and 20 returns is 100 KB, and an answer of
/// Lambda may have 6 MB.
const MOST: u8 = 25;

/// The profile is read on each page, so a page after an erasure has nothing.
pub async fn handle(
    table: Reader,
    OwnCustomer(id): OwnCustomer,
    List(Unfiltered {}, page): List<Unfiltered>,
    budget: Budget,
) -> Answer<Page<ExportedView>> {
    let items = table.collection(&CustomerById { id: &id }).await?;
    let now = Timestamp::now();
    let cart = items.iter().find_map(|item| match item {
        InCustomer::Cart(cart) if !cart.is_absent(now) => Some(cart.clone()),
        _ => None,
    });
    let addresses = items.iter().find_map(|item| match item {
        InCustomer::CustomerAddresses(book) => Some(book.clone()),
        _ => None,
    });
    let (profile, stats) = CustomerById::assemble(items).ok_or_else(|| Problem::not_found("customer"))?;

    let page = PageRequest { limit: page.limit.min(MOST), ..page };
    let Page { items, next } = table.page(&ProfileAndOrders { customer: &id }, &page).await?;
    let mut exported = Vec::new();
    if items.iter().any(|item| matches!(item, ProfileOrOrder::Customer(_))) {
        exported.push(ExportedView::profile(profile, stats, addresses, cart));
    }
    let orders = items.into_iter().filter_map(|item| match item {
        ProfileOrOrder::Order(order) => Some(whole(&table, order, budget)),
        ProfileOrOrder::Customer(_) | ProfileOrOrder::Unknown => None,
    });
    exported.extend(try_join_all(orders).await?);
    Ok(Page { items: exported, next })
}

/// The order with everything that belongs to it.
async fn whole(table: &Reader, order: Order, budget: Budget) -> Result<ExportedView, Error> {
    let whole = table.order(&order.order_id, budget).await?;
    whole.map(ExportedView::order).ok_or(Error::Inconsistent("an order of the index is not in the table"))
}
