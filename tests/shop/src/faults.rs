//! Calls that are late, between a function and DynamoDB.

use std::time::Duration;

use devstack::fault_proxy::{Fault, Match};
use serde_json::Value;

use crate::Shop;

impl Shop {
    /// Waits until every fault that was injected between the functions and DynamoDB has met a call.
    pub async fn until_taken(&self) {
        while self.fault_proxy().pending() > 0 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    /// Makes a request whose next call of this kind about the order reaches the table only after `meanwhile` is done.
    pub async fn overtaken<T>(
        &self,
        order: &Value,
        action: &'static str,
        request: impl Future<Output = T>,
        meanwhile: impl AsyncFnOnce(),
    ) -> T {
        let id = order["orderId"].as_str().expect("an id").to_owned();
        let about_it = Match::action(action).when(move |request| request.to_string().contains(&id));
        self.fault_proxy().inject(about_it, Fault::Delay(Duration::from_millis(2500)), 1);
        let meanwhile = async {
            self.until_taken().await;
            meanwhile().await;
        };
        tokio::join!(request, meanwhile).0
    }
}
