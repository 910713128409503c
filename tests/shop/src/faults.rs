//! Calls that are late, between a function and DynamoDB.

use devstack::fault_proxy::Match;
use serde_json::Value;

use crate::{Shop, until};

impl Shop {
    /// Waits until every fault that was injected between the functions and DynamoDB has met a call.
    pub async fn until_taken(&self) {
        until("every fault has met a call", async || self.fault_proxy().pending() == 0).await;
    }

    /// Waits until no call of DynamoDB is under way, including calls whose caller has given up.
    pub async fn until_idle(&self) {
        until("no call is under way", async || self.fault_proxy().is_idle()).await;
    }

    /// Makes a request whose next call of this kind reaches the table only after `meanwhile` is done.
    pub async fn held<T, U>(
        &self,
        matching: Match,
        request: impl Future<Output = T>,
        meanwhile: impl AsyncFnOnce() -> U,
    ) -> (T, U) {
        let gate = self.fault_proxy().hold(matching, 1);
        let meanwhile = async {
            self.until_taken().await;
            let outcome = meanwhile().await;
            gate.open();
            outcome
        };
        tokio::join!(request, meanwhile)
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
        self.held(about_it, request, meanwhile).await.0
    }
}
