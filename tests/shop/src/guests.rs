//! What guests do. A guest is whoever has the secret.

use http_api::{Limit, Route};
use key_schema::value::GuestSecret;
use reqwest::Method;
use serde_json::Value;

use crate::{Reply, Shop};

/// The id of the guest with this secret.
pub fn guest_id(secret: &str) -> String {
    secret.parse::<GuestSecret>().expect("a secret").guest_id().to_string()
}

impl Shop {
    /// Introduces a guest.
    pub async fn introduce(&self, secret: &str, guest: Value) -> Reply {
        self.nobody().with(Method::POST, "/guests", &[("guest-secret", secret)], guest).await
    }

    /// Places an order of the guest with this secret, and asks again while it meets others for longer than a second.
    pub async fn guest_order(&self, secret: &str, key: &str, body: Value) -> Reply {
        loop {
            let reply = self.try_guest_order(secret, key, body.clone()).await;
            if reply.status != 503 {
                return reply;
            }
        }
    }

    /// Asks once for an order of the guest with this secret.
    pub async fn try_guest_order(&self, secret: &str, key: &str, body: Value) -> Reply {
        let headers = [("guest-secret", secret), ("idempotency-key", key)];
        self.nobody().with(Method::POST, &format!("/guests/{}/orders", guest_id(secret)), &headers, body).await
    }
}

/// The gateway's throttle of a route: its own, or the defaults of `RequestsPerSecond` and `RequestBurst`.
pub fn limit(route: &Route) -> Limit {
    route.limit.unwrap_or(Limit { rate: 500, burst: 1_000 })
}
