//! Erasures at the same moment as other requests.

use super::{cancel, erase, shop};
use crate::prelude::*;

/// A customer whose name, username and address contain `unmistakable`.
async fn sign_up(shop: &Shop, id: &str) -> Client {
    let client = shop.customer(id);
    let body = json!({
        "username": format!("unmistakable-{id}"), "email": format!("unmistakable-{id}@example.com"),
        "name": "Unmistakable Name",
    });
    client.post("/customers", body).await.expect(201);
    client
}

async fn traces(shop: &Shop) -> Vec<Value> {
    let is_trace = |item: &Value| item.to_string().to_lowercase().contains("unmistakable");
    shop.dump().await.into_iter().filter(is_trace).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_order_at_the_same_moment_leaves_no_personal_data() {
    let shop = shop().await;
    let mut running = JoinSet::new();
    for at in 0..16 {
        let id = format!("c{at}");
        let client = sign_up(&shop, &id).await;
        let other = client.clone();
        running.spawn(async move { (id.clone(), erase(&client, &id).await, None) });
        running.spawn(async move { (format!("c{at}"), other.order("k", things(1)).await, Some(other)) });
    }
    assert!(!traces(&shop).await.is_empty(), "the control finds what is to be erased");
    let mut orders = Vec::new();
    while let Some(done) = running.join_next().await {
        let (id, reply, client) = done.expect("no panic");
        match client {
            None if reply.status == 204 => {}
            None => drop(reply.problem(Kind::OpenOrders)),
            Some(client) if reply.status == 201 => orders.push((id, client, reply.body)),
            Some(_) => assert_eq!(reply.status, 404, "{}", reply.body),
        }
    }
    // An order that was placed keeps its customer, or is one of an id that leads to nobody.
    for (id, _, order) in &orders {
        cancel(&shop.admin(), order, "the customer is erased").await;
        assert_eq!(erase(&shop.admin(), id).await.status, 204);
    }
    assert_eq!(traces(&shop).await, Vec::<Value>::new());
    assert_eq!(shop.available("thing").await, 100);
    invariants::hold(&shop).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn changes_and_carts_at_the_same_moment_bring_nothing_back() {
    let shop = shop().await;
    let mut running = JoinSet::new();
    for at in 0..8 {
        let id = format!("c{at}");
        let client = sign_up(&shop, &id).await;
        for _ in 0..2 {
            let (client, id) = (client.clone(), id.clone());
            running.spawn(async move { drop(erase(&client, &id).await) });
        }
        let (changing, path) = (client.clone(), format!("/customers/{id}"));
        running.spawn(async move {
            let body = json!({ "email": format!("unmistakable-new-{at}@example.com"), "name": "Unmistakable New" });
            let reply = changing.patch(&path, "*", body).await;
            assert!([200, 404].contains(&reply.status), "{}", reply.body);
        });
        running.spawn(async move {
            let reply = client.put(&format!("/customers/{id}/cart"), things(1)).await;
            assert!(reply.status == 200 || reply.body["type"] == "/problems/customer-erased", "{}", reply.body);
        });
    }
    while let Some(done) = running.join_next().await {
        done.expect("no panic");
    }
    for at in 0..8 {
        let id = format!("c{at}");
        assert_eq!(erase(&shop.admin(), &id).await.status, 204);
        shop.admin().get(&format!("/customers/{id}/cart")).await.problem(Kind::NotFound);
    }
    assert_eq!(traces(&shop).await, Vec::<Value>::new());
    let carts = shop.dump().await.into_iter().filter(|item| item["EntityType"]["S"] == "cart");
    assert!(carts.into_iter().all(|cart| cart["lines"]["L"] == json!([])), "a cart is left");
    invariants::hold(&shop).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_freed_address_has_one_new_owner() {
    let shop = shop().await;
    let mut running = JoinSet::new();
    let ada = shop.customer("ada");
    running.spawn(async move { (erase(&ada, "ada").await.status, true) });
    for at in 0..10 {
        let client = shop.customer(&format!("n{at}"));
        let body = json!({ "username": format!("n{at}"), "email": "ada@example.com", "name": "New" });
        running.spawn(async move { (client.post("/customers", body).await.status, false) });
    }
    let replies = running.join_all().await;
    let erased = replies.iter().filter(|(_, is_erasure)| *is_erasure);
    assert!(erased.into_iter().all(|(status, _)| *status == 204));
    let owners = replies.iter().filter(|(status, is_erasure)| !is_erasure && *status == 201).count();
    assert!(owners <= 1, "{owners} own the address");
    let late = json!({ "username": "late", "email": "ada@example.com", "name": "Late" });
    assert_eq!(shop.customer("late").post("/customers", late).await.status == 201, owners == 0);
    invariants::hold(&shop).await;
}
