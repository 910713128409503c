//! The port: what Till needs of a search index.

use std::sync::Arc;

use key_schema::value::{Category, Currency};
use lambda::{Environment, FromEnvironment, Grant, Misconfigured};

use crate::opensearch::OpenSearch;
use crate::{Error, Listed, Query};

/// Reading the secret with the index's user and password.
pub const READ_SECRET: Grant = Grant::new(&["secretsmanager:GetSecretValue"], "SearchSecret");

/// The search index of this deployment. A deployment without one, whose `SEARCH_URL` is empty, answers every request with
/// [`Error::Off`].
#[derive(Clone, Debug)]
pub struct Search(Option<Arc<OpenSearch>>);

/// An index that is written. There are two of them while one is built.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct IndexName(pub(crate) String);

/// A page of what was found, and the numbers of all that was found.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// The products of this page.
    pub products: Vec<Listed>,
    /// The cursor of the next page.
    pub next: Option<String>,
    /// The number of products on all pages.
    pub total: u64,
    /// The number of products in each category, whatever category was asked for. The largest first.
    pub categories: Vec<(Category, u64)>,
    /// The number of products in each range of prices, whatever range was asked for. The lowest first.
    pub prices: Vec<PriceRange>,
}

/// The products in a range of prices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PriceRange {
    /// The currency.
    pub currency: Currency,
    /// The lowest price, in minor units.
    pub from: i64,
    /// The price above the highest one. `None` for the last range.
    pub to: Option<i64>,
    /// The number of products.
    pub products: u64,
}

impl FromEnvironment for Search {
    fn from_environment(environment: &Environment) -> Result<Self, Misconfigured> {
        let (url, secret) = (environment.declared("SEARCH_URL")?, environment.declared("SEARCH_SECRET_ARN")?);
        let index = url.map(|url| OpenSearch::new(url, secret, environment)).transpose()?;
        Ok(Self(index.map(Arc::new)))
    }
}

impl Search {
    /// Whether the deployment has a search index.
    pub fn is_on(&self) -> bool {
        self.0.is_some()
    }

    pub(crate) fn on(&self) -> Result<&OpenSearch, Error> {
        self.0.as_deref().ok_or(Error::Off)
    }

    /// Finds products.
    ///
    /// # Errors
    /// The cursor is not of this search; there is no index; or the index does not answer.
    pub async fn find(&self, query: &Query) -> Result<Found, Error> {
        self.on()?.find(query).await
    }

    /// The indexes that are written: usually one, two while one is built, and none before the first one is built.
    ///
    /// # Errors
    /// The index does not answer.
    pub async fn written(&self) -> Result<Vec<IndexName>, Error> {
        self.on()?.written().await
    }

    /// Creates an empty index, which is written from now on and searched by nobody.
    ///
    /// # Errors
    /// The index does not answer, or refuses.
    pub async fn create(&self) -> Result<IndexName, Error> {
        self.on()?.create().await
    }

    /// Lets customers search this index in place of the present one, at once, and then deletes all older indexes.
    ///
    /// # Errors
    /// [`Error::Replaced`] if another index has taken the place of the one that was searched when this one was created.
    pub async fn publish(&self, index: &IndexName) -> Result<(), Error> {
        self.on()?.publish(index).await
    }

    /// Makes what was written visible to searches. Indexes do so by themselves once a second.
    ///
    /// # Errors
    /// The index does not answer.
    pub async fn refresh(&self, index: &IndexName) -> Result<(), Error> {
        self.on()?.refresh(index).await
    }
}
