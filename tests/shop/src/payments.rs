//! A shop that takes card payments, at the laptop's pretend provider.

use std::collections::BTreeMap;
use std::sync::Arc;

use devstack::Template;
use key_schema::value::Timestamp;
use local::pretend_provider::{Entry, Keys, Ledger, PretendProvider};
use reqwest::Method;
use serde_json::{Value, json};
use tokio::net::TcpListener;

use crate::deployed::{deployed, set_variable};
use crate::invocations::{Invocations, changed};
use crate::kills::Kills;
use crate::provider::{Faults, Provider};
use crate::wire::Wire;
use crate::{PATIENCE, Reply, Shop, uncounted, until_some};

/// The provider of a shop, and the keys that both know.
pub struct Payments {
    pub provider: PretendProvider,
    pub keys: Keys,
}

impl Payments {
    /// Starts a provider. Its webhooks wait until the shop runs.
    pub async fn start() -> Self {
        Self::start_with(Keys::random()).await
    }

    /// The same, with these keys.
    pub async fn start_with(keys: Keys) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        Self { provider: PretendProvider::start(listener, keys.clone(), None).expect("it starts"), keys }
    }
}

/// The secret that the functions read, by its ARN.
pub(crate) fn secrets(keys: &Keys) -> BTreeMap<String, String> {
    BTreeMap::from([(local::PAYMENT_SECRET.to_owned(), keys.secret())])
}

pub(crate) fn paying_template(provider: &str, parameters: &[(&str, &str)]) -> Template {
    let mut template = deployed(&[&[("PaymentSecretArn", local::PAYMENT_SECRET)], parameters].concat());
    set_variable(&mut template, "PAYMENT_URL", provider);
    template
}

/// Leaves the stream to the publisher of events, which says what payments are due. Nothing counts orders.
fn publish_only(template: &mut Template) {
    for source in &mut template.stream_sources {
        source.enabled = source.function == "PublishOrderEvents";
    }
}

impl Shop {
    /// A shop with the customer ada that takes card payments, and captures them when orders are shipped. Nothing counts
    /// orders.
    pub async fn open_paying() -> Self {
        Self::open_paying_with(&[]).await
    }

    /// The same, with these parameters of the template.
    pub async fn open_paying_with(parameters: &[(&str, &str)]) -> Self {
        let mut payments = Payments::start().await;
        let mut template = paying_template(payments.provider.url(), parameters);
        publish_only(&mut template);
        let mut shop = Self::start_with(template, secrets(&payments.keys), |functions| functions).await;
        payments.provider.send_webhooks_to(&format!("{}/payment-events", shop.url()));
        shop.payments = Some(payments);
        shop.sign_up("ada").await;
        shop
    }

    /// The same, with wires that can be faulty, and functions that can be killed. A message whose invocation is killed, or
    /// whose receipt is lost, comes back after two seconds.
    pub async fn open_paying_faulty(parameters: &[(&str, &str)]) -> (Self, Faults) {
        let (shop, faults) = Self::open_faulty_with(parameters, publish_only).await;
        shop.sign_up("ada").await;
        (shop, faults)
    }

    /// An empty shop of this kind with the template's consumers of streams. The template is changed after parsing.
    pub async fn open_faulty_with(parameters: &[(&str, &str)], change: impl FnOnce(&mut Template)) -> (Self, Faults) {
        let mut payments = Payments::start().await;
        let to_provider = Wire::to(payments.provider.url()).await;
        let (kills, invocations) = (Arc::new(Kills::default()), Arc::new(Invocations::default()));
        let mut template = paying_template(to_provider.url(), parameters);
        for queue in &mut template.queues {
            queue.visibility_timeout_seconds = 2;
        }
        change(&mut template);
        let suffering = {
            let (kills, invocations) = (Arc::clone(&kills), Arc::clone(&invocations));
            move |invoke| invocations.known(kills.mortal(invoke))
        };
        let functions = |functions| changed(functions, &suffering);
        let mut shop = Self::start_with(template, secrets(&payments.keys), functions).await;
        let to_shop = Wire::to(shop.url()).await;
        payments.provider.send_webhooks_to(&format!("{}/payment-events", to_shop.url()));
        shop.payments = Some(payments);
        (shop, Faults { to_provider, to_shop, kills, invocations })
    }

    /// A shop with the customer ada at the provider that the environment names, or else at a pretend one.
    pub async fn open_paying_at_any_provider() -> (Self, Provider) {
        let Some((url, api_key)) = Provider::of_environment() else {
            let shop = Self::open_paying().await;
            let Payments { provider, keys } = shop.payments();
            let provider = Provider::new(provider.url(), &keys.api_key);
            return (shop, provider);
        };
        let keys = Keys { api_key, ..Keys::random() };
        let shop = Self::start_with(paying_template(&url, &[]), secrets(&keys), |functions| functions).await;
        let mut provider = Provider::new(&url, &keys.api_key);
        provider.send_webhooks_to(Wire::to(shop.url()).await, &keys.webhook_secret).await;
        shop.sign_up("ada").await;
        (shop, provider)
    }

    /// An empty shop with this provider, which does not report. The stream has no consumers, and the template is changed
    /// after parsing.
    pub async fn open_silently_paying(payments: Payments, change: impl FnOnce(&mut Template)) -> Self {
        Self::open_silently_paying_with(payments, &[], change).await
    }

    /// The same, with these parameters of the template.
    pub async fn open_silently_paying_with(
        payments: Payments,
        parameters: &[(&str, &str)],
        change: impl FnOnce(&mut Template),
    ) -> Self {
        let mut template = uncounted(paying_template(payments.provider.url(), parameters));
        change(&mut template);
        let mut shop = Self::start_with(template, secrets(&payments.keys), |functions| functions).await;
        shop.payments = Some(payments);
        shop
    }

    /// The shop's payment provider.
    pub fn payments(&self) -> &Payments {
        self.payments.as_ref().expect("the shop was opened with a payment provider")
    }

    /// What the provider has recorded.
    pub fn ledger(&self) -> Ledger {
        self.payments().provider.ledger()
    }

    /// The provider's newest intent of an order.
    pub fn intent(&self, order: &Value) -> Entry {
        let id = order["orderId"].as_str().expect("an id");
        self.ledger().of_order(id).next_back().expect("an intent").clone()
    }

    pub async fn start_payment(&self, order: &Value) -> Reply {
        let id = order["orderId"].as_str().expect("an id");
        self.customer("ada").send(Method::POST, &format!("/orders/{id}/payment"), &[], None).await
    }

    /// The customer pays with this payment method at the provider, as a browser does.
    pub async fn confirm(&self, payment: &Value, method: &str) -> (u16, Value) {
        let intent = payment["intentId"].as_str().expect("an id");
        let secret = payment["clientSecret"].as_str().expect("a secret");
        let url = format!("{}/v1/payment_intents/{intent}/confirm", self.payments().provider.url());
        let form = form_urlencoded::Serializer::new(String::new())
            .append_pair("client_secret", secret)
            .append_pair("payment_method", method)
            .finish();
        let request = self.http.post(url).header("content-type", "application/x-www-form-urlencoded").body(form);
        let answer = request.send().await.expect("the provider answers");
        (answer.status().as_u16(), answer.json().await.expect("JSON"))
    }

    /// The provider does this with the newest intent of an order, by itself: `capture` or `cancel`.
    pub async fn act_at_provider(&self, order: &Value, action: &str) {
        let url = format!("{}/v1/payment_intents/{}/{action}", self.payments().provider.url(), self.intent(order).id);
        let answer = self.http.post(url).bearer_auth(&self.payments().keys.api_key).send().await;
        let answer = answer.expect("the provider answers");
        assert_eq!(answer.status(), 200, "{action}");
    }

    /// Somebody refunds this much of an order's newest intent at the provider, in minor units.
    pub async fn refund_at_provider(&self, order: &Value, amount: i64) {
        let Payments { provider, keys } = self.payments();
        let form = form_urlencoded::Serializer::new(String::new())
            .append_pair("payment_intent", &self.intent(order).id)
            .append_pair("amount", &amount.to_string())
            .finish();
        let request = self.http.post(format!("{}/v1/refunds", provider.url())).bearer_auth(&keys.api_key);
        let request = request.header("content-type", "application/x-www-form-urlencoded").body(form);
        assert_eq!(request.send().await.expect("the provider answers").status(), 200);
    }

    /// Somebody changes the amount of an order's newest intent at the provider, in minor units.
    pub fn change_amount_at_provider(&self, order: &Value, amount: i64) {
        let mut ledger = self.ledger();
        ledger.intents.get_mut(&self.intent(order).id).expect("an intent").amount = amount;
        self.payments().provider.restore(ledger);
    }

    pub async fn pay(&self, order: &Value, method: &str) {
        let payment = self.start_payment(order).await.expect(200);
        self.confirm(&payment, method).await;
    }

    /// The provider's message that something about the newest intent of an order has changed.
    pub fn message_of(&self, order: &Value) -> Value {
        json!({ "id": "evt_test", "object": "event", "type": "payment_intent.test", "data": { "object": {
            "id": self.intent(order).id, "object": "payment_intent", "metadata": { "orderId": order["orderId"] },
        } } })
    }

    /// The provider tells the shop that something about the newest intent of an order has changed.
    pub async fn tell(&self, order: &Value) -> Reply {
        let message = self.message_of(order).to_string();
        self.tell_text(self.webhook_secret(), Timestamp::now().as_second(), message).await
    }

    /// Sends a message with any body, signed with this key at this time.
    pub async fn tell_text(&self, key: &str, seconds: i64, body: String) -> Reply {
        let signature = payments::stripe::signature::sign(key, body.as_bytes(), seconds);
        let headers = [("stripe-signature", signature.as_str())];
        self.nobody().send(Method::POST, "/payment-events", &headers, Some(body)).await
    }

    /// The key with which the provider signs.
    pub fn webhook_secret(&self) -> &str {
        &self.payments().keys.webhook_secret
    }

    /// Waits until the order's payment has this status.
    pub async fn await_payment(&self, order: &Value, status: &str) -> Value {
        let id = order["orderId"].as_str().expect("an id");
        until_some(format!("the payment of {id} is {status}"), async || {
            let order = self.admin().get(&format!("/orders/{id}")).await.expect(200);
            let payments = order["invoice"]["payments"].as_array().expect("payments");
            let mut payments = payments.iter().map(|payment| (&payment["type"], &payment["status"]));
            payments.any(|payment| payment == (&json!("card"), &json!(status))).then_some(order)
        })
        .await
    }

    /// Waits until every event is published, and every payment that is due was settled at the provider.
    pub async fn settle_payments(&self) {
        self.stack.settle(PATIENCE).await.expect("the event sources end");
    }

    /// Invokes `settle-payments` as its schedule does, and returns the report.
    pub async fn sweep_payments(&self) -> Value {
        self.consumer("settle-payments", &self.endpoints())(json!({})).await.expect("a report")
    }
}
