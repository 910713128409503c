//! A pretend payment provider for a laptop: it speaks the part of Stripe's protocol that Till uses, and moves no money.
//!
//! It keeps payment intents, refunds and disputes, honours idempotency keys for 24 hours, accepts Stripe's test cards, and
//! sends signed webhooks to the API over HTTP, again and again until the API takes them. An [`Act`] is what happens there
//! without a request of the shop, such as a click in the dashboard, or a trouble that is switched on. Like the other
//! services of the laptop stack, it listens on a loopback address only.
//!
//! It differs from Stripe in this: a browser confirms a payment with the client secret alone, without a publishable key;
//! cards never ask for 3-D Secure; a webhook is sent until it is taken, not for three days; and only events that are not
//! taken are listed.

mod act;
mod api;
mod ledger;
pub(crate) mod page;
mod refused;
mod webhook;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use anyhow::{Context, Result, anyhow};
use maud::Markup;
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use uuid::Uuid;

pub use act::{Act, Answer, Call, Switches, Webhooks};
pub use ledger::{Dispute, DisputeStatus, Entry, Ledger, Refund, RefundStatus, Status};

use ledger::Change;
use refused::Refused;

/// The keys of the pretend account.
#[derive(Clone, Debug)]
pub struct Keys {
    /// The key with which Till calls the provider.
    pub api_key: String,
    /// The key with which the provider signs its webhooks.
    pub webhook_secret: String,
}

impl Keys {
    /// Keys that nobody can guess.
    pub fn random() -> Self {
        let random = || Uuid::new_v4().simple();
        Self { api_key: format!("sk_pretend_{}", random()), webhook_secret: format!("whsec_{}", random()) }
    }

    /// The keys as the secret's text.
    pub fn secret(&self) -> String {
        serde_json::json!({ "apiKey": self.api_key, "webhookSecret": self.webhook_secret }).to_string()
    }
}

/// A running pretend provider. It stops when it is dropped.
pub struct PretendProvider {
    url: String,
    shared: Arc<Shared>,
    /// The events to send, until [`PretendProvider::send_webhooks_to`] says where to.
    unsent: Option<mpsc::UnboundedReceiver<Value>>,
    tasks: Vec<JoinHandle<()>>,
}

/// What a person sees of the provider, and can do there.
#[derive(Clone)]
pub(crate) struct Dashboard {
    pub(crate) url: String,
    shared: Arc<Shared>,
}

impl Dashboard {
    /// What the provider has recorded, with forms for each act.
    pub(crate) fn content(&self) -> Markup {
        page::of(&self.url, &self.shared.ledger())
    }

    /// Lets an act happen, with the fields of a form. The error says why it does not.
    pub(crate) fn happen(&self, act: String, form: &[u8]) -> Result<(), String> {
        let refused = |error: serde_json::Error| error.to_string();
        self.shared.happen(act::read(act, form).map_err(refused)?).map(drop).map_err(|refused| refused.message)
    }
}

/// The parts that requests and webhooks share.
struct Shared {
    keys: Keys,
    ledger: Mutex<Ledger>,
    /// The file that keeps the ledger, if there is one.
    file: Option<PathBuf>,
    /// The events to send. The ledger keeps each of them until it is taken.
    events: mpsc::UnboundedSender<Value>,
}

impl Shared {
    fn ledger(&self) -> MutexGuard<'_, Ledger> {
        self.ledger.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps a change of the ledger, and sends the events that tell of the change.
    fn keep(&self, ledger: &Ledger, events: Vec<Value>) {
        if let Some(file) = &self.file
            && let Err(error) = ledger.write(file)
        {
            tracing::error!("the pretend payment provider cannot keep its ledger: {error:#}");
        }
        for event in events {
            let [kind, id] = [&event["type"], &event["data"]["object"]["id"]].map(|it| it.as_str().unwrap_or_default());
            tracing::info!("pretend payment provider: {kind} {id}");
            // The receiver ends only with the provider itself.
            _ = self.events.send(event);
        }
    }

    /// Lets an act happen. Returns the object that it changed, as the API shows it.
    fn happen(&self, act: Act) -> Result<Value, Refused> {
        let mut ledger = self.ledger();
        let Change { body, events, .. } = ledger.happen(act)?;
        let events = ledger.tell(events, None);
        self.keep(&ledger, events);
        Ok(body)
    }

    fn taken(&self, event: &Value) {
        let mut ledger = self.ledger();
        ledger.forget_event(event);
        self.keep(&ledger, Vec::new());
    }
}

impl PretendProvider {
    /// Starts the provider. With `file`, it keeps its ledger and the webhooks that were not taken there.
    pub fn start(listener: TcpListener, keys: Keys, file: Option<&Path>) -> Result<Self> {
        let url = format!("http://{}", listener.local_addr().context("a listener has no address")?);
        let ledger = file.map(Ledger::read).transpose()?.unwrap_or_default();
        let (events, unsent) = mpsc::unbounded_channel();
        for event in ledger.unsent() {
            // The receiver is kept until the provider ends.
            _ = events.send(event.clone());
        }
        let file = file.map(Path::to_owned);
        let shared = Arc::new(Shared { keys, ledger: Mutex::new(ledger), file, events });
        let router = devstack::refuse_other_hosts(api::router(Arc::clone(&shared)));
        let serving = tokio::spawn(async move {
            if let Err(error) = axum::serve(listener, router).await {
                tracing::error!("the pretend payment provider stopped: {error}");
            }
        });
        Ok(Self { url, shared, unsent: Some(unsent), tasks: vec![serving] })
    }

    /// From now on sends what happens, and what has happened, to this URL. Only the first call has an effect.
    pub fn send_webhooks_to(&mut self, url: &str) {
        if let Some(unsent) = self.unsent.take() {
            self.tasks.push(tokio::spawn(webhook::send_all(unsent, url.to_owned(), Arc::clone(&self.shared))));
        }
    }

    /// The base URL.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The provider's dashboard.
    pub(crate) fn dashboard(&self) -> Dashboard {
        Dashboard { url: self.url.clone(), shared: Arc::clone(&self.shared) }
    }

    /// Replaces what the provider has recorded.
    pub fn restore(&self, ledger: Ledger) {
        *self.shared.ledger() = ledger;
    }

    /// A copy of what the provider has recorded.
    pub fn ledger(&self) -> Ledger {
        self.shared.ledger().clone()
    }

    /// The newest intent of an order.
    pub fn newest_of(&self, order: &str) -> Option<Entry> {
        self.shared.ledger().of_order(order).next_back().cloned()
    }

    /// Whether the API has taken every webhook about this intent.
    pub fn has_told_of(&self, intent: &str) -> bool {
        let is_of =
            |event: &Value| ["id", "payment_intent"].iter().any(|name| event["data"]["object"][name] == *intent);
        !self.shared.ledger().unsent().any(is_of)
    }

    /// The number of webhooks that the API has not taken yet.
    pub fn webhooks_waiting(&self) -> usize {
        self.shared.ledger().unsent().count()
    }

    /// Lets an act happen. Returns the object that it changed, as the API shows it.
    ///
    /// # Errors
    /// The object does not exist, or its status does not allow the act.
    pub fn act(&self, act: Act) -> Result<Value> {
        self.shared.happen(act).map_err(|refused| anyhow!(refused.message))
    }

    /// Ends an authorization that was not captured, as Stripe does by itself after seven days.
    ///
    /// # Errors
    /// The intent does not exist, or is not authorized.
    pub fn let_authorization_lapse(&self, intent: &str) -> Result<()> {
        self.act(Act::Expire { intent: intent.to_owned() }).map(drop)
    }
}

impl Drop for PretendProvider {
    fn drop(&mut self) {
        for task in &self.tasks {
            task.abort();
        }
    }
}

#[cfg(test)]
mod tests;
