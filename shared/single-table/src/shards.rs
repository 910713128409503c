//! Lists that are spread over shards, so that no partition gets hot.

use crate::Query;

/// The queries of a list that is spread over this number of shards.
pub fn in_shards<Item>(shards: u8, query: impl FnMut(u8) -> Query<Item>) -> Vec<Query<Item>> {
    (0..shards).map(query).collect()
}

/// The number of items to request first from each shard for one page: an even share, plus three standard deviations of
/// the shares of a uniform hash. A request for the whole page from each shard would read as many pages as there are
/// shards.
pub fn share_of_page(limit: u8, shards: usize) -> u8 {
    let even = usize::from(limit).div_ceil(shards.max(1));
    u8::try_from(even + (9 * even).isqrt()).unwrap_or(u8::MAX).min(limit)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_shares_of_all_shards_fill_a_page_and_no_share_exceeds_a_page(
            limit in 1..=100_u8, shards in 1..=255_usize,
        ) {
            let share = share_of_page(limit, shards);
            prop_assert!(usize::from(share) * shards >= usize::from(limit));
            prop_assert!((1..=limit).contains(&share));
        }
    }

    #[test]
    fn a_page_of_100_from_8_shards_reads_less_than_two_pages() {
        assert_eq!(share_of_page(100, 8), 23);
        assert_eq!(share_of_page(100, 1), 100);
    }
}
