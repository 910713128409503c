//! The webhooks: what happens at the provider, sent to the API until the API takes it.

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use payments::stripe::signature;
use serde_json::Value;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use super::{Shared, Webhooks};

/// The pause after the first attempt. Each pause is twice as long as the one before it.
const FIRST_PAUSE: Duration = Duration::from_millis(100);

const LONGEST_PAUSE: Duration = Duration::from_mins(1);

const LATE: Duration = Duration::from_secs(5);

/// The time within which webhooks change their order if they are reversed.
const REVERSED_WITHIN: Duration = Duration::from_secs(1);

/// The pause after which a webhook looks at the switches again.
const STEP: Duration = Duration::from_millis(20);

/// The time that the API has to answer.
const TIMEOUT: Duration = Duration::from_secs(20);

/// Sends each event, side by side: a slow one does not hold up the others, so they may arrive in another order.
pub(super) async fn send_all(mut events: mpsc::UnboundedReceiver<Value>, url: String, shared: Arc<Shared>) {
    // Like Stripe, it follows no redirect. A proxy for the network is not for this machine.
    let client = reqwest::Client::builder().no_proxy().redirect(reqwest::redirect::Policy::none()).timeout(TIMEOUT);
    let client = match client.build() {
        Ok(client) => client,
        Err(error) => return tracing::error!("the pretend payment provider cannot send webhooks: {error}"),
    };
    // Aborting this task drops the set, and with it every webhook under way.
    let mut under_way = JoinSet::new();
    loop {
        tokio::select! {
            event = events.recv() => {
                let Some(event) = event else { return };
                let (client, url, shared) = (client.clone(), url.clone(), Arc::clone(&shared));
                under_way.spawn(async move {
                    if send(&client, &url, &shared, &event).await == Webhooks::Twice {
                        send(&client, &url, &shared, &event).await;
                    }
                    shared.taken(&event);
                });
            }
            Some(_) = under_way.join_next() => {}
        }
    }
}

/// Waits until the switches allow an event to be sent.
async fn wait_for_turn(shared: &Shared, event: &Value) -> Webhooks {
    let mut waited = Duration::ZERO;
    loop {
        let (mode, is_newest) = {
            let ledger = shared.ledger();
            (ledger.switches.webhooks, ledger.unsent().last() == Some(event))
        };
        let is_due = match mode {
            Webhooks::Once | Webhooks::Twice => true,
            Webhooks::Off => false,
            Webhooks::Late => waited >= LATE,
            Webhooks::Reversed => waited >= REVERSED_WITHIN && is_newest,
        };
        if is_due {
            return mode;
        }
        tokio::time::sleep(STEP).await;
        waited += STEP;
    }
}

/// Sends an event until it is answered with success, each time if the switches allow it. Each attempt has a signature
/// of its own time. Returns the switch of the last one.
async fn send(client: &reqwest::Client, url: &str, shared: &Shared, event: &Value) -> Webhooks {
    let (mut pause, body) = (FIRST_PAUSE, event.to_string());
    loop {
        let mode = wait_for_turn(shared, event).await;
        let signature = signature::sign(&shared.keys.webhook_secret, body.as_bytes(), Timestamp::now().as_second());
        let request = client.post(url).header("stripe-signature", signature).header("content-type", "application/json");
        match request.body(body.clone()).send().await {
            Ok(answer) if answer.status().is_success() => return mode,
            Ok(answer) => tracing::warn!("a webhook of the pretend payment provider was answered {}", answer.status()),
            Err(error) => {
                let error = error.without_url();
                tracing::warn!("a webhook of the pretend payment provider was not answered: {error}");
            }
        }
        tokio::time::sleep(pause).await;
        pause = (2 * pause).min(LONGEST_PAUSE);
    }
}
