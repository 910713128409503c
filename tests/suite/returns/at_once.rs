//! Requests and receipts that come twice, or two at once.

use super::{accepted, amounts, ask, ask_for, balance, delivered};
use crate::prelude::*;

#[tokio::test(flavor = "multi_thread")]
async fn a_repeated_request_and_a_repeated_receipt_change_nothing_more() {
    let (shop, order) = delivered().await;
    let lines = json!([{ "productId": "cup", "quantity": 2 }]);
    let first = ask(&shop.customer("ada"), &order, "a", lines.clone()).await;
    let again = ask(&shop.customer("ada"), &order, "a", lines).await;
    assert_eq!((first.status, again.status, &first.body), (201, 201, &again.body));
    assert_eq!((first.header("idempotent-replayed"), again.header("idempotent-replayed")), (None, Some("true")));

    let asked = first.expect(201);
    let received = shop.admin().receive(&asked, accepted()).await;
    assert_eq!(received.header("idempotent-replayed"), None);
    let before = shop.dump().await;
    let again = shop.admin().receive(&asked, accepted()).await;
    assert_eq!(again.header("idempotent-replayed"), Some("true"));
    assert_eq!(again.expect(200), received.expect(200));
    shop.admin().receive(&asked, json!({ "accepted": true, "restock": false })).await.problem(Kind::InvalidTransition);
    shop.admin().receive(&asked, json!({ "accepted": false, "reason": "used" })).await.problem(Kind::InvalidTransition);
    assert_eq!(shop.dump().await, before);
    assert_eq!(shop.available("cup").await, 9);
    invariants::hold(&shop).await;
}

/// Copies of one request make one return; requests with other keys get only units that are left.
#[tokio::test(flavor = "multi_thread")]
async fn requests_at_once_never_return_more_units_than_were_ordered() {
    let (shop, order) = delivered().await;
    let replies = at_once(["a", "a", "a", "b", "c", "d"], async |key| {
        ask(&shop.customer("ada"), &order, key, json!([{ "productId": "cup", "quantity": 1 }])).await
    })
    .await;
    let refused = replies.iter().filter(|reply| reply.status == 409).count();
    assert!(replies.iter().all(|reply| [201, 409].contains(&reply.status)), "{replies:?}");
    let listed = shop.customer("ada").get(&format!("/orders/{}/returns", order_id(&order))).await.expect(200);
    assert_eq!(listed["items"].as_array().expect("items").len(), 3);
    assert!((1..=3).contains(&refused), "one key, or all copies of one, had no cup left");
    invariants::hold(&shop).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn receipts_at_once_credit_each_return_once() {
    let (shop, order) = delivered().await;
    let mut returns = Vec::new();
    for (key, product, quantity) in [("a", "cup", 1), ("b", "cup", 2), ("c", "pot", 1), ("d", "tray", 1)] {
        returns.push(ask_for(&shop, &order, key, product, quantity).await);
    }
    at_once(returns.iter().chain(&returns), async |asked| shop.admin().receive(asked, accepted()).await.expect(200))
        .await;
    assert_eq!(amounts(&shop.customer("ada").read(&order).await), [549, 549, 0, 549]);
    assert_eq!([balance(&shop, "GIFT-A").await, balance(&shop, "GIFT-B").await], [200, 150]);
    assert_eq!(shop.available("cup").await, 10);
    invariants::hold(&shop).await;
}

/// Either the return is received or refused, and the loser is told.
#[tokio::test(flavor = "multi_thread")]
async fn of_two_different_receipts_at_once_one_counts() {
    let (shop, order) = delivered().await;
    let asked = ask_for(&shop, &order, "a", "pot", 1).await;
    let refusal = json!({ "accepted": false, "reason": "used" });
    let admin = shop.admin();
    let (one, other) = tokio::join!(admin.receive(&asked, accepted()), admin.receive(&asked, refusal));
    let mut statuses = [one.status, other.status];
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 409]);
    let credited = if one.status == 200 { 299 } else { 0 };
    assert_eq!(amounts(&shop.customer("ada").read(&order).await)[0], credited);
    invariants::hold(&shop).await;
}
