//! Quotes: what an order would cost, without placing it.

use futures_util::future::try_join_all;
use key_schema::entity::Rejection;
use key_schema::value::{CustomerId, Timestamp};
use lambda::{Environment, FromEnvironment, Misconfigured};
use table::{Budget, Error, Reader};

use crate::found::{Found, FoundItem};
use crate::read_plan::ReadPlan;
use crate::tax_engine::{TaxEngine, Untaxed};
use crate::{Basket, MaxOpenUnits, Quote, TaxRules};

/// Answers what orders would cost. It can only read.
#[derive(Clone, Debug)]
pub struct Quotes {
    reader: Reader,
    max_open_units: MaxOpenUnits,
    tax_rules: TaxRules,
    tax_engine: TaxEngine,
}

/// The reason why there is no quote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotQuoted {
    /// The order could not be placed now.
    Rejected(Rejection),
    /// The shop's tax engine did not say the taxes.
    Untaxed(Untaxed),
}

impl FromEnvironment for Quotes {
    fn from_environment(environment: &Environment) -> Result<Self, Misconfigured> {
        Ok(Self {
            reader: Reader::from_environment(environment)?,
            max_open_units: MaxOpenUnits::from_environment(environment)?,
            tax_rules: TaxRules::from_environment(environment)?,
            tax_engine: TaxEngine::from_environment(environment)?,
        })
    }
}

impl Quotes {
    /// The quote for a basket of this customer, by the reads and the arithmetic of placing, or the reason why the order
    /// could not be placed now. A quote reserves nothing and fixes no price: `expectedTotal` in the order does.
    ///
    /// # Errors
    /// Those of any read.
    pub async fn of(
        &self,
        customer: &CustomerId,
        basket: &Basket,
        budget: Budget,
    ) -> Result<Result<Quote, NotQuoted>, Error> {
        let mut reads = ReadPlan::of(basket);
        let mut said = None;
        // Each read that proves nothing is followed by a stronger one, so the loop ends.
        loop {
            let keys = basket.keys_of(customer, self.max_open_units, &self.tax_rules);
            let items: Vec<FoundItem> = self.reader.batch(keys, reads.consistency(), budget).await?;
            let mut found: Found = items.into_iter().collect();
            let in_cells = reads.cells_to_read(&basket.request().lines, &found);
            let in_cells = in_cells.map(|(first, mode)| stock::whole(&self.reader, first.clone(), mode, budget));
            for whole in try_join_all(in_cells).await? {
                found.learn(whole);
            }
            let now = Timestamp::now();
            let question = Quote::question(basket, &found, &self.tax_rules, now);
            match self.tax_engine.ask(question, said.as_ref()).await {
                Ok(answer) => said = answer,
                Err(untaxed) => return Ok(Err(NotQuoted::Untaxed(untaxed))),
            }
            found.said.clone_from(&said);
            let quote = Quote::of(basket, &found, &self.tax_rules, now);
            match quote.and_then(|quote| quote.within(self.max_open_units, found.stats.as_ref())) {
                Ok(quote) => return Ok(Ok(quote)),
                Err(rejection) if reads.is_conclusive(&rejection, &found) => {
                    return Ok(Err(NotQuoted::Rejected(rejection)));
                }
                Err(_) => {}
            }
        }
    }
}
