//! Views of products, counted in shards. The partition key contains the shard, so that the shards share the load. And
//! the marks of views that are counted once a day, which are read only by key.
//!
//! | pattern | index | partition | sort |
//! |---|---|---|---|
//! | 17 [`ViewsOfProduct`] | table | `v#{productId}#{n}` | `v#{productId}#{n}` |

use crate::entity::{Product, ProductStats, ViewMark, ViewShard};
use crate::value::{ProductId, ViewMarkId};

use super::{Bound, Consistency, Declaration, Direction, Key, Place, PlaceText, Stored, Template, collection};

const VIEWS: Template<(ProductId, u8)> = Template::new("v#{productId}#{n}");
const VIEW_SHARD: Place<(ProductId, u8), (ProductId, u8)> = Place::table(VIEWS, VIEWS);

const MARK: Template<(ViewMarkId,)> = Template::new("viewed#{markId}");
const VIEW_MARK: Place<(ViewMarkId,), (ViewMarkId,)> = Place::table(MARK, MARK);

impl Stored for ViewMark {
    const PLACES: &'static [PlaceText] = &[VIEW_MARK.text()];

    fn key(&self) -> Key {
        VIEW_MARK.key((&self.mark_id,), (&self.mark_id,))
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
}

collection! {
    /// An item that is read for a product's views.
    InViews {
        /// A shard of the views.
        ViewShard
        /// The product, which shows that it exists.
        Product
        /// The counters of the product's sales.
        ProductStats
    }
}

/// The views of a product, with its stats. They are a batch of keys, because each shard has a partition of its own.
pub struct ViewsOfProduct<'a> {
    pub product: &'a ProductId,
    /// The number of shards.
    pub shards: u8,
}

impl ViewsOfProduct<'_> {
    /// The declaration of the pattern.
    pub const DECLARED: Declaration = Declaration {
        number: 17,
        question: "the views of a product, shards added up",
        place: VIEW_SHARD.text(),
        entities: InViews::KINDS,
        consistency: Consistency::Eventual,
        direction: Direction::Ascending,
        bound: Bound::Collection(66),
    };

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

    /// The keys to read.
    pub fn keys(&self) -> Vec<Key> {
        let shards = (0..self.shards).map(|shard| ViewShard::key_of(self.product, shard));
        [Product::key_of(self.product), ProductStats::key_of(self.product)].into_iter().chain(shards).collect()
    }
}
