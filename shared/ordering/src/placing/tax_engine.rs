//! The port of an outside tax engine, which computes the taxes of an order instead of the rates that staff write.
//!
//! The protocol is Till's own and small, so that an adapter for a product such as Avalara is a page of code:
//! `docs/taxes.md` has an example of both messages.

use std::sync::Arc;
use std::time::Duration;

use key_schema::entity::{Destination, LineTax, OrderLine, Prices, TaxRate, net_amounts};
use key_schema::value::{Category, Country, Currency, Money, ProductId, Quantity};
use lambda::{Environment, Failure, FromEnvironment, Grant, Https, Misconfigured, NoAnswer, Remedy};
use secret::Secret;
use serde::{Deserialize, Serialize};

use super::read::ItemsRead;
use crate::settings::Taxed;

/// Reading the secret with the engine's token.
pub const READ_TAX_SECRET: Grant = Grant::new(&["secretsmanager:GetSecretValue"], "TaxEngineSecret");

/// The longest wait for an answer. The customer waits as well.
const TIMEOUT: Duration = Duration::from_secs(2);

/// The request to the engine: the lines of an order after its discounts, and where they go. Amounts are in minor units.
#[serde_with::skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TaxRequest {
    currency: Currency,
    prices_include_tax: bool,
    shop_country: Country,
    /// Absent from an order without an address. The engine learns neither the name nor the street.
    ship_to: Option<Destination>,
    lines: Vec<TaxedLine>,
    /// The price of shipping, if the order has one.
    shipping: Option<i64>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
struct TaxedLine {
    product_id: ProductId,
    #[serde(skip_serializing_if = "Option::is_none")]
    category: Option<Category>,
    quantity: Quantity,
    /// What the line costs less its share of the discount.
    amount: i64,
}

#[derive(Debug, Deserialize)]
struct ResponseBody {
    /// One for each line of the request.
    lines: Vec<ResponseLine>,
    /// The tax of shipping, if the request has its price.
    shipping: Option<ResponseTax>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ResponseLine {
    product_id: ProductId,
    #[serde(flatten)]
    tax: ResponseTax,
}

#[derive(Clone, Copy, Debug, Deserialize)]
struct ResponseTax {
    /// In hundredths of a percent.
    rate: TaxRate,
    /// In minor units.
    tax: i64,
}

/// The taxes by the engine's response, with the request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaxResponse {
    request: TaxRequest,
    /// In the order of the request's lines.
    lines: Vec<LineTax>,
    shipping: Option<LineTax>,
}

/// The reason why the engine's taxes are not known.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TaxEngineError {
    /// No answer came in time.
    #[error("the tax engine did not answer: {0}")]
    Unanswered(String),
    /// The engine is too busy, or failed by itself. The same request may succeed later.
    #[error("the tax engine answered {0}")]
    Busy(u16),
    /// The engine refuses the request, and will refuse it again.
    #[error("the tax engine refused the request with {0}")]
    Refused(u16),
    /// The answer breaks the protocol.
    #[error("the tax engine's answer breaks the protocol: {0}")]
    Unreadable(String),
    /// The secret with the engine's token cannot be read.
    #[error("the secret with the tax engine's token cannot be read: {0}")]
    Secret(String),
}

impl From<NoAnswer> for TaxEngineError {
    fn from(error: NoAnswer) -> Self {
        Self::Unanswered(error.to_string())
    }
}

impl From<secret::Unreadable> for TaxEngineError {
    fn from(error: secret::Unreadable) -> Self {
        Self::Secret(error.to_string())
    }
}

impl Failure for TaxEngineError {
    fn remedy(&self) -> Remedy {
        match self {
            Self::Unanswered(_) | Self::Busy(_) => Remedy::Retry,
            Self::Refused(_) | Self::Unreadable(_) | Self::Secret(_) => Remedy::None,
        }
    }
}

impl TaxRequest {
    /// The request for the taxes of these lines.
    pub(crate) fn of(
        rules: &Taxed,
        lines: &[OrderLine],
        discount: Money,
        (shipping, destination): (Option<Money>, Option<&Destination>),
        items: &ItemsRead,
    ) -> Self {
        let lines = lines.iter().zip(net_amounts(lines, discount)).map(|(line, amount)| TaxedLine {
            product_id: line.product_id.clone(),
            category: items.products.get(&line.product_id).map(|product| product.category.clone()),
            quantity: line.quantity,
            amount,
        });
        Self {
            currency: discount.currency(),
            prices_include_tax: rules.prices == Prices::IncludeTax,
            shop_country: rules.country.clone(),
            ship_to: destination.cloned(),
            lines: lines.collect(),
            shipping: shipping.map(Money::amount),
        }
    }

    fn read(&self, body: &ResponseBody) -> Result<TaxResponse, TaxEngineError> {
        let wrong = |why: String| TaxEngineError::Unreadable(why);
        let tax = |of: &str, ResponseTax { rate, tax }: ResponseTax, amount: i64| {
            let known = Money::new(tax, self.currency).filter(|_| tax <= amount);
            let known = known.ok_or_else(|| wrong(format!("the tax of {of} is {tax}, and its amount {amount}")))?;
            Ok::<_, TaxEngineError>(LineTax { rate, amount: known, added: !self.prices_include_tax, by_engine: true })
        };
        if body.lines.len() != self.lines.len() {
            return Err(wrong(format!("it has {} lines instead of {}", body.lines.len(), self.lines.len())));
        }
        let lines = self.lines.iter().map(|line| {
            let id = &line.product_id;
            let taxed = body.lines.iter().find(|taxed| taxed.product_id == *id);
            tax(id.as_str(), taxed.ok_or_else(|| wrong(format!("it has no tax of {id}")))?.tax, line.amount)
        });
        let lines = lines.collect::<Result<_, _>>()?;
        let shipping = match (self.shipping, body.shipping) {
            (Some(amount), Some(taxed)) => Some(tax("shipping", taxed, amount)?),
            (Some(_), None) => return Err(wrong("it has no tax of shipping".to_owned())),
            (None, _) => None,
        };
        Ok(TaxResponse { request: self.clone(), lines, shipping })
    }
}

impl TaxResponse {
    /// The taxes of lines and shipping, if they are the response to this request.
    pub(crate) fn taxes_of(&self, request: &TaxRequest) -> Option<(&[LineTax], Option<LineTax>)> {
        (self.request == *request).then_some((&self.lines, self.shipping))
    }
}

/// The content of the secret.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Token {
    token: String,
}

/// The shop's tax engine. A shop without one has an empty `TAX_ENGINE`.
#[derive(Clone, Debug)]
pub struct TaxEngine(Option<Arc<Client>>);

#[derive(Debug)]
struct Client {
    https: Https,
    secret: Secret<Token>,
}

impl FromEnvironment for TaxEngine {
    fn from_environment(environment: &Environment) -> Result<Self, Misconfigured> {
        let secret = environment.declared("TAX_ENGINE_SECRET_ARN")?;
        let Some(url) = environment.declared("TAX_ENGINE")? else { return Ok(Self(None)) };
        let without = || Misconfigured::Invalid("TAX_ENGINE needs TAX_ENGINE_SECRET_ARN".to_owned());
        let secret = Secret::of(secret.ok_or_else(without)?, r#"{"token": "..."}"#, environment)?;
        Ok(Self(Some(Arc::new(Client { https: environment.https(url, TIMEOUT)?, secret }))))
    }
}

impl TaxEngine {
    /// The engine's response to the request. `None` if there is no engine or no request. If the `last` response is to the same
    /// request, the engine is not asked again.
    ///
    /// # Errors
    /// The engine did not answer, or not by the protocol.
    pub(crate) async fn ask(
        &self,
        request: Option<TaxRequest>,
        last: Option<TaxResponse>,
    ) -> Result<Option<TaxResponse>, TaxEngineError> {
        let (Some(client), Some(request)) = (&self.0, request) else { return Ok(None) };
        match last.filter(|last| last.request == request) {
            Some(last) => Ok(Some(last)),
            None => client.send(&request).await.map(Some),
        }
    }
}

impl Client {
    async fn send(&self, request: &TaxRequest) -> Result<TaxResponse, TaxEngineError> {
        let unreadable = |error: serde_json::Error| TaxEngineError::Unreadable(error.to_string());
        let token = &self.secret.content().await?.token;
        let headers = [("content-type", "application/json".to_owned()), ("authorization", format!("Bearer {token}"))];
        let body = serde_json::to_string(request).map_err(unreadable)?;
        let answer = self.https.send("POST", "", &headers, body).await?;
        match answer.status {
            200 => request.read(&serde_json::from_slice(&answer.body).map_err(unreadable)?),
            429 | 500.. => Err(TaxEngineError::Busy(answer.status)),
            status => Err(TaxEngineError::Refused(status)),
        }
    }
}
