//! The port of an outside tax engine, which says the taxes of an order instead of the rates that staff write.
//!
//! The protocol is Till's own and small, so that an adapter for a product such as Avalara is a page of code:
//! `docs/taxes.md` has an example of both messages.

use std::sync::Arc;
use std::time::Duration;

use key_schema::entity::{Address, LineTax, OrderLine, Prices, TaxRate, net_amounts};
use key_schema::value::{Category, Country, Currency, Money, ProductId, Quantity};
use lambda::{Environment, Failure, FromEnvironment, Grant, Https, Misconfigured, NoAnswer, Remedy};
use secret::Secret;
use serde::{Deserialize, Serialize};

use crate::found::Found;
use crate::tax_rules::Taxed;

/// Reading the secret with the engine's token.
pub const READ_TAX_SECRET: Grant = Grant::new(&["secretsmanager:GetSecretValue"], "TaxEngineSecret");

/// The longest wait for an answer. The customer waits as well.
const TIMEOUT: Duration = Duration::from_secs(2);

/// What the engine is asked: the lines of an order after its discounts, and where they go. Amounts are in minor units.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TaxQuestion {
    currency: Currency,
    prices_include_tax: bool,
    /// The country of the shop.
    shop_country: Country,
    /// Absent from an order without an address.
    #[serde(skip_serializing_if = "Option::is_none")]
    ship_to: Option<Destination>,
    lines: Vec<TaxedLine>,
    /// The price of shipping, if the order has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    shipping: Option<i64>,
}

/// As much of an address as taxes depend on. The engine learns neither the name nor the street.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
struct Destination {
    country: Country,
    #[serde(skip_serializing_if = "Option::is_none")]
    region: Option<String>,
    city: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    postal_code: Option<String>,
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

/// The engine's answer.
#[derive(Debug, Deserialize)]
struct Answer {
    /// One for each line of the question.
    lines: Vec<AnsweredLine>,
    /// The tax of shipping, if the question has its price.
    shipping: Option<AnsweredTax>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct AnsweredLine {
    product_id: ProductId,
    #[serde(flatten)]
    tax: AnsweredTax,
}

#[derive(Clone, Copy, Debug, Deserialize)]
struct AnsweredTax {
    /// In hundredths of a percent.
    rate: TaxRate,
    /// In minor units.
    tax: i64,
}

/// The taxes that the engine said, with the question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Said {
    question: TaxQuestion,
    /// In the order of the question's lines.
    lines: Vec<LineTax>,
    shipping: Option<LineTax>,
}

/// The engine did not say the taxes, for this reason.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Untaxed {
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

impl From<NoAnswer> for Untaxed {
    fn from(error: NoAnswer) -> Self {
        Self::Unanswered(error.to_string())
    }
}

impl From<secret::Unreadable> for Untaxed {
    fn from(error: secret::Unreadable) -> Self {
        Self::Secret(error.to_string())
    }
}

impl Failure for Untaxed {
    fn remedy(&self) -> Remedy {
        match self {
            Self::Unanswered(_) | Self::Busy(_) => Remedy::Retry,
            Self::Refused(_) | Self::Unreadable(_) | Self::Secret(_) => Remedy::None,
        }
    }
}

impl TaxQuestion {
    /// The question about these lines.
    pub(crate) fn of(
        rules: &Taxed,
        lines: &[OrderLine],
        discount: Money,
        (shipping, address): (Option<Money>, Option<&Address>),
        found: &Found,
    ) -> Self {
        let lines = lines.iter().zip(net_amounts(lines, discount)).map(|(line, amount)| TaxedLine {
            product_id: line.product_id.clone(),
            category: found.products.get(&line.product_id).map(|product| product.category.clone()),
            quantity: line.quantity,
            amount,
        });
        let ship_to = address.map(|address| Destination {
            country: address.country.clone(),
            region: address.region.clone(),
            city: address.city.clone(),
            postal_code: address.postal_code.clone(),
        });
        Self {
            currency: discount.currency(),
            prices_include_tax: rules.prices == Prices::IncludeTax,
            shop_country: rules.country.clone(),
            ship_to,
            lines: lines.collect(),
            shipping: shipping.map(Money::amount),
        }
    }

    /// The taxes of an answer to this question.
    fn answered(&self, answer: &Answer) -> Result<Said, Untaxed> {
        let wrong = |why: String| Untaxed::Unreadable(why);
        let tax = |of: &str, AnsweredTax { rate, tax }: AnsweredTax, amount: i64| {
            let said = Money::new(tax, self.currency).filter(|_| tax <= amount);
            let said = said.ok_or_else(|| wrong(format!("the tax of {of} is {tax}, and its amount {amount}")))?;
            Ok::<_, Untaxed>(LineTax { rate, amount: said, added: !self.prices_include_tax, by_engine: true })
        };
        if answer.lines.len() != self.lines.len() {
            return Err(wrong(format!("it has {} lines instead of {}", answer.lines.len(), self.lines.len())));
        }
        let lines = self.lines.iter().map(|line| {
            let id = &line.product_id;
            let said = answer.lines.iter().find(|said| said.product_id == *id);
            tax(id.as_str(), said.ok_or_else(|| wrong(format!("it has no tax of {id}")))?.tax, line.amount)
        });
        let lines = lines.collect::<Result<_, _>>()?;
        let shipping = match (self.shipping, answer.shipping) {
            (Some(amount), Some(said)) => Some(tax("shipping", said, amount)?),
            (Some(_), None) => return Err(wrong("it has no tax of shipping".to_owned())),
            (None, _) => None,
        };
        Ok(Said { question: self.clone(), lines, shipping })
    }
}

impl Said {
    /// The taxes of lines and shipping, if they are the answer to this question.
    pub(crate) fn to(&self, question: &TaxQuestion) -> Option<(&[LineTax], Option<LineTax>)> {
        (self.question == *question).then_some((&self.lines, self.shipping))
    }
}

/// The content of the secret.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Token {
    token: String,
}

/// The shop's tax engine. A shop without one, whose `TAX_ENGINE` is empty, asks nobody.
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
    /// The engine's answer to the question, one request. `None` if there is no engine or no question, or if this is the answer
    /// that is `known` already.
    ///
    /// # Errors
    /// The engine did not answer, or not by the protocol.
    pub(crate) async fn ask(
        &self,
        question: Option<TaxQuestion>,
        known: Option<&Said>,
    ) -> Result<Option<Said>, Untaxed> {
        let (Some(client), Some(question)) = (&self.0, question) else { return Ok(None) };
        match known.filter(|known| known.question == question) {
            Some(known) => Ok(Some(known.clone())),
            None => client.ask(&question).await.map(Some),
        }
    }
}

impl Client {
    async fn ask(&self, question: &TaxQuestion) -> Result<Said, Untaxed> {
        let unreadable = |error: serde_json::Error| Untaxed::Unreadable(error.to_string());
        let token = &self.secret.content().await?.token;
        let headers = [("content-type", "application/json".to_owned()), ("authorization", format!("Bearer {token}"))];
        let body = serde_json::to_string(question).map_err(unreadable)?;
        let answer = self.https.send("POST", "", &headers, body).await?;
        match answer.status {
            200 => question.answered(&serde_json::from_slice(&answer.body).map_err(unreadable)?),
            429 | 500.. => Err(Untaxed::Busy(answer.status)),
            status => Err(Untaxed::Refused(status)),
        }
    }
}
