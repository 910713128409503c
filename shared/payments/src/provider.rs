//! The port: what Till needs of a payment provider.

use std::sync::Arc;

use key_schema::entity::{Command, Report};
use key_schema::value::{IntentId, Money, OrderId, Timestamp};
use lambda::{Environment, FromEnvironment, Grant, Misconfigured};

use crate::stripe::Stripe;
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
    pub report: Report,
}

/// A message of the provider with a genuine signature.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Notice {
    Payment(PaymentReport),
    RefundFailed(FailedRefund),
}

/// A refund that the provider accepted, and whose money did not reach the customer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailedRefund {
    /// The order that the refund was made for. Absent from a refund that somebody made in the provider's dashboard.
    pub order: Option<OrderId>,
    pub intent: IntentId,
    /// The provider's id for the refund.
    pub refund: String,
    pub amount: Money,
}

/// The progress of a payment of an order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PaymentReport {
    pub order: OrderId,
    pub intent: IntentId,
    /// The amount that the customer was asked for.
    pub amount: Money,
    pub report: Report,
}

/// The payment provider of this deployment. A deployment without one, whose `PAYMENT_SECRET_ARN` is empty, answers every
/// request with [`Error::Off`].
#[derive(Clone, Debug)]
pub struct Provider(Option<Arc<Stripe>>);

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

    /// Starts a payment of this amount, which waits for the customer's card. The same order, attempt and amount start
    /// one payment, however often this is called.
    ///
    /// # Errors
    /// [`Error::TooSmall`] if the amount is below the provider's minimum. The provider did not answer, or refused for
    /// another reason.
    pub async fn start(&self, order: &OrderId, attempt: u32, amount: Money) -> Result<Intent, Error> {
        self.on()?.start(order, attempt, amount).await
    }

    /// Looks at a payment.
    ///
    /// # Errors
    /// The provider did not answer, or refused.
    pub async fn look_at(&self, intent: &IntentId) -> Result<Intent, Error> {
        self.on()?.look_at(intent).await
    }

    /// Carries out a command, and returns the payment after it. The same command of the same order is carried out once,
    /// however often this is called: its idempotency key is a pure function of the two.
    ///
    /// # Errors
    /// The provider did not answer, or refused.
    pub async fn carry_out(&self, command: Command, order: &OrderId, intent: &IntentId) -> Result<Intent, Error> {
        self.on()?.carry_out(command, order, intent).await
    }

    /// Reads what the provider sent. `None` if it is neither about a payment of an order nor about a refund that failed.
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
}
