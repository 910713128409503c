//! Repairs counters.
//!
//! A repair adds the deficit, on condition that no counter has changed since the comparison. Counting also adds, so the
//! sum is right whether the repair or the counting comes first. The condition is needed because the same repair may be
//! sent twice, by a retry or by two runs: it then takes effect once.
//!
//! Before it, the time of the repair is written down: what was given up before that time is in the repaired counters, so
//! nobody must count it any more.

use counting::{Aggregate, Counts};
use key_schema::entity::StreamCheckpoint;
use key_schema::layout::Stored;
use key_schema::value::Timestamp;
use serde::de::DeserializeOwned;
use table::{Budget, Condition, Error, Item, Write, Written, read_item};

use crate::reconcile_counts::Reconciler;
use crate::reconcile_counts::run::LAST_STEP;
use crate::reconcile_counts::walk::Walk;

impl Reconciler {
    /// Adds the deficit. Returns `false` if the counters have changed or the write was not answered. The next run then
    /// compares them again.
    pub(crate) async fn repair(&self, walk: &Walk, deficit: &Counts) -> Result<bool, Error> {
        let counted = walk.counted.as_ref();
        let budget = Budget::of(LAST_STEP);
        self.writer.write(Write::put(&StreamCheckpoint::of_repairs(Timestamp::now()))?, budget).await.map(drop)?;
        // What a replay has parked before this mark. It parks no more after it.
        self.folder.sweep_group(walk.aggregate().group(), budget).await?;
        match walk.aggregate() {
            Aggregate::Customer(id) => self.add(counted.map(|counts| counts.customer(id)), &deficit.customer(id)).await,
            Aggregate::Product(id) => self.add(counted.map(|counts| counts.product(id)), &deficit.product(id)).await,
            Aggregate::Day(day) => self.add(counted.map(|counts| counts.day(*day)), &deficit.day(*day)).await,
        }
    }

    async fn add<T>(&self, counted: Option<T>, deficit: &T) -> Result<bool, Error>
    where
        T: Stored + DeserializeOwned + Clone + Into<Counts>,
    {
        let is_same = match &counted {
            Some(counted) => Condition::same_numbers(counted, deficit)?,
            None => Condition::absent(),
        };
        let mut repaired = counted.map(Into::into).unwrap_or_default();
        repaired.add(&deficit.clone().into());
        match self.writer.write(Write::add_if(deficit, is_same)?, Budget::of(LAST_STEP)).await {
            Ok(Written::Done) => Ok(true),
            // If an attempt succeeded without an answer, its retry finds the repaired counters.
            Ok(Written::ConditionFailed(found)) => {
                Ok(found.map(read::<T>).transpose()?.is_some_and(|found| found == repaired))
            }
            Err(Error::Unanswered(_)) => Ok(false),
            Err(error) => Err(error),
        }
    }
}

fn read<T: DeserializeOwned + Into<Counts>>(item: Item) -> Result<Counts, Error> {
    Ok(read_item::<T>(item)?.into())
}
