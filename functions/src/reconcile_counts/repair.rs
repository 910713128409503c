//! Repairs counters.
//!
//! A repair adds the deficit, on condition that no counter has changed since the comparison. Counting also adds, so the
//! sum is right whether the repair or the counting comes first. The condition is needed because the same repair may be
//! sent twice, by a retry or by two runs: it then takes effect once.

use counting::Counts;
use key_schema::layout::Stored;
use serde::de::DeserializeOwned;
use table::{Budget, Condition, Error, Item, Write, Written, read_item};

use crate::reconcile_counts::Reconciler;
use crate::reconcile_counts::run::KEPT_BACK;
use crate::reconcile_counts::walk::Walk;

impl Reconciler {
    /// Adds the deficit. Returns `false` if the counters have changed or the write was not answered. The next run then
    /// compares them again.
    pub(crate) async fn repair(&self, walk: &Walk, deficit: &Counts) -> Result<bool, Error> {
        let (was, is_there) = (walk.counted.clone().unwrap_or_default(), walk.counted.is_some());
        if let Some(deficit) = deficit.customers().next() {
            return self.add(is_there, was.customers().next(), deficit, &was).await;
        }
        if let Some(deficit) = deficit.products().next() {
            return self.add(is_there, was.products().next(), deficit, &was).await;
        }
        if let Some(deficit) = deficit.days().next() {
            return self.add(is_there, was.days().next(), deficit, &was).await;
        }
        Ok(true)
    }

    async fn add<T>(&self, is_there: bool, was: Option<&T>, deficit: &T, counted: &Counts) -> Result<bool, Error>
    where
        T: Stored + DeserializeOwned + Clone + Into<Counts>,
    {
        let is_same = if is_there { Condition::same_numbers(was, deficit)? } else { Condition::absent() };
        let mut repaired = counted.clone();
        repaired.add(&deficit.clone().into());
        match self.writer.write(Write::add_if(deficit, is_same)?, Budget::of(KEPT_BACK)).await {
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
