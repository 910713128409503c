//! Orders of carts of the day that finds what functions are permitted.

use crate::prelude::*;

/// A cart is asked for and ordered at once, and another one later.
pub async fn ordered(shop: &Shop) {
    let ada = shop.customer("ada");
    let mut order = things(1);
    for is_later in [false, true] {
        let put = ada.put("/customers/ada/cart", things(1)).await.expect(200);
        order["cart"] = put["version"].clone();
        ada.post("/quotes", order.clone()).await.expect(200);
        if is_later {
            let waits = order_later(&ada, "a cart, later", order.clone()).await;
            let path = waits.header("location").expect("a location").to_owned();
            until("it is placed", async || ada.get(&path).await.body["status"] == "PENDING").await;
        } else {
            ada.order("a cart", order.clone()).await.expect(201);
        }
    }
}
