//! A customer claims a guest by a token that proves the guest's address, and is let in to the guest's orders.

use futures_util::future::join_all;
use key_schema::entity::Customer;
use shop::guest_id;

use crate::guests::{ID, SECRET, expire, grace, guest_item};
use crate::history::copied;
use crate::prelude::*;

/// A shop with the customers ada and eve, and a guest who has an order.
pub async fn shop() -> (Shop, Value) {
    let shop = Shop::with_ada().await;
    shop.sign_up("eve").await;
    shop.product("thing", 1000, 10).await;
    shop.introduce(SECRET, grace()).await.expect(201);
    let placed = shop.guest_order(SECRET, "k", things(2)).await.expect(201);
    (shop, placed)
}

/// The customer with the guest's address.
fn proven(shop: &Shop, customer: &str) -> Client {
    shop.customer_at(customer, "grace@example.com")
}

pub async fn claim(client: &Client, customer: &str, guest: &str) -> Reply {
    client.send(Method::PUT, &format!("/customers/{customer}/guests/{guest}"), &[], None).await
}

/// What a customer does who has claimed a guest, as the record of all accesses has it. The sample events may have made the
/// claim before.
pub async fn looked_at(shop: &Shop) {
    shop.introduce(SECRET, grace()).await.expect(201);
    let placed = shop.guest_order(SECRET, "claimed", things(1)).await.expect(201);
    claim(&shop.admin(), "ada", ID).await.expect(204);
    let ada = shop.customer("ada");
    // The record could not tell the pages of an export without a profile from a list of orders.
    for path in paths(&placed).iter().filter(|path| !path.ends_with("/export")) {
        ada.get(path).await.expect(200);
    }
    let of_order = |part: &str| format!("{}/{part}", paths(&placed)[0]);
    ada.get(&of_order("invoice/page")).await;
    ada.post(&of_order("payment"), json!({})).await.expect(200);
    let returned = ada.post_once(&of_order("returns"), "r", basket("thing", 1)).await;
    returned.problem(Kind::InvalidTransition);
    ada.post(&of_order("cancellation"), json!({})).await.expect(200);
    shop.customer("eve").get(&paths(&placed)[0]).await.problem(Kind::NotFound);
}

/// The paths that belong to the guest's order, and those that belong to the guest.
fn paths(placed: &Value) -> Vec<String> {
    let order = format!("/orders/{}", order_id(placed));
    let invoice = format!("/invoices/{}", invoice_id(placed));
    let of_order = ["", "/products", "/invoice", "/returns", "/shipments"].map(|part| format!("{order}{part}"));
    let of_invoice = ["", "/payments"].map(|part| format!("{invoice}{part}"));
    let of_guest = ["orders", "invoices", "products", "export"].map(|part| format!("/customers/{ID}/{part}"));
    [&of_order[..], &of_invoice, &of_guest].concat()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_claim_lets_the_customer_in_and_nobody_else() {
    let (shop, placed) = shop().await;
    let (ada, eve) = (shop.customer("ada"), shop.customer("eve"));
    for path in paths(&placed) {
        ada.get(&path).await.problem(Kind::NotFound);
    }
    assert_eq!(claim(&proven(&shop, "ada"), "ada", ID).await.status, 204);
    // The proof was needed once.
    for path in paths(&placed) {
        ada.get(&path).await.expect(200);
        eve.get(&path).await.problem(Kind::NotFound);
        proven(&shop, "eve").get(&path).await.problem(Kind::NotFound);
    }
    assert_eq!(ada.get("/customers/ada").await.expect(200)["guests"], json!([ID]));
    assert_eq!(shop.admin().get(&format!("/guests/{ID}")).await.expect(200)["claimedBy"], "ada");
    let exported = ada.walk("/customers/ada/export", 10).await;
    assert_eq!(exported[0]["customer"]["guests"], json!([ID]));
    let exported = ada.walk(&format!("/customers/{ID}/export"), 10).await;
    assert_eq!((&exported[0]["guest"]["guestId"], &exported[0]["order"]["orderId"]), (&json!(ID), &placed["orderId"]));

    // The secret still works, and does not tell who has claimed the guest.
    let path = format!("/guests/{ID}/orders/{}", order_id(&placed));
    shop.nobody().send(Method::GET, &path, &[("guest-secret", SECRET)], None).await.expect(200);
    assert_eq!(shop.introduce(SECRET, grace()).await.expect(201).get("claimedBy"), None);
    shop.guest_order(SECRET, "later", things(1)).await.expect(201);
    assert_eq!(ada.walk(&format!("/customers/{ID}/orders"), 10).await.len(), 2);
    invariants::hold(&shop).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_claimant_cancels_and_returns_what_the_guest_ordered() {
    let (shop, placed) = shop().await;
    let (ada, eve) = (shop.customer("ada"), shop.customer("eve"));
    let order_path = format!("/orders/{}", order_id(&placed));
    let cancel = basket("thing", 1);
    ada.cancel(&placed, cancel.clone()).await.problem(Kind::NotFound);
    claim(&proven(&shop, "ada"), "ada", ID).await.expect(204);
    eve.cancel(&placed, cancel.clone()).await.problem(Kind::NotFound);
    ada.cancel(&placed, cancel).await.expect(200);
    assert_eq!(shop.available("thing").await, 9);

    shop.admin().capture(&placed, "bank-1").await.expect(200);
    for status in ["SHIPPED", "DELIVERED"] {
        shop.admin().advance(&placed, status).await.expect(200);
    }
    let units = basket("thing", 1).to_string();
    let (returns, key) = (format!("{order_path}/returns"), [("idempotency-key", "r")]);
    eve.send(Method::POST, &returns, &key, Some(units.clone())).await.problem(Kind::NotFound);
    ada.send(Method::POST, &returns, &key, Some(units)).await.expect(201);
    invariants::hold(&shop).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_claim_needs_a_token_that_proves_the_address() {
    let (shop, _) = shop().await;
    let before = shop.dump().await;
    let address = "grace@example.com";
    for lacking in [
        json!({}),
        json!({ "email": address }),
        json!({ "email_verified": "true" }),
        json!({ "email": address, "email_verified": "false" }),
        json!({ "email": address, "email_verified": false }),
        json!({ "email": address, "email_verified": "True" }),
        json!({ "email": address, "email_verified": 1 }),
        json!({ "email": [address], "email_verified": true }),
        json!({ "email": "grace", "email_verified": true }),
    ] {
        let problem = claim(&shop.customer_with("ada", &lacking), "ada", ID).await.problem(Kind::Forbidden);
        assert!(problem["detail"].as_str().is_some_and(|detail| detail.contains("email_verified")), "{lacking}");
    }
    // Nobody learns whether the guest exists. Nobody claims for another customer.
    let wrong = claim(&shop.customer_at("ada", "ada@example.com"), "ada", ID).await.problem(Kind::NotFound);
    let unknown = claim(&proven(&shop, "ada"), "ada", "guest-unknown").await.problem(Kind::NotFound);
    assert_eq!(wrong, unknown);
    claim(&proven(&shop, "ada"), "ada", "eve").await.problem(Kind::NotFound);
    claim(&proven(&shop, "eve"), "ada", ID).await.problem(Kind::NotFound);
    claim(&proven(&shop, "unheard-of"), "unheard-of", ID).await.problem(Kind::NotFound);
    claim(&shop.admin(), ID, ID).await.problem(Kind::NotFound);
    assert_eq!(shop.dump().await, before);

    // As everywhere, the case of an address does not count. OpenID Connect's own form of the claim is a boolean.
    let claims = json!({ "email": "Grace@Example.COM", "email_verified": true });
    claim(&shop.customer_with("ada", &claims), "ada", ID).await.expect(204);
}

#[tokio::test(flavor = "multi_thread")]
async fn one_of_many_customers_who_claim_a_guest_at_once_gets_the_guest() {
    let (shop, _) = shop().await;
    let customers: Vec<String> = (0..6).map(|at| format!("c{at}")).collect();
    for customer in &customers {
        shop.sign_up(customer).await;
    }
    let clients: Vec<_> = customers.iter().map(|id| (id, proven(&shop, id))).collect();
    let replies = join_all(clients.iter().map(|(id, client)| claim(client, id, ID))).await;
    assert_eq!(replies.iter().filter(|reply| reply.status == 204).count(), 1);
    let mut winner = None;
    for ((id, _), reply) in clients.iter().zip(replies) {
        let named = shop.customer(id).get(&format!("/customers/{id}")).await.expect(200).get("guests").cloned();
        if reply.status == 204 {
            winner = Some(json!({ "S": id }));
            assert_eq!(named, Some(json!([ID])));
        } else {
            reply.problem(Kind::AlreadyExists);
            assert_eq!(named, None);
        }
    }
    assert_eq!(Some(&guest_item(&shop).await["claimedBy"]), winner.as_ref());
    claim(&shop.admin(), "ada", ID).await.problem(Kind::AlreadyExists);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_claim_beside_other_changes_of_the_profile_loses_none_of_them() {
    let (shop, _) = shop().await;
    let rename = async |at: usize| {
        let body = json!({ "name": format!("Ada {at}") });
        let ada = shop.customer("ada");
        ada.patch("/customers/ada", "*", body).await.expect(200)
    };
    let client = proven(&shop, "ada");
    let (claimed, ..) = tokio::join!(claim(&client, "ada", ID), rename(1), rename(2), rename(3));
    claimed.expect(204);
    let profile = shop.customer("ada").get("/customers/ada").await.expect(200);
    assert_eq!((&profile["version"], &profile["guests"]), (&json!(5), &json!([ID])));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_expired_guest_is_claimed_by_nobody_and_lets_nobody_in() {
    let (shop, placed) = shop().await;
    claim(&proven(&shop, "ada"), "ada", ID).await.expect(204);
    expire(&shop).await;
    claim(&proven(&shop, "ada"), "ada", ID).await.problem(Kind::NotFound);
    for path in paths(&placed) {
        shop.customer("ada").get(&path).await.problem(Kind::NotFound);
    }
    // Whoever has the secret may come again, as somebody else.
    shop.introduce(SECRET, json!({ "email": "other@example.com", "name": "Other" })).await.expect(201);
    claim(&proven(&shop, "ada"), "ada", ID).await.problem(Kind::NotFound);
    shop.customer("ada").get(&paths(&placed)[0]).await.problem(Kind::NotFound);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_customer_claims_at_most_twenty_guests() {
    let (shop, _) = shop().await;
    let ada = proven(&shop, "ada");
    let mut ids = Vec::new();
    for at in 0..=Customer::MOST_GUESTS {
        let secret = format!("{at:042}A");
        shop.introduce(&secret, grace()).await.expect(201);
        ids.push(guest_id(&secret));
    }
    let (last, first) = ids.split_last().expect("guests");
    // All at once: they meet at the customer's profile.
    for some in first.chunks(5) {
        for reply in join_all(some.iter().map(|id| claim(&ada, "ada", id))).await {
            reply.expect(204);
        }
    }
    claim(&ada, "ada", last).await.problem(Kind::TooManyGuests);
    claim(&ada, "ada", &first[0]).await.expect(204);
    let profile = shop.customer("ada").get("/customers/ada").await.expect(200);
    assert_eq!(profile["guests"].as_array().map(Vec::len), Some(Customer::MOST_GUESTS));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_audit_reports_a_claim_of_which_the_customer_knows_nothing() {
    let (shop, _) = shop().await;
    claim(&shop.admin(), "ada", ID).await.expect(204);
    invariants::hold(&shop).await;
    shop.update("c#ada", "c#ada", "REMOVE guests", &Value::Null).await;
    let found = invariants::complaints(&shop).await;
    assert_eq!(found, [format!("guest {ID}: it is claimed by ada, who does not name the guest")]);
    // The same claim again repairs it.
    claim(&shop.admin(), "ada", ID).await.expect(204);
    invariants::hold(&shop).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_claim_is_history() {
    let (shop, placed) = shop().await;
    claim(&proven(&shop, "ada"), "ada", ID).await.expect(204);
    let other = Shop::open().await;
    copied(&shop, &other).await;
    other.customer("ada").get(&paths(&placed)[0]).await.expect(200);
}
