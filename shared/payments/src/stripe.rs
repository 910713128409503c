//! Stripe's protocol: PaymentIntents that are captured later, refunds, and signed webhooks.
//!
//! <https://docs.stripe.com/payments/place-a-hold-on-a-payment-method>

mod object;
pub mod signature;

use std::time::Duration;

use form_urlencoded::Serializer;
use key_schema::entity::Command;
use key_schema::value::{IntentId, Money, OrderId, Timestamp};
use lambda::{Environment, Https, Misconfigured};
use serde::de::DeserializeOwned;

use self::object::{PaymentIntent, Refund, notice};
use self::signature::NotGenuine;
use crate::secret::{FORM, Secret};
use crate::{Error, Intent, Notice};

/// The version of the API that this module was written for. Without it, a request would get the account's version.
const VERSION: &str = "2024-06-20";

/// The longest wait for an answer. A card payment may take several seconds at the bank.
const TIMEOUT: Duration = Duration::from_secs(10);

/// The path of all payment intents.
const INTENTS: &str = "/v1/payment_intents";

/// A client of Stripe.
#[derive(Debug)]
pub(crate) struct Stripe {
    https: Https,
    secret: Secret,
}

impl Stripe {
    /// A client of the API at this base URL, with the keys of this secret.
    pub(crate) fn new(url: &str, secret: &str, environment: &Environment) -> Result<Self, Misconfigured> {
        Ok(Self { https: environment.https(url, TIMEOUT)?, secret: Secret::of(secret, FORM, environment)? })
    }

    pub(crate) async fn start(&self, order: &OrderId, attempt: u32, amount: Money) -> Result<Intent, Error> {
        let form = Serializer::new(String::new())
            .append_pair("amount", &amount.amount().to_string())
            .append_pair("currency", &amount.currency().to_string().to_ascii_lowercase())
            .append_pair("capture_method", "manual")
            .append_pair("payment_method_types[]", "card")
            .append_pair("metadata[orderId]", order.as_str())
            .finish();
        let intent: PaymentIntent =
            self.post(INTENTS, form, &format!("{order}:start:{attempt}:{}", amount.amount())).await?;
        intent.read()
    }

    pub(crate) async fn look_at(&self, intent: &IntentId) -> Result<Intent, Error> {
        let path = format!("{INTENTS}/{intent}?expand[]=latest_charge");
        let intent: PaymentIntent = self.send("GET", &path, String::new(), None).await?;
        intent.read()
    }

    pub(crate) async fn carry_out(&self, command: Command, order: &OrderId, id: &IntentId) -> Result<Intent, Error> {
        let form = |pairs: &[(&str, &str)]| Serializer::new(String::new()).extend_pairs(pairs).finish();
        match command {
            Command::Capture { amount } => {
                let form = form(&[("amount_to_capture", &amount.to_string())]);
                let key = format!("{order}:capture:{id}:{amount}");
                _ = self.post::<PaymentIntent>(&format!("{INTENTS}/{id}/capture"), form, &key).await?;
            }
            Command::Void => {
                let key = format!("{order}:void:{id}");
                _ = self.post::<PaymentIntent>(&format!("{INTENTS}/{id}/cancel"), String::new(), &key).await?;
            }
            Command::Refund { amount, total } => {
                let amount = amount.to_string();
                let form = form(&[
                    ("payment_intent", id.as_str()),
                    ("amount", &amount),
                    ("metadata[orderId]", order.as_str()),
                ]);
                // Refunds only grow, so their sum tells them apart.
                let key = format!("{order}:refund:{id}:{total}");
                _ = self.post::<Refund>("/v1/refunds", form, &key).await?;
            }
        }
        // The answers to commands do not have the charge, which has the refunds.
        self.look_at(id).await
    }

    pub(crate) async fn notice(
        &self,
        signature: &str,
        body: &[u8],
        now: Timestamp,
    ) -> Result<Result<Option<Notice>, NotGenuine>, Error> {
        let keys = self.secret.content().await?;
        let verified = signature::verify(&keys.webhook_secret, signature, body, now.as_second());
        Ok(verified.and_then(|()| notice(body)))
    }

    async fn post<T: DeserializeOwned>(&self, path: &str, form: String, key: &str) -> Result<T, Error> {
        self.send("POST", path, form, Some(key)).await
    }

    /// Sends a request. With an idempotency key, Stripe carries it out once: within 24 hours, the same key gets the first
    /// answer again. Callers look at the payment before they repeat an older request.
    async fn send<T: DeserializeOwned>(
        &self,
        method: &str,
        path: &str,
        form: String,
        key: Option<&str>,
    ) -> Result<T, Error> {
        let keys = self.secret.content().await?;
        let mut headers =
            vec![("authorization", format!("Bearer {}", keys.api_key)), ("stripe-version", VERSION.to_owned())];
        if let Some(key) = key {
            headers.push(("content-type", "application/x-www-form-urlencoded".to_owned()));
            headers.push(("idempotency-key", key.to_owned()));
        }
        let answer = self.https.send(method, path, &headers, form).await?;
        match answer.status {
            200..=299 => serde_json::from_slice(&answer.body).map_err(|error| Error::Unreadable(error.to_string())),
            // 409: another request with this key is being carried out. 429: too many requests.
            409 | 429 | 500.. => Err(Error::Busy(answer.status)),
            status => Err(object::refusal(status, &answer.body)),
        }
    }
}
