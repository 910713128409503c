//! The erasure of a customer erases the guests whom the customer has claimed.

use shop::seed::rounds;

use super::guests::{has_traces, introduce, order, shop, with_orders};
use super::{cancel, erase};
use crate::claimed_guests::claim;
use crate::guests::ID;
use crate::prelude::*;

/// A shop in which ada has claimed a guest with finished orders.
async fn with_claim() -> (Shop, [Value; 2]) {
    let shop = shop().await;
    shop.sign_up("ada").await;
    let orders = with_orders(&shop).await;
    claim(&shop.admin(), "ada", ID).await.expect(204);
    (shop, orders)
}

#[tokio::test(flavor = "multi_thread")]
async fn the_erasure_of_a_customer_erases_the_claimed_guests() {
    let (shop, orders) = with_claim().await;
    assert!(has_traces(&shop).await);
    for _ in 0..2 {
        assert_eq!(erase(&shop.customer("ada"), "ada").await.status, 204);
    }
    assert!(!has_traces(&shop).await);
    assert!(!json!(shop.dump().await).to_string().contains("claimedBy"));
    shop.admin().get(&format!("/guests/{ID}")).await.problem(Kind::NotFound);
    for order in &orders {
        shop.customer("ada").get(&format!("/orders/{}", order_id(order))).await.problem(Kind::NotFound);
        assert_eq!(shop.admin().read(order).await["total"], order["total"]);
    }
    claim(&shop.admin(), "ada", ID).await.problem(Kind::NotFound);
    invariants::hold(&shop).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unfinished_order_of_a_claimed_guest_is_in_the_way() {
    let (shop, _) = with_claim().await;
    let open = order(&shop, "open").await.expect(201);
    let before = shop.dump().await;
    let refused = erase(&shop.customer("ada"), "ada").await.problem(Kind::OpenOrders);
    assert_eq!(refused["orders"], json!([open["orderId"]]));
    assert_eq!(shop.dump().await, before, "nothing is erased by halves");
    cancel(&shop.customer("ada"), &open, "unmistakable").await;
    assert_eq!(erase(&shop.customer("ada"), "ada").await.status, 204);
    assert!(!has_traces(&shop).await);
}

/// The profile names the guest until nothing of the guest is left.
#[tokio::test(flavor = "multi_thread")]
async fn an_erasure_that_was_interrupted_finds_the_guests_again() {
    for action in ["DeleteItem", "UpdateItem", "TransactWriteItems"] {
        for fault in [Fault::CutBefore, Fault::CutAfter] {
            let (shop, _) = with_claim().await;
            shop.fault_proxy().inject(Match::action(action), fault.clone(), 3);
            let first = erase(&shop.customer("ada"), "ada").await;
            if first.status != 204 {
                first.problem(Kind::Throttled);
            }
            assert_eq!(erase(&shop.customer("ada"), "ada").await.status, 204);
            assert!(!has_traces(&shop).await, "{action} {fault:?}");
            invariants::hold(&shop).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_claim_beside_the_erasure_of_the_customer_is_refused_or_erased() {
    for _ in 0..rounds(3) {
        let shop = shop().await;
        shop.sign_up("ada").await;
        with_orders(&shop).await;
        let (admin, ada) = (shop.admin(), shop.customer("ada"));
        let (claimed, erased) = tokio::join!(claim(&admin, "ada", ID), erase(&ada, "ada"));
        assert_eq!(erased.status, 204, "{}", erased.body);
        assert!([204, 404].contains(&claimed.status), "{}", claimed.body);
        assert_eq!(has_traces(&shop).await, claimed.status == 404);
        assert!(!json!(shop.dump().await).to_string().contains("claimedBy"), "a tombstone owns a guest");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_claim_that_overtakes_the_tombstone_is_erased_as_well() {
    let shop = shop().await;
    shop.sign_up("ada").await;
    with_orders(&shop).await;
    let (admin, ada) = (shop.admin(), shop.customer("ada"));
    // The transaction of the tombstone names the customer.
    let tombstone = json!({ "orderId": "erasedAt" });
    let erased = shop
        .overtaken(&tombstone, "TransactWriteItems", erase(&ada, "ada"), async || {
            claim(&admin, "ada", ID).await.expect(204);
        })
        .await;
    assert_eq!(erased.status, 204, "{}", erased.body);
    assert!(!has_traces(&shop).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_claim_beside_the_erasure_of_the_guest_brings_nothing_back() {
    for _ in 0..rounds(3) {
        let shop = shop().await;
        shop.sign_up("ada").await;
        with_orders(&shop).await;
        let admin = shop.admin();
        let (claimed, erased) = tokio::join!(claim(&admin, "ada", ID), erase(&admin, ID));
        assert_eq!(erased.status, 204, "{}", erased.body);
        assert!([204, 404].contains(&claimed.status), "{}", claimed.body);
        assert!(!has_traces(&shop).await);
        // A guest who comes again under the same id is not the customer's, and outlives the customer's erasure.
        introduce(&shop).await;
        assert_eq!(erase(&shop.customer("ada"), "ada").await.status, 204);
        assert!(has_traces(&shop).await, "a stranger was erased");
        shop.admin().get(&format!("/guests/{ID}")).await.expect(200);
    }
}
