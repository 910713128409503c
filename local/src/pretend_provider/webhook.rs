//! The webhooks: what happens at the provider, sent to the API until the API takes it.

use std::time::Duration;

use jiff::Timestamp;
use payments::stripe::signature;
use serde_json::Value;
use tokio::sync::mpsc;

/// The pauses between the attempts to send one event. Stripe goes on for three days.
const PAUSES: [u64; 8] = [100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000];

/// Sends each event, side by side: a slow one does not hold up the others, so they may arrive in another order.
pub(super) async fn send_all(mut events: mpsc::UnboundedReceiver<Value>, url: String, secret: String) {
    let client = reqwest::Client::new();
    while let Some(event) = events.recv().await {
        let (client, url, secret) = (client.clone(), url.clone(), secret.clone());
        tokio::spawn(async move { send(&client, &url, &secret, &event.to_string()).await });
    }
}

async fn send(client: &reqwest::Client, url: &str, secret: &str, body: &str) {
    for pause in PAUSES.iter().map(Some).chain([None]) {
        let signature = signature::sign(secret, body.as_bytes(), Timestamp::now().as_second());
        let request = client.post(url).header("stripe-signature", signature).header("content-type", "application/json");
        match request.body(body.to_owned()).send().await {
            Ok(answer) if answer.status().is_success() => return,
            Ok(answer) => tracing::warn!("a webhook of the pretend payment provider was answered {}", answer.status()),
            Err(error) => tracing::warn!("a webhook of the pretend payment provider was not answered: {error}"),
        }
        match pause {
            Some(pause) => tokio::time::sleep(Duration::from_millis(*pause)).await,
            None => tracing::error!("a webhook of the pretend payment provider was given up"),
        }
    }
}
