//! Counters, checkpoints and what is parked.

use key_schema::entity::OrderStatus::Pending;
use key_schema::entity::{
    CategoryCount, CustomerStats, DayTotals, FoldLease, ParkedCounts, ProductStats, Reconciliation, Span,
    StreamCheckpoint, Uncounted, ViewShard,
};
use serde_dynamo::Item;

use super::{Images, Kind, NoSample, Parts, Revision, item, number};
use crate::Revision::First;

impl Parts<'_> {
    /// Counters and checkpoints.
    pub(super) fn counted(&self, revision: Revision) -> Result<Images, NoSample> {
        let count = i64::from(number(revision));
        let sums = || [(self.price.currency(), 1999 + count)].into_iter().collect();
        let customer =
            CustomerStats { customer_id: self.customer.clone(), orders: count, open_units: count, spent: sums() };
        let product = ProductStats { product_id: self.product.clone(), orders: count, units: count, revenue: sums() };
        let category = "k".repeat(self.sizes.id).parse()?;
        let category = CategoryCount { category, products: count };
        let views = ViewShard { product_id: self.product.clone(), shard: 0, views: number(revision).into() };
        let day = DayTotals {
            date: self.at.day(),
            orders: count,
            units: count,
            revenue: sums(),
            statuses: [(Pending, count)].into_iter().collect(),
        };
        let number_in_shard = |digit: u8| format!("30000000000000000000{digit}").parse();
        let mut uncounted = Uncounted::default();
        if revision == First {
            // A consumer does not know what a shard had before its first batch.
            uncounted.add(Span::between(None, number_in_shard(1)?));
        } else {
            uncounted.add(Span::between(Some(number_in_shard(0)?), number_in_shard(1)?));
            uncounted.forget(number_in_shard(0)?);
        }
        let checkpoint = StreamCheckpoint {
            shard_id: "shardId-00000001795253400000-00000001".parse()?,
            mark: format!("30000000000000000000{count}").parse()?,
            marked_at: self.at,
            uncounted,
            updated_at: self.at,
            expires_at: self.at.as_second(),
        };
        let holder = "0".repeat(36 - count.to_string().len()) + &count.to_string();
        let lease = FoldLease { group: 0, holder: holder.parse()?, expires_at: self.at.as_second() };
        let updated_at = if revision == First { self.at } else { self.later };
        let compared = Reconciliation { to: self.at.day(), resume: None, updated_at };
        Ok(vec![
            (Kind::CustomerStats(revision), item(&customer)?),
            (Kind::ProductStats(revision), item(&product)?),
            (Kind::CategoryCount(revision), item(&category)?),
            (Kind::ViewShard(revision), item(&views)?),
            (Kind::DayTotals(revision), item(&day)?),
            (Kind::StreamCheckpoint(revision), item(&checkpoint)?),
            (Kind::FoldLease(revision), item(&lease)?),
            (Kind::Reconciliation(revision), item(&compared)?),
        ])
    }

    /// The counts of an order of one line, in one group.
    pub(super) fn parked_counts(&self) -> Result<Item, NoSample> {
        let sums = || [(self.price.currency(), 1999)].into_iter().collect();
        item(&ParkedCounts {
            group: 0,
            list: 0,
            parked_at: self.at,
            shard_id: "shardId-00000001795253400000-00000001".parse()?,
            mark: "300000000000000000001".parse()?,
            layout: ParkedCounts::LAYOUT,
            customers: vec![CustomerStats {
                customer_id: self.customer.clone(),
                orders: 1,
                open_units: 1,
                spent: sums(),
            }],
            products: vec![ProductStats { product_id: self.product.clone(), orders: 1, units: 1, revenue: sums() }],
            days: vec![DayTotals {
                date: self.at.day(),
                orders: 1,
                units: 1,
                revenue: sums(),
                statuses: [(Pending, 1)].into_iter().collect(),
            }],
        })
    }
}
