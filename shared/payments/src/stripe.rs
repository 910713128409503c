//! Stripe's protocol: PaymentIntents that are captured later, refunds, disputes, and signed webhooks.
//!
//! <https://docs.stripe.com/payments/place-a-hold-on-a-payment-method>

pub mod amount;
mod object;
pub mod signature;

use std::collections::BTreeMap;
use std::time::Duration;

use form_urlencoded::Serializer;
use key_schema::entity::Command;
use key_schema::value::{IntentId, Money, OrderId, Timestamp};
use lambda::{Environment, Https, Misconfigured};
use serde::de::{DeserializeOwned, IgnoredAny};

use self::amount::to_stripe;
use self::object::{Dispute, Event, Listed, PaymentIntent, Refund, notice};
use self::signature::NotGenuine;
use crate::secret::{FORM, Secret};
use crate::{Error, Intent, Notice};

/// The version of the API that this module was written for. Without it, a request would get the account's version.
const VERSION: &str = "2024-06-20";

/// The longest wait for an answer. A card payment may take several seconds at the bank.
const TIMEOUT: Duration = Duration::from_secs(10);

/// The path of all payment intents.
const INTENTS: &str = "/v1/payment_intents";

/// The most pages of one list.
const MOST_PAGES: usize = 10;

/// The types of the events that tell of a change of a payment. docs/payments.md subscribes to them.
pub const EVENTS: &[&str] = &[
    "payment_intent.amount_capturable_updated",
    "payment_intent.payment_failed",
    "payment_intent.succeeded",
    "payment_intent.canceled",
    "charge.refunded",
    "charge.refund.updated",
    "charge.dispute.created",
    "charge.dispute.updated",
    "charge.dispute.funds_withdrawn",
    "charge.dispute.funds_reinstated",
    "charge.dispute.closed",
];

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

    /// The idempotency key changes each second: Stripe keeps a failure under it for a day.
    pub(crate) async fn start(
        &self,
        order: &OrderId,
        attempt: u32,
        money: Money,
        now: Timestamp,
    ) -> Result<Intent, Error> {
        let amount = to_stripe(money).ok_or(Error::NotCharged(money.currency()))?;
        let form = Serializer::new(String::new())
            .append_pair("amount", &amount.to_string())
            .append_pair("currency", &money.currency().to_string().to_ascii_lowercase())
            .append_pair("capture_method", "manual")
            .append_pair("payment_method_types[]", "card")
            .append_pair("metadata[orderId]", order.as_str())
            .finish();
        let key = format!("{order}:start:{attempt}:{amount}:{}", now.as_second());
        let intent: PaymentIntent = self.send("POST", INTENTS, form, Some(&key)).await?;
        intent.read(&[], &[])
    }

    pub(crate) async fn look_at(&self, id: &IntentId) -> Result<Intent, Error> {
        let path = format!("{INTENTS}/{id}?expand[]=latest_charge.refunds");
        let intent: PaymentIntent = self.send("GET", &path, String::new(), None).await?;
        let refunds = match intent.refunds() {
            Some(all) => all,
            None => self.list_of::<Refund>("refunds", id).await?,
        };
        let disputes = if intent.is_disputed() { self.list_of::<Dispute>("disputes", id).await? } else { Vec::new() };
        intent.read(&refunds, &disputes)
    }

    pub(crate) async fn carry_out(&self, command: Command, order: &OrderId, intent: &Intent) -> Result<(), Error> {
        let id = &intent.id;
        let written = |amount| {
            let money = Money::nearest(amount, intent.amount.currency());
            to_stripe(money).map(|amount| amount.to_string()).ok_or(Error::NotCharged(money.currency()))
        };
        let form = |pairs: &[(&str, &str)]| Serializer::new(String::new()).extend_pairs(pairs).finish();
        let (path, form, key) = match command {
            Command::Capture { amount } => {
                (format!("{INTENTS}/{id}/capture"), form(&[("amount_to_capture", &written(amount)?)]), None)
            }
            Command::Void => (format!("{INTENTS}/{id}/cancel"), String::new(), None),
            Command::Refund { number, amount } => {
                let form = form(&[
                    ("payment_intent", id.as_str()),
                    ("amount", &written(amount)?),
                    ("metadata[orderId]", order.as_str()),
                    ("metadata[refund]", &number.to_string()),
                ]);
                ("/v1/refunds".to_owned(), form, Some(format!("{order}:refund:{id}:{number}")))
            }
        };
        self.send::<IgnoredAny>("POST", &path, form, key.as_deref()).await.map(|_| ())
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

    /// <https://docs.stripe.com/webhooks/process-undelivered-events>
    pub(crate) async fn undelivered(&self, since: Timestamp) -> Result<Vec<Notice>, Error> {
        let types = EVENTS.join("&types[]=");
        let query = format!("delivery_success=false&created[gte]={}&types[]={types}", since.as_second());
        // If there are more, this has the newest. Earlier calls had the others.
        let (events, _) = self.list::<Event>("events", &query).await?;
        let notices = events.into_iter().filter_map(|event| event.notice().ok().flatten());
        let by_intent: BTreeMap<_, _> = notices.map(|notice| (notice.intent.clone(), notice)).collect();
        Ok(by_intent.into_values().collect())
    }

    /// All refunds or disputes of an intent.
    async fn list_of<T: DeserializeOwned>(&self, name: &str, intent: &IntentId) -> Result<Vec<T>, Error> {
        match self.list(name, &format!("payment_intent={intent}")).await? {
            (all, true) => Ok(all),
            _ => Err(Error::Unreadable(format!("more than {MOST_PAGES} pages of {name}"))),
        }
    }

    /// The objects of a list, page by page, and whether these are all.
    async fn list<T: DeserializeOwned>(&self, name: &str, query: &str) -> Result<(Vec<T>, bool), Error> {
        let (mut all, mut after) = (Vec::new(), String::new());
        for _ in 0..MOST_PAGES {
            let path = format!("/v1/{name}?{query}&limit=100{after}");
            let Listed { data, has_more } = self.send("GET", &path, String::new(), None).await?;
            let last = data.last().map(|object| object.id.clone());
            all.extend(data.into_iter().map(|object| object.object));
            match last {
                Some(id) if has_more => after = format!("&starting_after={id}"),
                _ => return Ok((all, true)),
            }
        }
        Ok((all, false))
    }

    /// Sends a request. With an idempotency key, Stripe carries it out once: within 24 hours, the same key gets the first
    /// answer again, also if it was a failure.
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
        if method == "POST" {
            headers.push(("content-type", "application/x-www-form-urlencoded".to_owned()));
        }
        headers.extend(key.map(|key| ("idempotency-key", key.to_owned())));
        let answer = self.https.send(method, path, &headers, form).await?;
        match answer.status {
            200..=299 => serde_json::from_slice(&answer.body).map_err(|error| Error::Unreadable(error.to_string())),
            status => Err(object::refusal(status, &answer.body)),
        }
    }
}
