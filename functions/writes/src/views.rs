//! Counting views of products.

use std::collections::{BTreeMap, BTreeSet};

use futures_util::{StreamExt as _, stream};
use key_schema::access::Access;
use key_schema::entity::{Product, ViewMark, ViewShard};
use key_schema::layout::Consistency;
use key_schema::value::{ProductId, Timestamp, VisitorId};
use table::{Budget, Condition, Error, Put, Reader, ViewShards, Write, Writer};

/// The number of products whose views are written at once.
const CONCURRENT: usize = 8;

pub(crate) const COUNT: &[Access] =
    &[Access::put::<ViewShard>(), Access::update::<ViewShard>(), Access::exists::<Product>()];

pub(crate) type Views = BTreeMap<ProductId, u64>;

/// Counts views. All products of a call are tried, and only then the first error is returned: then the views of the
/// others are counted.
pub(crate) struct Counter {
    pub reader: Reader,
    pub writer: Writer,
    pub shards: ViewShards,
    pub budget: Budget,
}

impl Counter {
    /// Adds the views of each product to a random shard of that product. The shard is part of the partition key, so the
    /// views of a popular product are spread over several partitions. Returns the products that do not exist.
    ///
    /// Takes one request for each product, except for the first views of a shard, which also check that the product
    /// exists.
    pub(crate) async fn add(&self, views: Views) -> Result<BTreeSet<ProductId>, Error> {
        let shards = views.into_iter().map(|(product_id, views)| self.add_to(self.shard_of(product_id, views)));
        let (added, failure) = all(shards.collect()).await;
        let absent: Vec<_> = added.into_iter().filter_map(|(shard, is_done)| (!is_done).then_some(shard)).collect();
        let exist = self.existing(absent.iter().map(|shard| &shard.product_id)).await?;
        let (new, unknown): (Vec<_>, Vec<_>) = absent.into_iter().partition(|shard| exist.contains(&shard.product_id));
        let (_, failure_of_new) = all(new.into_iter().map(|shard| self.begin(shard)).collect()).await;
        match failure.or(failure_of_new) {
            Some(error) => Err(error),
            None => Ok(unknown.into_iter().map(|shard| shard.product_id).collect()),
        }
    }

    /// Adds one view of each product that the visitor has not viewed before on this day.
    ///
    /// The mark is written first. So a repeated request counts nothing twice, and a view is lost if its mark is written
    /// and the view cannot be counted. A transaction of the two would lose nothing, at twice the price.
    pub(crate) async fn add_once(&self, views: Views, visitor: &VisitorId, now: Timestamp) -> Result<(), Error> {
        let exist = self.existing(views.keys()).await?;
        let marks = exist.into_iter().map(|product| self.mark(ViewMark::of(&product, visitor, now), product));
        let (marked, failure) = all(marks.collect()).await;
        let first = marked.into_iter().filter_map(|(product, is_first)| is_first.then_some((product, 1)));
        self.add(first.collect()).await?;
        failure.map_or(Ok(()), Err)
    }

    fn shard_of(&self, product_id: ProductId, views: u64) -> ViewShard {
        ViewShard { product_id, shard: fastrand::u8(..self.shards.0), views }
    }

    async fn mark(&self, mark: ViewMark, product: ProductId) -> (ProductId, Result<bool, Error>) {
        let written = self.writer.put_new(&mark, self.budget).await;
        (product, written.map(|put| put == Put::New))
    }

    /// Adds the views to a shard. The result is `false` if the shard does not exist yet.
    async fn add_to(&self, shard: ViewShard) -> (ViewShard, Result<bool, Error>) {
        let added = self.add_to_existing(&shard).await;
        (shard, added)
    }

    async fn add_to_existing(&self, shard: &ViewShard) -> Result<bool, Error> {
        let is_there = Condition::present().value(":views", shard.views)?;
        let key = ViewShard::key_of(&shard.product_id, shard.shard);
        let add = Write::update(key, "ADD #views :views", is_there);
        Ok(self.writer.write(add, self.budget).await?.is_done())
    }

    /// Writes a new shard. If another request has just written it, the views are added to it.
    async fn begin(&self, shard: ViewShard) -> (ViewShard, Result<bool, Error>) {
        match self.writer.put_new(&shard, self.budget).await {
            Ok(Put::New) => (shard, Ok(true)),
            Ok(Put::Exists(_)) => self.add_to(shard).await,
            Err(error) => (shard, Err(error)),
        }
    }

    async fn existing<'a>(&self, products: impl Iterator<Item = &'a ProductId>) -> Result<BTreeSet<ProductId>, Error> {
        let products: BTreeSet<_> = products.collect();
        let keys = products.iter().map(|product| Product::key_of(product)).collect();
        let found = self.reader.existing(keys, Consistency::Strong, self.budget).await?;
        Ok(products.into_iter().filter(|product| found.contains(&Product::key_of(product))).cloned().collect())
    }
}

/// Makes several requests at once, each for an item. Returns the items whose requests succeeded, with the results, and
/// an error if there was one.
async fn all<T, R>(pending: Vec<impl Future<Output = (T, Result<R, Error>)>>) -> (Vec<(T, R)>, Option<Error>) {
    let (mut done, mut failure) = (Vec::new(), None);
    let mut results = stream::iter(pending).buffer_unordered(CONCURRENT);
    while let Some((item, result)) = results.next().await {
        match result {
            Ok(result) => done.push((item, result)),
            Err(error) => failure = failure.or(Some(error)),
        }
    }
    (done, failure)
}
