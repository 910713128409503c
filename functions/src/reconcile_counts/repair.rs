//! Repairing counters.
//!
//! The deficit is added, and only while every counter is what it was when it was compared. Counting adds, too, so in
//! whichever order the two come, both are in the sum; the condition is there so that whatever is repaired twice, by a
//! repetition or by two runs, is repaired once.

use counting::Counts;
use key_schema::layout::Stored;
use serde::de::DeserializeOwned;
use table::{Budget, Condition, Error, Item, Write, Written, read_item};

use crate::reconcile_counts::Reconciler;
use crate::reconcile_counts::run::KEPT_BACK;
use crate::reconcile_counts::walk::Walk;

impl Reconciler {
    /// Adds the deficit. `false`: the counters have moved, or nobody answered, and the next run looks again.
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
            // A repetition whose first attempt was not answered finds its own work.
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
