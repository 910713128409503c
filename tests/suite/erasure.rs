//! The customer's rights: the export of everything about a customer, and the erasure.

mod afterwards;
mod at_once;
mod claimed;
mod exported;
mod guests;
mod proof;

use crate::prelude::*;

async fn erase(client: &Client, id: &str) -> Reply {
    client.delete(&format!("/customers/{id}")).await
}

async fn shop() -> Shop {
    Shop::selling("thing", 1000, 100).await
}

async fn cancel(client: &Client, order: &Value, reason: &str) {
    client.cancel(order, json!({ "reason": reason })).await.expect(200);
}

async fn request_return(client: &Client, order: &Value, key: &str, reason: &str) -> Value {
    let body = json!({ "lines": [{ "productId": "thing", "quantity": 1 }], "reason": reason });
    client.request_return(order, key, body).await.expect(201)
}

#[tokio::test(flavor = "multi_thread")]
async fn an_erased_customer_can_do_nothing_and_the_address_is_free() {
    let shop = shop().await;
    let ada = shop.customer("ada");
    shop.customer("eve").delete("/customers/ada").await.problem(Kind::NotFound);
    erase(&shop.admin(), "nobody").await.problem(Kind::NotFound);
    for _ in 0..2 {
        assert_eq!(erase(&ada, "ada").await.status, 204);
    }
    // The token still works for a while.
    for path in ["/customers/ada", "/customers/ada/overview", "/customers/ada/export", "/customers/ada/cart"] {
        ada.get(path).await.problem(Kind::NotFound);
    }
    shop.admin().get("/customers?email=ada@example.com").await.problem(Kind::NotFound);
    shop.admin().get("/customers?username=erased").await.problem(Kind::NotFound);
    let before = shop.dump().await;
    ada.patch("/customers/ada", "*", json!({ "name": "Ada again" })).await.problem(Kind::NotFound);
    let cart = things(1).to_string();
    for headers in [&[][..], &[("if-match", "*")]] {
        let put = ada.send(Method::PUT, "/customers/ada/cart", headers, Some(cart.clone())).await;
        put.problem(Kind::CustomerErased);
        assert_eq!(ada.send(Method::DELETE, "/customers/ada/cart", headers, None).await.status, 204);
    }
    for (username, email, name) in [("ada", "ada@example.com", "ada"), ("erased", "erased@erased.invalid", "erased")] {
        let sign_up = json!({ "username": username, "email": email, "name": name });
        ada.post("/customers", sign_up).await.problem(Kind::CustomerErased);
    }
    let refused = ada.order("late", things(1)).await;
    assert_eq!(refused.status, 404, "{}", refused.body);
    assert_eq!(shop.dump().await, before);

    let taken = json!({ "username": "ada", "email": "ada@example.com", "name": "Another Ada" });
    shop.customer("new").post("/customers", taken).await.expect(201);
    // A repetition does not take the claims away from their new owner.
    assert_eq!(erase(&ada, "ada").await.status, 204);
    assert_eq!(shop.admin().get("/customers?email=ada@example.com").await.expect(200)["customerId"], "new");
    invariants::hold(&shop).await;
}

/// The shop must still deliver, or somebody must still pay.
#[tokio::test(flavor = "multi_thread")]
async fn an_unfinished_order_is_in_the_way() {
    let shop = shop().await;
    let ada = shop.customer("ada");
    let refused = async |order: &Value| {
        let before = shop.dump().await;
        let problem = erase(&ada, "ada").await.problem(Kind::OpenOrders);
        assert_eq!(problem["orders"], json!([order["orderId"]]));
        assert_eq!(shop.dump().await, before);
    };
    let unpaid = ada.order("unpaid", things(1)).await.expect(201);
    refused(&unpaid).await;
    cancel(&ada, &unpaid, "no").await;

    let order = ada.order("k", things(2)).await.expect(201);
    refused(&order).await;
    shop.admin().capture(&order, "bank-1").await.expect(200);
    refused(&order).await;
    for status in ["SHIPPED", "DELIVERED"] {
        shop.admin().advance(&order, status).await.expect(200);
        if status == "SHIPPED" {
            refused(&order).await;
        }
    }
    let asked = request_return(&ada, &order, "back", "broken").await;
    refused(&order).await;
    shop.admin().receive(&asked, json!({ "accepted": true, "restock": true })).await.expect(200);
    // The refund is due.
    refused(&order).await;
    shop.admin().confirm_refund(&order, "bank-2").await.expect(200);
    assert_eq!(erase(&ada, "ada").await.status, 204);
    // The books stay.
    let orders = shop.admin().walk("/customers/ada/orders", 10).await;
    assert_eq!(orders.len(), 2);
    let kept = shop.admin().read(&order).await;
    assert_eq!((&kept["total"], &kept["lines"]), (&order["total"], &order["lines"]));
    assert_eq!(kept["returns"][0].get("reason"), None);
    invariants::hold(&shop).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_order_that_waits_while_its_customer_is_erased_is_refused() {
    let shop = Shop::open_undrained().await;
    shop.sign_up("ada").await;
    shop.product("thing", 1000, 100).await;
    let ada = shop.customer("ada");
    let waiting = order_later(&ada, "later", things(1)).await.expect(202);
    assert_eq!(erase(&ada, "ada").await.status, 204);
    // The token still works, and whoever wants to wait is not quoted.
    let late = order_later(&ada, "after the erasure", things(1)).await.expect(202);
    let messages = shop.take_messages().await;
    shop.drain(&messages).await;
    for order in [waiting, late] {
        let order = ada.read(&order).await;
        assert_eq!(order["status"], "REJECTED", "{order}");
    }
    assert_eq!(shop.available("thing").await, 100);
    invariants::hold(&shop).await;
}

/// However many orders a customer has, each request goes on where the one before it stopped.
#[tokio::test(flavor = "multi_thread")]
async fn an_erasure_that_was_interrupted_goes_on_and_reads_no_order_twice() {
    const ORDERS: usize = 30;
    let shop = shop().await;
    let ada = shop.customer("ada");
    for number in 0..ORDERS {
        let order = ada.order(&format!("k{number}"), things(1)).await.expect(201);
        cancel(&ada, &order, "no reason").await;
    }
    let commits =
        |calls: &[devstack::fault_proxy::Call]| calls.iter().filter(|call| call.action == "TransactWriteItems").count();
    let fault = || Fault::Cancel { item: 0, code: "ValidationError", message: "an operand is of another type" };
    shop.fault_proxy().inject_after(11, commit(), fault(), 1);
    assert_eq!(erase(&ada, "ada").await.status, 500);
    shop.fault_proxy().take_calls();
    assert_eq!(erase(&ada, "ada").await.status, 204);
    let done = commits(&shop.fault_proxy().take_calls());
    assert!((1..=ORDERS - 10).contains(&done), "{done} orders were left");
    assert_eq!(erase(&ada, "ada").await.status, 204);
    let calls = shop.fault_proxy().take_calls();
    assert!(calls.len() < 5 && commits(&calls) == 0, "{calls:?}");
}
