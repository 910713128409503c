//! Usernames and e-mail addresses have one owner each, also with concurrent requests.

use crate::prelude::*;

async fn change(client: &Client, id: &str, if_match: &str, body: Value) -> Reply {
    client.patch(&format!("/customers/{id}"), if_match, body).await
}

#[tokio::test(flavor = "multi_thread")]
async fn only_one_of_many_customers_who_sign_up_with_one_address_gets_it() {
    let shop = Shop::open().await;
    let replies = at_once(0..30, async |at| {
        let client = shop.customer(&format!("c{at}"));
        // Every third customer also has the same username.
        let username = if at % 3 == 0 { "ada".to_owned() } else { format!("c{at}") };
        let body = json!({ "username": username, "email": "ADA@example.com", "name": "Ada" });
        client.post("/customers", body).await
    })
    .await;
    assert_eq!(replies.iter().filter(|reply| reply.status == 201).count(), 1);
    for loser in replies.into_iter().filter(|reply| reply.status != 201) {
        let kind = loser.body["type"].clone();
        assert!(kind == "/problems/email-taken" || kind == "/problems/username-taken", "{kind}");
    }
    let dump = shop.dump().await;
    assert_eq!(dump.len(), 3, "a profile and its two claims");
    invariants::hold(&shop).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn only_one_of_many_customers_who_change_to_one_address_gets_it() {
    let shop = Shop::open().await;
    for at in 0..20 {
        shop.sign_up(&format!("c{at}")).await;
    }
    let replies = at_once(0..20, async |at| {
        let id = format!("c{at}");
        let client = shop.customer(&format!("c{at}"));
        change(&client, &id, "\"1\"", json!({ "email": "best@example.com" })).await
    })
    .await;
    assert_eq!(replies.iter().filter(|reply| reply.status == 200).count(), 1);
    for loser in replies.into_iter().filter(|reply| reply.status != 200) {
        loser.problem(Kind::EmailTaken);
    }
    invariants::hold(&shop).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn only_one_of_a_customer_s_concurrent_changes_succeeds() {
    let shop = Shop::with_ada().await;
    let replies = at_once(0..20, async |at| {
        let body = json!({ "email": format!("ada{at}@example.com"), "username": format!("ada{at}") });
        change(&shop.customer("ada"), "ada", "\"1\"", body).await
    })
    .await;
    assert_eq!(replies.iter().filter(|reply| reply.status == 200).count(), 1);
    for loser in replies.into_iter().filter(|reply| reply.status != 200) {
        assert_eq!(loser.problem(Kind::VersionConflict)["version"], 2);
    }
    invariants::hold(&shop).await;
}

#[tokio::test(flavor = "multi_thread")]
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

#[tokio::test(flavor = "multi_thread")]
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

    // Another customer can take the old address now.
    let body = json!({ "username": "new", "email": "ada@example.com", "name": "New" });
    shop.customer("new").post("/customers", body).await.expect(201);
    invariants::hold(&shop).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_customer_can_change_the_case_of_the_own_username() {
    let shop = Shop::with_ada().await;
    let ada = shop.customer("ada");
    let changed =
        change(&ada, "ada", "\"1\"", json!({ "username": "Ada", "email": "Ada@example.com" })).await.expect(200);
    assert_eq!(changed["username"], "Ada");
    invariants::hold(&shop).await;
}
