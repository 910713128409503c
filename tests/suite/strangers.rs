//! Anybody may be a stranger, as often as they like: what all guests together hold, what a guest's role touches, and how
//! often anybody may guess.

use futures_util::future::join_all;
use http_api::{RouteFunction, Scope};
use key_schema::access::{Access, Action, GUESTS, leading_keys};
use key_schema::entity::{Discount, GiftCard, Guest};
use key_schema::layout::Layout;
use shop::{guest_id, set_everywhere};

use crate::prelude::*;

mod released;

/// The default of `GuestShare`, of ten.
const SHARE: u64 = 8;

/// A guest whom nobody knows.
struct Stranger<'a> {
    shop: &'a Shop,
    secret: String,
    id: String,
}

impl<'a> Stranger<'a> {
    async fn come(shop: &'a Shop, number: usize) -> Self {
        let secret = format!("{number:0>10}{}", "A".repeat(33));
        let guest = json!({ "email": "mallory@example.com", "name": "Mallory" });
        shop.introduce(&secret, guest).await.expect(201);
        Self { shop, id: guest_id(&secret), secret }
    }

    async fn order(&self, key: &str, body: Value) -> Reply {
        self.shop.guest_order(&self.secret, key, body).await
    }
}

/// What guests hold of the product `thing`, as its first cell counts it.
async fn held(shop: &Shop) -> u64 {
    let held = &shop.item("p#thing", "stock").await["heldByGuests"]["N"];
    held.as_str().map_or(0, |held| held.parse().expect("a number"))
}

async fn all_want_one(shop: &Shop, code: Option<&str>) -> usize {
    let strangers = join_all((0..12).map(|number| Stranger::come(shop, number))).await;
    let mut body = things(1);
    if let Some(code) = code {
        body["discountCode"] = json!(code);
    }
    let orders = join_all(strangers.iter().map(|stranger| stranger.order("k", body.clone()))).await;
    let placed = orders.iter().filter(|order| order.status == 201).count();
    for refused in orders.into_iter().filter(|order| order.body["type"] == "/problems/out-of-stock") {
        assert_eq!(refused.body["available"], 0, "what guests may not have is told to none");
    }
    placed
}

#[tokio::test(flavor = "multi_thread")]
async fn guests_at_once_hold_exactly_their_share_of_a_product_and_customers_have_the_rest() {
    for cells in [1, 4] {
        let shop = Shop::with_ada().await;
        shop.create("thing", json!({ "stock": 10, "cells": cells })).await;
        let refused = Stranger::come(&shop, 40).await.order("k", things(11)).await.problem(Kind::OutOfStock);
        assert_eq!(refused["available"], SHARE, "{refused}");
        let mut placed = all_want_one(&shop, None).await;
        // Some of them may have met the others for too long.
        for number in 20..24 {
            let order = Stranger::come(&shop, number).await.order("k", things(1)).await;
            placed += usize::from(order.status == 201);
        }
        assert_eq!((placed as u64, held(&shop).await), (SHARE, SHARE), "{cells} cells");
        let refused = Stranger::come(&shop, 30).await.order("k", things(1)).await.problem(Kind::OutOfStock);
        assert_eq!(refused["available"], 0, "{refused}");
        shop.customer("ada").order("k", things(10 - SHARE)).await.expect(201);
        invariants::hold(&shop).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn guests_hold_at_most_their_share_of_a_codes_uses() {
    let shop = Shop::selling("thing", 1000, 1000).await;
    shop.discount("SALE", 10, Some(10)).await;
    assert!(all_want_one(&shop, Some("SALE")).await as u64 <= SHARE);
    let with_code = json!({ "lines": things(1)["lines"], "discountCode": "SALE" });
    for number in 20..30 {
        Stranger::come(&shop, number).await.order("k", with_code.clone()).await;
    }
    assert_eq!(shop.item("d#SALE", "d#SALE").await["heldByGuests"]["N"], SHARE.to_string());
    let refused = Stranger::come(&shop, 30).await.order("k", with_code.clone()).await;
    refused.problem(Kind::DiscountExhausted);
    for key in ["1", "2"] {
        shop.customer("ada").order(key, with_code.clone()).await.expect(201);
    }
    invariants::hold(&shop).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_guest_has_a_lower_cap_fewer_lines_and_can_be_switched_off() {
    let shop = Shop::selling("thing", 1000, 1000).await;
    let stranger = Stranger::come(&shop, 1).await;
    let refused = stranger.order("k", things(21)).await.problem(Kind::OpenUnits);
    assert_eq!(refused["allowed"], 20);
    let lines: Vec<_> = (0..11).map(|at| json!({ "productId": format!("p-{at}"), "quantity": 1 })).collect();
    stranger.order("k", json!({ "lines": lines })).await.problem(Kind::TooLarge);
    let placed = stranger.order("k", things(20)).await.expect(201);

    let closed = shop.beside(|template| set_everywhere(template, "GUESTS", "false")).await;
    let guest = json!({ "email": "mallory@example.com", "name": "Mallory" });
    closed.introduce(&stranger.secret, guest).await.problem(Kind::Forbidden);
    let stranger = Stranger { shop: &closed, ..stranger };
    stranger.order("new", things(1)).await.problem(Kind::Forbidden);
    assert_eq!(stranger.order("k", things(20)).await.expect(201), placed, "what was placed is there");
    stranger.order("k", things(1)).await.problem(Kind::IdempotencyKeyReused);
}

fn accesses(route: &RouteFunction) -> impl Iterator<Item = &'static Access> {
    route.route.access.into_iter().flatten()
}

/// An order's partition names nobody, so the function compares the order with the guest.
#[test]
fn the_role_of_an_anonymous_function_touches_nothing_that_belongs_to_customers() {
    let guests = leading_keys(&Access::batch_get::<Guest>().of_partitions(GUESTS), Layout::V1);
    let mut touched = 0;
    for route in local::functions::routes().filter(|route| route.route.scope == Scope::Public) {
        for access in accesses(route) {
            let keys = leading_keys(access, Layout::V1);
            let is_of_customers = ["c#", "email#", "username#"].iter().any(|of| keys.starts_with(of));
            assert!(!is_of_customers || keys == guests, "{}: {access:?}", route.function.name());
            touched += usize::from(keys == guests);
        }
    }
    assert!(touched > 3, "guests have partitions");
}

/// Routes that answer a guess and have the general limit, each with the reason.
const BY_ACCOUNT: [(&str, &str); 1] =
    [("place-order", "an order is what the shop is for; a guess needs an account, and leaves an order or a refusal")];

/// A code, a gift card and a guest's address can be guessed by a route whose role reads them. By no route can a stranger guess
/// faster than by ordering, and only an order tells about a gift card.
#[test]
fn each_route_that_answers_a_guess_is_limited() {
    let place_guest_order = local::functions::routes().find(|route| route.function.name() == "place-guest-order");
    let of_strangers = place_guest_order.and_then(|route| route.route.limit).expect("a limit").rate;
    let reads = [Action::BatchGetItem, Action::GetItem, Action::Query];
    let guessed = [Access::batch_get::<Discount>(), Access::batch_get::<GiftCard>()];
    let guessed = guessed.map(|access| leading_keys(&access, Layout::V1));
    let mut answering = BTreeSet::new();
    for route in local::functions::routes().filter(|route| route.route.scope != Scope::Admin) {
        let answers = |access: &Access| {
            // A claim compares the guest's address. Reading a guest by the id compares nothing.
            let is_compared = access.partition == GUESTS && access.action == Action::UpdateItem;
            is_compared || reads.contains(&access.action) && guessed.contains(&leading_keys(access, Layout::V1))
        };
        if accesses(route).any(answers) {
            let name = route.function.name();
            let is_public = route.route.scope == Scope::Public;
            let most = if is_public { of_strangers } else { 50 };
            let is_limited = route.route.limit.is_some_and(|limit| limit.rate <= most);
            let tells_of_gift_cards = accesses(route).any(|access| leading_keys(access, Layout::V1) == guessed[1]);
            assert!(!is_public || !tells_of_gift_cards || name == "place-guest-order", "{name}");
            let is_excused = BY_ACCOUNT.iter().any(|(excused, _)| *excused == name);
            assert!(is_limited != is_excused, "{name} has no limit, or needs no excuse");
            answering.insert(name);
        }
    }
    let of_accounts = ["claim-guest", "get-discount", "get-gift-card", "place-order", "quote-basket"];
    for known in of_accounts.into_iter().chain(["place-guest-order", "quote-guest-discount"]) {
        assert!(answering.contains(known), "{known}: {answering:?}");
    }
}

/// A path may have the code of a gift card, and CloudFront's log has the paths.
#[test]
fn the_edge_logs_no_path_and_overrides_no_header() {
    let edge = shop::read("stacks/edge.yaml");
    assert!(!edge.contains("Logging"), "CloudFront writes a log");
    assert!(edge.contains("Override: false") && !edge.contains("Override: true"), "a header of the API is lost");
}
