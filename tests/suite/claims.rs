//! Usernames and e-mail addresses have one owner each, also with concurrent requests.

use devstack::fault_proxy::{Fault, Match};
use http_api::Kind;
use reqwest::Method;
use serde_json::{Value, json};
use shop::{Client, Reply, Shop};
use tokio::task::JoinSet;

use crate::invariants;

async fn change(client: &Client, id: &str, if_match: &str, body: Value) -> Reply {
    let headers = [("if-match", if_match)];
    client.send(Method::PATCH, &format!("/customers/{id}"), &headers, Some(body.to_string())).await
}

#[tokio::test]
async fn only_one_of_many_customers_who_sign_up_with_one_address_gets_it() {
    let shop = Shop::open().await;
    let mut signing_up = JoinSet::new();
    for at in 0..30 {
        let client = shop.customer(&format!("c{at}"));
        // Every third customer also has the same username.
        let username = if at % 3 == 0 { "ada".to_owned() } else { format!("c{at}") };
        let body = json!({ "username": username, "email": "ADA@example.com", "name": "Ada" });
        signing_up.spawn(async move { client.post("/customers", body).await });
    }
    let replies = signing_up.join_all().await;
    assert_eq!(replies.iter().filter(|reply| reply.status == 201).count(), 1);
    for loser in replies.into_iter().filter(|reply| reply.status != 201) {
        let kind = loser.body["type"].clone();
        assert!(kind == "/problems/email-taken" || kind == "/problems/username-taken", "{kind}");
    }
    let dump = shop.dump().await;
    assert_eq!(dump.len(), 3, "a profile and its two claims");
    invariants::hold(&shop).await;
}

#[tokio::test]
async fn only_one_of_many_customers_who_change_to_one_address_gets_it() {
    let shop = Shop::open().await;
    for at in 0..20 {
        shop.sign_up(&format!("c{at}")).await;
    }
    let mut changing = JoinSet::new();
    for at in 0..20 {
        let (id, client) = (format!("c{at}"), shop.customer(&format!("c{at}")));
        changing.spawn(async move { change(&client, &id, "\"1\"", json!({ "email": "best@example.com" })).await });
    }
    let replies = changing.join_all().await;
    assert_eq!(replies.iter().filter(|reply| reply.status == 200).count(), 1);
    for loser in replies.into_iter().filter(|reply| reply.status != 200) {
        loser.problem(Kind::EmailTaken);
    }
    invariants::hold(&shop).await;
}

#[tokio::test]
async fn only_one_of_a_customer_s_concurrent_changes_succeeds() {
    let shop = Shop::with_ada().await;
    let mut changing = JoinSet::new();
    for at in 0..20 {
        let client = shop.customer("ada");
        let body = json!({ "email": format!("ada{at}@example.com"), "username": format!("ada{at}") });
        changing.spawn(async move { change(&client, "ada", "\"1\"", body).await });
    }
    let replies = changing.join_all().await;
    assert_eq!(replies.iter().filter(|reply| reply.status == 200).count(), 1);
    for loser in replies.into_iter().filter(|reply| reply.status != 200) {
        assert_eq!(loser.problem(Kind::VersionConflict)["version"], 2);
    }
    invariants::hold(&shop).await;
}

#[tokio::test]
async fn two_customers_cannot_swap_their_names_in_concurrent_requests() {
    let shop = Shop::with_ada().await;
    shop.sign_up("bob").await;
    let (ada, bob) = (shop.customer("ada"), shop.customer("bob"));
    let (to_bob, to_ada) = tokio::join!(
        change(&ada, "ada", "\"1\"", json!({ "username": "bob" })),
        change(&bob, "bob", "\"1\"", json!({ "username": "ada" })),
    );
    to_bob.problem(Kind::UsernameTaken);
    to_ada.problem(Kind::UsernameTaken);
    invariants::hold(&shop).await;
}

#[tokio::test]
async fn a_change_frees_the_old_address_and_the_customer_is_found_by_the_new_one() {
    let shop = Shop::with_ada().await;
    let admin = shop.admin();
    let reply = change(&shop.customer("ada"), "ada", "\"1\"", json!({ "email": "Lovelace@example.com" })).await;
    assert_eq!(reply.header("etag"), Some("\"2\""));
    assert_eq!(reply.expect(200)["email"], "Lovelace@example.com");

    let found = admin.get("/customers?email=lovelace@EXAMPLE.com").await.expect(200);
    assert_eq!(found["customerId"], "ada");
    admin.get("/customers?email=ada@example.com").await.problem(Kind::NotFound);
    assert_eq!(admin.get("/customers?username=ADA").await.expect(200)["customerId"], "ada");
    admin.get("/customers?email=a@b.de&username=ada").await.problem(Kind::Validation);
    admin.get("/customers").await.problem(Kind::Validation);
    shop.customer("ada").get("/customers?username=ada").await.problem(Kind::Forbidden);

    // Another customer can take the old address now.
    let body = json!({ "username": "new", "email": "ada@example.com", "name": "New" });
    shop.customer("new").post("/customers", body).await.expect(201);
    invariants::hold(&shop).await;
}

#[tokio::test]
async fn a_customer_can_change_the_case_of_the_own_username() {
    let shop = Shop::with_ada().await;
    let ada = shop.customer("ada");
    let changed =
        change(&ada, "ada", "\"1\"", json!({ "username": "Ada", "email": "Ada@example.com" })).await.expect(200);
    assert_eq!(changed["username"], "Ada");
    invariants::hold(&shop).await;
}

#[tokio::test]
async fn a_change_whose_answer_was_lost_is_applied_once() {
    // A change of the name alone moves no claim, and is one write.
    let all = [
        ("TransactWriteItems", json!({ "email": "new@example.com", "username": "new" })),
        ("UpdateItem", json!({ "name": "New" })),
    ];
    let faults = [(Fault::CutBefore, 1), (Fault::CutAfter, 1), (Fault::CutBefore, 3), (Fault::CutAfter, 3)];
    for ((action, body), (fault, times)) in all.iter().flat_map(|change| faults.clone().map(|fault| (change, fault))) {
        let (shop, body) = (Shop::with_ada().await, body.clone());
        let ada = shop.customer("ada");
        shop.fault_proxy().inject(Match::action(action), fault, times);
        let first = change(&ada, "ada", "\"1\"", body.clone()).await;
        assert_eq!(shop.fault_proxy().pending(), 0);
        invariants::hold(&shop).await;
        if first.status != 200 {
            first.problem(Kind::Throttled);
        }
        // A retry with the old version is a replay.
        let again = change(&ada, "ada", "\"1\"", body).await;
        assert_eq!(again.header("etag"), Some("\"2\""));
        assert_eq!(again.expect(200)["version"], 2);
        invariants::hold(&shop).await;
    }
}
