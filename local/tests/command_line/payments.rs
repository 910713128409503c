//! The payment provider of the stack: the pretend one, and `--payments`.

use devstack::wait::until;
use std::process::Command;

use reqwest::Client;
use serde_json::{Value, json};

use crate::{LOCAL, Running};

/// A client of a running stack, for the demo's customer and for staff.
struct Shop {
    client: Client,
    url: String,
    tokens: [String; 2],
}

const ADA: usize = 0;
const STAFF: usize = 1;

impl Shop {
    async fn of(running: &Running) -> Self {
        let (client, url) = (Client::builder().no_proxy().build().unwrap(), running.url.clone());
        let mut tokens = Vec::new();
        for (sub, scope) in [("ada", "shop"), ("me", "admin")] {
            let body = json!({ "sub": sub, "scope": scope }).to_string();
            let answer = client.post(format!("{url}/_local/token")).body(body).send().await.unwrap();
            tokens.push(answer.json::<Value>().await.unwrap()["token"].as_str().unwrap().to_owned());
        }
        Self { client, url, tokens: tokens.try_into().unwrap() }
    }

    async fn post(&self, who: usize, path: &str, body: Value) -> Value {
        let request = self.client.post(format!("{}{path}", self.url)).bearer_auth(&self.tokens[who]);
        let request = request.header("idempotency-key", "k").header("content-type", "application/json");
        request.body(body.to_string()).send().await.unwrap().json().await.unwrap()
    }

    /// Waits until the order has this status, and its payment that one.
    async fn wait(&self, order: &str, status: &str, payment: &str) {
        until(format!("the order is {status}, with its payment {payment}"), async || {
            let request = self.client.get(format!("{}/orders/{order}", self.url)).bearer_auth(&self.tokens[ADA]);
            let order: Value = request.send().await.unwrap().json().await.unwrap();
            order["status"] == status && order["invoice"]["payments"][0]["status"] == payment
        })
        .await;
    }
}

/// The address of the pretend provider that a stack prints.
fn provider(running: &mut Running) -> String {
    let line = running.line("Pretend payment provider at ");
    line.split(' ').next().unwrap().to_owned()
}

/// The keys of the provider are new after a restart. Its payments are not.
#[tokio::test]
async fn a_customer_pays_with_a_test_card_and_the_payment_outlives_a_restart() {
    let directory = std::env::temp_dir().join(format!("till-payments-{}", uuid::Uuid::new_v4()));
    let arguments = ["--port", "0", "--data", directory.to_str().unwrap()];
    let mut running = Running::start(&arguments);
    let (pay, shop) = (provider(&mut running), Shop::of(&running).await);
    let order = shop.post(ADA, "/orders", json!({ "lines": [{ "productId": "espresso-cup", "quantity": 1 }] })).await;
    let order = order["orderId"].as_str().unwrap();
    let payment = shop.post(ADA, &format!("/orders/{order}/payment"), json!({})).await;
    let [intent, secret] = [&payment["intentId"], &payment["clientSecret"]].map(|it| it.as_str().unwrap());
    let form = format!("client_secret={secret}&payment_method=pm_card_visa");
    let confirmed = shop.client.post(format!("{pay}/v1/payment_intents/{intent}/confirm")).body(form);
    assert_eq!(confirmed.send().await.unwrap().status(), 200);
    shop.wait(order, "PAID", "authorized").await;
    assert_eq!(running.stop("TERM").0, Some(0));

    let running = Running::start(&arguments);
    let shop = Shop::of(&running).await;
    let page = shop.client.get(format!("{}/_local/payments", shop.url)).send().await.unwrap().text().await.unwrap();
    assert!(page.contains(intent), "{page}");
    shop.post(STAFF, &format!("/orders/{order}/status"), json!({ "status": "SHIPPED" })).await;
    shop.wait(order, "SHIPPED", "captured").await;
    drop(running);
    std::fs::remove_dir_all(&directory).unwrap();
}

#[test]
fn another_provider_needs_test_keys() {
    let refused = |keys: &[(&str, &str)]| {
        let mut command = Command::new(LOCAL);
        command.args(["--port", "0", "--payments", "http://127.0.0.1:1"]);
        command.env_remove("PAYMENT_API_KEY").env_remove("PAYMENT_WEBHOOK_SECRET").envs(keys.iter().copied());
        let output = command.output().unwrap();
        assert_eq!(output.status.code(), Some(1));
        String::from_utf8(output.stderr).unwrap()
    };
    let secret = ("PAYMENT_WEBHOOK_SECRET", "whsec_any");
    assert!(refused(&[secret]).contains("PAYMENT_API_KEY"));
    assert!(refused(&[("PAYMENT_API_KEY", "sk_test_any")]).contains("PAYMENT_WEBHOOK_SECRET"));
    let live = refused(&[("PAYMENT_API_KEY", "sk_live_any"), secret]);
    assert_eq!(live, "error: PAYMENT_API_KEY moves real money: a laptop takes a test key, such as sk_test_...\n");
}
