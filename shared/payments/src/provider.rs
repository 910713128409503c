//! The port: what Till needs of a payment provider.

use std::sync::Arc;

use key_schema::entity::{Command, Held};
use key_schema::value::{Currency, IntentId, Money, OrderId, Timestamp};
use lambda::{Environment, FromEnvironment, Grant, Misconfigured};

use crate::stripe::Stripe;
use crate::stripe::amount::is_charged;
use crate::{Error, NotGenuine};

/// Reading the secret with the provider's keys.
pub const READ_SECRET: Grant = Grant::new(&["secretsmanager:GetSecretValue"], "PaymentSecret");

/// A payment at the provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Intent {
    pub id: IntentId,
    /// The amount that the customer is asked for.
    pub amount: Money,
    /// The secret with which the customer's browser completes the payment. It is given to the customer, and never
    /// stored or logged.
    pub client_secret: Option<String>,
    /// The order that the payment was started for. Absent from a payment that another program started.
    pub order: Option<OrderId>,
    pub held: Held,
    /// The highest number among the refunds that Till made. Zero if it made none.
    pub newest_refund: u32,
}

/// A genuine message of the provider: something about this payment has changed. It does not matter what: see
/// [`Cashier`](crate::Cashier).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// The order that the payment was started for, if the message says it.
    pub order: Option<OrderId>,
    pub intent: IntentId,
}

/// The payment provider of this deployment. A deployment without one, whose `PAYMENT_SECRET_ARN` is empty, answers every
/// request with [`Error::Off`].
#[derive(Clone, Debug)]
pub struct Provider(Option<Arc<Stripe>>);

/// The currencies in which the shop may set prices: if it takes card payments, those in which every amount can be
/// charged.
#[derive(Clone, Copy, Debug)]
pub struct Currencies {
    takes_cards: bool,
}

impl FromEnvironment for Currencies {
    fn from_environment(environment: &Environment) -> Result<Self, Misconfigured> {
        Ok(Self { takes_cards: environment.declared("PAYMENT_SECRET_ARN")?.is_some() })
    }
}

impl Currencies {
    /// # Errors
    /// [`Error::NotCharged`].
    pub fn check(self, currency: Currency) -> Result<(), Error> {
        if self.takes_cards && !is_charged(currency) { Err(Error::NotCharged(currency)) } else { Ok(()) }
    }
}

impl FromEnvironment for Provider {
    fn from_environment(environment: &Environment) -> Result<Self, Misconfigured> {
        let url = environment.required("PAYMENT_URL")?;
        let Some(secret) = environment.declared("PAYMENT_SECRET_ARN")? else { return Ok(Self(None)) };
        Ok(Self(Some(Arc::new(Stripe::new(url, secret, environment)?))))
    }
}

impl Provider {
    /// The name under which the API tells clients whose secret they have.
    pub const NAME: &'static str = "stripe";

    fn on(&self) -> Result<&Stripe, Error> {
        self.0.as_deref().ok_or(Error::Off)
    }

    /// Starts a payment of this amount, which waits for the customer's card. Within a second, the same order, attempt
    /// and amount start one payment. A payment whose answer was lost holds nothing, because no customer has its secret.
    ///
    /// # Errors
    /// [`Error::TooSmall`] if the amount is below the provider's minimum. The provider did not answer, or refused for
    /// another reason.
    pub async fn start(&self, order: &OrderId, attempt: u32, amount: Money, now: Timestamp) -> Result<Intent, Error> {
        self.on()?.start(order, attempt, amount, now).await
    }

    /// Looks at a payment.
    ///
    /// # Errors
    /// The provider did not answer, or refused.
    pub async fn look_at(&self, intent: &IntentId) -> Result<Intent, Error> {
        self.on()?.look_at(intent).await
    }

    /// The order of the payment that a notice names. A refund from the provider's dashboard, or a dispute, names no
    /// order; its payment does. `None` if another program started the payment.
    ///
    /// # Errors
    /// Those of [`look_at`](Self::look_at).
    pub async fn order_of(&self, notice: &Notice) -> Result<Option<OrderId>, Error> {
        match &notice.order {
            Some(order) => Ok(Some(order.clone())),
            None => Ok(self.look_at(&notice.intent).await?.order),
        }
    }

    /// Carries out a command. A capture or a void has its effect once, because of the state of the intent. A refund has
    /// it once for each number, because that is a part of its idempotency key.
    ///
    /// # Errors
    /// [`Error::Failed`] if the provider keeps its failure under the key, so that a refund needs another number.
    /// [`Error::Refused`] if it will refuse again. It did not answer, or is busy.
    pub async fn carry_out(&self, command: Command, order: &OrderId, intent: &Intent) -> Result<(), Error> {
        self.on()?.carry_out(command, order, intent).await
    }

    /// Reads what the provider sent. `None` if it is about something other than a payment.
    ///
    /// # Errors
    /// [`NotGenuine`] within `Ok` if the signature is not the provider's or too old; [`Error`] if the keys cannot be
    /// read.
    pub async fn notice(
        &self,
        signature: &str,
        body: &[u8],
        now: Timestamp,
    ) -> Result<Result<Option<Notice>, NotGenuine>, Error> {
        self.on()?.notice(signature, body, now).await
    }

    /// What the provider has told since this time without success, once for each payment.
    ///
    /// # Errors
    /// The provider did not answer, or refused.
    pub async fn undelivered(&self, since: Timestamp) -> Result<Vec<Notice>, Error> {
        match &self.0 {
            Some(stripe) => stripe.undelivered(since).await,
            None => Ok(Vec::new()),
        }
    }
}
