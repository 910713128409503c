//! Views of products, counted in shards. The partition key contains the shard, so that the shards share the load. And
//! the marks of views that are counted once a day, which are read only by key.

use crate::entity::{Product, ProductStats, ViewMark, ViewShard};
use crate::value::{ProductId, ViewMarkId};

use super::{Declaration, Key, Place, PlaceText, Stored, Template, collection};

const VIEWS: Template<(ProductId, u8)> = Template::new("v#{productId}#{n}");
const VIEW_SHARD: Place<(ProductId, u8), (ProductId, u8)> = Place::table(VIEWS, VIEWS);

const MARK: Template<ViewMarkId> = Template::new("viewed#{markId}");
const VIEW_MARK: Place<ViewMarkId, ViewMarkId> = Place::table(MARK, MARK);

/// The views of a product, with its stats. They are a batch of keys, because each shard has a partition of its own.
pub const VIEWS_OF_PRODUCT: Declaration =
    VIEW_SHARD.batch::<InViews>(17, "the views of a product, shards added up", 66);

impl Stored for ViewMark {
    const PLACES: &'static [PlaceText] = &[VIEW_MARK.text()];

    fn key(&self) -> Key {
        VIEW_MARK.key(&self.mark_id, &self.mark_id)
    }
}

impl Stored for ViewShard {
    const PLACES: &'static [PlaceText] = &[VIEW_SHARD.text()];

    fn key(&self) -> Key {
        Self::key_of(&self.product_id, self.shard)
    }
}

impl ViewShard {
    /// The key of one shard of a product's views.
    pub fn key_of(product: &ProductId, shard: u8) -> Key {
        VIEW_SHARD.key((product, &shard), (product, &shard))
    }

    /// The keys of a product's views in this number of shards, with those of the product and of its stats.
    pub fn keys_of(product: &ProductId, shards: u8) -> Vec<Key> {
        let shards = (0..shards).map(|shard| Self::key_of(product, shard));
        [Product::key_of(product), ProductStats::key_of(product)].into_iter().chain(shards).collect()
    }
}

collection! {
    /// An item that is read for a product's views.
    InViews {
        ViewShard
        /// The product, which shows that it exists.
        Product
        /// The counters of the product's sales.
        ProductStats
    }
}

impl InViews {
    /// The sum of all shards, and the stats. `None` if there is no such product.
    pub fn assemble(items: Vec<InViews>) -> Option<(u64, Option<ProductStats>)> {
        let (mut is_known, mut views, mut stats) = (false, 0, None);
        for item in items {
            match item {
                InViews::Product(_) => is_known = true,
                InViews::ProductStats(found) => stats = Some(found),
                InViews::ViewShard(shard) => views += shard.views,
                InViews::Unknown => {}
            }
        }
        is_known.then_some((views, stats))
    }
}
