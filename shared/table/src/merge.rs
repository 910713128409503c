//! Reading a list that is spread over shards.

use std::collections::BTreeMap;

use futures_util::future::join_all;
use key_schema::cursor;
use key_schema::layout::{Direction, Query, share_of_page};
use key_schema::page::{Page, PageRequest};
use serde::de::DeserializeOwned;

use crate::raw::Raw;
use crate::{Error, Reader};

impl Reader {
    /// One page of a list that is spread over shards, in the order of the sort keys. Every shard is a query of its own,
    /// all with the same range. Takes the requests of [`merged_after`](Self::merged_after).
    pub async fn merged<T: DeserializeOwned>(&self, shards: &[Query<T>], page: &PageRequest) -> Result<Page<T>, Error> {
        // The first shard's query seals and opens the cursor for all of them.
        let Some(first) = shards.first() else { return Ok(Page { items: Vec::new(), next: None }) };
        let position = page.cursor.as_ref().map(|cursor| cursor::open(first, cursor)).transpose()?;
        let (items, stopped) = self.merged_after(shards, position.as_deref(), page.limit).await?;
        Ok(Page { items, next: stopped.map(|position| cursor::seal(first, &position)) })
    }

    /// [`after`](Self::after) for a list that is spread over shards, in the order of the sort keys.
    ///
    /// Sends one request for each shard, concurrently, for the shard's share of the items, and further requests to a
    /// shard that holds more of the page than its share. A single shard takes one request.
    ///
    /// A walk over all pages returns every item that existed when it began exactly once, even if the number of shards
    /// changes meanwhile: each page continues every shard after the same sort key, no matter which shard that key is in.
    pub async fn merged_after<T: DeserializeOwned>(
        &self,
        shards: &[Query<T>],
        position: Option<&str>,
        limit: u8,
    ) -> Result<(Vec<T>, Option<String>), Error> {
        let (items, stopped) = self.merged_items(shards, position, limit).await?;
        Ok((items.iter().map(Raw::read).collect::<Result<_, _>>()?, stopped))
    }

    /// The items of [`merged_after`](Self::merged_after), which need not be readable.
    pub(crate) async fn merged_items<T>(
        &self,
        shards: &[Query<T>],
        position: Option<&str>,
        limit: u8,
    ) -> Result<(Vec<Raw>, Option<String>), Error> {
        let declared = match shards {
            [] => return Ok((Vec::new(), None)),
            [only] => return self.query(only, only.rest(position), Some(limit)).await,
            [first, ..] => &first.declared,
        };
        debug_assert_eq!(declared.direction, Direction::Ascending, "the merge takes the lowest sort keys first");
        let mut pending: Vec<_> = shards.iter().map(|shard| (shard, shard.rest(position))).collect();
        let mut share = share_of_page(limit, shards.len());

        let (mut found, mut stopped) = (BTreeMap::new(), Vec::new());
        let wanted = usize::from(limit);
        while !pending.is_empty() {
            let reads = pending.iter().map(|(shard, range)| self.query(*shard, range.clone(), Some(share)));
            for (answer, (shard, _)) in join_all(reads).await.into_iter().zip(&pending) {
                let (items, end) = answer?;
                stopped.extend(end.map(|end| (*shard, end)));
                found.extend(items.into_iter().filter_map(|item| Some((item.key(declared.place.index)?.sort, item))));
            }
            // The page, and whether another one follows, is known once every shard has been read up to the item after
            // the page's last one. A shard that stopped before that item is queried again.
            let after = found.keys().nth(wanted);
            let is_behind = |(_, end): &(&Query<T>, String)| after.is_none_or(|after| end < after);
            let (behind, ahead) = stopped.into_iter().partition(is_behind);
            stopped = ahead;
            pending = behind.into_iter().map(|(shard, end)| (shard, shard.rest(Some(&end)))).collect();
            share = share.saturating_mul(2).min(limit);
        }

        let is_last = found.len() <= wanted;
        let (mut items, mut end) = (Vec::new(), None);
        for (position, item) in found.into_iter().take(wanted) {
            items.push(item);
            end = Some(position);
        }
        Ok((items, end.filter(|_| !is_last)))
    }
}
