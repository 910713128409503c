//! Several codes on an order, and codes of a category.

use devstack::fault_proxy::{Access, Consumed};
use futures_util::future::join_all;
use shop::engine::{Feature, lacks};

use crate::history::{copied, imported, open};
use crate::prelude::*;

/// Cups at 10 euros and pots at 20, and these codes.
async fn stocked(shop: Shop, codes: &[Value]) -> Shop {
    shop.sign_up("ada").await;
    for (product, category, price) in [("cup", "cups", 1000), ("pot", "pots", 2000)] {
        shop.create(product, json!({ "category": category, "price": eur(price), "stock": 1000 })).await;
    }
    for code in codes {
        shop.admin().post("/discounts", code.clone()).await.expect(201);
    }
    shop
}

async fn shop(codes: &[Value]) -> Shop {
    stocked(Shop::open().await, codes).await
}

fn order(cups: u64, pots: u64, codes: &[&str]) -> Value {
    let lines = [("cup", cups), ("pot", pots)].into_iter().filter(|(_, quantity)| *quantity > 0);
    let lines: Vec<_> =
        lines.map(|(product, quantity)| json!({ "productId": product, "quantity": quantity })).collect();
    json!({ "lines": lines, "discountCodes": codes })
}

/// What is taken off each line; null if nothing is.
fn of_lines(order: &Value) -> Vec<Value> {
    order["lines"].as_array().expect("lines").iter().map(|line| line["discount"].clone()).collect()
}

async fn uses(shop: &Shop, code: &str) -> Value {
    shop.admin().get(&format!("/discounts/{code}")).await.expect(200)["uses"].clone()
}

/// Half off cups, from 15 euros of cups on.
fn half_off_cups() -> Value {
    json!({ "code": "CUPS", "percent": 50, "category": "cups", "minSubtotal": eur(1500) })
}

fn combinable(code: &str, percent: u64, max_uses: u64) -> Value {
    json!({ "code": code, "percent": percent, "maxUses": max_uses, "combinable": true })
}

#[tokio::test(flavor = "multi_thread")]
async fn a_code_of_a_category_is_for_its_lines_alone_and_so_are_their_credits() {
    let shop = shop(&[half_off_cups()]).await;
    let ada = shop.customer("ada");
    // No cup at all, and too few of them.
    for (cups, pots) in [(0, 3), (1, 3)] {
        ada.order("none", order(cups, pots, &["CUPS"])).await.problem(Kind::DiscountInvalid);
        ada.post("/quotes", order(cups, pots, &["CUPS"])).await.problem(Kind::DiscountInvalid);
    }
    let quote = ada.post("/quotes", order(2, 1, &["CUPS"])).await.expect(200);
    let placed = ada.order("some", order(2, 1, &["CUPS"])).await.expect(201);
    for answer in [&quote, &placed] {
        assert_eq!((&answer["discount"], &answer["total"]), (&eur(1000), &eur(3000)));
        assert_eq!(of_lines(answer), [eur(1000), Value::Null]);
        assert_eq!(answer.get("discounts"), None, "an order with one code has discountCode");
    }
    assert_eq!(placed["discountCode"], "CUPS");

    // A pot comes back at its whole price, and a cup at half of it.
    shop.admin().capture(&placed, "bank-1").await.expect(200);
    for (product, credit) in [("pot", 2000), ("cup", 500)] {
        let cancelled = ada.cancel(&placed, basket(product, 1)).await.expect(200);
        let credits = cancelled["credits"].as_array().expect("credits");
        let of_product = credits.iter().find(|credit| credit["productId"] == product).expect("a credit");
        assert_eq!(of_product["amount"], eur(credit));
        invariants::hold(&shop).await;
    }
    assert_eq!(ada.order("some", order(2, 1, &["CUPS"])).await.expect(201), placed, "a replay is the order as placed");
}

#[tokio::test(flavor = "multi_thread")]
async fn codes_apply_in_the_order_of_the_request() {
    let ten_euros = json!({ "code": "TEN-EUROS", "amount": eur(1000), "combinable": true });
    let shop = shop(&[combinable("HALF", 50, 10), ten_euros, json!({ "code": "ALONE", "percent": 10 })]).await;
    let ada = shop.customer("ada");
    let first = ada.order("first", order(2, 1, &["HALF", "TEN-EUROS"])).await.expect(201);
    let other = ada.order("other", order(2, 1, &["TEN-EUROS", "HALF"])).await.expect(201);
    let used = |code: &str, off: u64| json!({ "code": code, "amount": eur(off) });
    assert_eq!(first["discounts"], json!([used("HALF", 2000), used("TEN-EUROS", 1000)]));
    assert_eq!(other["discounts"], json!([used("TEN-EUROS", 1000), used("HALF", 1500)]));
    assert_eq!((&first["discount"], &first["total"], first.get("discountCode")), (&eur(3000), &eur(1000), None));
    assert_eq!(of_lines(&first), [eur(1500), eur(1500)]);

    let before = shop.dump().await;
    assert_eq!(ada.order("first", order(2, 1, &["HALF", "TEN-EUROS"])).await.expect(201), first);
    ada.order("first", order(2, 1, &["TEN-EUROS", "HALF"])).await.problem(Kind::IdempotencyKeyReused);
    let problem = ada.order("k", order(2, 1, &["HALF", "ALONE"])).await.problem(Kind::DiscountInvalid);
    assert_eq!(problem["code"], "ALONE");
    ada.order("k", order(2, 1, &["HALF", "HALF"])).await.problem(Kind::Validation);
    ada.order("k", order(2, 1, &["A", "B", "C", "D"])).await.problem(Kind::TooLarge);
    let mut both = order(2, 1, &["HALF"]);
    both["discountCode"] = json!("ALONE");
    ada.order("k", both).await.problem(Kind::Validation);
    assert_eq!(shop.dump().await, before);
    invariants::hold(&shop).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn no_code_among_several_is_used_more_often_than_it_may() {
    let shop = shop(&[combinable("TEN", 10, 10), combinable("FIVE", 10, 5)]).await;
    let ada = shop.customer("ada");
    let keys: Vec<_> = (0..40).map(|at| format!("k{at}")).collect();
    let replies = join_all(keys.iter().map(|key| ada.order(key, order(1, 0, &["TEN", "FIVE"])))).await;
    let mut placed = Vec::new();
    for reply in replies {
        match reply.status {
            201 => placed.push(reply.expect(201)),
            _ => assert_eq!(reply.problem(Kind::DiscountExhausted)["code"], "FIVE"),
        }
    }
    assert_eq!(placed.len(), 5);
    assert_eq!((uses(&shop, "TEN").await, uses(&shop, "FIVE").await), (json!(5), json!(5)));
    invariants::hold(&shop).await;

    // A cancellation gives back a use of each, once.
    for _ in 0..2 {
        ada.cancel(&placed[0], json!({})).await.expect(200);
    }
    assert_eq!((uses(&shop, "TEN").await, uses(&shop, "FIVE").await), (json!(4), json!(4)));
    ada.order("another", order(1, 0, &["FIVE", "TEN"])).await.expect(201);
    invariants::hold(&shop).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_code_that_is_revoked_meanwhile_leaves_the_other_one_unused() {
    let shop = shop(&[combinable("ONE", 10, 5), combinable("TWO", 10, 5)]).await;
    let revoking = async || {
        let revoked = Some(json!({ "revoked": true }).to_string());
        shop.admin().send(Method::PATCH, "/discounts/TWO", &[("if-match", "*")], revoked).await.expect(200);
    };
    let ada = shop.customer("ada");
    let commit = commit();
    let (reply, ()) = shop.held(commit, ada.order("k", order(1, 1, &["ONE", "TWO"])), revoking).await;
    assert_eq!(reply.problem(Kind::DiscountInvalid)["code"], "TWO");
    assert_eq!((uses(&shop, "ONE").await, uses(&shop, "TWO").await), (json!(0), json!(0)));
    assert_eq!(shop.available("cup").await, 1000);
    invariants::hold(&shop).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_order_from_the_queue_has_the_same_discounts() {
    let codes = [half_off_cups(), combinable("ONE", 33, 5), combinable("TWO", 7, 5)];
    let shop = stocked(Shop::open_undrained().await, &codes).await;
    let ada = shop.customer("ada");
    for codes in [&["CUPS"][..], &["ONE", "TWO"], &["TWO", "ONE"]] {
        let direct = ada.order(&format!("direct {codes:?}"), order(3, 1, codes)).await.expect(201);
        let accepted = order_later(&ada, &format!("later {codes:?}"), order(3, 1, codes)).await;
        let path = accepted.header("location").expect("a location").to_owned();
        accepted.expect(202);
        // A message may be delivered twice.
        let messages = shop.take_messages().await;
        for _ in 0..2 {
            assert_eq!(shop.drain(&messages).await["batchItemFailures"], json!([]));
        }
        let drained = ada.get(&path).await.expect(200);
        for field in ["lines", "discount", "discounts", "discountCode", "total"] {
            assert_eq!(drained.get(field), direct.get(field), "{field} of {codes:?}");
        }
    }
    assert_eq!((uses(&shop, "ONE").await, uses(&shop, "TWO").await), (json!(4), json!(4)));
    invariants::hold(&shop).await;
}

/// The orders of 40 lines in docs/capacity.md: without options, with one code and four cards, and with all.
#[tokio::test(flavor = "multi_thread")]
async fn the_largest_order_has_ninety_six_actions_and_two_requests() {
    let shop = shop(&["A", "B", "C"].map(|code| combinable(code, 10, 5))).await;
    let ada = shop.customer("ada");
    for at in 0..40 {
        shop.product(&format!("p{at}"), 1000, 10).await;
    }
    for at in 0..8 {
        shop.gift_card(&format!("GIFT-{at}"), 100).await;
    }
    let lines: Vec<_> = (0..40).map(|at| json!({ "productId": format!("p{at}"), "quantity": 1 })).collect();
    let cart = json!({ "lines": lines }).to_string();
    let cart = ada.send(Method::PUT, "/customers/ada/cart", &[], Some(cart)).await.expect(200);
    let with = |more: Value| {
        let mut body = json!({ "lines": lines });
        body.as_object_mut().expect("an order").extend(more.as_object().expect("options").clone());
        body
    };
    let with_one_code = json!({ "discountCode": "A", "giftCards": ["GIFT-0", "GIFT-1", "GIFT-2", "GIFT-3"] });
    let all = json!({
        "discountCodes": ["A", "B", "C"], "giftCards": ["GIFT-4", "GIFT-5", "GIFT-6", "GIFT-7"],
        "cart": cart["version"],
        "shipTo": { "name": "Ada", "line1": "Way 1", "city": "Berlin", "postalCode": "10115", "country": "DE" },
    });
    let mut took = Vec::new();
    for options in [json!({}), with_one_code, all] {
        shop.fault_proxy().take_calls();
        let order = ada.order(&options.to_string(), with(options)).await.expect(201);
        let calls = shop.fault_proxy().take_calls();
        let requests: Vec<_> = calls.iter().map(|call| call.action.as_str()).collect();
        assert_eq!(requests, ["BatchGetItem", "TransactWriteItems"]);
        let actions = calls[1].request["TransactItems"].as_array().expect("actions").len();
        let units = |access| {
            let consumed = calls.iter().flat_map(|call| &call.consumed).filter(|consumed| consumed.access == access);
            consumed.map(Consumed::units).sum::<f64>()
        };
        took.push((order["total"].clone(), actions, units(Access::Read), units(Access::Write)));
    }
    let totals: Vec<_> = took.iter().map(|(total, actions, ..)| (total.clone(), *actions)).collect();
    // 400 euros; less 40; less 40, 36 and 32.40.
    assert_eq!(totals, [(eur(40_000), 82), (eur(36_000), 91), (eur(29_160), 96)]);
    let units: Vec<_> = took.iter().map(|(.., read, write)| (*read, *write)).collect();
    if !lacks(Feature::CapacityFigures) {
        assert_eq!(units, [(42.0, 248.0), (89.0, 266.0), (93.0, 280.0)]);
    }
    invariants::hold(&shop).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn several_codes_survive_an_export_and_an_import() {
    let shop = shop(&[half_off_cups(), combinable("ONE", 33, 5), combinable("TWO", 7, 5)]).await;
    let (ada, admin) = (shop.customer("ada"), shop.admin());
    for (at, codes) in [&["CUPS"][..], &["ONE", "TWO"], &["TWO", "ONE"]].into_iter().enumerate() {
        let placed = ada.order(&format!("k{at}"), order(3, 1, codes)).await.expect(201);
        admin.capture(&placed, "bank-1").await.expect(200);
        // The last one is cancelled as a whole, and counts as no use.
        let what = if at == 2 { json!({}) } else { basket("cup", 1) };
        ada.cancel(&placed, what).await.expect(200);
    }
    let other = Shop::open().await;
    let source = copied(&shop, &other).await;
    assert_eq!((uses(&other, "ONE").await, uses(&other, "TWO").await), (json!(1), json!(1)));
    // A second import counts no use twice.
    let (again, _) = imported(&other, &source, &open()).await;
    assert_eq!((again.new, uses(&other, "ONE").await), (0, json!(1)));
    invariants::hold(&other).await;
}
