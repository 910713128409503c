//! What customers and staff do with orders.

use serde_json::{Value, json};

use crate::{Client, Reply};

pub fn order_id(order: &Value) -> &str {
    order["orderId"].as_str().expect("an order")
}

pub fn invoice_id(order: &Value) -> &str {
    order["invoice"]["invoiceId"].as_str().expect("an order with its invoice")
}

/// The lines of a cart as requests have them.
pub fn lines_of(cart: &Value) -> Value {
    let line = |line: &Value| json!({ "productId": line["productId"], "quantity": line["quantity"] });
    cart["lines"].as_array().expect("lines").iter().map(line).collect()
}

/// A basket of units of one product, as an order, a cart, a cancellation and a return have it.
pub fn basket(product: impl Into<Value>, quantity: impl Into<Value>) -> Value {
    json!({ "lines": [{ "productId": product.into(), "quantity": quantity.into() }] })
}

/// Units of the product `thing`.
pub fn things(quantity: u64) -> Value {
    basket("thing", quantity)
}

impl Client {
    pub async fn read(&self, order: &Value) -> Value {
        self.get(&format!("/orders/{}", order_id(order))).await.expect(200)
    }

    pub async fn status(&self, order: &Value) -> Value {
        self.read(order).await["status"].clone()
    }

    /// Cancels an order, or those units of it that the body names.
    pub async fn cancel(&self, order: &Value, body: Value) -> Reply {
        self.post(&format!("/orders/{}/cancellation", order_id(order)), body).await
    }

    /// Records that the invoice is paid under this reference. Without one, the payment provider is asked to capture.
    pub async fn capture(&self, order: &Value, reference: impl Into<Option<&str>>) -> Reply {
        let body = reference.into().map_or(json!({}), |reference| json!({ "reference": reference }));
        self.post(&format!("/invoices/{}/payments", invoice_id(order)), body).await
    }

    /// Records that money went back under this reference.
    pub async fn confirm_refund(&self, order: &Value, reference: &str) -> Reply {
        self.post(&format!("/invoices/{}/refunds", invoice_id(order)), json!({ "reference": reference })).await
    }

    pub async fn advance(&self, order: &Value, status: &str) -> Reply {
        self.post(&format!("/orders/{}/status", order_id(order)), json!({ "status": status })).await
    }

    pub async fn flag(&self, order: &Value, reason: &str) -> Reply {
        self.put(&format!("/orders/{}/flag", order_id(order)), json!({ "reason": reason })).await
    }

    pub async fn request_return(&self, order: &Value, key: &str, body: Value) -> Reply {
        self.post_once(&format!("/orders/{}/returns", order_id(order)), key, body).await
    }

    /// Receives or refuses what comes back.
    pub async fn receive(&self, returned: &Value, receipt: Value) -> Reply {
        let id = returned["returnId"].as_str().expect("a return");
        self.post(&format!("/returns/{id}/receipt"), receipt).await
    }

    pub async fn ship(&self, order: &Value, key: &str, body: Value) -> Reply {
        self.post_once(&format!("/orders/{}/shipments", order_id(order)), key, body).await
    }

    /// Records that a shipment has arrived.
    pub async fn deliver(&self, shipment: &Value) -> Reply {
        let id = shipment["shipmentId"].as_str().expect("a shipment");
        self.post(&format!("/shipments/{id}/delivery"), Value::Null).await
    }
}
