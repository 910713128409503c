//! `GET /customers/{customerId}/export`: everything that the shop has about a customer or guest.

use futures_util::future::try_join_all;
use http_api::{Answer, CustomerOrGuest, Example, ExportedView, List, Problem, Route, Scope, Unfiltered};
use images::Urls;
use key_schema::access::Access;
use key_schema::entity::Order;
use key_schema::layout::{CUSTOMER_BY_ID, InCustomer, ORDER_BY_ID, PROFILE_AND_ORDERS, ProfileOrOrder};
use key_schema::page::{Page, PageRequest};
use key_schema::value::Timestamp;
use table::{Budget, Error, Reader};

use crate::owner;

pub const ROUTE: Route = Route::get("/customers/{customerId}/export", Scope::Shop)
    .summary(
        "Everything about a customer: first the profile with the address book and the cart, then each order with its lines, \
         invoice, payments, returns and flag, newest first. The export of a guest, for staff and for the customer who has \
         claimed the guest, has the guest in its first item.",
    )
    .limit(10, 20)
    .access(&[
        Access::query(CUSTOMER_BY_ID),
        Access::query(PROFILE_AND_ORDERS),
        Access::query(ORDER_BY_ID),
    ])
    .example(Example::at("09:58:40").path("ada").query("limit=10"));

/// The most items of a page, whatever `limit` says. An order with 40 lines, each with the longest attributes, is 740 KB, and
/// its returns and shipments repeat the names. An answer of Lambda may have 6 MB.
const MOST: u8 = 5;

/// The profile is read on each page, so a page after an erasure has nothing.
pub async fn handle(
    (table, urls): (Reader, Urls),
    of: CustomerOrGuest,
    List(Unfiltered {}, page): List<Unfiltered>,
    budget: Budget,
) -> Answer<Page<ExportedView>> {
    let id = owner::seen(&table, of).await?;
    let items = table.collection(&CUSTOMER_BY_ID.ask(&id)).await?;
    let now = Timestamp::now();
    let cart = items.iter().find_map(|item| match item {
        InCustomer::Cart(cart) if !cart.is_absent(now) => Some(cart.clone()),
        _ => None,
    });
    let addresses = items.iter().find_map(|item| match item {
        InCustomer::CustomerAddresses(book) => Some(book.clone()),
        _ => None,
    });
    let guest = InCustomer::guest(&items).filter(|guest| !guest.is_expired(now)).cloned();
    let profile = InCustomer::assemble(items);
    if profile.is_none() && guest.is_none() {
        return Err(Problem::not_found("customer"));
    }

    let is_first = page.cursor.is_none();
    let page = PageRequest { limit: page.limit.min(MOST), ..page };
    let Page { items, next } = table.page(&PROFILE_AND_ORDERS.ask(&id), &page).await?;
    let mut exported = Vec::new();
    if let Some((profile, stats)) = profile.filter(|_| items.iter().any(is_profile)) {
        exported.push(ExportedView::profile(profile, stats, addresses, cart));
    }
    let orders = items.into_iter().filter_map(|item| match item {
        ProfileOrOrder::Order(order) => Some(whole(&table, order, &urls, budget)),
        ProfileOrOrder::Customer(_) | ProfileOrOrder::Unknown => None,
    });
    exported.extend(try_join_all(orders).await?);
    // The index has no item of a guest, so the guest is beside the newest order.
    if let Some(guest) = guest.filter(|_| is_first) {
        let newest = if exported.is_empty() { ExportedView::default() } else { exported.remove(0) };
        exported.insert(0, newest.of_guest(guest));
    }
    Ok(Page { items: exported, next })
}

fn is_profile(item: &ProfileOrOrder) -> bool {
    matches!(item, ProfileOrOrder::Customer(_))
}

/// The order with everything that belongs to it.
async fn whole(table: &Reader, order: Order, urls: &Urls, budget: Budget) -> Result<ExportedView, Error> {
    let whole = table.order(&order.order_id, budget).await?;
    whole
        .map(|whole| ExportedView::order(whole, urls))
        .ok_or(Error::Inconsistent("an order of the index is not in the table"))
}
